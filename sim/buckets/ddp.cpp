// PyTorch DistributedDataParallel: tensors fill the open bucket of their dtype until its size has
// reached the limit; the crossing tensor stays in the bucket it closes. MER 5.2 (code).
//
//     limits 2, 5 (first, then all others); sizes 1, 2, 4, 3, 1   ->   buckets {1, 2} {4, 3} {1}
#include "buckets/schedules.hpp"

#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include "base/collected.hpp"
#include "base/quantity.hpp"
#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

namespace {

using Bucket = std::vector<std::uint32_t>; // items, in bucketing order

// The items by a key of theirs.
template <class Key> Bucket sorted_by(const std::vector<Item>& items, Key key) {
  Bucket order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, key);
  return order;
}

// Ready order of iteration 1; without a measured one, reverse registration; else list order.
Bucket ready_order(const std::vector<Item>& items) {
  return sorted_by(items, [&](std::uint32_t i) {
    return std::tuple(items[i].ready_order, -items[i].registration, i);
  });
}

Bucket registration_order(const std::vector<Item>& items) {
  return sorted_by(items, [&](std::uint32_t i) { return std::pair(items[i].registration, ~i); });
}

using Limits = std::span<const std::int64_t>; // of the buckets in turn; the last one repeats

struct Placed {
  Bucket items;
  std::size_t first_position{}; // of its first item in the bucketing order
};

struct OpenBucket {
  Placed bucket{};
  std::int64_t size{};
  std::size_t limit{}; // its place in the limits
};

std::vector<Placed> fill_buckets(const Problem& problem, const Bucket& order, Limits limits) {
  std::vector<Placed> closed;
  std::map<std::uint32_t, OpenBucket> all_open; // by dtype
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Item& item = problem.items[order[position]];
    OpenBucket& open = all_open[item.dtype];
    if (open.bucket.items.empty()) {
      open.bucket.first_position = position;
    }
    open.bucket.items.push_back(order[position]);
    open.size += item.bytes.value;
    if (open.size >= limits[open.limit]) {
      closed.push_back(std::move(open.bucket));
      open = {.size = 0, .limit = std::min(open.limit + 1, limits.size() - 1)};
    }
  }
  std::vector<Placed> rest;
  for (auto& [dtype, open] : all_open) {
    if (!open.bucket.items.empty()) {
      rest.push_back(std::move(open.bucket));
    }
  }
  std::ranges::sort(rest, {}, &Placed::first_position);
  std::ranges::move(rest, std::back_inserter(closed));
  return closed;
}

// Buckets in launch order.
std::vector<Placed> buckets_of(const Problem& problem, DdpMode mode, Limits limits) {
  std::vector<Placed> buckets;
  // Buckets formed in registration order are sorted by their first parameter, then reversed.
  const auto reversed_registration = [&](Limits used) {
    buckets = fill_buckets(problem, registration_order(problem.items), used);
    std::ranges::sort(buckets, std::greater<>(), &Placed::first_position);
  };
  switch (mode) {
  case DdpMode::rebuilt:
    buckets = fill_buckets(problem, ready_order(problem.items), limits);
    break;
  case DdpMode::first_iteration: {
    constexpr std::array kNoLimit{std::numeric_limits<std::int64_t>::max()};
    reversed_registration(kNoLimit);
    break;
  }
  case DdpMode::unused_parameters:
    reversed_registration(limits);
    break;
  case DdpMode::last_small: {
    Bucket order = ready_order(problem.items);
    std::reverse(order.begin(), order.end());
    buckets = fill_buckets(problem, order, limits);
    std::reverse(buckets.begin(), buckets.end());
    break;
  }
  }
  return buckets;
}

Plan plan_within(const Problem& problem, DdpMode mode, Limits limits) {
  Plan plan;
  Seconds ready = problem.items.front().ready;
  for (Placed& bucket : buckets_of(problem, mode, limits)) {
    Group group;
    group.items = std::move(bucket.items);
    std::sort(group.items.begin(), group.items.end());
    ready = std::max(ready, problem.items[group.last()].ready);
    group.ready = ready; // launched in list order: never before an earlier bucket
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

} // namespace

Bytes first_bucket_bytes(const ScheduleOptions& options) {
  constexpr Bytes kDefaultFirstBucket{1024 * 1024};
  const bool small =
      options.bucket_bytes == kDefaultBucketBytes || options.framework == Framework::torch_1_13;
  return options.first_bucket_bytes.value_or(small ? kDefaultFirstBucket : options.bucket_bytes);
}

Plan plan_ddp(const Problem& problem, const ScheduleOptions& options) {
  const std::array limits{first_bucket_bytes(options).value, options.bucket_bytes.value};
  Plan plan = plan_within(problem, options.ddp_mode, limits);
  const bool never_full = options.ddp_mode != DdpMode::first_iteration && plan.groups.size() == 1 &&
                          problem.items.size() > 1;
  if (never_full) {
    const Bytes total = base::sum_of<Bytes>(problem.items, &Item::bytes);
    if (options.bucket_bytes > total) {
      plan.warnings.push_back("bucket_bytes is above the size of all gradients: one bucket, as "
                              "schedule single");
    }
  }
  return plan;
}

std::string ddp_settings(const ScheduleOptions& options) {
  const Bytes first = first_bucket_bytes(options);
  std::string text = "buckets of " + base::readable_size(options.bucket_bytes.value);
  return first == options.bucket_bytes
             ? text
             : text + ", the first of " + base::readable_size(first.value);
}

Plan plan_caps(const Problem& problem, const ScheduleOptions& options) {
  assert(!options.caps_mib.empty() && "at least one cap");
  std::vector<std::int64_t> limits;
  for (const double cap : options.caps_mib) {
    limits.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(cap * 0x1p20)));
  }
  return plan_within(problem, options.ddp_mode, limits);
}

std::string caps_settings(const ScheduleOptions& options) {
  std::string text = options.schedule_name.empty() ? "" : options.schedule_name + ": ";
  text += "buckets of ";
  for (std::size_t i = 0; i < options.caps_mib.size(); ++i) {
    text += (i == 0 ? "" : ", ") + base::shortest(options.caps_mib[i]);
  }
  return text + " MiB";
}

} // namespace stepsim::buckets
