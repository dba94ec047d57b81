// For which values of bucket_bytes and fusion_bytes the buckets differ (MER 5.2, 5.3, 6.3).

#include "study/tune_values.hpp"

namespace stepsim::study {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Bytes of the first item with bytes, in launch order.
std::int64_t first_bytes(const buckets::Problem& problem, const buckets::Group& group) {
  for (const std::uint32_t item : group.items) {
    if (problem.items[item].bytes.value > 0) {
      return problem.items[item].bytes.value;
    }
  }
  return 0;
}

// Bytes of the layer that comes first in forward order among those with bytes.
std::int64_t first_layer_bytes(const buckets::Problem& problem, const buckets::Group& group) {
  std::int64_t bytes = 0;
  std::optional<std::uint32_t> layer;
  for (auto item = group.items.rbegin(); item != group.items.rend(); ++item) {
    const buckets::Item& each = problem.items[*item];
    if (each.bytes.value == 0) {
      continue;
    }
    if (layer && each.layer != *layer) {
      break;
    }
    layer = each.layer;
    bytes += each.bytes.value;
  }
  return bytes;
}

// ddp closes a bucket at size >= value: the buckets stay up to the smallest that was closed.
std::int64_t last_same_ddp(const buckets::Plan& plan, std::int64_t value) {
  std::int64_t last = kNever;
  for (const buckets::Group& group : plan.groups) {
    if (group.bytes.value >= value) { // smaller ones were closed by another limit, or left open
      last = std::min(last, group.bytes.value);
    }
  }
  return last;
}

// DeAR refuses a layer at size + layer >= value. Groups are in backward order, so that the refused
// layer is in the group before.
std::int64_t last_same_dear(const buckets::Problem& problem, const buckets::Plan& plan,
                            std::int64_t value) {
  std::int64_t last = kNever;
  for (std::size_t g = 1; g < plan.groups.size(); ++g) {
    const std::int64_t sum =
        plan.groups[g].bytes.value + first_layer_bytes(problem, plan.groups[g - 1]);
    last = sum >= value ? std::min(last, sum) : last;
  }
  return last;
}

// horovod refuses a gradient at size + gradient > value: the messages stay below the smallest sum
// that was refused.
std::int64_t next_other_horovod(const buckets::Problem& problem, const buckets::Plan& plan,
                                std::int64_t value) {
  std::int64_t next = kNever;
  for (std::size_t g = 1; g < plan.groups.size(); ++g) {
    const std::int64_t sum = plan.groups[g - 1].bytes.value + first_bytes(problem, plan.groups[g]);
    next = sum > value ? std::min(next, sum) : next;
  }
  return next;
}

} // namespace

// Each plan says up to which value it stays the same; the next value to try follows from that, so
// that the list is complete and has one entry per plan.
std::vector<std::int64_t> plan_changes(const buckets::Problem& problem, buckets::Schedule schedule,
                                       const buckets::ScheduleOptions& options, std::size_t most) {
  std::vector<std::int64_t> values;
  buckets::ScheduleOptions with = options;
  if (schedule == buckets::Schedule::horovod) {
    for (std::int64_t value = 0; value != kNever && values.size() <= most;) {
      values.push_back(value);
      with.fusion_bytes = Bytes{value};
      value = next_other_horovod(problem, buckets::make_plan(problem, schedule, with), value);
    }
    return values;
  }
  const bool ddp = schedule == buckets::Schedule::ddp;
  const std::int64_t standard = buckets::kDefaultBucketBytes.value;
  std::int64_t total = 0;
  for (const buckets::Item& item : problem.items) {
    total += item.bytes.value;
  }
  for (std::int64_t value = 1; values.size() <= most;) {
    // Of ddp, the default value alone means another first bucket; it is added at the end.
    if (ddp && value == standard && !options.first_bucket_bytes) {
      ++value;
    }
    with.bucket_bytes = Bytes{value};
    const buckets::Plan plan = buckets::make_plan(problem, schedule, with);
    const std::int64_t last =
        ddp ? last_same_ddp(plan, value) : last_same_dear(problem, plan, value);
    if (last == kNever) {
      values.push_back(std::max(value, total)); // everything in one
      break;
    }
    // The largest value of the same plan; ddp not its default, which is one of its own.
    values.push_back(ddp && last == standard && last > value ? last - 1 : last);
    if (ddp && last >= total) {
      break;
    }
    value = last + 1;
  }
  if (ddp && std::ranges::find(values, standard) == values.end()) {
    values.insert(std::ranges::upper_bound(values, standard), standard);
  }
  return values;
}

// A point is a record of a sweep with its value put beside it, since a record knows its field by
// name only.

TunePoint tune_point(io::Json record, io::Json value) {
  const std::optional<double> time = number_in(record, kIterationTime);
  std::string error = error_in(record);
  return {std::move(value), time, std::move(record), std::move(error)};
}

std::vector<TunePoint> run_points(const io::Json& scenario, const std::string& pointer,
                                  const std::vector<io::Json>& values, Files& files,
                                  const SweepOptions& options, std::vector<std::string>& warnings) {
  std::vector<TunePoint> points;
  if (values.empty()) {
    return points;
  }
  Rows rows = rows_of(sweep_over(scenario, {{pointer, values}}), files, options);
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back(tune_point(std::move(rows.records[i]), values[i]));
  }
  append_each_once(warnings, rows.warnings);
  return points;
}

} // namespace stepsim::study
