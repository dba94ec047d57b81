// Loops over lanes without branches: every choice is a select. The functions of block_times.hpp are
// expanded in them.
#include "collectives/formula/prepared_form.hpp"

#include "base/vector_clones.hpp"
#include "collectives/method.hpp"

namespace stepsim::collectives {

namespace {

constexpr std::size_t kLanes = FormLanes::kLanes;
using Lanes = FormLanes::Lanes;
using Numbers = std::array<Lanes, 7>; // the members of StreamNetwork, in order

[[gnu::always_inline]] inline StreamNetwork network_at(const Numbers& of, std::size_t k) {
  return {of[0][k], of[1][k], of[2][k], of[3][k], of[4][k], of[5][k], of[6][k]};
}

STEPSIM_VECTOR_CLONES
void linear_lanes(const Lanes& startup, const Lanes& per_byte, double bytes,
                  Lanes& __restrict seconds) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = startup[k] + per_byte[k] * bytes;
  }
}

// A last block that is shorter by more than rounding makes the form an upper bound
// (closed_form_lp.cpp).
[[gnu::always_inline]] inline void fill_pipeline(const Numbers& networks, double bytes,
                                                 Lanes& __restrict seconds,
                                                 Lanes& __restrict upper_bound, auto best_of) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const BestBlocks best = best_of(network_at(networks, k), bytes);
    const double block = bytes / best.count;
    const double last = bytes - (best.count - 1) * block;
    seconds[k] = best.seconds;
    upper_bound[k] = block - last > 1e-9 * block ? 1.0 : 0.0;
  }
}

STEPSIM_VECTOR_CLONES
void even_pipeline_lanes(const Numbers& networks, double bytes, Lanes& __restrict seconds,
                         Lanes& __restrict upper_bound) {
  fill_pipeline(networks, bytes, seconds, upper_bound, [](const StreamNetwork& network, double n) {
    return best_even_pipeline(network, n);
  });
}

STEPSIM_VECTOR_CLONES
void pipeline_lanes(const Numbers& networks, double bytes, Lanes& __restrict seconds,
                    Lanes& __restrict upper_bound) {
  fill_pipeline(networks, bytes, seconds, upper_bound, [](const StreamNetwork& network, double n) {
    const BestBlocks even = best_even_pipeline(network, n);
    const BestBlocks uneven = best_uneven_pipeline(network, n);
    const bool is_even = network.delta == 0;
    return BestBlocks{is_even ? even.count : uneven.count, is_even ? even.seconds : uneven.seconds};
  });
}

STEPSIM_VECTOR_CLONES
void tree_lanes(const Numbers& networks, double bytes, Lanes& __restrict seconds) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = best_tree(network_at(networks, k), bytes).seconds;
  }
}

STEPSIM_VECTOR_CLONES
void take_faster(const Lanes& __restrict seconds, const Lanes& __restrict upper_bound,
                 double candidate, Lanes& __restrict best_s, Lanes& __restrict best,
                 Lanes& __restrict best_bound) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const bool takes = seconds[k] < best_s[k] * (1 - kFirstWins);
    best_s[k] = takes ? seconds[k] : best_s[k];
    best[k] = takes ? candidate : best[k];
    best_bound[k] = takes ? upper_bound[k] : best_bound[k];
  }
}

} // namespace

void FormLanes::row_at(const Row& row, double bytes, Lanes& seconds, Lanes& upper_bound) {
  if (row.kind == Kind::linear) {
    linear_lanes(row.numbers[0], row.numbers[1], bytes, seconds);
    upper_bound = row.numbers[2];
  } else if (row.kind == Kind::tree) {
    tree_lanes(row.numbers, bytes, seconds);
    upper_bound.fill(1);
  } else {
    (row.even ? even_pipeline_lanes : pipeline_lanes)(row.numbers, bytes, seconds, upper_bound);
  }
}

// As PreparedForm::at(): of equal candidates the first.
void FormLanes::at(double bytes, Lanes& seconds, Lanes& candidate, Lanes& upper_bound) const {
  row_at(rows_.front(), bytes, seconds, upper_bound);
  candidate.fill(0);
  Lanes other;
  Lanes other_bound;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    row_at(rows_[i], bytes, other, other_bound);
    take_faster(other, other_bound, static_cast<double>(i), seconds, candidate, upper_bound);
  }
}

bool FormLanes::set(std::size_t lane, const PreparedForm& form) {
  const bool first = rows_.empty();
  rows_.resize(first ? form.candidates_.size() : rows_.size());
  bool fits = rows_.size() == form.candidates_.size();
  for (std::size_t i = 0; fits && i < rows_.size(); ++i) {
    const auto& [algorithm, of] = form.candidates_[i];
    const auto* rule = std::get_if<BlockRule>(&of);
    const Kind kind = rule == nullptr   ? Kind::linear
                      : rule->of_tree() ? Kind::tree
                                        : Kind::pipeline;
    rows_[i].algorithm = first ? algorithm : rows_[i].algorithm;
    rows_[i].kind = first ? kind : rows_[i].kind;
    fits = (rule == nullptr || rule->network()) && rows_[i].kind == kind &&
           rows_[i].algorithm == algorithm;
  }
  if (!fits) {
    rows_.resize(first ? 0 : rows_.size());
    return false;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    std::array<double, 7> numbers{};
    if (const auto* linear = std::get_if<ClosedForm>(&form.candidates_[i].form)) {
      numbers = {*linear->startup_s, *linear->per_byte_s, linear->upper_bound ? 1.0 : 0.0};
    } else {
      const StreamNetwork s = *std::get<BlockRule>(form.candidates_[i].form).network();
      numbers = {s.P, s.alpha_blk, s.delta, s.beta, s.gamma, s.reduce_slots, s.broadcast_slots};
      row.even = row.even && s.delta == 0;
    }
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      first ? row.numbers[k].fill(numbers[k]) : void(row.numbers[k][lane] = numbers[k]);
    }
  }
  return true;
}

} // namespace stepsim::collectives
