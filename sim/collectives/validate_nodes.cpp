#include "collectives/validate.hpp"

#include "base/quantity.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/compress/exchange_builder.hpp"
#include "collectives/node_ranks.hpp"
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

// Everything else relies on equal nodes.
void check_counts(std::vector<Finding>& findings, const Collective& collective) {
  const auto& levels = collective.links.two_level;
  if (levels && !levels->ranks_per_node.empty() && needs_equal_nodes(collective) &&
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
  if (!row.two_level || has_level_algorithms(row.id)) {
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
  if (chunks != 1U && !takes_chunks(collective.algorithm, collective.op)) {
    findings.push_back({"pipeline_chunks", std::string(name(collective.op)) + " by " +
                                               std::string(name(collective.algorithm)) +
                                               " is not cut into chunks; two_level and collnet "
                                               "are, but for broadcast and reduce"});
  } else if (chunks != 1U && collective.links.fabric) {
    findings.push_back({"pipeline_chunks", "must be 1 on a topology, where chunks of different "
                                           "levels would share cables"});
  }
}

// What SPA 14 refuses of a compressed exchange.

using FoundIn = std::vector<Finding>;

void check_elements(FoundIn& findings, const Compression& compression, double bytes) {
  const auto value = static_cast<double>(compression.value_bytes);
  if (std::fmod(bytes, value) != 0) {
    findings.push_back({"bytes", base::shortest(bytes) + " bytes is not a whole number of " +
                                     std::to_string(compression.value_bytes) + "-byte values"});
  }
  const auto elements = static_cast<std::int64_t>(bytes / value);
  constexpr std::int64_t kLargestIndexed = std::int64_t{1} << 32;
  if (has_key(row(compression.method), "index_bytes") && elements > kLargestIndexed &&
      compression.index_bytes <= 4) {
    findings.push_back({"index_bytes", std::to_string(elements) + " elements need index_bytes 8"});
  }
  if (compression.k && elements > 0 && (*compression.k < 1 || *compression.k > elements)) {
    findings.push_back({"k", "must be in [1, " + std::to_string(elements) + "], got " +
                                 std::to_string(*compression.k)});
  }
}

// Shapes cut the gradient into matrices; together they are all of it.
void check_shapes(FoundIn& findings, const std::vector<MatrixShape>& shapes,
                  std::int64_t elements) {
  const std::int64_t values = base::sum_of<std::int64_t>(
      shapes, [](const MatrixShape& shape) { return shape.rows * shape.columns; });
  if (!shapes.empty() && values != elements) {
    findings.push_back({"shapes", "the shapes hold " + std::to_string(values) +
                                      " values, the bytes " + std::to_string(elements)});
  }
}

// What depends on the ranks and nodes, so that no schema can say it.
void check_method(FoundIn& findings, const Compression& compression, const Collective& base) {
  const CompressionRow& method = row(compression.method);
  if (has_key(method, "allgather") &&
      compression.allgather == SparseAllgather::recursive_doubling &&
      !std::has_single_bit(base.ranks)) {
    findings.push_back({"allgather", "recursive_doubling needs a power-of-two rank count, got " +
                                         std::to_string(base.ranks) + "; use bruck, ring or auto"});
  }
  if (compression.method == CompressionMethod::hierarchical_topk) {
    const std::uint32_t gpus = base.links.two_level ? base.links.two_level->gpus_per_node : 1;
    if (base.links.fabric) {
      findings.push_back({"algorithm", "hierarchical_topk is not defined on a topology"});
    } else if (gpus < 2 || base.ranks < 2 * gpus) {
      findings.push_back(
          {"gpus_per_node", "hierarchical_topk needs at least 2 nodes and 2 GPUs per node"});
    } else if (!base.links.two_level->ranks_per_node.empty()) {
      if (!NodeRanks(base).equal()) {
        findings.push_back(
            {"ranks_per_node", "hierarchical_topk needs as many ranks on every node"});
      }
    } else if (base.ranks % gpus != 0) {
      findings.push_back({"gpus_per_node", std::to_string(base.ranks) +
                                               " ranks are no multiple of " + std::to_string(gpus) +
                                               " per node"});
    }
    if (!base.links.pairs.empty()) {
      findings.push_back({"algorithm", "hierarchical_topk needs equal links between nodes"});
    }
  }
  if (compression.method == CompressionMethod::custom &&
      compression.custom.exchange == CustomExchange::server && base.links.fabric) {
    findings.push_back({"exchange", "server is not defined on a topology"});
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

std::vector<Finding> validate(const Compression& compression,
                              const std::vector<MatrixShape>& shapes, const Collective& base,
                              AskedMethod asked) {
  // Of an impossible base nothing more is said: the checks of the method divide by its values.
  FoundIn findings = validate(base);
  if (!findings.empty()) {
    return findings;
  }
  check_elements(findings, compression, base.bytes);
  const auto elements =
      static_cast<std::int64_t>(base.bytes / static_cast<double>(compression.value_bytes));
  check_shapes(findings, shapes, elements);
  check_method(findings, compression, base);
  const std::string name(row(compression.method).name);
  const bool simulated = row(compression.method).simulated;
  if (!simulated && (asked == AskedMethod::max_plus || asked == AskedMethod::events)) {
    findings.push_back({"method", name + ": only the closed form is available"});
  }
  if (!findings.empty()) {
    return findings;
  }
  // Whether the asked method can answer, with what to ask instead.
  if (base.links.fabric && !simulated) {
    findings.push_back({"method", name + " is a formula, which knows no topology"});
  } else if (base.links.fabric &&
             (asked == AskedMethod::closed_form || asked == AskedMethod::max_plus)) {
    findings.push_back({"method", "only events knows a topology; use --method events"});
  } else if (!simulated && !formula_cost(base)) {
    findings.push_back({"method", name + " has no closed form at these values"});
  } else if (simulated && asked == AskedMethod::closed_form &&
             !closed_form_seconds(compressed_exchange(compression, {elements, shapes}, base))) {
    findings.push_back(
        {"method", name + " has no closed form at these values; use --method max_plus"});
  }
  return findings;
}

} // namespace stepsim::collectives
