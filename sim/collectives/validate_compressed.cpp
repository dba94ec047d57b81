// What SPA 14 refuses of a compressed exchange.
#include "collectives/validate_compressed.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "base/number_text.hpp"
#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/compress/compressed_formulas.hpp"
#include "collectives/compress/compressed_time.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/record.hpp"
#include "collectives/validate.hpp"

namespace stepsim::collectives {
namespace {

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
  std::int64_t values = 0;
  for (const MatrixShape& shape : shapes) {
    values += shape.rows * shape.columns;
  }
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
  }
}

} // namespace

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
  } else if (base.links.fabric && asked != AskedMethod::automatic && asked != AskedMethod::events) {
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
