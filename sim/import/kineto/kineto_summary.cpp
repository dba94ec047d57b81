// What ranks and steps have in common: medians over steps, then over ranks, for computing; minima
// for collectives, since their kernels wait inside for the slowest rank.
#include "import/kineto/kineto_summary.hpp"

#include <cmath>

#include "base/statistics.hpp"

namespace stepsim::io {

namespace {

double number(Nanoseconds time) { return static_cast<double>(time); }
Seconds seconds(double nanoseconds) { return {nanoseconds / 1e9}; }
Seconds seconds(Nanoseconds time) { return seconds(number(time)); }

// A value of every used step.
std::vector<double> values(const KinetoRank& rank, const StepValue& value) {
  return base::collected<double>(rank.used, [&](std::size_t i) { return value(rank.steps[i]); });
}

// Communication while nothing else runs: what the device does more than computing.
Nanoseconds exposed(const StepTimes& times) { return times.busy - times.compute_busy; }

// Equal in sizes, types and numbers of gradients; times may differ.
bool same_buckets(const std::vector<CollectiveSample>& a, const std::vector<CollectiveSample>& b) {
  return std::ranges::equal(a, b, [](const CollectiveSample& x, const CollectiveSample& y) {
    return x.call.elements == y.call.elements && x.call.dtype == y.call.dtype &&
           x.gradients == y.gradients;
  });
}

// What a call carries. Bytes are known only with the type.
layers::Tensor data_of(std::string_view dtype, std::int64_t elements) {
  const auto word = dtype_of_pytorch(dtype);
  return word ? tensor_of(elements, *word) : tensor_of(0, DtypeWord{});
}

// Sums over the used steps of all ranks: a step without a gap has no share of launches.
void add_idle(std::span<const KinetoRank> ranks, layers::Checks& checks) {
  double idle = 0;
  double launch = 0;
  double span = 0;
  for (const KinetoRank& rank : ranks) {
    for (const std::size_t i : rank.used) {
      const StepTimes& times = rank.steps[i].times;
      idle += number(times.idle());
      launch += number(times.launch_idle);
      span += number(times.span);
    }
  }
  if (span > 0) {
    checks.idle_fraction = idle / span;
    checks.launch_idle_fraction = idle > 0 ? launch / idle : 0;
  }
}

constexpr std::size_t kMostFactors = 1000;

// Relative to the mean.
double spread_of(const std::vector<double>& values) {
  const double mean = base::mean(values);
  const double squares =
      base::sum_of<double>(values, [&](double value) { return (value - mean) * (value - mean); });
  return mean > 0 ? std::sqrt(squares / static_cast<double>(values.size())) / mean : 0;
}

std::vector<double> compute_times(const KinetoRank& rank) {
  return values(rank, [](const StepSample& step) { return number(step.times.compute()); });
}

// The middles of equal parts of the sorted list.
std::vector<double> quantiles(const std::vector<double>& sorted) {
  if (sorted.size() <= kMostFactors) {
    return sorted;
  }
  return base::collected_n<double>(kMostFactors, [&](std::size_t i) {
    return sorted[(2 * i + 1) * sorted.size() / (2 * kMostFactors)];
  });
}

// Median over all used steps of all ranks.
double median_over_steps(std::span<const KinetoRank> ranks, const StepValue& value) {
  std::vector<double> all;
  for (const KinetoRank& rank : ranks) {
    std::ranges::copy(values(rank, value), std::back_inserter(all));
  }
  return base::median(all);
}

} // namespace

// First over the steps of a rank, so that a rank with more steps does not count for more.
double median_over_ranks(std::span<const KinetoRank> ranks, const StepValue& value) {
  const std::vector<double> medians = base::collected<double>(
      ranks, [&](const KinetoRank& rank) { return base::median(values(rank, value)); });
  return base::median(medians);
}

// Times of kernels leave out the gaps between them. What a step takes, less the communication that
// nothing hides, is the time of computing with its gaps; the factor spreads the gaps evenly.
double wall_factor(std::span<const KinetoRank> ranks, std::optional<Seconds> measured_step) {
  const double wall = measured_step ? measured_step->value * 1e9
                                    : median_over_steps(ranks, [](const StepSample& step) {
                                        return number(step.times.wall);
                                      });
  const double hidden =
      median_over_steps(ranks, [](const StepSample& step) { return number(exposed(step.times)); });
  const double compute = median_over_steps(
      ranks, [](const StepSample& step) { return number(step.times.compute_busy); });
  if (wall <= hidden || compute <= 0) {
    throw InputError(ranks.front().file, "",
                     "the step time is not longer than its exposed communication: cannot scale "
                     "compute times to it");
  }
  return (wall - hidden) / compute;
}

std::vector<layers::MeasuredStep> measured_steps(std::span<const KinetoRank> ranks) {
  std::vector<layers::MeasuredStep> steps;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const KinetoRank& rank = ranks[r];
    for (std::size_t i = 0; i < rank.steps.size(); ++i) {
      const StepTimes& times = rank.steps[i].times;
      layers::MeasuredStep step;
      step.name = rank.intervals[i].name;
      // Steps that were left out are listed too: a user can see why.
      step.used = std::ranges::binary_search(rank.used, i);
      if (ranks.size() > 1) {
        step.rank = static_cast<std::int64_t>(r);
      }
      step.wall = seconds(times.wall);
      step.gpu_busy = seconds(times.busy);
      step.compute_busy = seconds(times.compute_busy);
      step.exposed_communication = seconds(exposed(times));
      step.forward = seconds(times.sum(WorkClass::forward));
      step.backward = seconds(times.sum(WorkClass::backward));
      step.gradient_nodes = seconds(times.gradient_nodes);
      step.update = seconds(times.sum(WorkClass::update));
      step.framework = seconds(times.sum(WorkClass::framework));
      step.input = seconds(times.sum(WorkClass::input));
      step.other = seconds(times.sum(WorkClass::other));
      step.communication = seconds(times.sum(WorkClass::communication));
      const DeviceStep& device = rank.device_use[i];
      step.step = seconds(device.length());
      step.step_compute = seconds(device.of(DeviceUse::compute));
      step.step_exchange = seconds(device.of(DeviceUse::exchange));
      step.step_other_collectives = seconds(device.of(DeviceUse::other_collectives));
      step.step_input = seconds(device.of(DeviceUse::input) + device.of(DeviceUse::loader));
      step.step_host = seconds(device.of(DeviceUse::host));
      step.step_idle = seconds(device.of(DeviceUse::idle));
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

// DDP rebuilds its buckets after the first iterations: steps with other buckets than the last do
// not count.
std::vector<layers::MeasuredBucket> measured_buckets(std::span<const KinetoRank> ranks,
                                                     const Waiting& waiting, BucketList list,
                                                     std::vector<std::string>& notes) {
  const StepSample& last = ranks.front().steps[ranks.front().used.back()];
  std::vector<std::vector<double>> times((last.*list).size());
  std::vector<std::vector<const CollectiveCall*>> calls((last.*list).size()); // of the first rank
  bool differ = false;
  for (const KinetoRank& rank : ranks) {
    for (const std::size_t i : rank.used) {
      if (!same_buckets(rank.steps[i].*list, last.*list)) {
        differ = true;
        continue;
      }
      for (std::size_t b = 0; b < times.size(); ++b) {
        if (const auto time = (rank.steps[i].*list)[b].time()) {
          times[b].push_back(number(*time));
        }
        if (&rank == &ranks.front()) {
          calls[b].push_back(&(rank.steps[i].*list)[b].call);
        }
      }
    }
  }
  if (differ) {
    notes.emplace_back("buckets differ between steps or ranks: those of the last step are kept");
  }
  std::vector<layers::MeasuredBucket> buckets;
  for (std::size_t b = 0; b < times.size(); ++b) {
    const CollectiveSample& sample = (last.*list)[b];
    const layers::Tensor data = data_of(sample.call.dtype.get(), sample.call.elements);
    layers::MeasuredBucket bucket{
        sample.call.elements, *data.bytes, data.dtype, sample.gradients, {}, {}, {}};
    set_times(bucket, times[b], 1e9);
    bucket.transfer = transfer_of(waiting, calls[b]);
    if (list == &StepSample::replicas) {
      bucket.group = "replica";
    }
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

// Calls with the same operation, type and size are one row, counted in the first used step of the
// first rank.
std::vector<layers::MeasuredCollective> measured_collectives(std::span<const KinetoRank> ranks,
                                                             const Waiting& waiting) {
  struct Group {
    std::size_t first{}; // order of appearance
    std::int64_t count{};
    std::optional<Nanoseconds> min;
    std::vector<const CollectiveCall*> calls; // of the first rank
  };
  std::map<std::tuple<std::string, std::string, std::int64_t>, Group> groups;
  const StepSample& reference = ranks.front().first();
  for (const KinetoRank& rank : ranks) {
    for (const std::size_t i : rank.used) {
      for (const CollectiveSample& sample : rank.steps[i].collectives) {
        if (sample.call.elements < 0) {
          continue; // nothing says how much it carried
        }
        Group& group = groups
                           .try_emplace({sample.call.op, sample.call.dtype, sample.call.elements},
                                        Group{groups.size(), 0, {}, {}})
                           .first->second;
        group.count += &rank.steps[i] == &reference ? 1 : 0;
        if (&rank == &ranks.front()) {
          group.calls.push_back(&sample.call);
        }
        if (const auto time = sample.time()) {
          group.min = std::min(group.min.value_or(*time), *time);
        }
      }
    }
  }
  std::vector<layers::MeasuredCollective> result(groups.size());
  for (const auto& [key, group] : groups) {
    const auto& [op, dtype, elements] = key;
    const layers::Tensor data = data_of(dtype, elements);
    layers::MeasuredCollective& collective = result[group.first];
    collective = {op, elements, *data.bytes, data.dtype, group.count, {}};
    collective.transfer = transfer_of(waiting, group.calls);
    if (group.min) {
      collective.min = seconds(*group.min);
    }
  }
  std::erase_if(result, [](const layers::MeasuredCollective& c) { return c.per_step == 0; });
  return result;
}

// Numbers by which a user sees whether the import can be trusted.
layers::Checks measured_checks(std::span<const KinetoRank> ranks, const Waiting& waiting) {
  layers::Checks checks;
  std::vector<double> compute;
  for (const KinetoRank& rank : ranks) {
    checks.steps_used += std::ssize(rank.used);
    checks.unattributed_fraction =
        std::max(checks.unattributed_fraction, rank.unattributed_fraction);
    compute.push_back(base::median(compute_times(rank)));
  }
  const StepSample& first = ranks.front().first();
  checks.backward_nodes = first.backward_nodes;
  checks.backward_matched = first.backward_matched;
  checks.gradient_nodes = std::ssize(first.gradients) + first.undefined;
  add_idle(ranks, checks);
  add_wait_checks(waiting, checks);
  const double repeated = number(first.times.sum(WorkClass::forward)) / number(first.repeats);
  if (first.recomputes && repeated > 0) {
    checks.recompute_fraction = number(first.recomputed) / repeated;
  }
  if (first.graph_launches > 0) {
    checks.graph_fraction = median_over_steps(ranks, [](const StepSample& step) {
      const Nanoseconds all = step.times.all();
      return all > 0 ? number(step.graph_time) / number(all) : 0.0;
    });
  }
  checks.gpu_busy_fraction = median_over_steps(ranks, [](const StepSample& step) {
    return step.times.wall > 0 ? number(step.times.busy) / number(step.times.wall) : 1.0;
  });
  if (ranks.size() > 1 && base::median(compute) > 0) {
    checks.rank_spread =
        (std::ranges::max(compute) - std::ranges::min(compute)) / base::median(compute);
  }
  return checks;
}

MeasuredVariability measured_variability(std::span<const KinetoRank> ranks) {
  MeasuredVariability result;
  result.block.law = layers::JitterLaw::empirical;
  std::vector<std::vector<double>> times;
  std::vector<double> medians;
  std::size_t steps = ranks.front().used.size();
  for (const KinetoRank& rank : ranks) {
    times.push_back(compute_times(rank));
    medians.push_back(base::median(times.back()));
    steps = std::min(steps, rank.used.size());
  }
  const double middle = base::median(medians);
  if (middle <= 0) {
    result.notes.emplace_back("no computing on the device: nothing varies");
    return result;
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    result.rank_factors.push_back(medians[r] / middle);
    const double off = std::abs(result.rank_factors[r] - 1);
    if (ranks.size() >= 2 && steps >= 3 && off > 0.02 && off > 2 * spread_of(times[r])) {
      const auto worker = ranks[r].rank.value_or(static_cast<std::int64_t>(r));
      result.block.stragglers.push_back(
          {static_cast<std::uint32_t>(worker), result.rank_factors[r]});
      for (double& time : times[r]) {
        time /= result.rank_factors[r];
      }
    }
  }
  std::vector<double> factors;
  for (const std::vector<double>& each : times) {
    factors.insert(factors.end(), each.begin(), each.end());
  }
  const double mean = base::mean(factors);
  for (double& factor : factors) {
    factor /= mean;
  }
  std::ranges::sort(factors);
  result.block.compute_cv = spread_of(factors);
  result.block.factors = quantiles(factors);
  if (ranks.size() == 1) {
    result.notes.emplace_back(
        "one rank: the factors are those of its steps; ranks are not compared");
  }
  return result;
}

} // namespace stepsim::io
