// ASC-WFBP: groups for a channel that carries several messages at once (MER 6.1). The published
// planner is not known; this one is derived: the best of five schedules for one channel, then the
// one group boundary that gains most is toggled until none gains.
#include "buckets/schedules.hpp"

#include <tuple>

#include "base/quantity.hpp"
#include "buckets/optimal.hpp"
#include "buckets/sending.hpp"

namespace stepsim::buckets {

namespace {

constexpr double kGain = 1e-12; // relative; less is rounding

// Groups as a list of marks: begins[i] = a group begins at item i. begins[0] is always set.
using Begins = std::vector<char>;

// The state of the channel just before a group is started, to go on from there.
struct Checkpoint {
  std::size_t item{}; // first of the group
  AtOnce channel;
  std::size_t underway{}; // end of its messages in `AscSearch::underway_of_`
};

class AscSearch {
public:
  AscSearch(const Problem& problem, const ScheduleOptions& options)
      : items_(problem.items), cost_(std::get<LinearCost>(problem.cost.base)),
        slots_(static_cast<std::size_t>(options.concurrency)),
        idle_{.contention = options.contention, .now = problem.channel_free.value},
        least_slowdown_(least_slowdown(options)),
        rounding_(1e-15 * static_cast<double>(problem.items.size() + 10)),
        prefix_bytes_(problem.items.size() + 1) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      prefix_bytes_[i + 1] = prefix_bytes_[i] + static_cast<double>(items_[i].bytes.value);
    }
  }

  [[nodiscard]] double finish(const Begins& begins) {
    checkpoints_.clear();
    underway_of_.clear();
    underway_.clear();
    found_idle_.assign(items_.size(), 0);
    return go_on<true>(0, idle_, begins, 0, kNever);
  }

  // Finish with `begins`, which differs from those of the last call of `finish` by the mark of
  // `toggled` alone. Infinite, or not, where it is not below `limit`, which is not above the finish
  // of that call.
  [[nodiscard]] double finish_after(const Begins& begins, std::size_t toggled, double limit) {
    const auto after =
        std::upper_bound(checkpoints_.begin(), checkpoints_.end(), toggled - 1,
                         [](std::size_t item, const Checkpoint& each) { return item < each.item; });
    const Checkpoint& from = *(after - 1);
    const std::size_t first = after - 1 == checkpoints_.begin() ? 0 : (after - 2)->underway;
    underway_.assign(underway_of_.begin() + static_cast<std::ptrdiff_t>(first),
                     underway_of_.begin() + static_cast<std::ptrdiff_t>(from.underway));
    return go_on<false>(from.item, from.channel, begins, toggled, limit);
  }

private:
  std::span<const Item> items_;
  LinearCost cost_;
  std::size_t slots_;
  AtOnce idle_;
  double least_slowdown_; // seconds of the channel per second of data
  double rounding_;       // relative, of the sums of a finish
  std::vector<double> prefix_bytes_;
  std::vector<Checkpoint> checkpoints_; // of the last partition, one per group
  std::vector<Underway> underway_of_;   // the messages of all checkpoints, one list after another
  std::vector<Underway> underway_;      // now
  std::vector<char> found_idle_;        // [items] in the last partition, a group begins at the item
                                        // and is sent at its ready time by an idle channel

  // No finish from here on is earlier, but for rounding: all data that is left, at the highest rate
  // of all messages together.
  [[nodiscard]] double soonest(std::size_t first, const AtOnce& channel) const {
    double left = cost_.per_byte_s * (prefix_bytes_.back() - prefix_bytes_[first]);
    for (const Underway& each : underway_) {
      left += each.moving ? each.until - channel.clock : each.data_s;
    }
    return (channel.now + left * least_slowdown_) * (1 - rounding_);
  }

  // Once a group behind `toggled` finds the channel idle, as it did in the last partition, all goes
  // on as there, and nothing is gained.
  template <bool kKeepsCheckpoints>
  double go_on(std::size_t first, AtOnce channel, const Begins& begins, std::size_t toggled,
               double limit) {
    while (first < items_.size()) {
      if (!kKeepsCheckpoints && soonest(first, channel) >= limit) {
        return kNever;
      }
      std::size_t last = first;
      while (last + 1 < items_.size() && begins[last + 1] == 0) {
        ++last;
      }
      if constexpr (kKeepsCheckpoints) {
        underway_of_.insert(underway_of_.end(), underway_.begin(), underway_.end());
        checkpoints_.push_back({first, channel, underway_of_.size()});
      }
      while (underway_.size() == slots_) {
        std::ignore = next_end(channel, underway_, kNever);
      }
      while (next_end(channel, underway_, items_[last].ready.value) >= 0) {}
      if (underway_.empty() && channel.now <= items_[last].ready.value) {
        if constexpr (kKeepsCheckpoints) {
          found_idle_[first] = 1;
        } else if (first > toggled && found_idle_[first] != 0) {
          return kNever;
        }
      }
      channel.now = std::max(channel.now, items_[last].ready.value);
      start(channel, underway_, 0, cost_.startup_s,
            cost_.per_byte_s * (prefix_bytes_[last + 1] - prefix_bytes_[first]));
      first = last + 1;
    }
    while (!underway_.empty()) {
      std::ignore = next_end(channel, underway_, kNever);
    }
    return std::max(channel.now, items_.back().ready.value);
  }
};

Begins begins_of(const Plan& plan, std::size_t items) {
  Begins begins(items);
  for (const Group& group : plan.groups) {
    begins[group.first()] = 1;
  }
  return begins;
}

std::ptrdiff_t groups_in(const Begins& begins) { return std::ranges::count(begins, 1); }

} // namespace

Plan plan_asc_wfbp(const Problem& problem, const ScheduleOptions& options) {
  const std::size_t count = problem.items.size();
  AscSearch search(problem, options);
  Begins best;
  double best_finish = kNever;
  for (auto* run : {plan_wfbp, plan_mg_wfbp, plan_optimal, plan_eager, plan_single}) {
    const Begins begins = begins_of(run(problem, options), count);
    const double finish = search.finish(begins);
    const double tie = kGain * best_finish;
    if (best.empty() || finish < best_finish - tie ||
        (finish <= best_finish + tie && groups_in(begins) < groups_in(best))) {
      best = begins;
      best_finish = finish;
    }
  }
  for (bool gains = true; gains;) {
    best_finish = search.finish(best);
    std::size_t toggle = 0;
    double toggle_finish = best_finish * (1 - kGain);
    for (std::size_t i = 1; i < count; ++i) {
      best[i] ^= 1;
      const double finish = search.finish_after(best, i, toggle_finish);
      best[i] ^= 1;
      if (finish < toggle_finish) {
        toggle = i;
        toggle_finish = finish;
      }
    }
    gains = toggle > 0;
    if (gains) {
      best[toggle] ^= 1;
    }
  }
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < count; ++i) {
    if (best[i] != 0) {
      firsts.push_back(i);
    }
  }
  Plan plan;
  add_runs(plan, problem, firsts);
  return plan;
}

void send_at_once(const Sending& sending, const SendInput& input, SendTimes& times) {
  size_for(sending.transfers.size(), times);
  AtOnce channel{.contention = sending.options.contention,
                 .shares = sending.options.channel_shares,
                 .now = input.channel_free_s};
  times.underway.clear();
  const auto end_one = [&](double limit) {
    const std::int64_t ended = next_end(channel, times.underway, limit);
    if (ended >= 0) {
      times.end_s[static_cast<std::size_t>(ended)] = channel.now;
    }
    return ended >= 0;
  };
  const auto slots = static_cast<std::size_t>(sending.options.concurrency);
  for (std::size_t g = 0; g < sending.transfers.size(); ++g) {
    const Transfer& transfer = sending.transfers[g];
    while (times.underway.size() == slots && end_one(kNever)) {}
    while (end_one(input.ready_s[g])) {}
    channel.now = std::max(channel.now, input.ready_s[g]);
    times.start_s[g] = channel.now;
    start(channel, times.underway, static_cast<std::int64_t>(g), transfer.startup_s,
          transfer.data_s);
  }
  while (end_one(kNever)) {}
  times.finish_s = sending.transfers.empty() ? 0.0 : channel.now;
  times.busy_s = busy_seconds(times);
}

// While k move data, each takes 1 + contention (k - 1) times as long (MER 6.1).
std::string asc_wfbp_settings(const ScheduleOptions& options) {
  const auto count = static_cast<double>(options.concurrency);
  const double together = count / (1 + options.contention * (count - 1));
  return std::to_string(options.concurrency) + " all-reduces at once " +
         (options.channel_shares == ChannelShares::by_size ? "share the bandwidth of one by size"
          : together == 1                                  ? "share the bandwidth of one"
                          : "move " + base::shortest(base::rounded_to(together, 3)) +
                                " times the bandwidth of one");
}

} // namespace stepsim::buckets
