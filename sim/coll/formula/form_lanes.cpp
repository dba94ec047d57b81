// Loops over lanes without branches: every choice is a select. The functions of block_times.hpp are
// expanded in them.
#include "coll/formula/form_lanes.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

#include "base/vector_clones.hpp"
#include "coll/choose.hpp"
#include "coll/formula/block_times.hpp"

namespace stepsim::coll {

namespace {

constexpr std::size_t kLanes = FormLanes::kLanes;
using Lanes = FormLanes::Lanes;

// The symbols of kLanes networks.
struct StreamRows {
  const double* __restrict P;
  const double* __restrict alpha_blk;
  const double* __restrict delta;
  const double* __restrict beta;
  const double* __restrict gamma;
  const double* __restrict reduce_slots;
  const double* __restrict broadcast_slots;
  [[gnu::always_inline]] [[nodiscard]] StreamNetwork at(std::size_t k) const {
    return {P[k], alpha_blk[k], delta[k], beta[k], gamma[k], reduce_slots[k], broadcast_slots[k]};
  }
};

STEPSIM_VECTOR_CLONES
void linear_lanes(const Lanes& startup, const Lanes& per_byte, double bytes,
                  Lanes& __restrict seconds) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = startup[k] + per_byte[k] * bytes;
  }
}

// A last block that is shorter by more than rounding makes the form an upper bound
// (closed_form_lp.cpp).
STEPSIM_VECTOR_CLONES
void pipeline_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds,
                    Lanes& __restrict upper_bound) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const BestBlocks best = best_pipeline(s.at(k), bytes);
    const double block = bytes / best.count;
    const double last = bytes - (best.count - 1) * block;
    seconds[k] = best.seconds;
    upper_bound[k] = block - last > 1e-9 * block ? 1.0 : 0.0;
  }
}

STEPSIM_VECTOR_CLONES
void tree_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = best_tree(s.at(k), bytes).seconds;
  }
}

STEPSIM_VECTOR_CLONES
void least_pipeline_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const LeastTimes least = least_pipeline(s.at(k), bytes);
    seconds[k] = larger(least.port_free, least.block_ready);
  }
}

STEPSIM_VECTOR_CLONES
void least_tree_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = least_tree(s.at(k), bytes).port_free;
  }
}

// Whether any lane of `a` is less than that of `b`.
STEPSIM_VECTOR_CLONES
bool any_less(const Lanes& a, const Lanes& b) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kLanes; ++k) {
    any |= a[k] < b[k] ? 1 : 0;
  }
  return any != 0;
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
  const StreamRows rows{
      row.P.data(),     row.alpha_blk.data(),    row.delta.data(),          row.beta.data(),
      row.gamma.data(), row.reduce_slots.data(), row.broadcast_slots.data()};
  switch (row.kind) {
  case Kind::linear:
    linear_lanes(row.startup, row.per_byte, bytes, seconds);
    upper_bound = row.upper_bound;
    return;
  case Kind::pipeline:
    pipeline_lanes(rows, bytes, seconds, upper_bound);
    return;
  case Kind::tree:
    tree_lanes(rows, bytes, seconds);
    upper_bound.fill(1);
    return;
  }
}

void FormLanes::row_least(const Row& row, double bytes, Lanes& seconds) {
  const StreamRows rows{
      row.P.data(),     row.alpha_blk.data(),    row.delta.data(),          row.beta.data(),
      row.gamma.data(), row.reduce_slots.data(), row.broadcast_slots.data()};
  switch (row.kind) {
  case Kind::linear:
    linear_lanes(row.startup, row.per_byte, bytes, seconds);
    return;
  case Kind::pipeline:
    least_pipeline_lanes(rows, bytes, seconds);
    return;
  case Kind::tree:
    least_tree_lanes(rows, bytes, seconds);
    return;
  }
}

// As PreparedForm::at(): of equal candidates the first.
void FormLanes::at(double bytes, Lanes& seconds, Lanes& candidate, Lanes& upper_bound) const {
  row_at(rows_.front(), bytes, seconds, upper_bound);
  candidate.fill(0);
  Lanes other;
  Lanes other_bound;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    if (rows_[i].kind != Kind::linear) {
      row_least(rows_[i], bytes, other);
      if (!any_less(other, seconds)) {
        continue;
      }
    }
    row_at(rows_[i], bytes, other, other_bound);
    take_faster(other, other_bound, static_cast<double>(i), seconds, candidate, upper_bound);
  }
}

void FormLanes::least(double bytes, Lanes& seconds) const {
  row_least(rows_.front(), bytes, seconds);
  Lanes other;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    row_least(rows_[i], bytes, other);
    for (std::size_t k = 0; k < kLanes; ++k) {
      seconds[k] = smaller(seconds[k], other[k]);
    }
  }
}

// Every least time is the larger of two concave functions of the bytes, or one; so is the least of
// several. The line through two points of a concave function is below it between them. Of a
// pipeline the term that is larger at both ends together is taken.
void FormLanes::least_lines(double low, double high, Lanes& startup_s, Lanes& per_byte_s) const {
  Lanes at_low;
  Lanes at_high;
  at_low.fill(std::numeric_limits<double>::infinity());
  at_high = at_low;
  for (const Row& row : rows_) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      LeastTimes from{row.startup[k] + row.per_byte[k] * low};
      LeastTimes to{row.startup[k] + row.per_byte[k] * high};
      if (row.kind != Kind::linear) {
        const StreamNetwork s{row.P[k],     row.alpha_blk[k],    row.delta[k],          row.beta[k],
                              row.gamma[k], row.reduce_slots[k], row.broadcast_slots[k]};
        from = row.kind == Kind::tree ? least_tree(s, low) : least_pipeline(s, low);
        to = row.kind == Kind::tree ? least_tree(s, high) : least_pipeline(s, high);
      }
      const bool first = from.port_free + to.port_free >= from.block_ready + to.block_ready;
      at_low[k] = smaller(at_low[k], first ? from.port_free : from.block_ready);
      at_high[k] = smaller(at_high[k], first ? to.port_free : to.block_ready);
    }
  }
  for (std::size_t k = 0; k < kLanes; ++k) {
    per_byte_s[k] = high > low ? (at_high[k] - at_low[k]) / (high - low) : 0;
    startup_s[k] = at_low[k] - per_byte_s[k] * low;
  }
}

bool FormLanes::takes(const Row& row, const PreparedForm::Candidate& candidate) {
  const auto* rule = std::get_if<BlockRule>(&candidate.form);
  if (rule == nullptr) {
    return row.kind == Kind::linear && row.algorithm == candidate.algorithm;
  }
  return rule->network().has_value() && row.algorithm == candidate.algorithm &&
         row.kind == (rule->of_tree() ? Kind::tree : Kind::pipeline);
}

void FormLanes::set_lane(std::size_t lane, const PreparedForm::Candidate& candidate, Row& row) {
  const auto* rule = std::get_if<BlockRule>(&candidate.form);
  if (rule == nullptr) {
    const auto& linear = std::get<ClosedForm>(candidate.form);
    row.startup[lane] = *linear.startup_s;
    row.per_byte[lane] = *linear.per_byte_s;
    row.upper_bound[lane] = linear.upper_bound ? 1 : 0;
    return;
  }
  const StreamNetwork s = *rule->network();
  row.P[lane] = s.P;
  row.alpha_blk[lane] = s.alpha_blk;
  row.delta[lane] = s.delta;
  row.beta[lane] = s.beta;
  row.gamma[lane] = s.gamma;
  row.reduce_slots[lane] = s.reduce_slots;
  row.broadcast_slots[lane] = s.broadcast_slots;
}

bool FormLanes::set(std::size_t lane, const PreparedForm& form) {
  const std::vector<PreparedForm::Candidate>& candidates = form.candidates_;
  if (rows_.empty()) {
    for (const PreparedForm::Candidate& candidate : candidates) {
      const auto* rule = std::get_if<BlockRule>(&candidate.form);
      Row row;
      row.algorithm = candidate.algorithm;
      row.kind = rule == nullptr ? Kind::linear : rule->of_tree() ? Kind::tree : Kind::pipeline;
      rows_.push_back(row);
    }
  }
  if (candidates.size() != rows_.size()) {
    return false;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!takes(rows_[i], candidates[i])) {
      return false;
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    set_lane(lane, candidates[i], rows_[i]);
  }
  return true;
}

void FormLanes::copy(std::size_t from, std::size_t to) {
  for (Row& row : rows_) {
    for (Lanes* lanes :
         {&row.startup, &row.per_byte, &row.upper_bound, &row.P, &row.alpha_blk, &row.delta,
          &row.beta, &row.gamma, &row.reduce_slots, &row.broadcast_slots}) {
      (*lanes)[to] = (*lanes)[from];
    }
  }
}

} // namespace stepsim::coll
