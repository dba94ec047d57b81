// Knob bucket_bytes of schedule ddp gives the single size. The list is the best merge if that
// is faster by more than 1 %, otherwise the buckets of the best single size.
#include "study/tune.hpp"

#include "base/collected.hpp"
#include "buckets/schedules.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

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
