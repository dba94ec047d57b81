// Checks what evaluators rely on beyond the ranges of single values. All findings are collected,
// each with its key, so that a file with three errors can be mended in one go.
#include "collectives/validate.hpp"

#include "base/quantity.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/evaluate/server_flows.hpp"

namespace stepsim::collectives {
namespace {

using Findings = std::vector<Finding>;

std::string item(const std::string& list, std::size_t index) {
  return list + "/" + std::to_string(index);
}

void check_link(Findings& findings, const std::string& prefix, const LinkCost& cost) {
  if (!(cost.per_byte_s > 0) || std::isinf(cost.per_byte_s)) {
    findings.push_back({prefix + "bandwidth_Bps", "must be > 0, with a finite time per byte"});
  }
  if (cost.block_latency_s > cost.latency_s) {
    findings.push_back({prefix + "block_latency_s", "per-block latency must not exceed latency_s " +
                                                        base::shortest(cost.latency_s) + ", got " +
                                                        base::shortest(cost.block_latency_s)});
  }
}

// "mst, be, lp"
template <class Keep> std::string list_algorithms(Op op, Keep keep) {
  std::string list;
  for (const AlgorithmRow& row : algorithm_table()) {
    if (row.op == op && keep(row)) {
      list += (list.empty() ? "" : ", ") + std::string(name(row.algorithm));
    }
  }
  return list.empty() ? "none" : list;
}

void check_size(Findings& findings, const Collective& collective) {
  const double bytes = collective.bytes;
  const std::int64_t element = collective.options.element_bytes;
  if (bytes > static_cast<double>(base::kMaxExactBytes)) {
    findings.push_back({"bytes", "must be at most 2^53 bytes, got " + base::shortest(bytes)});
  } else if (std::fmod(bytes, static_cast<double>(element)) != 0) {
    findings.push_back({"bytes", base::shortest(bytes) +
                                     " bytes are not a multiple of element_bytes " +
                                     std::to_string(element)});
  }
}

// The levels of a two-level algorithm are collectives of a single level: another hierarchy inside
// them is not defined.
void check_flat(Findings& findings, const std::string& what, AlgorithmId algorithm,
                std::initializer_list<Op> ops) {
  const auto flat = [](const AlgorithmRow& row) { return row.candidate == Candidate::always; };
  for (const Op op : ops) {
    const AlgorithmRow* row = find_algorithm(op, algorithm);
    if (row == nullptr || !flat(*row)) {
      findings.push_back({what, "must be one of " + list_algorithms(op, flat) + ", got " +
                                    std::string(name(algorithm))});
      return;
    }
  }
}

// A fabric may be all there is: `all` then costs nothing. It has a host for every rank.
void check_fabric(Findings& findings, const Collective& collective) {
  const Links& links = collective.links;
  for (const auto& [what, delay] :
       {std::pair("delay_s", links.all.delay_s),
        std::pair("intra_delay_s", links.two_level ? links.two_level->intra.delay_s : 0)}) {
    if (delay != 0) {
      findings.push_back({what, "has no meaning on a topology, where latency_s is such a delay "
                                "already"});
    }
  }
  if (collective.options.cost_form != CostForm::exact) {
    findings.push_back({"cost_form", "must be exact on a topology, which has no formulas"});
  }
  const bool servers = collective.algorithm == AlgorithmId::parameter_server &&
                       collective.options.placement == Placement::dedicated;
  const std::size_t ends = collective.ranks + (servers ? collective.options.servers : 0);
  if (links.fabric->hosts.size() < ends) {
    findings.push_back({"ranks", std::to_string(ends) + (servers ? " workers and servers" : "") +
                                     " on " + std::to_string(links.fabric->hosts.size()) +
                                     " hosts of the topology"});
  }
}

void check_two_level(Findings& findings, const Collective& collective) {
  if (!collective.links.two_level) {
    return;
  }
  const TwoLevel& two = *collective.links.two_level;
  // A rank that has its node or host alone uses no link inside it.
  const bool used = !collective.links.fabric && two.gpus_per_node > 1;
  if (used || two.intra.per_byte_s != 0) {
    check_link(findings, "intra_", two.intra);
  }
  if (two.ranks_per_node.empty() && needs_equal_nodes(collective) &&
      collective.ranks > two.gpus_per_node && collective.ranks % two.gpus_per_node != 0) {
    findings.push_back(
        {"gpus_per_node", std::to_string(collective.ranks) + " ranks are no multiple of " +
                              std::to_string(two.gpus_per_node) + " per node" +
                              (collective.op == Op::allreduce ? "; use hierarchical_leader" : "")});
  }
}

std::optional<std::string> odd_ranks(AlgorithmId id, std::uint32_t ranks) {
  return takes_ranks(id, ranks)
             ? std::nullopt
             : std::optional(std::string(name(id)) + " needs an even number of ranks, got " +
                             std::to_string(ranks));
}

void check_algorithm(Findings& findings, const Collective& collective) {
  const Options& options = collective.options;
  const AlgorithmRow* row = find_algorithm(collective.op, collective.algorithm);
  const bool automatic = collective.algorithm == AlgorithmId::automatic;
  if (row == nullptr && !automatic) {
    findings.push_back(
        {"algorithm", std::string(name(collective.algorithm)) + " is not defined for " +
                          std::string(name(collective.op)) + "; valid: " +
                          list_algorithms(collective.op, [](const auto&) { return true; })});
    return;
  }
  if (options.cost_form != CostForm::exact && !collective.links.fabric &&
      !collective.homogeneous()) {
    findings.push_back({"cost_form", "must be exact: formulas need identical ranks and links"});
  } else if (options.cost_form != CostForm::exact) {
    const bool paper = options.cost_form == CostForm::paper;
    const auto has = [&](const AlgorithmRow& candidate) {
      return (paper ? candidate.paper : candidate.ideal) != nullptr;
    };
    if (automatic || !has(*row)) {
      findings.push_back({"cost_form", std::string(name(collective.algorithm)) + " has no " +
                                           (paper ? "paper" : "ideal") +
                                           " form; valid: " + list_algorithms(collective.op, has)});
    }
  }
  if (has_level_algorithms(collective.algorithm)) {
    check_flat(findings, "inter_algorithm", options.inter_algorithm, {Op::allreduce});
  }
  if (collective.algorithm == AlgorithmId::hierarchical_leader) {
    check_flat(findings, "intra_algorithm", options.intra_algorithm, {Op::reduce, Op::broadcast});
  }
  if (auto odd = odd_ranks(collective.algorithm, collective.ranks)) {
    findings.push_back({"ranks", *std::move(odd)});
  }
  if (collective.algorithm == AlgorithmId::parameter_server) {
    const Links& links = collective.links;
    if (!links.fabric && (links.pairs_only || !links.pairs.empty())) {
      findings.push_back({"algorithm", "parameter_server needs equal links between nodes"});
    }
    if (options.placement == Placement::colocated && options.servers > collective.ranks) {
      findings.push_back({"servers", "colocated servers must be 1 to " +
                                         std::to_string(collective.ranks) + ", got " +
                                         std::to_string(options.servers)});
    }
  }
}

} // namespace

std::optional<std::string> candidate_finding(Op op, AlgorithmId algorithm) {
  const auto is_candidate = [](const AlgorithmRow& row) {
    return row.algorithm != AlgorithmId::parameter_server;
  };
  const AlgorithmRow* row = find_algorithm(op, algorithm);
  if (row != nullptr && is_candidate(*row)) {
    return std::nullopt;
  }
  return std::string(name(algorithm)) + " is no candidate for " + std::string(name(op)) +
         "; valid: " + list_algorithms(op, is_candidate);
}

std::optional<std::string> candidate_finding(const Collective& collective, AlgorithmId algorithm) {
  if (auto finding = candidate_finding(collective.op, algorithm)) {
    return finding;
  }
  Collective tried = collective;
  tried.algorithm = algorithm;
  tried.options.candidates.clear();
  const Findings findings = validate_nodes(tried);
  return findings.empty() ? odd_ranks(algorithm, collective.ranks)
                          : std::optional(findings.front().message);
}

std::vector<Finding> validate(const Collective& collective) {
  Findings findings;
  check_size(findings, collective);
  check_algorithm(findings, collective);
  if (collective.root >= collective.ranks) {
    findings.push_back({"root", "must be 0 to " + std::to_string(collective.ranks - 1) + ", got " +
                                    std::to_string(collective.root)});
  }
  if (collective.links.fabric) {
    check_fabric(findings, collective);
  } else if (!collective.links.pairs_only) {
    check_link(findings, "", collective.links.all);
  }
  for (std::size_t i = 0; i < collective.links.pairs.size(); ++i) {
    check_link(findings, item("links", i) + "/", collective.links.pairs[i].cost);
  }
  check_two_level(findings, collective);
  if (findings.empty()) {
    findings = validate_nodes(collective);
  }
  const bool tries = findings.empty() && collective.algorithm == AlgorithmId::automatic;
  for (std::size_t i = 0; tries && i < collective.options.candidates.size(); ++i) {
    if (auto finding = candidate_finding(collective, collective.options.candidates[i])) {
      findings.push_back({item("candidates", i), *std::move(finding)});
    }
  }
  if (!collective.sizes.empty() && collective.op != Op::allgatherv) {
    findings.push_back(
        {"sizes", "only allgatherv has sizes per rank, not " + std::string(name(collective.op))});
  }
  return findings;
}

std::vector<Finding> validate(const Collective& collective, AskedMethod asked) {
  Findings findings = validate(collective);
  if (findings.empty() && collective.links.fabric &&
      (asked == AskedMethod::closed_form || asked == AskedMethod::max_plus)) {
    findings.push_back({"method", "only events knows a topology; use --method events"});
  }
  if (findings.empty() && takes_measured_steps(collective) &&
      (asked == AskedMethod::closed_form || asked == AskedMethod::events)) {
    findings.push_back({"method", "only max_plus knows the duplex factors of a calibration; use "
                                  "--method max_plus"});
  }
  if (findings.empty() && asked == AskedMethod::max_plus && !max_plus_defined(collective)) {
    findings.push_back({"method", no_max_plus(collective)});
  }
  if (!findings.empty() || asked != AskedMethod::closed_form) {
    return findings;
  }
  if (!collective.homogeneous()) {
    findings.push_back({"method", "the closed form needs identical ranks entering together; use "
                                  "--method max_plus"});
  } else if (const Collective chosen = with_chosen_algorithm(collective); !closed_form(chosen)) {
    findings.push_back({"method", std::string(name(chosen.algorithm)) + " " +
                                      std::string(name(collective.op)) +
                                      " has no closed form at these values; use --method "
                                      "max_plus"});
  }
  return findings;
}

} // namespace stepsim::collectives
