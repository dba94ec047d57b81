// Samples of several files meet in one group if operation, algorithm, ranks and column agree. A
// size becomes one point, its median; the repetitions are kept for resampling.
#include "calibrate/core/points.hpp"

#include <cmath>

#include "base/collected.hpp"

namespace stepsim::calibrate {

namespace {

// Samples by size, until the last file is read.
struct Raw { // of one group
  Group group;
  std::string file;
  std::map<double, std::vector<io::Sample>> by_size;
};

// Devices and element types are compared later, where a difference is an error.
bool same_group(const Group& group, const io::SampleSet& set) {
  return group.op == set.op && group.algorithm == set.algorithm && group.ranks == set.ranks &&
         group.column == set.column && group.start_up == set.start_up;
}

// Devices and element types must agree, or be unknown.
void unite(std::string& known, const std::string& more, std::string_view noun,
           const std::string& file) {
  if (!known.empty() && !more.empty() && known != more) {
    throw InputError(file, "",
                     "two " + std::string(noun) + " in one set: " + known + ", " + more +
                         "; split the file");
  }
  known = known.empty() ? more : known;
}

// Median, least, and 90th percentile by nearest rank.
Point point_of(double bytes, const std::vector<io::Sample>& samples) {
  std::vector<double> times = base::collected<double>(samples, &io::Sample::time_s);
  std::ranges::sort(times);
  return {.bytes = bytes,
          .time_s = base::median(times),
          .min_s = times.front(),
          .p90_s = nearest_rank(times, 0.9),
          .count = times.size()};
}

// Repetitions numbered by `pass`, else in the order of the file: sample i of every size then counts
// as one pass. `passes` of the group is the least number of different passes that a size has.
void append_repetitions(const std::vector<io::Sample>& samples,
                        std::map<std::int64_t, std::int64_t>& passes, Group& group) {
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t pass = samples[i].pass.value_or(static_cast<std::int64_t>(i));
    const auto number = static_cast<std::int64_t>(passes.size());
    group.samples.push_back(samples[i]);
    group.samples.back().pass = passes.try_emplace(pass, number).first->second;
    seen.insert(pass);
  }
  group.passes = group.points.empty() ? seen.size() : std::min(group.passes, seen.size());
}

// Times of empty messages are kept apart: they take no part in fits of relative errors over sizes.
Group finished(Raw raw) {
  std::map<std::int64_t, std::int64_t> passes;
  for (const auto& [bytes, samples] : raw.by_size) {
    if (bytes == 0) {
      raw.group.empty.push_back(point_of(bytes, samples));
      continue;
    }
    append_repetitions(samples, passes, raw.group);
    raw.group.points.push_back(point_of(bytes, samples));
  }
  if (raw.group.points.size() < 2) {
    throw InputError(raw.file, "",
                     raw.group.text() + ": need at least 2 sizes, got " +
                         std::to_string(raw.group.points.size()));
  }
  return std::move(raw.group);
}

} // namespace

double nearest_rank(std::span<const double> ascending, double share) {
  const double rank = std::ceil(share * static_cast<double>(ascending.size()));
  return ascending[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::optional<ErrorSpread> spread_of(std::vector<double> errors) {
  if (errors.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(errors);
  return ErrorSpread{base::median(errors), nearest_rank(errors, 0.9), errors.back()};
}

std::map<double, std::vector<double>> seconds_by_size(std::span<const io::Sample> samples) {
  std::map<double, std::vector<double>> seconds;
  for (const io::Sample& each : samples) {
    seconds[each.bytes].push_back(each.time_s);
  }
  return seconds;
}

std::string Group::text() const {
  const bool named = !algorithm.empty() && algorithm != "nccl";
  return op + (named ? " " + algorithm : "") + " P=" + std::to_string(ranks) +
         (start_up == links::StartUp::queue ? " queued" : "");
}

std::vector<Datum> Group::data() const {
  return base::collected<Datum>(points, [](const Point& point) {
    return Datum{point.bytes, point.time_s};
  });
}

// Groups stand in the order in which the files name them first.
std::vector<Group> group_samples(std::span<const io::Samples> files) {
  std::vector<Raw> raws; // in the order of the files
  for (const io::Samples& file : files) {
    for (const io::SampleSet& set : file.sets) {
      auto raw = std::ranges::find_if(raws, [&](const Raw& r) { return same_group(r.group, set); });
      if (raw == raws.end()) {
        raw = raws.insert(raws.end(), Raw{{}, file.file, {}});
        static_cast<io::SampleSet&>(raw->group) = set;
        raw->group.samples.clear();
      }
      unite(raw->group.device, set.device, "devices", file.file);
      unite(raw->group.dtype, set.dtype, "element types", file.file);
      for (const io::Sample& sample : set.samples) {
        raw->by_size[sample.bytes].push_back(sample);
      }
    }
  }
  return base::collected<Group>(raws, finished);
}

} // namespace stepsim::calibrate
