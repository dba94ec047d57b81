#include "buckets/planners.hpp"

#include "base/collected.hpp"
#include "buckets/optimal.hpp"
#include "buckets/schedules.hpp"
#include "buckets/sending.hpp"

namespace stepsim::buckets {

namespace {

constexpr std::array<std::string_view, 7> kDdpKeys{
    "bucket_bytes", "first_bucket_bytes", "framework", "ddp_mode", "gradient_as_bucket_view",
    "concurrency",  "channel_shares"};
constexpr std::array<std::string_view, 4> kHorovodKeys{"fusion_bytes", "cycle_s", "phase_s",
                                                       "blocking"};

constexpr std::array<std::string_view, 2> kAtOnceKeys{"concurrency", "contention"};
constexpr std::array<std::string_view, 3> kPriorityKeys{"preset", "partition_bytes",
                                                        "credit_bytes"};
constexpr std::array<std::string_view, 2> kSharedKeys{"concurrency", "channel_shares"};
constexpr std::array<std::string_view, 3> kFixedCountKeys{"buckets", "concurrency",
                                                          "channel_shares"};
constexpr std::array<std::string_view, 6> kCapsKeys{"caps_mib",    "schedule_name",
                                                    "ddp_mode",    "gradient_as_bucket_view",
                                                    "concurrency", "channel_shares"};
constexpr std::array<std::string_view, 4> kGroupsKeys{"groups", "schedule_name", "concurrency",
                                                      "channel_shares"};
constexpr std::array<std::string_view, 3> kDearKeys{"bucket_bytes", "dear_layers", "prefetch"};

// Columns: word, summary, planner, its keys, how its messages travel, what it needs of a problem,
// its options in words, whether it is compared with the others, whether its buckets depend on the
// cost.
constexpr bool kCompared = true;
constexpr bool kReadsCost = true;
constexpr std::span<const std::string_view> kNoKeys;
// clang-format off
constexpr auto kPlanners = std::to_array<Planner>({
  {Schedule::wfbp, "wfbp", "one message per gradient, as soon as it is ready",
    plan_wfbp, kSharedKeys, send_in_order, Needs::cost, nullptr, kCompared},
  {Schedule::single, "single", "one message after backward",
    plan_single, kNoKeys, send_in_order, Needs::cost, nullptr, kCompared},
  {Schedule::ddp, "ddp", "PyTorch DDP: buckets of about bucket_bytes",
    plan_ddp, kDdpKeys, send_in_order, Needs::cost, ddp_settings, kCompared},
  {Schedule::horovod, "horovod", "Horovod: what is ready at each cycle, up to fusion_bytes",
    plan_horovod, kHorovodKeys, send_in_order, Needs::cost, horovod_settings, kCompared, kReadsCost},
  {Schedule::mg_wfbp, "mg_wfbp", "the published MG-WFBP greedy",
    plan_mg_wfbp, kNoKeys, send_in_order, Needs::cost, nullptr, kCompared, kReadsCost},
  {Schedule::mg_wfbp_small_tensors, "mg_wfbp_small_tensors", "MG-WFBP that also merges below 8192 elements",
    plan_mg_wfbp_small_tensors, kNoKeys, send_in_order, Needs::cost, nullptr, !kCompared, kReadsCost},
  {Schedule::optimal, "optimal", "the best merge for one channel",
    plan_optimal, kNoKeys, send_in_order, Needs::cost, nullptr, kCompared, kReadsCost},
  {Schedule::eager, "eager", "never wait: send everything ready when the channel is free",
    plan_eager, kNoKeys, send_in_order, Needs::cost, nullptr, !kCompared, kReadsCost},
  {Schedule::exhaustive, "exhaustive", "every contiguous merge, up to 20 gradients",
    plan_exhaustive, kNoKeys, send_in_order, Needs::cost, nullptr, !kCompared, kReadsCost},
  {Schedule::asc_wfbp, "asc_wfbp", "ASC-WFBP: several messages at once",
    plan_asc_wfbp, kAtOnceKeys, send_at_once, Needs::linear_cost, asc_wfbp_settings, kCompared, kReadsCost},
  {Schedule::priority, "priority", "P3, ByteScheduler: chunks, first layers first",
    plan_priority, kPriorityKeys, send_by_priority, Needs::linear_forward, priority_settings},
  {Schedule::dear, "dear", "DeAR: reduce-scatter in backward, all-gather in the next forward",
    plan_dear, kDearKeys, send_in_order, Needs::forward, dear_settings, kCompared},
  {Schedule::omgs, "omgs", "OMGS-SGD: merges sparse layers",
    nullptr, kNoKeys, send_in_order, Needs::selection_costs},
  {Schedule::trace, "trace", "the buckets that the trace was measured with",
    plan_trace, kSharedKeys, send_in_order, Needs::buckets},
  {Schedule::caps, "caps", "a list of bucket sizes: PyTorch's bucket_cap_mb_list",
    plan_caps, kCapsKeys, send_in_order, Needs::cost, caps_settings},
  {Schedule::groups, "groups", "messages of the layers that are listed",
    plan_trace, kGroupsKeys, send_in_order, Needs::layers, groups_settings},
  {kFixedCount, "fixed_count", "a given number of buckets of about equal bytes",
    plan_fixed_count, kFixedCountKeys, send_in_order},
});
// clang-format on

constexpr bool one_row_each() {
  for (std::size_t i = 0; i < kPlanners.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kPlanners[i].schedule == kPlanners[j].schedule ||
          kPlanners[i].name == kPlanners[j].name) {
        return false;
      }
    }
  }
  return true;
}
static_assert(one_row_each(), "every schedule has a number and a word of its own");

// The problem without its items of 0 bytes, and where the others came from.
struct NonEmpty {
  Problem problem;
  std::vector<std::uint32_t> origin;
};

NonEmpty without_empty_items(const Problem& problem) {
  NonEmpty kept{{{}, problem.cost, problem.channel_free}, {}};
  for (std::size_t item = 0; item < problem.items.size(); ++item) {
    if (problem.items[item].bytes.value > 0) {
      kept.problem.items.push_back(problem.items[item]);
      kept.origin.push_back(static_cast<std::uint32_t>(item));
    }
  }
  return kept;
}

// Every item of the whole problem into the group of the next item with bytes; those after the last
// such item into the group of that one. Item i of the plan was item origin[i].
void put_back_empty_items(Plan& plan, const std::vector<std::uint32_t>& origin, std::size_t count) {
  std::vector<bool> placed(origin.size());
  for (Group& group : plan.groups) {
    std::vector<std::uint32_t> items;
    for (const std::uint32_t kept : group.items) {
      if (placed[kept]) { // a further chunk of it
        items.push_back(origin[kept]);
        continue;
      }
      placed[kept] = true;
      const std::uint32_t first = kept == 0 ? 0 : origin[kept - 1] + 1;
      const bool is_last = kept + 1 == origin.size();
      const auto end = is_last ? static_cast<std::uint32_t>(count) : origin[kept] + 1;
      for (std::uint32_t item = first; item < end; ++item) {
        items.push_back(item);
      }
    }
    group.items = std::move(items);
  }
}

void warn_far_extrapolation(Plan& plan, const Cost& cost) {
  const auto* table = std::get_if<TableCost>(&cost.base);
  if (table == nullptr) {
    return;
  }
  const bool is_far = std::any_of(plan.groups.begin(), plan.groups.end(), [&](const Group& group) {
    return static_cast<double>(group.bytes.value) > 8 * table->bytes.back();
  });
  if (is_far) {
    plan.warnings.push_back(
        "a message is more than 8 times the largest size of the cost table: its time is "
        "extrapolated");
  }
}

[[maybe_unused]] bool is_valid(const Problem& problem) {
  return std::ranges::is_sorted(problem.items, {}, &Item::ready) &&
         std::ranges::all_of(problem.items, [](const Item& item) { return item.bytes.value >= 0; });
}

} // namespace

bool Planner::has(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }

bool Planner::shares_channel(const ScheduleOptions& options) const {
  return send == send_at_once || (options.concurrency > 1 && has("concurrency"));
}

auto Planner::sender(const ScheduleOptions& options) const -> decltype(send) {
  return shares_channel(options) ? send_at_once : send;
}

bool Planner::one_channel(const ScheduleOptions& options) const {
  return sender(options) == send_in_order && !gathers_back();
}

std::string Planner::described(const ScheduleOptions& options) const {
  const std::string text = settings == nullptr ? std::string(summary) : settings(options);
  const bool told = send == send_at_once || !shares_channel(options);
  return told ? text : text + ", " + asc_wfbp_settings(options);
}

bool Planner::fits_networks() const {
  return send != send_at_once && !gathers_back() && needs != Needs::selection_costs;
}

std::span<const Planner> planners() { return kPlanners; }

const Planner* find_planner(std::string_view name) {
  return base::found(kPlanners, name, &Planner::name);
}

const Planner& planner(Schedule schedule) {
  const auto* found = std::ranges::find(kPlanners, schedule, &Planner::schedule);
  assert(found != kPlanners.end() && "every schedule has a row in the table");
  return *found;
}

ScheduleOptions default_options(const Planner& planner) {
  ScheduleOptions options;
  if (planner.send == send_at_once) {
    options.concurrency = 2;
    options.contention = 0.5;
  }
  return options;
}

Plan make_plan(const Problem& problem, Schedule schedule, const ScheduleOptions& options) {
  assert(is_valid(problem) && "items in order of ready time, bytes >= 0");
  const Planner& row = planner(schedule);
  if (row.run == nullptr) {
    throw UsageError("schedule " + std::string(row.name) + " needs a sparse compression");
  }
  if (row.needs_linear_cost() && !problem.cost.is_linear()) {
    throw UsageError("schedule " + std::string(row.name) +
                     " needs a linear cost (startup_s, per_byte_s)");
  }
  const bool has_empty =
      std::ranges::any_of(problem.items, [](const Item& item) { return item.bytes.value == 0; });
  const std::optional<NonEmpty> kept =
      has_empty ? std::optional(without_empty_items(problem)) : std::nullopt;
  const Problem& planned = kept ? kept->problem : problem;
  Plan plan;
  if (planned.items.empty()) {
    plan.warnings.emplace_back("all gradients have 0 bytes: nothing is sent");
  } else {
    plan = row.run(planned, options);
    count_bytes(planned, plan);
    if (!row.needs_forward()) {
      replay_groups(planned, row, options, plan);
    }
    if (kept) {
      put_back_empty_items(plan, kept->origin, problem.items.size());
    }
    warn_far_extrapolation(plan, problem.cost);
  }
  if (!problem.items.empty()) {
    plan.finish = std::max(plan.finish, problem.items.back().ready);
  }
  return plan;
}

} // namespace stepsim::buckets
