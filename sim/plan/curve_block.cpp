// The scan of optimal.cpp (AnyCostScan) for many lanes: what it says of limits and ties holds for
// every lane by itself. Choices inside the loops over lanes are selects.
#include "plan/curve_block.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/vector_clones.hpp"
#include "plan/optimal.hpp"

namespace stepsim::plan {

namespace {

constexpr std::size_t kLanes = kBatchLanes;
using Lanes = BatchLanes;
using Backs = std::array<std::int64_t, kLanes>;
constexpr double kTie = kOptimalTie;
constexpr double kAbove = 1e-9;     // relative, of a limit; rounding is far below it
constexpr double kRounding = 1e-13; // relative, of a least cost

// The ends above which no candidate counts: a little above that of one candidate. `far` is for
// lower bounds with more rounding.
STEPSIM_VECTOR_CLONES
void set_limits(const Lanes& __restrict finish, double ready, const Lanes& __restrict seconds,
                Lanes& __restrict limit, Lanes& __restrict far) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    limit[k] = (start + seconds[k]) * (1 + kAbove);
    far[k] = limit[k] * (1 + kAbove);
  }
}

// Whether a message of `bytes` that starts at `ready` may end before `far` in some lane.
STEPSIM_VECTOR_CLONES
bool any_within(double ready, const Lanes& __restrict startup, const Lanes& __restrict per_byte,
                double bytes, const Lanes& __restrict far) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kLanes; ++k) {
    any |= ready + (startup[k] + per_byte[k] * bytes) <= far[k] ? 1 : 0;
  }
  return any != 0;
}

// The same, where it starts no earlier than `finish`.
STEPSIM_VECTOR_CLONES
bool any_within_after(const Lanes& __restrict finish, double ready, const Lanes& __restrict startup,
                      const Lanes& __restrict per_byte, double bytes, const Lanes& __restrict far) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    any |= start + (startup[k] + per_byte[k] * bytes) <= far[k] ? 1 : 0;
  }
  return any != 0;
}

// Whether a candidate whose message takes `least` or more may be better than `best` in some lane.
STEPSIM_VECTOR_CLONES
bool any_gain(const Lanes& __restrict finish, double ready, const Lanes& __restrict least,
              const Lanes& __restrict limit, const Lanes& __restrict best) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    const double soonest = (start + least[k]) * (1 - kRounding);
    const double most = best[k] * (1 - kTie);
    any |= soonest <= limit[k] ? (soonest < most ? 1 : 0) : 0;
  }
  return any != 0;
}

// The candidate j in all lanes. `below` says whether a candidate clearly below the limit came,
// `unclear` whether one came that is so near the limit that ties might decide.
STEPSIM_VECTOR_CLONES
void consider(const Lanes& __restrict finish, double ready, const Lanes& __restrict seconds,
              const Lanes& __restrict tag, const Lanes& __restrict limit, std::int64_t j,
              Lanes& __restrict below, Lanes& __restrict unclear, Lanes& __restrict best,
              Lanes& __restrict best_tag, Backs& __restrict back) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    const double end = start + seconds[k];
    const double is_below = end < limit[k] * (1 - 3 * kTie) ? 1.0 : 0.0;
    const double is_near = end < limit[k] * (1 - 5 * kTie) ? 0.0 : is_below;
    unclear[k] += (1.0 - below[k]) * is_near;
    below[k] = is_below > below[k] ? is_below : below[k];
    const bool takes = end < best[k] * (1 - kTie);
    best[k] = takes ? end : best[k];
    best_tag[k] = takes ? tag[k] : best_tag[k];
    back[k] = takes ? j : back[k];
  }
}

} // namespace

CurveBlock::CurveBlock(const BatchItems& items)
    : items_(items), finish_s_(items.size() + 1), item_end_s_(items.size()), tag_(items.size() + 1),
      back_(items.size() + 1) {
  assert(items.size() > 0 && "at least one item");
}

void CurveBlock::run(const LaneCurves& cost) {
  finish_s_.front().fill(items_.channel_free_s);
  ready_before_ = 0;
  cost.least_lines(*std::ranges::min_element(items_.bytes), items_.prefix_bytes.back(),
                   line_startup_s_, line_per_byte_s_);
  for (std::size_t i = 1; i <= items_.size(); ++i) {
    if (!choose_below_limit(i, cost)) {
      choose(i, cost);
    }
  }
  item_ends(items_.size(), finish_s_.front().data(), back_.front().data(),
            item_end_s_.front().data());
}

void CurveBlock::choose(std::size_t i, const LaneCurves& cost) {
  Lanes seconds;
  Lanes tag;
  Lanes limit; // above all
  Lanes below{};
  Lanes unclear{};
  limit.fill(std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < i; ++j) {
    cost.seconds(items_.prefix_bytes[i] - items_.prefix_bytes[j], seconds, tag);
    if (j == 0) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        finish_s_[i][k] = std::max(finish_s_[0][k], items_.ready_s[i - 1]) + seconds[k];
      }
      tag_[i] = tag;
      back_[i].fill(0);
    } else {
      consider(finish_s_[j], items_.ready_s[i - 1], seconds, tag, limit,
               static_cast<std::int64_t>(j), below, unclear, finish_s_[i], tag_[i], back_[i]);
    }
  }
}

// False where a full look is needed.
bool CurveBlock::choose_below_limit(std::size_t i, const LaneCurves& cost) {
  constexpr std::size_t kLane = kLanes / 2; // whose guess counts for all
  const double ready = items_.ready_s[i - 1];
  const double sum = items_.prefix_bytes[i];
  while (ready_before_ + 1 < i && finish_s_[ready_before_ + 1][kLane] <= ready) {
    ++ready_before_;
  }
  const std::size_t guess = std::min(ready_before_ + 1, i - 1);
  Lanes guess_s;
  Lanes guess_tag;
  cost.seconds(sum - items_.prefix_bytes[guess], guess_s, guess_tag);
  Lanes limit;
  Lanes far;
  set_limits(finish_s_[guess], ready, guess_s, limit, far);
  std::size_t first = guess; // longer messages end later, whatever is sent before
  while (first > 0 && any_within(ready, line_startup_s_, line_per_byte_s_,
                                 sum - items_.prefix_bytes[first - 1], far)) {
    --first;
  }
  Lanes below{};
  Lanes unclear{};
  Lanes seconds;
  Lanes tag;
  finish_s_[i].fill(std::numeric_limits<double>::infinity());
  for (std::size_t j = first; j < i; ++j) {
    const double bytes = sum - items_.prefix_bytes[j];
    const auto before = static_cast<std::int64_t>(j);
    if (j == guess) {
      consider(finish_s_[j], ready, guess_s, guess_tag, limit, before, below, unclear, finish_s_[i],
               tag_[i], back_[i]);
      continue;
    }
    if (!any_within_after(finish_s_[j], ready, line_startup_s_, line_per_byte_s_, bytes, far)) {
      continue;
    }
    cost.least(bytes, seconds);
    if (any_gain(finish_s_[j], ready, seconds, limit, finish_s_[i])) {
      cost.seconds(bytes, seconds, tag);
      consider(finish_s_[j], ready, seconds, tag, limit, before, below, unclear, finish_s_[i],
               tag_[i], back_[i]);
    }
  }
  return std::ranges::all_of(below, [](double each) { return each > 0; }) &&
         std::ranges::all_of(unclear, [](double each) { return each == 0; });
}

} // namespace stepsim::plan
