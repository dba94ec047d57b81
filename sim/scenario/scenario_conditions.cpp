#include "scenario/scenario_conditions.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "document/json_text.hpp"
#include "scenario/conditions.hpp"
#include "scenario/keys/conditions_keys.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

// Words of what has no typical conditions, and why; empty where all is defined.
std::string undefined_part(const Scenario& scenario, const LossQuestion& question) {
  const Cluster& cluster = scenario.cluster;
  const bool servers = question.servers != ServersOn::none;
  const bool on_machines = question.servers == ServersOn::machines;
  const bool async = scenario.training.algorithm == TrainingAlgorithm::parameter_server &&
                     scenario.training.async();
  if (question.links == LinkModel::packets && (servers || question.by_priority)) {
    return std::string(servers ? "parameter servers" : "schedule priority") +
           " on a network of packets: its transport has no run without transfers";
  }
  if (on_machines && question.links != LinkModel::alpha_beta && cluster.gpus_of_domain() > 1) {
    return "parameter servers on a simulated network with several GPUs per machine: a machine "
           "pushes once for all of its GPUs";
  }
  if (async && question.links != LinkModel::alpha_beta) {
    return "asynchronous servers on a simulated network: a push has no start of its own there";
  }
  if (async && on_machines && cluster.gpus_of_domain() > 1) {
    return "asynchronous servers with several GPUs per machine: a machine pushes once for all of "
           "its GPUs, which wait for one another";
  }
  const collectives::Options& options = scenario.communication.options;
  if (on_machines && options.placement == collectives::Placement::colocated &&
      options.servers > question.machines) {
    return "more colocated servers than machines: a machine is one worker";
  }
  const auto& outer = scenario.training.local.outer_network;
  if (outer && outer->bandwidth_Bps && !outer->transport) {
    return "an outer_network whose transport is not given: /training/outer_network/transport must "
           "be rdma, tcp or tcp_cloud";
  }
  const bool one_slowdown = question.bus == Bus::pcie || scenario.training.overlap_given;
  const bool alone = scenario.first_job_nodes == 1;
  if (!one_slowdown && std::ranges::any_of(scenario.other_jobs, [alone](const OtherJob& job) {
        return (job.nodes == 1) != alone;
      })) {
    return "jobs on one machine beside jobs on several: computing slows down differently; give "
           "/training/overlap";
  }
  return "";
}

} // namespace

void parse_conditions(io::Fields& top, const ParseContext& context, Scenario& scenario) {
  const io::Json* json = top.any("conditions");
  if (json == nullptr || json->is_null()) {
    return;
  }
  Conditions& conditions = scenario.conditions;
  io::Fields fields(*json, context.problems, top.row("conditions"));
  conditions.kind = fields.word("kind", kConditionsKinds);
  const io::Json* file = fields.any("file");
  const io::Json* given = fields.any("factors");
  fields.no_more();
  if (conditions.kind == ConditionsKind::ideal) {
    return;
  }
  conditions.file = fields.string("file", "");
  conditions.factors =
      context.files.conditions(conditions.file.empty() ? io::Json("typical") : *file);
  if (given == nullptr || !given->is_object()) {
    return;
  }
  io::Fields factors(*given, context.problems);
  for (std::size_t i = 0; i < kFactorCount; ++i) {
    const auto factor = static_cast<Factor>(i);
    if (const io::Json* value = factors.any(kFactors[factor])) {
      conditions.factors[i] = read_factor(*value, factor, context.problems);
      conditions.own.push_back(factor);
    }
  }
  factors.no_more();
}

void check_conditions(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (!is_typical(scenario)) {
    return;
  }
  const io::Json& place = *tree.find("conditions");
  const LossQuestion question = loss_question(scenario);
  if (const std::string what = undefined_part(scenario, question); !what.empty()) {
    problems.add(place, "typical conditions are not defined for " + what);
  }
  if (!links_lose(scenario)) {
    return;
  }
  const Cluster& cluster = scenario.cluster;
  const bool by_transport = question.links == LinkModel::packets; // which loses rate by itself
  if (crosses_network(question) && !by_transport && !cluster.network.carrier) {
    problems.add(*io::resolve(tree, "/cluster/network"), "transport",
                 "required with typical conditions: rdma, tcp or tcp_cloud");
  }
  if (cluster.gpus_of_domain() > 1 && !bus_of(cluster)) {
    const io::Json* intra = io::resolve(tree, "/cluster/intra_network");
    problems.add(intra != nullptr ? *intra : *tree.find("cluster"), "bus",
                 "required with typical conditions: pcie, nvlink or xgmi");
  }
}

void add_conditions(const Scenario& scenario, io::Json& tree) {
  if (!is_typical(scenario)) {
    return;
  }
  const Conditions& conditions = scenario.conditions;
  io::Json factors{io::Object{}};
  for (const Factor factor : conditions.used) {
    const FactorValue& value = conditions.factors[static_cast<std::size_t>(factor)];
    factors.set(std::string(kFactors[factor]),
                io::Object{{"value", value.value}, {"tau", value.tau}});
  }
  io::Json part =
      io::Object{{"kind", kConditionsKinds[conditions.kind]}, {"factors", std::move(factors)}};
  if (!conditions.file.empty()) {
    part.set("file", conditions.file);
  }
  tree.set("conditions", std::move(part));
}

namespace {

// Keys that count under typical conditions alone.
constexpr std::array<std::string_view, 8> kOnlyTypical{
    "/conditions/factors",           "/conditions/file",
    "/cluster/network/transport",    "/cluster/intra_network/bus",
    "/workload/measured/gpus",       "/training/reduced_precision",
    "/communication/host_reduction", "/training/outer_network/transport"};

} // namespace

void set_conditions(ConditionsKind kind, io::Json& tree) {
  io::assign(tree, "/conditions/kind", kConditionsKinds[kind]);
  for (const std::string_view pointer : kOnlyTypical) {
    if (kind == ConditionsKind::ideal && io::resolve(tree, pointer) != nullptr) {
      io::assign(tree, pointer, nullptr);
    }
  }
}

void add_conditions_rules(std::vector<KeyRule>& all) {
  constexpr std::string_view kWhen = "conditions are typical";
  const auto ideal = [](const Scenario&) { return std::string("ideal conditions"); };
  for (const std::string_view pointer : kOnlyTypical) {
    all.push_back({pointer, kWhen, is_typical, ideal});
  }
  all.push_back({"/communication/host_reduction", "ranks add the gradients, by no library",
                 [](const Scenario& s) {
                   return s.communication.collective !=
                              collectives::AlgorithmId::parameter_server &&
                          !s.communication.question;
                 },
                 [](const Scenario& s) {
                   return "collective " + std::string(collective_word(s.communication));
                 }});
}

} // namespace stepsim::study
