// The best partition into runs: F_i = min over j < i of max(F_j, r_i) + T(S_i - S_j), exact for any
// cost of a group's bytes and count, since an earlier end of a prefix never hurts. MER 5.7
// (derived). O(items) for a linear cost (optimal.hpp), O(items^2) for any other.
#include "buckets/optimal.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

namespace {

constexpr double kTie = kOptimalTie;

// Relative. Without a start-up two messages in a row take as long as one, and rounding alone would
// decide: a message is split where that gains more than this.
constexpr double kLeastGain = 1e-12;

// Returns the plan of all items, which is the last element of best_prefixes().
Plan plan_from_back(const Problem& problem, std::span<const BestPrefix> best) {
  Plan plan;
  const BestPrefix* last = &best.back();
  for (std::size_t end = problem.items.size(); end > 0;
       end = std::exchange(last, &best[last->back])->back) {
    add_run(plan, problem, last->back, end - 1, last->bytes - best[last->back].bytes);
  }
  std::reverse(plan.groups.begin(), plan.groups.end());
  return plan;
}

// The items with bytes, in backward order.
struct SentItems {
  std::vector<double> ready_s{};
  std::vector<double> bytes{};
  std::vector<double> prefix_bytes; // size() + 1 sums, from 0
  double channel_free_s{};          // the channel is busy until then
  [[nodiscard]] std::size_t size() const { return ready_s.size(); }
};

SentItems sent_items(const Problem& problem) {
  assert(!problem.items.empty() && "a problem has at least one item");
  SentItems items{.prefix_bytes = {0}, .channel_free_s = problem.channel_free.value};
  for (const Item& item : problem.items) {
    if (item.bytes.value > 0) {
      items.ready_s.push_back(item.ready.value);
      items.bytes.push_back(static_cast<double>(item.bytes.value));
      items.prefix_bytes.push_back(items.prefix_bytes.back() + items.bytes.back());
    }
  }
  return items;
}

// Sizes of messages cut into pieces at which a curve is bounded by a line: four pieces between two
// powers of two, found by the leading bits of the size. Pieces ascend with the size.
constexpr int kPieceShift = 50; // leaves the exponent and two bits of the mantissa
std::uint64_t piece_of(double bytes) { return std::bit_cast<std::uint64_t>(bytes) >> kPieceShift; }
double piece_begin(std::uint64_t piece) { return std::bit_cast<double>(piece << kPieceShift); }

// What messages cost at least, for many sizes in a row: a line for all of them, and one for each
// piece of the sizes.
class LeastCosts {
public:
  LeastCosts(const Cost& cost, const SentItems& items) {
    const auto* curve = std::get_if<CurveCost>(&cost.base);
    if (curve == nullptr || !curve->least) {
      return;
    }
    const double low = *std::ranges::min_element(items.bytes);
    const double high = items.prefix_bytes.back();
    any_ = curve->least(low, high);
    first_ = piece_of(low);
    for (std::uint64_t piece = first_; piece <= piece_of(high); ++piece) {
      pieces_.push_back(curve->least(piece_begin(piece), piece_begin(piece + 1)));
    }
  }

  [[nodiscard]] const LinearCost& any() const { return any_; }
  // `bytes` is a sum of items.
  [[nodiscard]] double seconds(double bytes) const {
    if (pieces_.empty()) {
      return 0;
    }
    const LinearCost& line = pieces_[piece_of(bytes) - first_];
    return line.startup_s + line.per_byte_s * bytes;
  }

private:
  LinearCost any_{};
  std::uint64_t first_{};
  std::vector<LinearCost> pieces_;
};

// The choices of the prefixes of a list, one after the other. A candidate j ends at
//     v_j = max(F_j, r_i) + T(S_i - S_j) >= max(F_j, r_i) + the least cost of S_i - S_j bytes
// and the cost T is asked for only where the right side is neither above a limit, which lies a
// little above the end of some candidate, nor above the best end so far.
class AnyCostScan {
public:
  AnyCostScan(const Problem& problem, const SentItems& items)
      : cost_(problem.cost), items_(items), least_(problem.cost, items), best_(items.size() + 1) {
    for (std::size_t i = 0; i < best_.size(); ++i) {
      best_[i].bytes = items.prefix_bytes[i];
    }
    best_.front().finish_s = items.channel_free_s;
  }

  [[nodiscard]] std::vector<BestPrefix> prefixes() && {
    for (std::size_t i = 1; i <= items_.size(); ++i) {
      if (!choose_below_limit(i)) {
        choose(i);
      }
    }
    return std::move(best_);
  }

private:
  // End of the first i items if those after the first j are one message.
  [[nodiscard]] double end(std::size_t i, std::size_t j) const {
    const double bytes = items_.prefix_bytes[i] - items_.prefix_bytes[j];
    return std::max(best_[j].finish_s, items_.ready_s[i - 1]) + cost_.seconds(bytes, i - j);
  }
  void take(std::size_t i, std::size_t j, double end) {
    best_[i].finish_s = end;
    best_[i].back = static_cast<std::uint32_t>(j);
  }

  void choose(std::size_t i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double finish = end(i, j);
      if (j == 0 || finish < best_[i].finish_s * (1 - kTie)) {
        take(i, j, finish);
      }
    }
  }

  // As `choose`, but for candidates above a limit. Whoever looks at all of them has taken one above
  // the limit, or none, when the first candidate clearly below it comes; both take that one, and
  // from there on the same. False where that one is so near the limit that ties might decide.
  [[nodiscard]] bool choose_below_limit(std::size_t i) {
    constexpr double kAbove = 1e-9;     // relative; rounding is far below it
    constexpr double kRounding = 1e-14; // relative, of a least cost
    const double ready = items_.ready_s[i - 1];
    while (ready_before_ + 1 < i && best_[ready_before_ + 1].finish_s <= ready) {
      ++ready_before_;
    }
    const double limit = end(i, std::min(ready_before_ + 1, i - 1)) * (1 + kAbove);
    const double far = limit * (1 + kAbove); // the line of all sizes is rounded at the largest
    const LinearCost& any = least_.any();
    bool below = false;
    best_[i].finish_s = std::numeric_limits<double>::infinity();
    for (std::size_t j = first_within(i, far - ready); j < i; ++j) {
      const double bytes = items_.prefix_bytes[i] - items_.prefix_bytes[j];
      const double start = std::max(best_[j].finish_s, ready);
      if (start + (any.startup_s + any.per_byte_s * bytes) > far) {
        continue;
      }
      const double soonest = (start + least_.seconds(bytes)) * (1 - kRounding);
      if (soonest > limit || soonest >= best_[i].finish_s * (1 - kTie)) {
        continue;
      }
      const double finish = end(i, j);
      if (!below && finish < limit * (1 - 3 * kTie)) {
        if (finish >= limit * (1 - 5 * kTie)) {
          return false;
        }
        below = true;
      }
      if (finish < best_[i].finish_s * (1 - kTie)) {
        take(i, j, finish);
      }
    }
    return below;
  }

  // The first j from which on one message of all items up to i may take `seconds` or less.
  [[nodiscard]] std::size_t first_within(std::size_t i, double seconds) const {
    const LinearCost& any = least_.any();
    const auto begin = items_.prefix_bytes.begin();
    const auto first =
        std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(i), [&](double prefix) {
          const double bytes = items_.prefix_bytes[i] - prefix;
          return any.startup_s + any.per_byte_s * bytes > seconds;
        });
    return static_cast<std::size_t>(first - begin);
  }

  const Cost& cost_;
  const SentItems& items_;
  LeastCosts least_;
  std::vector<BestPrefix> best_;
  std::size_t ready_before_ = 0; // a guess: the last j with F_j <= r_i
};

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

Plan plan_optimal(const Problem& problem, const ScheduleOptions& /*options*/) {
  if (problem.cost.is_linear()) {
    return plan_from_back(problem, best_prefixes(problem, std::get<LinearCost>(problem.cost.base)));
  }
  const SentItems items = sent_items(problem);
  return plan_from_back(problem, AnyCostScan(problem, items).prefixes());
}

} // namespace stepsim::buckets
