// Finds the values of bucket_bytes and fusion_bytes for which the buckets differ (MER 5.2, 5.3,
// 6.3), and the settings of DDP that follow from the best of them.
#include "study/tune_values.hpp"

#include "buckets/schedules.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "scenario/scenario_exchange.hpp"
#include "study/tune.hpp"

namespace stepsim::study {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Bytes of the first item with bytes, in launch order.
std::int64_t first_bytes(const buckets::Problem& problem, const buckets::Group& group) {
  const auto* first = base::found_if(
      group.items, [&](std::uint32_t item) { return problem.items[item].bytes.value > 0; });
  return first == nullptr ? 0 : problem.items[*first].bytes.value;
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

constexpr std::int64_t kMiB = 1024 * 1024;

double mib(Bytes bytes) { return static_cast<double>(bytes.value) / static_cast<double>(kMiB); }

// Why sizes of buckets in launch order do not make every contiguous division, "" if they do.
std::string no_list_of(const buckets::Problem& problem, buckets::DdpMode mode) {
  if (mode != buckets::DdpMode::rebuilt) {
    return "the buckets are not rebuilt in the order in which gradients become ready";
  }
  const buckets::Item* before = nullptr;
  for (const buckets::Item& item : problem.items) {
    if (item.bytes.value == 0) {
      continue;
    }
    if (before != nullptr && before->dtype != item.dtype) {
      return "gradients of several element types fill buckets of their own";
    }
    if (before != nullptr && std::tuple(item.ready_order, -item.registration) <
                                 std::tuple(before->ready_order, -before->registration)) {
      return "DDP fills its buckets in another order than that of the backward pass";
    }
    before = &item;
  }
  return "";
}

buckets::Plan plan_with(const Scenario& scenario, const buckets::Problem& problem,
                        buckets::Schedule schedule, Bytes cap) {
  buckets::ScheduleOptions options = scenario.communication.schedule_options;
  options.bucket_bytes = cap;
  return buckets::make_plan(problem, schedule, options);
}

// The largest whole number of MiB that makes the same buckets, else the value itself. PyTorch's
// default is left out: it means another first bucket.
Bytes round_cap(const Scenario& scenario, const buckets::Problem& problem, Bytes cap) {
  const Bytes whole{cap.value / kMiB * kMiB};
  if (whole.value == 0 || whole == buckets::kDefaultBucketBytes ||
      cap == buckets::kDefaultBucketBytes) {
    return cap;
  }
  const auto items = [&](Bytes bytes) {
    return base::collected<std::vector<std::uint32_t>>(
        plan_with(scenario, problem, buckets::Schedule::ddp, bytes).groups, &buckets::Group::items);
  };
  return items(whole) == items(cap) ? whole : cap;
}

const TuneReference* reference(const Tuning& tuning, std::string_view name) {
  const auto found = std::ranges::find(tuning.references, name, &TuneReference::name);
  return found == tuning.references.end() || !found->point.ran() ? nullptr : &*found;
}

// What stays where the gain is not worth a change, and why.
std::string reason_to_stay(const DdpBuckets& buckets) {
  const Gain& gain = buckets.gain;
  const std::string of = (buckets.trace_step ? "The settings of the trace stay: the gain of "
                                             : "PyTorch's defaults stay: the gain of ") +
                         base::percent(gain.value, 2);
  return gain.range ? of + " may be none: " + base::percent(gain.range->first, 2) + " to " +
                          base::percent(gain.range->second, 2) + " (80 %)"
                    : of + " is below the published error of such steps, " +
                          base::percent(gain.published_error, 2);
}

std::string snippet(const DdpBuckets& buckets) {
  const std::string import = "from torch.nn.parallel import DistributedDataParallel\n\n";
  if (!buckets.gain.worth_it()) {
    return import + "# " + reason_to_stay(buckets) + ".\nmodel = DistributedDataParallel(model)\n";
  }
  const bool standard = buckets.cap == buckets::kDefaultBucketBytes;
  const std::string cap = standard ? "" : ", bucket_cap_mb=" + base::shortest(mib(buckets.cap));
  if (!buckets.list) {
    return import + "model = DistributedDataParallel(model" + cap + ")\n";
  }
  const std::string list =
      base::listed(*buckets.list, [](Bytes size) { return base::shortest(mib(size)); });
  return import + "try:\n    model = DistributedDataParallel(model, bucket_cap_mb_list=[" + list +
         "])\nexcept TypeError:  # a PyTorch without bucket_cap_mb_list\n"
         "    model = DistributedDataParallel(model" +
         cap + ")\n";
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
  const std::int64_t total = base::sum_of<std::int64_t>(
      problem.items, [](const buckets::Item& item) { return item.bytes.value; });
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

// Knob bucket_bytes of schedule ddp gives the single size. The list is the best merge if that
// is faster by more than 1 %, otherwise the buckets of the best single size.

DdpBuckets ddp_buckets(const io::Json& scenario, Files& files, const SweepOptions& options) {
  const TuneProblem question{.scenario = with_value(scenario, "/communication/schedule", "ddp"),
                             .knob = Knob::bucket_bytes};
  const TuneValues values = tune_values(question, files);
  const Tuning tuning = tune(question, values, files, options);
  const Scenario parsed = parse_scenario(values.scenario, files, Leftovers::ignore);
  const buckets::Problem problem = merge_problem(parsed);
  const buckets::ScheduleOptions& keys = parsed.communication.schedule_options;
  const Bytes best{tuning.best->value.as_integer()};
  DdpBuckets buckets;
  buckets.warnings = tuning.warnings;
  buckets.cap = round_cap(parsed, problem, best);
  buckets::ScheduleOptions with_cap = keys;
  with_cap.bucket_bytes = buckets.cap;
  buckets.first = buckets::first_bucket_bytes(with_cap);
  buckets.cap_step = Seconds{tuning.best->step_s()};
  const TuneReference* standard = reference(tuning, "default");
  buckets.default_step = standard != nullptr ? Seconds{standard->point.step_s()} : buckets.cap_step;
  io::Json before = standard != nullptr ? standard->point.record : io::Json();
  const auto own = parse_scenario(scenario, files, Leftovers::ignore).communication.schedule;
  if (own == buckets::Schedule::trace) {
    const TunePoint traced = tune_point(row_of(scenario, files), nullptr);
    buckets.trace_step = Seconds{traced.step_s()};
    before = traced.record;
  }
  const auto set_gain = [&](const TunePoint& point) {
    buckets.step = Seconds{point.step_s()};
    const double before_s = buckets.trace_step.value_or(buckets.default_step).value;
    if (before_s > 0 && !before.is_null()) {
      buckets.gain = gain_over(parsed, point.record, before);
    }
  };
  set_gain(*tuning.best);
  buckets.no_list = no_list_of(problem, keys.ddp_mode);
  if (!buckets.no_list.empty()) {
    return buckets;
  }
  buckets::Schedule schedule = buckets::Schedule::ddp;
  const TuneReference* merge = reference(tuning, kBestMerge);
  if (merge != nullptr && merge->point.step_s() < buckets.cap_step.value * (1 - kNearBest)) {
    schedule = buckets::Schedule::optimal;
    set_gain(merge->point);
  }
  buckets.list = base::collected<Bytes>(plan_with(parsed, problem, schedule, buckets.cap).groups,
                                        &buckets::Group::bytes);
  return buckets;
}

io::Json ddp_buckets_tree(const io::Json& scenario, const DdpBuckets& buckets) {
  io::Json list;
  if (buckets.list) {
    list = base::collected<io::Json>(*buckets.list, mib);
  }
  io::Json tree = io::Object{
      {"bucket_cap_mb_list", std::move(list)},
      {"bucket_cap_mb", mib(buckets.cap)},
      {"first_bucket_mb", mib(buckets.first)},
      {"predicted_step_s", buckets.step.value},
      {"bucket_cap_step_s", buckets.cap_step.value},
      {"default_step_s", buckets.default_step.value},
      {"trace_step_s", buckets.trace_step ? io::Json(buckets.trace_step->value) : io::Json()},
      {"scenario_sha256", io::sha256(io::compact(scenario))},
      {"python", snippet(buckets)},
  };
  write_gain(buckets.gain, tree);
  return tree;
}

} // namespace stepsim::study
