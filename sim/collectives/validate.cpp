// Everything that evaluators rely on without checking it themselves. All findings are collected,
// each with the key that it belongs to, so that a file with three errors is mended in one go.
#include "collectives/validate.hpp"

#include "base/quantity.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/method.hpp"
#include "links/fabric/placement.hpp"

namespace stepsim::collectives {
namespace {

using Findings = std::vector<Finding>;

std::string shown(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "infinity" : "-infinity";
  }
  return base::shortest(value);
}

std::string item(const std::string& list, std::size_t index) {
  return list + "/" + std::to_string(index);
}

// Written so that NaN fails the test as well.
void need_not_negative(Findings& findings, const std::string& what, double value) {
  if (!(value >= 0) || std::isinf(value)) {
    findings.push_back({what, "must be >= 0, got " + shown(value)});
  }
}

// These return whether the value is fine.
bool need_one_or_more(Findings& findings, const std::string& what, std::int64_t value) {
  if (value < 1) {
    findings.push_back({what, "must be an integer >= 1, got " + std::to_string(value)});
  }
  return value >= 1;
}

bool need_below(Findings& findings, const std::string& what, std::uint32_t count,
                std::uint32_t value) {
  if (value >= count) {
    findings.push_back(
        {what, "must be 0 to " + std::to_string(count - 1) + ", got " + std::to_string(value)});
  }
  return value < count;
}

// The rate may be infinite (0 = free), the time per byte never is.
void need_rate(Findings& findings, const std::string& what, double s_per_byte) {
  if (!(s_per_byte >= 0) || std::isinf(s_per_byte)) {
    findings.push_back({what, "must be >= 0, got " + shown(1 / s_per_byte)});
  }
}

void check_link(Findings& findings, const std::string& prefix, const LinkCost& cost) {
  need_not_negative(findings, prefix + "latency_s", cost.latency_s);
  if (!(cost.per_byte_s > 0) || std::isinf(cost.per_byte_s)) {
    findings.push_back(
        {prefix + "bandwidth_Bps", "must be > 0, got " + shown(1 / cost.per_byte_s)});
  }
  need_not_negative(findings, prefix + "delay_s", cost.delay_s);
  need_not_negative(findings, prefix + "block_latency_s", cost.block_latency_s);
  if (cost.block_latency_s > cost.latency_s) {
    findings.push_back({prefix + "block_latency_s", "per-block latency must not exceed latency_s " +
                                                        shown(cost.latency_s) + ", got " +
                                                        shown(cost.block_latency_s)});
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
  need_one_or_more(findings, "ranks", collective.ranks);
  const double bytes = collective.bytes;
  if (!(bytes >= 0) || std::fmod(bytes, 1) != 0 ||
      bytes > static_cast<double>(base::kMaxExactBytes)) {
    findings.push_back(
        {"bytes", "must be a whole number from 0 to 2^53 bytes, got " + shown(bytes)});
    return;
  }
  const std::int64_t element = collective.options.element_bytes;
  if (need_one_or_more(findings, "element_bytes", element) &&
      std::fmod(bytes, static_cast<double>(element)) != 0) {
    findings.push_back({"bytes", shown(bytes) + " bytes are not a multiple of element_bytes " +
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
  need_not_negative(findings, "latency_s", links.all.latency_s);
  need_not_negative(findings, "block_latency_s", links.all.block_latency_s);
  if (!(links.all.per_byte_s >= 0) || std::isinf(links.all.per_byte_s)) {
    findings.push_back({"bandwidth_Bps", "must be > 0, got " + shown(1 / links.all.per_byte_s)});
  }
  for (const auto& [what, delay] :
       {std::pair("delay_s", links.all.delay_s),
        std::pair("intra_delay_s", links.two_level ? links.two_level->intra.delay_s : 0)}) {
    if (delay != 0) {
      findings.push_back({what, "has no meaning on a topology, where latency_s is such a delay "
                                "already"});
    }
  }
  if (links.pairs_only || !links.pairs.empty()) {
    findings.push_back({"links", "links of pairs and a topology exclude each other"});
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
  need_one_or_more(findings, "nics_per_node", two.nics_per_node);
  if (need_one_or_more(findings, "gpus_per_node", two.gpus_per_node) &&
      two.ranks_per_node.empty() && needs_equal_nodes(collective) &&
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
    if (need_one_or_more(findings, "servers", options.servers) &&
        options.placement == Placement::colocated && options.servers > collective.ranks) {
      findings.push_back({"servers", "colocated servers must be 1 to " +
                                         std::to_string(collective.ranks) + ", got " +
                                         std::to_string(options.servers)});
    }
  }
  if (options.block) {
    need_one_or_more(findings, "block_bytes", options.block->value);
  }
}

// One value for every rank, or none at all; `need` checks each.
template <class Need>
void check_per_rank(Findings& findings, const std::string& what, std::uint32_t ranks,
                    const std::vector<double>& values, Need need) {
  if (!values.empty() && values.size() != ranks) {
    findings.push_back({what, "must have one value for each of " + std::to_string(ranks) +
                                  " ranks, got " + std::to_string(values.size())});
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    need(findings, item(what, i), values[i]);
  }
}

void check_pairs(Findings& findings, const Collective& collective) {
  const bool servers = collective.algorithm == AlgorithmId::parameter_server &&
                       collective.options.placement == Placement::dedicated;
  const std::uint32_t ends = collective.ranks + (servers ? collective.options.servers : 0);
  const std::vector<PairCost>& pairs = collective.links.pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string link = item("links", i);
    for (const auto& [key, rank] :
         {std::pair{"/src", pairs[i].src}, std::pair{"/dst", pairs[i].dst}}) {
      need_below(findings, link + key, ends, rank);
    }
    if (pairs[i].src == pairs[i].dst) {
      findings.push_back({link, "src and dst are both " + std::to_string(pairs[i].src)});
    }
    if (i > 0 && pairs[i - 1].src == pairs[i].src && pairs[i - 1].dst == pairs[i].dst) {
      findings.push_back({link, "the link " + std::to_string(pairs[i].src) + " to " +
                                    std::to_string(pairs[i].dst) + " is listed twice"});
    }
    check_link(findings, link + "/", pairs[i].cost);
  }
}

void check_chain(Findings& findings, const Collective& collective) {
  const std::vector<std::uint32_t>& chain = collective.chain;
  const std::uint32_t ranks = collective.ranks;
  if (!chain.empty() && chain.size() != ranks) {
    findings.push_back({"chain", "must list each of " + std::to_string(ranks) +
                                     " ranks once, got " + std::to_string(chain.size()) +
                                     " entries"});
  }
  std::vector<bool> seen(ranks, false);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!need_below(findings, item("chain", i), ranks, chain[i])) {
      continue;
    }
    if (seen[chain[i]]) {
      findings.push_back(
          {item("chain", i), "rank " + std::to_string(chain[i]) + " stands in the chain twice"});
    }
    seen[chain[i]] = true;
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
  if (collective.ranks < 1) {
    return findings;
  }
  check_algorithm(findings, collective);
  need_below(findings, "root", collective.ranks, collective.root);
  if (collective.links.fabric) {
    check_fabric(findings, collective);
  } else if (!collective.links.pairs_only) {
    check_link(findings, "", collective.links.all);
  }
  check_pairs(findings, collective);
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
  need_rate(findings, "reduction_Bps", collective.reduction_s_per_byte);
  check_per_rank(findings, "reduction_Bps", collective.ranks, collective.reduction_s_per_byte_rank,
                 need_rate);
  check_per_rank(findings, "enter_s", collective.ranks, collective.enter_s, need_not_negative);
  check_chain(findings, collective);
  check_per_rank(findings, "sizes", collective.ranks, collective.sizes, need_not_negative);
  if (!collective.sizes.empty() && collective.op != Op::allgatherv) {
    findings.push_back(
        {"sizes", "only allgatherv has sizes per rank, not " + std::string(name(collective.op))});
  }
  check_per_rank(findings, "held_bytes", collective.ranks, collective.held_bytes,
                 need_not_negative);
  if (!collective.held_bytes.empty() &&
      (collective.op != Op::allreduce || collective.algorithm != AlgorithmId::recursive_doubling)) {
    findings.push_back({"held_bytes", "only the allreduce by recursive_doubling can grow"});
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
