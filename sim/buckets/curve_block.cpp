// The scan of optimal.cpp (AnyCostScan) for many lanes: what it says of limits and ties holds for
// every lane by itself. Choices inside the loops over lanes are selects.
#include "buckets/curve_block.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/vector_clones.hpp"
#include "buckets/optimal.hpp"
#include "buckets/size_pieces.hpp"

namespace stepsim::buckets {

namespace {

using Backs = std::array<std::int64_t, kBatchLanes>;
constexpr double kAbove = 1e-9;     // relative, of a limit; rounding is far below it
constexpr double kRounding = 1e-13; // relative, of a least cost

// The ends above which no candidate counts: a little above that of one candidate. `far` is for
// lower bounds with more rounding.
STEPSIM_VECTOR_CLONES
void set_limits(const BatchLanes& __restrict finish, double ready,
                const BatchLanes& __restrict seconds, BatchLanes& __restrict limit,
                BatchLanes& __restrict far) {
  for (std::size_t k = 0; k < kBatchLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    limit[k] = (start + seconds[k]) * (1 + kAbove);
    far[k] = limit[k] * (1 + kAbove);
  }
}

// Whether a message of `bytes` that starts at `ready` may end before `far` in some lane, by a line
// that its cost is not below.
STEPSIM_VECTOR_CLONES
bool any_within(double ready, const BatchLanes& __restrict startup,
                const BatchLanes& __restrict per_byte, double bytes,
                const BatchLanes& __restrict far) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kBatchLanes; ++k) {
    any |= ready + (startup[k] + per_byte[k] * bytes) <= far[k] ? 1 : 0;
  }
  return any != 0;
}

// Whether a candidate that ends at `finish` before its message may be better than `best`, and not
// above the limit, in some lane.
STEPSIM_VECTOR_CLONES
bool any_gain(const BatchLanes& __restrict finish, double ready,
              const BatchLanes& __restrict startup, const BatchLanes& __restrict per_byte,
              double bytes, const BatchLanes& __restrict limit, const BatchLanes& __restrict best) {
  std::int64_t any = 0;
  for (std::size_t k = 0; k < kBatchLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    const double soonest = (start + (startup[k] + per_byte[k] * bytes)) * (1 - kRounding);
    const double better = best[k] * (1 - kOptimalTie);
    const double most = limit[k] < better ? limit[k] : better;
    any |= soonest <= most ? 1 : 0;
  }
  return any != 0;
}

// The candidate j in all lanes. `below` says whether a candidate clearly below the limit came,
// `unclear` whether one came that is so near the limit that ties might decide.
STEPSIM_VECTOR_CLONES
void consider(const BatchLanes& __restrict finish, double ready,
              const BatchLanes& __restrict seconds, const BatchLanes& __restrict tag,
              const BatchLanes& __restrict limit, std::int64_t j, BatchLanes& __restrict below,
              BatchLanes& __restrict unclear, BatchLanes& __restrict best,
              BatchLanes& __restrict best_tag, Backs& __restrict back) {
  for (std::size_t k = 0; k < kBatchLanes; ++k) {
    const double start = finish[k] > ready ? finish[k] : ready;
    const double end = start + seconds[k];
    const double is_below = end < limit[k] * (1 - 3 * kOptimalTie) ? 1.0 : 0.0;
    const double is_near = end < limit[k] * (1 - 5 * kOptimalTie) ? 0.0 : is_below;
    unclear[k] += (1.0 - below[k]) * is_near;
    below[k] = is_below > below[k] ? is_below : below[k];
    const bool takes = end < best[k] * (1 - kOptimalTie);
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
  first_piece_ = SizePieces::of(*std::ranges::min_element(items.bytes));
  pieces_.resize(SizePieces::of(items.prefix_bytes.back()) - first_piece_ + 1);
}

void CurveBlock::run(const LaneCurves& cost) {
  const auto add_line = [&](double low, double high, Line& line) {
    cost.least_lines(low, high, line.startup_s, line.per_byte_s);
  };
  add_line(SizePieces::begin(first_piece_), SizePieces::begin(first_piece_ + pieces_.size()), all_);
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    add_line(SizePieces::begin(first_piece_ + piece), SizePieces::begin(first_piece_ + piece + 1),
             pieces_[piece]);
  }
  finish_s_.front().fill(items_.channel_free_s);
  for (std::size_t i = 1; i <= items_.size(); ++i) {
    if (!choose_below_limit(i, cost)) {
      choose(i, cost);
    }
  }
  item_ends(items_.size(), finish_s_.front().data(), back_.front().data(),
            item_end_s_.front().data());
}

const CurveBlock::Line& CurveBlock::line_of(double bytes) const {
  return pieces_[SizePieces::of(bytes) - first_piece_];
}

// The candidate that ends first in one lane, by its lower bound. Any would do: it sets the limit.
std::size_t CurveBlock::guess(std::size_t i) const {
  constexpr std::size_t kLane = kBatchLanes / 2;
  std::size_t best = 0;
  double best_end = std::numeric_limits<double>::infinity();
  for (std::size_t j = i; j-- > 0;) {
    const double bytes = items_.prefix_bytes[i] - items_.prefix_bytes[j];
    const Line& line = line_of(bytes);
    const double start = std::max(finish_s_[j][kLane], items_.ready_s[i - 1]);
    const double end = start + (line.startup_s[kLane] + line.per_byte_s[kLane] * bytes);
    best = end < best_end ? j : best;
    best_end = std::min(end, best_end);
  }
  return best;
}

void CurveBlock::choose(std::size_t i, const LaneCurves& cost) {
  BatchLanes seconds;
  BatchLanes tag;
  BatchLanes limit; // above all
  BatchLanes below{};
  BatchLanes unclear{};
  limit.fill(std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < i; ++j) {
    cost.seconds(items_.prefix_bytes[i] - items_.prefix_bytes[j], seconds, tag);
    if (j == 0) {
      for (std::size_t k = 0; k < kBatchLanes; ++k) {
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
  const double ready = items_.ready_s[i - 1];
  const double sum = items_.prefix_bytes[i];
  const std::size_t guessed = guess(i);
  BatchLanes guess_s;
  BatchLanes guess_tag;
  cost.seconds(sum - items_.prefix_bytes[guessed], guess_s, guess_tag);
  BatchLanes limit;
  BatchLanes far;
  set_limits(finish_s_[guessed], ready, guess_s, limit, far);
  std::size_t first = guessed; // longer messages end later, whatever is sent before
  while (first > 0 && any_within(ready, all_.startup_s, all_.per_byte_s,
                                 sum - items_.prefix_bytes[first - 1], far)) {
    --first;
  }
  BatchLanes below{};
  BatchLanes unclear{};
  BatchLanes seconds;
  BatchLanes tag;
  finish_s_[i].fill(std::numeric_limits<double>::infinity());
  for (std::size_t j = first; j < i; ++j) {
    const double bytes = sum - items_.prefix_bytes[j];
    const auto before = static_cast<std::int64_t>(j);
    const Line& line = line_of(bytes);
    if (j == guessed) {
      consider(finish_s_[j], ready, guess_s, guess_tag, limit, before, below, unclear, finish_s_[i],
               tag_[i], back_[i]);
    } else if (any_gain(finish_s_[j], ready, line.startup_s, line.per_byte_s, bytes, limit,
                        finish_s_[i])) {
      cost.seconds(bytes, seconds, tag);
      consider(finish_s_[j], ready, seconds, tag, limit, before, below, unclear, finish_s_[i],
               tag_[i], back_[i]);
    }
  }
  return std::ranges::all_of(below, [](double each) { return each > 0; }) &&
         std::ranges::all_of(unclear, [](double each) { return each == 0; });
}

} // namespace stepsim::buckets
