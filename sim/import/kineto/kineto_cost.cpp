// Times are collected by operation and group size first, transfers where waiting is separated and
// durations of kernels otherwise; a line or a bound is then made of each group.
#include "import/kineto/kineto_summary.hpp"

#include "base/random.hpp"
#include "base/statistics.hpp"
#include "import/nccl/import_nccl_tests.hpp"

namespace stepsim::io {

namespace {

constexpr std::uint64_t kStepStream = 22, kSeed = 1;
constexpr int kResamples = 1000;

struct CostPoint {
  double bytes{}, seconds{};
  std::int32_t step{};
};
using Points = std::vector<CostPoint>;

struct CostGroup {
  Points points;
  bool separated = false; // transfers without waiting
};
using Groups = std::map<std::pair<std::string, std::int64_t>, CostGroup>;

struct Line {
  double startup_s{}, per_byte_s{};
};

// Weighted least squares; a start-up below 0 is taken as 0. Empty where a rate does not follow: one
// size only, or times that do not grow.
std::optional<Line> fit(const Points& points) {
  double weights = 0;
  double mean_bytes = 0;
  double mean_seconds = 0;
  for (const CostPoint& point : points) {
    const double weight = 1 / (point.seconds * point.seconds);
    weights += weight;
    mean_bytes += weight * point.bytes;
    mean_seconds += weight * point.seconds;
  }
  mean_bytes /= weights;
  mean_seconds /= weights;
  double both = 0;
  double square = 0;
  double both_from_zero = 0;
  double square_from_zero = 0;
  for (const CostPoint& point : points) {
    const double weight = 1 / (point.seconds * point.seconds);
    const double bytes = point.bytes - mean_bytes;
    both += weight * bytes * (point.seconds - mean_seconds);
    square += weight * bytes * bytes;
    both_from_zero += weight * point.bytes * point.seconds;
    square_from_zero += weight * point.bytes * point.bytes;
  }
  const bool one_size = std::ranges::all_of(
      points, [&](const CostPoint& point) { return point.bytes == points.front().bytes; });
  if (one_size || !(both > 0)) {
    return std::nullopt;
  }
  const Line line{mean_seconds - both / square * mean_bytes, both / square};
  return line.startup_s >= 0 ? line : Line{0, both_from_zero / square_from_zero};
}

// Whole steps are drawn, because the collectives of a step share the state of the machine. Empty
// where there is one step only, or where most draws give no line.
std::vector<Line> resampled(const Points& points) {
  std::map<std::int32_t, Points> by_step;
  for (const CostPoint& point : points) {
    by_step[point.step].push_back(point);
  }
  std::vector<const Points*> steps;
  for (const auto& [step, members] : by_step) {
    steps.push_back(&members);
  }
  std::vector<Line> lines;
  for (int i = 0; i < kResamples && steps.size() >= 2; ++i) {
    Points drawn;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const Points& step = *steps[base::pick(base::hash(kSeed, kStepStream, i, j), steps.size())];
      drawn.insert(drawn.end(), step.begin(), step.end());
    }
    if (const auto line = fit(drawn)) {
      lines.push_back(*line);
    }
  }
  return lines.size() >= kResamples / 2 ? lines : std::vector<Line>();
}

void set_line(const Points& points, const Line& line, double factor, LineCost& cost) {
  cost.grade = CostGrade::measured;
  cost.startup_s = line.startup_s;
  cost.per_byte_s = line.per_byte_s;
  cost.bus_bandwidth_Bps = factor / line.per_byte_s;
  std::vector<double> startups;
  std::vector<double> rates;
  for (const Line& each : resampled(points)) {
    startups.push_back(each.startup_s);
    rates.push_back(factor / each.per_byte_s);
  }
  if (startups.empty()) {
    return;
  }
  std::ranges::sort(startups);
  std::ranges::sort(rates);
  cost.startup_low_s = base::quantile(startups, 0.05);
  cost.startup_high_s = base::quantile(startups, 0.95);
  cost.bus_bandwidth_low_Bps = base::quantile(rates, 0.05);
  cost.bus_bandwidth_high_Bps = base::quantile(rates, 0.95);
}

// The link is at least as good as its best use; what it would do beyond is open.
void set_bound(const Points& points, double factor, LineCost& cost) {
  const auto smallest = std::ranges::min(
      points, {}, [](const CostPoint& point) { return std::pair(point.bytes, point.seconds); });
  const auto fastest = std::ranges::max(
      points, {}, [](const CostPoint& point) { return point.bytes / point.seconds; });
  cost.grade = CostGrade::bound;
  cost.startup_s = smallest.seconds;
  cost.per_byte_s = fastest.seconds / fastest.bytes;
  cost.bus_bandwidth_Bps = factor / cost.per_byte_s;
  cost.startup_low_s = 0;
  cost.startup_high_s = cost.startup_s;
  cost.bus_bandwidth_low_Bps = cost.bus_bandwidth_Bps;
}

// Of all ranks for gathers and scatters; 0 if unknown.
double bytes_of(const CollectiveCall& call, std::int64_t ranks) {
  const auto dtype = dtype_of_pytorch(call.dtype.get());
  const auto in = static_cast<double>(call.elements);
  const auto out = static_cast<double>(call.out_elements);
  const auto size = static_cast<double>(ranks);
  const double elements = call.op == "allgather"                   ? (out > 0 ? out : in * size)
                          : call.op == "reduce_scatter" && in <= 0 ? out * size
                                                                   : in;
  return dtype && elements > 0 ? elements * static_cast<double>(dtype->bytes) : 0;
}

// The calls inside the steps; those whose cost is not known are counted.
Groups groups_of(std::span<const KinetoRank> ranks, const Waiting& waiting,
                 std::int64_t& left_out) {
  Groups groups;
  const bool separated = !waiting.collectives.empty();
  const auto add = [&](const KinetoRank& rank, const CollectiveCall& call, Nanoseconds time) {
    if (call.step < 0 || call.kernels == 0 || !ends_together(call.op.get())) {
      return;
    }
    const std::int64_t size =
        call.group_size > 0 ? call.group_size
                            : rank.world_size.value_or(static_cast<std::int64_t>(ranks.size()));
    const double bytes = bytes_of(call, size);
    if (bytes <= 0 || time <= 0 || size < 2) {
      ++left_out;
      return;
    }
    CostGroup& group = groups[{call.op, size}];
    group.points.push_back({bytes, static_cast<double>(time) / 1e9, call.step});
    group.separated = separated;
  };
  for (const SeparatedCollective& each : waiting.collectives) {
    add(ranks.front(), *each.call, each.transfer);
  }
  for (const KinetoRank& rank : separated ? std::span<const KinetoRank>() : ranks) {
    for (const CollectiveCall& call : rank.calls) {
      add(rank, call, call.kernel_end - call.kernel_begin);
    }
  }
  return groups;
}

} // namespace

MeasuredCosts measured_costs(std::span<const KinetoRank> ranks) {
  MeasuredCosts result;
  const Waiting waiting = separate_waiting(ranks);
  std::int64_t left_out = 0;
  const Groups groups = groups_of(ranks, waiting, left_out);
  for (const auto& [key, group] : groups) {
    const auto& [op, group_size] = key;
    const double factor = bus_factor(op, group_size);
    const auto bytes = std::ranges::minmax(group.points, {}, &CostPoint::bytes);
    LineCost cost;
    cost.op = op;
    cost.ranks = group_size;
    cost.collectives = std::ssize(group.points);
    cost.smallest_bytes = bytes.min.bytes;
    cost.largest_bytes = bytes.max.bytes;
    const std::string name = fmt::format("{} with {} ranks: ", op, group_size);
    if (const auto line = group.separated ? fit(group.points) : std::nullopt) {
      set_line(group.points, *line, factor, cost);
      if (!cost.startup_low_s) {
        result.notes.push_back(name + "one step, or too few that differ: no interval");
      }
    } else {
      set_bound(group.points, factor, cost);
      result.notes.push_back(name +
                             (group.separated ? "one size, or times that do not grow with it"
                                              : "times contain waiting for other ranks") +
                             ": only a bound");
    }
    result.costs.push_back(std::move(cost));
  }
  add_where(result.notes,
            {{left_out > 0, counted(left_out, "collective") +
                                " without a known size, time or group left out of the cost"}});
  return result;
}

} // namespace stepsim::io
