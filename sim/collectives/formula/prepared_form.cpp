#include "collectives/formula/prepared_form.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"

namespace stepsim::collectives {

PreparedForm::Answer PreparedForm::Candidate::of_blocks(double bytes) const {
  const ClosedForm blocks = std::get<BlockRule>(form).form(bytes);
  return {algorithm, blocks.seconds, blocks.upper_bound};
}

Line PreparedForm::Candidate::least_line(double low, double high) const {
  if (const auto* rule = std::get_if<BlockRule>(&form)) {
    return rule->least_line(low, high);
  }
  const auto& linear = std::get<ClosedForm>(form);
  return {*linear.startup_s, *linear.per_byte_s};
}

std::pair<const PreparedForm::Candidate*, PreparedForm::Answer>
PreparedForm::best(double bytes) const {
  std::pair best{candidates_.data(), candidates_.front().at(bytes)};
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    const Answer answer = candidates_[i].at(bytes);
    if (answer.seconds < best.second.seconds * (1 - kFirstWins)) {
      best = {&candidates_[i], answer};
    }
  }
  return best;
}

std::optional<PreparedForm::Parts> PreparedForm::parts(std::span<const double> bytes) const {
  const Candidate& taken = *best(bytes.front()).first;
  Parts sums;
  if (const auto* linear = std::get_if<ClosedForm>(&taken.form)) {
    for (const double each : bytes) {
      sums.latency_s += *linear->startup_s;
      sums.bandwidth_s += *linear->per_byte_s * each;
    }
    return sums;
  }
  const auto& rule = std::get<BlockRule>(taken.form);
  const std::optional<StreamNetwork> network = rule.network();
  const double block = std::floor(rule.blocks(bytes.front()).block_bytes);
  if (block < 1 || !network) {
    return std::nullopt;
  }
  StreamNetwork slow = *network;
  StreamNetwork fast = *network;
  slow.beta = slow.gamma = 0;
  fast.alpha_blk = fast.delta = fast.gamma = 0;
  const auto add = [&](double streams, auto seconds) {
    for (const double each : bytes) {
      const double stream = each / streams;
      const double cut = std::min(block, stream);
      const double whole = std::floor(stream / cut);
      const double count = whole < stream / cut ? whole + 1 : whole;
      sums.latency_s += seconds(slow, cut, count);
      sums.bandwidth_s += seconds(fast, cut, count);
    }
  };
  if (rule.of_tree()) {
    add(2, [](const auto&... of) { return tree_seconds(of...); });
  } else {
    add(1, [](const auto&... of) { return pipeline_seconds(of...); });
  }
  return sums;
}

std::optional<Line> PreparedForm::line() const {
  const auto* linear = std::get_if<ClosedForm>(&candidates_.front().form);
  return candidates_.size() == 1 && linear != nullptr && !linear->upper_bound
             ? std::optional(candidates_.front().least_line(0, 0))
             : std::nullopt;
}

// The least of several lines is concave, and not below the line through its ends.
Line PreparedForm::least_line(double low, double high) const {
  Line at_low = candidates_.front().least_line(low, high);
  Line at_high = at_low;
  bool same = true;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    const Line line = candidates_[i].least_line(low, high);
    const bool lower = line.at(low) < at_low.at(low);
    const bool higher_end = line.at(high) < at_high.at(high);
    at_low = lower ? line : at_low;
    at_high = higher_end ? line : at_high;
    same = lower == higher_end && (lower || same);
  }
  if (same || high <= low) {
    return at_low;
  }
  const double slope = (at_high.at(high) - at_low.at(low)) / (high - low);
  return {at_low.at(low) - slope * low, slope};
}

// A flat algorithm is one without rules for nodes: its formula is a + b n with an a and a b that do
// not depend on n. Over nodes the sum of the stages is rounded differently.
std::optional<PreparedForm::Candidate> PreparedForm::candidate(const Collective& collective) {
  const Algorithm& row = algorithm(collective.algorithm);
  const bool flat = !row.two_level && !row.in_switch && row.node_phases == nullptr;
  if (!flat || find_algorithm(collective.op, collective.algorithm) == nullptr ||
      !collective.homogeneous()) {
    return std::nullopt;
  }
  if (row.block_streams > 0) {
    std::optional<BlockRule> rule = block_rule(collective);
    return rule ? std::optional(Candidate{collective.algorithm, *std::move(rule)}) : std::nullopt;
  }
  const std::optional<ClosedForm> form = closed_form(collective);
  return form && form->startup_s && form->per_byte_s
             ? std::optional(Candidate{collective.algorithm, *form})
             : std::nullopt;
}

std::optional<PreparedForm> prepare(const Collective& collective) {
  const bool cut_evenly = collective.op == Op::broadcast || collective.op == Op::reduce ||
                          collective.op == Op::allreduce || collective.op == Op::reduce_scatter ||
                          collective.op == Op::allgather;
  if (!cut_evenly || collective.ranks <= 1 || !collective.enter_s.empty() ||
      !collective.held_bytes.empty() || collective.links.fabric || collective.links.measured ||
      collective.options.cost_form != CostForm::exact) {
    return std::nullopt;
  }
  PreparedForm prepared;
  const auto add = [&](const Collective& asked) {
    std::optional<PreparedForm::Candidate> candidate = PreparedForm::candidate(asked);
    if (candidate) {
      prepared.candidates_.push_back(*std::move(candidate));
    }
    return candidate.has_value();
  };
  const bool chooses = collective.algorithm == AlgorithmId::automatic;
  if (!chooses && collective.bytes == 1) {
    return add(collective) ? std::optional(std::move(prepared)) : std::nullopt;
  }
  Collective probe = collective;
  probe.bytes = 1;
  for (const AlgorithmId id :
       chooses ? candidates_of(probe) : std::vector<AlgorithmId>{collective.algorithm}) {
    probe.algorithm = id;
    if (!add(probe)) {
      return std::nullopt;
    }
  }
  return prepared;
}

} // namespace stepsim::collectives
