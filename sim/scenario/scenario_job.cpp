#include "scenario/scenario_parts.hpp"

#include "collectives/algorithms.hpp"
#include "document/json_text.hpp"
#include "scenario/keys/job_keys.hpp"
#include "scenario/keys/workload_keys.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

void parse_job(io::Fields& fields, Scenario& scenario) {
  Job& job = scenario.job;
  io::read_bound(keys::kJobRows, fields, job);
  if (job.samples && job.tokens) {
    fields.refuse("tokens", "give samples or tokens, not both");
  }
  if (job.tokens && !job.tokens_per_sample) {
    job.tokens_per_sample = scenario.workload_source.tokens;
    if (!job.tokens_per_sample) {
      fields.refuse("tokens", "needs tokens_per_sample: this workload has no length of a sequence");
    }
  }
  const auto& node = scenario.cluster.node;
  if ((job.samples || job.tokens) && !job.price_per_gpu_hour && node) {
    job.price_per_gpu_hour = node->price_per_gpu_hour;
  }
  for (const auto& [key, value] : {std::pair{std::string_view("checkpoint_s"), job.checkpoint_s},
                                   std::pair{std::string_view("restart_s"), job.restart_s}}) {
    if (job.node_mtbf_s && !value) {
      fields.refuse(key, "required with node_mtbf_s");
    }
  }
}

namespace {

bool has_one_job(const Scenario& s) { return s.other_jobs.empty(); }
bool has_batch(const Scenario& s) { return s.workload.batch_size.has_value(); }
bool has_end(const Scenario& s) { return s.job.samples || s.job.tokens; }
bool has_tokens(const Scenario& s) { return s.job.tokens.has_value(); }
bool fails(const Scenario& s) { return s.job.node_mtbf_s.has_value(); }
std::string batch_word(const Scenario&) { return "a workload without batch_size"; }
std::string failure_word(const Scenario&) { return "machines that never fail: no node_mtbf_s"; }

constexpr std::array kJobRules{
    KeyRule{"/job", "the scenario has one job", has_one_job,
            [](const Scenario&) { return std::string("several jobs"); }},
    KeyRule{"/job/samples /job/tokens", "the workload has a batch size", has_batch, batch_word},
    KeyRule{"/job/tokens_per_sample", "tokens is given", has_tokens,
            [](const Scenario&) { return std::string("a training without tokens"); }},
    KeyRule{"/job/price_per_gpu_hour", "samples or tokens is given", has_end,
            [](const Scenario&) { return std::string("a training without samples and tokens"); }},
    KeyRule{"/job/checkpoint_s /job/restart_s", "node_mtbf_s is given", fails, failure_word},
};

} // namespace

std::span<const KeyRule> job_rules() { return kJobRules; }

// Several training jobs on one fabric: `workload` is a list.
// Only the first job has the full scenario around it; of the others the workload is kept and the
// nodes, and run/network_setup.cpp makes scenarios of them when they run.

// A job differs from the others in its workload and its nodes; cluster, training and communication
// are common to all.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario) {
  const auto& list = top.array("workload", true);
  if (list.empty()) {
    top.refuse("workload", "needs at least one job");
  }
  for (std::size_t j = 0; j < list.size(); ++j) {
    io::Fields fields(list[j], context.problems, keys::kJobs.front());
    Scenario job; // for its workload alone
    const std::int64_t nodes = fields.integer("nodes");
    parse_workload(fields, context, job);
    fields.no_more();
    if (j == 0) {
      scenario.workload_source = std::move(job.workload_source);
      scenario.workload = std::move(job.workload);
      scenario.first_job_nodes = nodes;
    } else {
      scenario.other_jobs.push_back(
          {std::move(job.workload_source), std::move(job.workload), nodes});
    }
  }
}

// Servers and even ranks are asked of every job by itself, because every job runs the collective
// among its own workers.
void check_jobs(const io::Json& tree, io::Problems& problems, Scenario& scenario) {
  const io::Json* place = tree.find("workload");
  if (place == nullptr || !place->is_array()) {
    scenario.first_job_nodes = scenario.cluster.nodes;
    return;
  }
  require_equal_nodes(scenario.cluster, "a list of jobs", *place, problems);
  std::int64_t nodes = scenario.first_job_nodes;
  std::int64_t smallest = scenario.first_job_nodes;
  for (const OtherJob& job : scenario.other_jobs) {
    nodes += job.nodes;
    smallest = std::min(smallest, job.nodes);
  }
  const collectives::Options& options = scenario.communication.options;
  const std::int64_t workers = smallest * scenario.cluster.gpus_per_node;
  if (scenario.communication.collective == collectives::AlgorithmId::parameter_server &&
      options.placement == collectives::Placement::colocated && options.servers > workers) {
    problems.add(*io::resolve(tree, "/training"), "servers",
                 "every job has its own, on its workers: at most " + std::to_string(workers) +
                     ", as the smallest job has, got " + std::to_string(options.servers));
  }
  std::vector<std::int64_t> counts{scenario.first_job_nodes};
  for (const OtherJob& job : scenario.other_jobs) {
    counts.push_back(job.nodes);
  }
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const std::int64_t ranks = counts[j] * scenario.cluster.gpus_per_node;
    if (!collectives::takes_ranks(scenario.communication.collective,
                                  static_cast<std::uint32_t>(ranks))) {
      problems.add(place->as_array()[j], "nodes",
                   std::string(collectives::name(scenario.communication.collective)) +
                       " needs an even number of ranks, this job has " + std::to_string(ranks));
    }
  }
  if (nodes != scenario.cluster.nodes) {
    problems.add(*place, "the jobs have " + std::to_string(nodes) + " nodes, the cluster " +
                             std::to_string(scenario.cluster.nodes));
  }
  if (scenario.cluster.network.model == NetworkModel::alpha_beta) {
    problems.add(*place, "a list of jobs needs network model flow or packet");
  }
}

} // namespace stepsim::study
