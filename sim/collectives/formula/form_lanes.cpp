// Loops over lanes without branches: every choice is a select. The functions of block_times.hpp are
// expanded in them.
#include "collectives/formula/form_lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

#include "base/vector_clones.hpp"
#include "collectives/choose.hpp"
#include "collectives/formula/block_times.hpp"

namespace stepsim::collectives {

namespace {

constexpr std::size_t kLanes = FormLanes::kLanes;
using Lanes = FormLanes::Lanes;

// The symbols of kLanes networks, row by row.
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
[[gnu::always_inline]] inline void fill_pipeline(const StreamRows& s, double bytes,
                                                 Lanes& __restrict seconds,
                                                 Lanes& __restrict upper_bound, auto best_of) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const BestBlocks best = best_of(s.at(k), bytes);
    const double block = bytes / best.count;
    const double last = bytes - (best.count - 1) * block;
    seconds[k] = best.seconds;
    upper_bound[k] = block - last > 1e-9 * block ? 1.0 : 0.0;
  }
}

STEPSIM_VECTOR_CLONES
void even_pipeline_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds,
                         Lanes& __restrict upper_bound) {
  const StreamRows s = rows;
  fill_pipeline(s, bytes, seconds, upper_bound, [](const StreamNetwork& network, double n) {
    return best_even_pipeline(network, n);
  });
}

STEPSIM_VECTOR_CLONES
void pipeline_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds,
                    Lanes& __restrict upper_bound) {
  const StreamRows s = rows;
  fill_pipeline(s, bytes, seconds, upper_bound, [](const StreamNetwork& network, double n) {
    const BestBlocks even = best_even_pipeline(network, n);
    const BestBlocks uneven = best_uneven_pipeline(network, n);
    const bool is_even = network.delta == 0;
    return BestBlocks{is_even ? even.count : uneven.count, is_even ? even.seconds : uneven.seconds};
  });
}

STEPSIM_VECTOR_CLONES
void tree_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = best_tree(s.at(k), bytes).seconds;
  }
}

STEPSIM_VECTOR_CLONES
void least_pipeline_lanes(const StreamRows& rows, double bytes, Lanes& __restrict port_free,
                          Lanes& __restrict block_ready) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const LeastTimes least = least_pipeline(s.at(k), bytes);
    port_free[k] = least.port_free;
    block_ready[k] = least.block_ready;
  }
}

STEPSIM_VECTOR_CLONES
void least_tree_lanes(const StreamRows& rows, double bytes, Lanes& __restrict seconds) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    seconds[k] = least_tree(s.at(k), bytes).port_free;
  }
}

// The least times of one candidate at the ends of a range, as small as those of the others. Of two
// terms the one that is larger at both ends together.
STEPSIM_VECTOR_CLONES
void take_ends(const Lanes& low_a, const Lanes& high_a, const Lanes& low_b, const Lanes& high_b,
               Lanes& __restrict low, Lanes& __restrict high) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const bool first = low_a[k] + high_a[k] >= low_b[k] + high_b[k];
    low[k] = smaller(low[k], first ? low_a[k] : low_b[k]);
    high[k] = smaller(high[k], first ? high_a[k] : high_b[k]);
  }
}

// Blocks of `block` bytes, the last of them shorter.
[[gnu::always_inline]] inline double blocks_in(double stream, double block) {
  const double whole = whole_part(stream / block);
  return whole < stream / block ? whole + 1 : whole;
}

STEPSIM_VECTOR_CLONES
void pipeline_parts(const StreamRows& rows, double bytes, const Lanes& __restrict candidate,
                    double which, const Lanes& __restrict block, Lanes& __restrict latency,
                    Lanes& __restrict bandwidth) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const StreamNetwork all = s.at(k);
    const StreamNetwork slow{.P = all.P, .alpha_blk = all.alpha_blk, .delta = all.delta};
    const StreamNetwork fast{.P = all.P, .beta = all.beta};
    const double b = smaller(block[k], bytes);
    const double m = blocks_in(bytes, b);
    const double of_latency = pipeline_seconds(slow, b, m);
    const double of_bytes = pipeline_seconds(fast, b, m);
    latency[k] += candidate[k] == which ? of_latency : 0;
    bandwidth[k] += candidate[k] == which ? of_bytes : 0;
  }
}

STEPSIM_VECTOR_CLONES
void tree_parts(const StreamRows& rows, double bytes, const Lanes& __restrict candidate,
                double which, const Lanes& __restrict block, Lanes& __restrict latency,
                Lanes& __restrict bandwidth) {
  const StreamRows s = rows;
  for (std::size_t k = 0; k < kLanes; ++k) {
    StreamNetwork slow = s.at(k);
    slow.beta = slow.gamma = 0;
    StreamNetwork fast = s.at(k);
    fast.alpha_blk = fast.delta = fast.gamma = 0;
    const double b = smaller(block[k], bytes / 2);
    const double m = blocks_in(bytes / 2, b);
    const double of_latency = tree_seconds(slow, b, m);
    const double of_bytes = tree_seconds(fast, b, m);
    latency[k] += candidate[k] == which ? of_latency : 0;
    bandwidth[k] += candidate[k] == which ? of_bytes : 0;
  }
}

STEPSIM_VECTOR_CLONES
void linear_parts(const Lanes& __restrict startup, const Lanes& __restrict per_byte, double bytes,
                  const Lanes& __restrict candidate, double which, Lanes& __restrict latency,
                  Lanes& __restrict bandwidth) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    latency[k] += candidate[k] == which ? startup[k] : 0;
    bandwidth[k] += candidate[k] == which ? per_byte[k] * bytes : 0;
  }
}

// Whether the larger of two terms is less than `limit` in any lane.
STEPSIM_VECTOR_CLONES
bool any_less(const Lanes& a, const Lanes& b, const Lanes& limit) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kLanes; ++k) {
    any |= larger(a[k], b[k]) < limit[k] ? 1 : 0;
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

template <class Row> StreamRows rows_of(const Row& row) {
  return {row.P.data(),     row.alpha_blk.data(),    row.delta.data(),          row.beta.data(),
          row.gamma.data(), row.reduce_slots.data(), row.broadcast_slots.data()};
}

} // namespace

void FormLanes::row_at(const Row& row, double bytes, Lanes& seconds, Lanes& upper_bound) {
  const StreamRows rows = rows_of(row);
  switch (row.kind) {
  case Kind::linear:
    linear_lanes(row.startup, row.per_byte, bytes, seconds);
    upper_bound = row.upper_bound;
    return;
  case Kind::pipeline:
    if (std::ranges::all_of(row.delta, [](double delta) { return delta == 0; })) {
      even_pipeline_lanes(rows, bytes, seconds, upper_bound);
    } else {
      pipeline_lanes(rows, bytes, seconds, upper_bound);
    }
    return;
  case Kind::tree:
    tree_lanes(rows, bytes, seconds);
    upper_bound.fill(1);
    return;
  }
}

// Two terms of which the larger bounds the time; one of them where there is only one.
void FormLanes::row_least(const Row& row, double bytes, Lanes& port_free, Lanes& block_ready) {
  const StreamRows rows = rows_of(row);
  switch (row.kind) {
  case Kind::linear:
    linear_lanes(row.startup, row.per_byte, bytes, port_free);
    block_ready = port_free;
    return;
  case Kind::pipeline:
    least_pipeline_lanes(rows, bytes, port_free, block_ready);
    return;
  case Kind::tree:
    least_tree_lanes(rows, bytes, port_free);
    block_ready = port_free;
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
      row_least(rows_[i], bytes, other, other_bound);
      if (!any_less(other, other_bound, seconds)) {
        continue;
      }
    }
    row_at(rows_[i], bytes, other, other_bound);
    take_faster(other, other_bound, static_cast<double>(i), seconds, candidate, upper_bound);
  }
}

// Every least time is the larger of two concave functions of the bytes, or one; so is the least of
// several. The line through two points of a concave function is below it between them.
void FormLanes::least_lines(double low, double high, Lanes& startup_s, Lanes& per_byte_s) const {
  Lanes at_low;
  Lanes at_high;
  at_low.fill(std::numeric_limits<double>::infinity());
  at_high = at_low;
  Lanes low_a;
  Lanes low_b;
  Lanes high_a;
  Lanes high_b;
  for (const Row& row : rows_) {
    row_least(row, low, low_a, low_b);
    row_least(row, high, high_a, high_b);
    take_ends(low_a, high_a, low_b, high_b, at_low, at_high);
  }
  for (std::size_t k = 0; k < kLanes; ++k) {
    per_byte_s[k] = (at_high[k] - at_low[k]) / (high - low);
    startup_s[k] = at_low[k] - per_byte_s[k] * low;
  }
}

void FormLanes::blocks(double bytes, const Lanes& candidate, Lanes& block_bytes) const {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const Row& row = rows_[static_cast<std::size_t>(candidate[k])];
    const StreamNetwork s = rows_of(row).at(k);
    block_bytes[k] = row.kind == Kind::linear     ? bytes
                     : row.kind == Kind::pipeline ? bytes / best_pipeline(s, bytes).count
                                                  : bytes / 2 / best_tree(s, bytes).count;
  }
}

void FormLanes::add_parts(double bytes, const Lanes& candidate, const Lanes& block_bytes,
                          Lanes& latency_s, Lanes& bandwidth_s) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const auto which = static_cast<double>(i);
    switch (row.kind) {
    case Kind::linear:
      linear_parts(row.startup, row.per_byte, bytes, candidate, which, latency_s, bandwidth_s);
      break;
    case Kind::pipeline:
      pipeline_parts(rows_of(row), bytes, candidate, which, block_bytes, latency_s, bandwidth_s);
      break;
    case Kind::tree:
      tree_parts(rows_of(row), bytes, candidate, which, block_bytes, latency_s, bandwidth_s);
      break;
    }
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

} // namespace stepsim::collectives
