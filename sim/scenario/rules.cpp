// The feature matrix at work: keys that have no meaning beside the others are refused, or left out
// of the resolved scenario.
#include "scenario/rules.hpp"

#include "base/quantity.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/validate.hpp"
#include "document/json_text.hpp"
#include "scenario/compression/compression_words.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

// Latency and bandwidth may be in the file for other runs; a measured exchange takes their place.
constexpr std::array<std::string_view, 6> kLinkKeys{
    kNetworkPointer<&Network::latency_s>,       kNetworkPointer<&Network::delay_s>,
    kNetworkPointer<&Network::bandwidth_Bps>,   kNetworkPointer<&Network::efficiency>,
    kNetworkPointer<&Network::block_latency_s>, kNetworkPointer<&Network::reduction_Bps>};

// Beside none, keys of compressions wait for another method.
bool waits(const Scenario& scenario, std::string_view pointer) {
  return pointer.starts_with("/communication/compression/") && !is_compressed(scenario);
}

// What the link does counts for nothing where exchanges have given times.
bool ignores_link(const Scenario& scenario) {
  return has_curve(scenario) && !is_simulated(scenario);
}

// Only a warning: the same file may be run with and without a measured exchange.
void warn_of_link(const io::Json& tree, Scenario& scenario) {
  if (!ignores_link(scenario)) {
    return;
  }
  std::string unused;
  const bool library = scenario.communication.question.has_value();
  for (const std::string_view pointer : kLinkKeys) {
    const bool takes = library && (pointer == kNetworkPointer<&Network::bandwidth_Bps> ||
                                   pointer == kNetworkPointer<&Network::efficiency>);
    if (is_given(tree, pointer) && !takes) {
      unused += (unused.empty() ? "" : ", ") + std::string(pointer);
    }
  }
  if (!unused.empty()) {
    scenario.warnings.push_back(
        fmt::format("{}{} no effect: the times of {} count", unused,
                    unused.find(',') == std::string::npos ? " has" : " have",
                    scenario.training.exchange ? "exchanges of a given exchange_s"
                    : library                  ? "exchanges by the model of a library"
                                               : "measured exchanges"));
  }
}

// Interfaces that no GPU uses cost money and change nothing.
void warn_of_interfaces(Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (cluster.nics_per_node > cluster.gpus_per_node) {
    scenario.warnings.push_back(unused_interfaces(cluster.nics_per_node, cluster.gpus_per_node));
  } else if (cluster.nics_per_node > 1 &&
             scenario.communication.collective == collectives::AlgorithmId::hierarchical_leader) {
    scenario.warnings.push_back("unused_nics: nics_per_node is " +
                                std::to_string(cluster.nics_per_node) +
                                ", but hierarchical_leader sends through one interface of a node");
  }
  if (scenario.communication.compression.method ==
          collectives::CompressionMethod::hierarchical_topk &&
      cluster.nics_per_node < cluster.gpus_per_node) {
    scenario.warnings.push_back(
        fmt::format("own_cards: the formula of hierarchical_topk gives each of the {} GPUs of a "
                    "node a network card of its own, of which there are {}: exchanges between "
                    "nodes take up to {} times as long",
                    cluster.gpus_per_node, cluster.nics_per_node,
                    (cluster.gpus_per_node + cluster.nics_per_node - 1) / cluster.nics_per_node));
  }
}

// The model of a library takes a rate for what messages reach, which few lines of TCP have.
void warn_of_tcp(const io::Json& tree, Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const std::string_view pointer = kNetworkPointer<&Network::bandwidth_Bps>;
  const double reached = scenario.conditions.factors[static_cast<std::size_t>(Factor::c_tcp)].value;
  if (scenario.communication.question && is_typical(scenario) && is_given(tree, pointer) &&
      cluster.network.carrier.value_or(Carrier::rdma) != Carrier::rdma &&
      cluster.network.bandwidth_Bps * static_cast<double>(cluster.nics_of_domain()) > reached) {
    scenario.warnings.push_back(
        fmt::format("rate_of_tcp: the model of a library takes {} for the rate that messages "
                    "reach; a ring over TCP was found to reach {} a machine (c_tcp)",
                    pointer, base::readable_rate(reached)));
  }
}

// The pointer of a value that the rules of collectives name.
std::string pointer_of(const std::string& what) {
  return what == "algorithm"         ? "/communication/collective"
         : what == "pipeline_chunks" ? "/communication/pipeline_chunks"
                                     : "/cluster/" + what;
}

// What an algorithm over nodes asks of the cluster, also for the dense run beside a compressed one.
void check_nodes(const io::Json& tree, const ParseContext& context, const Scenario& scenario) {
  if (!context.problems.empty()) {
    return;
  }
  collectives::Collective exchange = exchange_of(scenario);
  if (collectives::is_two_level(exchange.algorithm)) {
    for (const collectives::Finding& finding : collectives::validate_nodes(exchange)) {
      context.problems.add(tree, pointer_of(finding.what) + ": " + finding.message);
    }
  }
  // Of those that auto chooses from, each must run.
  if (exchange.algorithm == collectives::AlgorithmId::automatic) {
    for (const collectives::AlgorithmId candidate : exchange.options.candidates) {
      if (const auto finding = collectives::candidate_finding(exchange, candidate)) {
        context.problems.add(tree, "/communication/candidates: " + *finding);
      }
    }
  }
}

// Conditions that a reader enforces, in the words that `stepsim keys` prints.
struct Condition {
  std::string_view pointer;
  std::string_view when;
};
// Conditions that are checked where the key is read.
constexpr std::array kConditions{
    Condition{"/cluster/network/packet/buffer/packets", "the scope is port"},
    Condition{"/cluster/network/packet/buffer/bytes", "the scope is port or shared"},
    Condition{"/cluster/network/packet/buffer/alpha", "the scope is shared"},
    Condition{"/communication/compression/iterations_per_epoch", "density_warmup is given"},
    Condition{"/communication/dear_layers", "bucket_bytes is not given"},
};

// The rest of `pointer` below `parent`, or empty.
std::string_view below(std::string_view pointer, std::string_view parent) {
  return pointer.starts_with(parent) ? pointer.substr(parent.size()) : std::string_view();
}

} // namespace

bool is_given(const io::Json& tree, std::string_view pointer) {
  const io::Json* found = io::resolve(tree, pointer);
  return found != nullptr && !found->is_null();
}

// As is_given(), but null is a value of a threshold: there is none.
static bool is_set(const io::Json& tree, std::string_view pointer) {
  return is_given(tree, pointer) ||
         (pointer.ends_with("/mark_packets") && io::resolve(tree, pointer) != nullptr);
}

// All conditions of a key must hold; the first that fails is the reason.
std::vector<MeaninglessKey> meaningless_keys(const io::Json& tree, const Scenario& scenario) {
  std::vector<MeaninglessKey> keys;
  for (const KeyRule& rule : key_rules()) {
    const bool known = std::ranges::any_of(keys, [&](const MeaninglessKey& each) {
      return each.pointer == rule.pointer && each.reason.find(" has no ") != std::string::npos;
    });
    if (!known && !rule.meaningful(scenario) && !waits(scenario, rule.pointer) &&
        is_set(tree, rule.pointer)) {
      const std::string_view key = rule.pointer.substr(rule.pointer.rfind('/') + 1);
      const std::string where = rule.where(scenario);
      keys.push_back({std::string(rule.pointer),
                      rule.of_one_algorithm ? fmt::format("applies to {} only", where)
                                            : fmt::format("{} has no meaning for {}", key, where)});
    }
  }
  return keys;
}

void check_meaning(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  if (context.leftovers == Leftovers::refuse) {
    for (const MeaninglessKey& key : meaningless_keys(tree, scenario)) {
      const std::size_t slash = key.pointer.rfind('/');
      const io::Json* parent = io::resolve(tree, key.pointer.substr(0, slash));
      context.problems.add(*parent, key.pointer.substr(slash + 1), key.reason);
    }
  }
  check_nodes(tree, context, scenario);
  warn_of_link(tree, scenario);
  warn_of_interfaces(scenario);
  warn_of_tcp(tree, scenario);
}

void drop_key(io::Json& tree, std::string_view pointer) {
  io::Json* parent = io::resolve(tree, pointer.substr(0, pointer.rfind('/')));
  if (parent != nullptr && parent->is_object()) {
    const std::string key = io::pointer_tokens(pointer).back();
    std::erase_if(parent->as_object(), [&](const auto& entry) { return entry.first == key; });
  }
}

// The same rules in the other direction, so that a resolved scenario can be read again without an
// error.
void drop_meaningless(const Scenario& scenario, io::Json& tree) {
  for (const KeyRule& rule : key_rules()) {
    if (!rule.meaningful(scenario)) {
      drop_key(tree, rule.pointer);
    }
  }
  if (ignores_link(scenario) && scenario.cluster.network.curve) {
    drop_key(tree, "/cluster/network/reduction_Bps");
  }
}

// The matrix is spread over the tables that own its parts (algorithms, schedules, compressions,
// transports); here they are asked one after the other.
std::vector<std::string> conditions(std::string_view pointer) {
  std::vector<std::string> all;
  const auto add = [&](std::string text) {
    if (std::ranges::find(all, text) == all.end()) {
      all.push_back(std::move(text));
    }
  };
  if (std::ranges::find(kModelKeys, below(pointer, "/workload/")) != kModelKeys.end()) {
    add("the workload is a model");
  }
  const auto add_names = [&](std::string_view what, const std::vector<std::string_view>& names) {
    if (!names.empty()) {
      add(fmt::format("the {} is {}", what, base::joined(names, " or ")));
    }
  };
  add_names("schedule", base::names_where(buckets::planners(), [&](const buckets::Planner& each) {
              return each.has(below(pointer, "/communication/"));
            }));
  add_names("method", base::names_where(collectives::compression_table(), [&](const auto& row) {
              return collectives::has_key(row, below(pointer, "/communication/compression/"));
            }));
  const std::string_view of_costs = below(pointer, "/communication/compression/costs/");
  if (!of_costs.empty() && in_form(of_costs, false) != in_form(of_costs, true)) {
    add("the form is " + std::string(links::kSelectForms[in_form(of_costs, true) ? 1 : 0]));
  }
  add_names("transport", transports_with(below(pointer, "/cluster/network/packet/transport/")));
  for (const Condition& condition : kConditions) {
    if (condition.pointer == pointer) {
      add(std::string(condition.when));
    }
  }
  for (const KeyRule& rule : key_rules()) {
    if (rule.pointer == pointer) {
      add(std::string(rule.when));
    }
  }
  return all;
}

void ParseContext::needs_meaning(io::Fields& fields, std::string_view key, bool meaningful,
                                 std::string_view where) const {
  if (!meaningful && leftovers == Leftovers::refuse && fields.has(key)) {
    fields.refuse(key, std::string(key) + " has no meaning for " + std::string(where));
  }
}

Scenario without_leftovers(io::Json& tree, Files& files,
                           const std::function<bool(std::string_view pointer)>& may,
                           std::vector<MeaninglessKey>& dropped) {
  for (;;) {
    try {
      return parse_scenario(tree, files);
    } catch (const InputError& error) {
      const std::size_t before = dropped.size();
      for (const base::Problem& problem : error.problems()) {
        const bool meaningless = problem.message.find("no meaning") != std::string::npos;
        // The scenario may lie inside a result.
        const std::string where = problem.where.starts_with(tree.pointer())
                                      ? problem.where.substr(tree.pointer().size())
                                      : problem.where;
        if (meaningless && is_given(tree, where) && may(where)) {
          dropped.push_back({where, problem.message});
          drop_key(tree, where);
        }
      }
      if (dropped.size() == before) {
        throw;
      }
    }
  }
}

} // namespace stepsim::study
