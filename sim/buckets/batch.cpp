#include "buckets/batch.hpp"

#include <algorithm>
#include <cassert>

#include "base/vector_clones.hpp"

// Branches inside the lockstep loops would keep the lanes apart: every choice below is a select.
namespace stepsim::buckets {

namespace {

constexpr std::size_t kLanes = kBatchLanes;
// Relative. Without a start-up two messages in a row take as long as one, and rounding alone would
// decide: a message is split where that gains more than this.
constexpr double kLeastGain = 1e-12;
using Lanes = BatchLanes;

// The linear-time optimum (see best_prefixes) without branches. Row i of `prefix_finish` holds F_i
// of every lane, infinite while unknown; row j of `sums` the bytes of the first j items, in every
// lane, so that one index serves both. `next` points at row J + 1 of its lane. Row i of `back`
// gets the j of every lane.
STEPSIM_VECTOR_CLONES
void optimal_lockstep(const BatchItems& items, const Lanes& startup, const Lanes& per_byte,
                      const double* __restrict sums, double* __restrict prefix_finish,
                      std::int64_t* __restrict back) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  Lanes sent{}; // S_J
  Lanes next_sum;
  Lanes next_finish;
  next_sum.fill(items.prefix_bytes[1]);
  next_finish.fill(kUnknown);
  std::array<std::int64_t, kLanes> next;
  for (std::size_t k = 0; k < kLanes; ++k) {
    next[k] = static_cast<std::int64_t>(kLanes + k);
    prefix_finish[kLanes + k] = kUnknown;
  }
  for (std::size_t i = 1; i <= items.size(); ++i) {
    // No F_j is before the channel is free, so a start is never before it either.
    const double ready = std::max(items.ready_s[i - 1], items.channel_free_s);
    const double sum = items.prefix_bytes[i];
    double* row = prefix_finish + i * kLanes;
    std::fill_n(row + kLanes, kLanes, kUnknown);
    for (std::int64_t any = 1; any != 0;) { // J moves on in the lanes where F_(J+1) <= r_i
      any = 0;
      for (std::size_t k = 0; k < kLanes; ++k) {
        const bool moves = next_finish[k] <= ready;
        sent[k] = moves ? next_sum[k] : sent[k];
        next[k] += moves ? static_cast<std::int64_t>(kLanes) : 0;
        any |= moves ? 1 : 0;
      }
      if (any != 0) {
        for (std::size_t k = 0; k < kLanes; ++k) {
          next_finish[k] = prefix_finish[next[k]];
          next_sum[k] = sums[next[k]];
        }
      }
    }
    const bool free = items.channel_free_s <= items.ready_s[i - 1];
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double from_ready = ready + (startup[k] + per_byte[k] * (sum - sent[k]));
      const double from_next = next_finish[k] + (startup[k] + per_byte[k] * (sum - next_sum[k]));
      const bool gains = from_next < from_ready * (1 - kLeastGain);
      const double best = gains ? from_next : from_ready;
      row[k] = best;
      const auto after = static_cast<std::int64_t>(static_cast<std::uint64_t>(next[k]) / kLanes);
      const std::int64_t before = per_byte[k] > 0 || !free ? after - 1 : 0;
      back[i * kLanes + k] = gains ? after : before;
      next_finish[k] = next_finish[k] == kUnknown ? best : next_finish[k]; // J + 1 = i
    }
  }
}

} // namespace

// F is non-decreasing, so J = the last j < i with F_j <= r_i never moves back; of all j <= J it is
// the best (most bytes already sent, same start r_i), and of all j > J the best is J + 1, since
// F_j - b S_j is non-decreasing. Ties go to the smallest j (MER 5.7): to 0 where bytes cost
// nothing.
std::vector<BestPrefix> best_prefixes(const Problem& problem, const LinearCost& cost) {
  const double startup = cost.startup_s;
  const double per_byte = cost.per_byte_s;
  const Item* item = problem.items.data();
  const Item* const last = item + problem.items.size() - 1;
  std::vector<BestPrefix> prefixes(problem.items.size() + 1);
  BestPrefix* const prefix = prefixes.data();
  prefix->finish_s = problem.channel_free.value;
  std::size_t known = 1; // prefixes
  std::size_t j = 0;
  double sum = 0;
  const auto choose = [&](double ready) {
    while (j + 1 < known && prefix[j + 1].finish_s <= ready) {
      ++j;
    }
    const BestPrefix& sent = prefix[j];
    double best = std::max(sent.finish_s, ready) + (startup + per_byte * (sum - sent.bytes));
    std::size_t from = per_byte > 0 || prefix->finish_s > ready ? j : 0;
    if (j + 1 < known) {
      const BestPrefix& after = prefix[j + 1];
      const double next = after.finish_s + (startup + per_byte * (sum - after.bytes));
      const bool gains = next < best * (1 - kLeastGain);
      from = gains ? j + 1 : from;
      best = gains ? next : best;
    }
    prefix[known++] = {best, sum, static_cast<std::uint32_t>(from)};
  };
  for (; item != last && prefix[known - 1].finish_s <= last->ready.value; ++item) {
    sum += static_cast<double>(item->bytes.value);
    choose(item->ready.value);
  }
  for (; item <= last; ++item) {
    sum += static_cast<double>(item->bytes.value);
  }
  choose(last->ready.value);
  prefixes.resize(known);
  return prefixes;
}

BatchItems batch_items(const Problem& problem) {
  assert(!problem.items.empty() && "a problem has at least one item");
  BatchItems items;
  items.channel_free_s = problem.channel_free.value;
  items.ready_s.resize(problem.items.size());
  items.bytes.resize(problem.items.size());
  items.prefix_bytes.resize(problem.items.size() + 1);
  std::int64_t sum = 0;
  std::size_t count = 0;
  for (const Item& item : problem.items) {
    if (item.bytes.value > 0) {
      sum += item.bytes.value;
      items.ready_s[count] = item.ready.value;
      items.bytes[count] = static_cast<double>(item.bytes.value);
      items.prefix_bytes[++count] = static_cast<double>(sum);
    }
  }
  items.ready_s.resize(count);
  items.bytes.resize(count);
  items.prefix_bytes.resize(count + 1);
  return items;
}

OptimalBlock::OptimalBlock(const BatchItems& items)
    : items_(items), finish_s_(items.size() + 2), sums_(items.size() + 2), back_(items.size() + 2) {
  for (std::size_t row = 0; row < items.prefix_bytes.size(); ++row) {
    sums_[row].fill(items.prefix_bytes[row]);
  }
}

void OptimalBlock::run(const BatchLanes& startup_s, const BatchLanes& per_byte_s) {
  finish_s_.front().fill(items_.channel_free_s);
  if (items_.size() > 0) {
    optimal_lockstep(items_, startup_s, per_byte_s, sums_.front().data(), finish_s_.front().data(),
                     back_.front().data());
  }
}

} // namespace stepsim::buckets
