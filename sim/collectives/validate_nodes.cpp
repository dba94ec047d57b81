#include "collectives/validate_nodes.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "base/nearest.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/formula/node_shape.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/schedule/in_switch.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {
namespace {

// "1, 2, 4 or 8"
std::string divisors(std::uint32_t number) {
  std::vector<std::string> words;
  for (std::uint32_t each = 1; each <= number; ++each) {
    if (number % each == 0) {
      words.push_back(std::to_string(each));
    }
  }
  return base::joined(std::vector<std::string_view>(words.begin(), words.end()), " or ");
}

// Listed numbers of ranks per node; everything else relies on them.
void check_counts(std::vector<Finding>& findings, const Collective& collective) {
  static const std::vector<std::uint32_t> kNone;
  const auto& levels = collective.links.two_level;
  const std::vector<std::uint32_t>& counts = levels ? levels->ranks_per_node : kNone;
  std::uint64_t sum = 0;
  for (std::size_t node = 0; node < counts.size(); ++node) {
    sum += counts[node];
    if (counts[node] < 1) {
      findings.push_back(
          {"ranks_per_node/" + std::to_string(node), "must be an integer >= 1, got 0"});
    }
  }
  if (!counts.empty() && sum != collective.ranks) {
    findings.push_back({"ranks_per_node", "adds up to " + std::to_string(sum) +
                                              " ranks, but there are " +
                                              std::to_string(collective.ranks)});
  }
  if (findings.empty() && !counts.empty() && needs_equal_nodes(collective) &&
      !NodeRanks(collective).equal()) {
    findings.push_back(
        {"ranks_per_node",
         std::string(name(collective.algorithm)) + " needs as many ranks on every node; use " +
             (collective.op == Op::allreduce ? "hierarchical_leader, or " : "") +
             (collective.op == Op::alltoall ? "equal counts" : "ring on one card of a node")});
  }
}

// What the algorithms over nodes ask of the cluster (CLU 3, 5, 13).
void check_nodes(std::vector<Finding>& findings, const Collective& collective) {
  const Algorithm& row = algorithm(collective.algorithm);
  const TwoLevel two = collective.links.two_level.value_or(TwoLevel{});
  if (!row.two_level || has_level_algorithms(row.id) || two.gpus_per_node < 1 ||
      two.nics_per_node < 1) {
    return;
  }
  const std::string word(row.name);
  const NodeShape shape = node_shape(collective);
  if (!shape.equal_nodes) {
    return; // a finding already
  }
  if (row.in_switch) {
    if (auto problem = in_switch_problem(collective)) {
      findings.push_back({"algorithm", std::move(*problem)});
    }
  } else if (row.id == kRingRails && collective.links.fabric) {
    findings.push_back({"algorithm", "ring_rails needs the cards of a node as nics_per_node; a "
                                     "topology has its own cables: use two_level"});
  } else if (row.id == kRingRails && shape.nodes > 1 && shape.gpus % shape.cards != 0) {
    findings.push_back(
        {"nics_per_node", "ring_rails needs nics_per_node (" + std::to_string(shape.cards) +
                              ") to divide gpus_per_node (" + std::to_string(shape.gpus) +
                              "); use " + divisors(shape.gpus)});
  }
}

void check_chunks(std::vector<Finding>& findings, const Collective& collective) {
  const std::optional<std::uint32_t>& chunks = collective.options.pipeline_chunks;
  if (chunks && (*chunks < 1 || *chunks > kMostChunks)) {
    findings.push_back({"pipeline_chunks", "must be 1 to " + std::to_string(kMostChunks) +
                                               ", got " + std::to_string(*chunks)});
  } else if (chunks != 1U && !takes_chunks(collective.algorithm, collective.op)) {
    findings.push_back({"pipeline_chunks", std::string(name(collective.op)) + " by " +
                                               std::string(name(collective.algorithm)) +
                                               " is not cut into chunks; two_level and collnet "
                                               "are, but for broadcast and reduce"});
  } else if (chunks != 1U && collective.links.fabric) {
    findings.push_back({"pipeline_chunks", "must be 1 on a topology, where chunks of different "
                                           "levels would share cables"});
  }
}

} // namespace

std::vector<Finding> validate_nodes(const Collective& collective) {
  std::vector<Finding> findings;
  check_counts(findings, collective);
  if (findings.empty()) {
    check_nodes(findings, collective);
  }
  check_chunks(findings, collective);
  return findings;
}

} // namespace stepsim::collectives
