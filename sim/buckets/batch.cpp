#include "buckets/batch.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::buckets {

namespace {

// Relative. Without a start-up two messages in a row take as long as one, and rounding alone would
// decide: a message is split where that gains more than this.
constexpr double kLeastGain = 1e-12;

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

} // namespace stepsim::buckets
