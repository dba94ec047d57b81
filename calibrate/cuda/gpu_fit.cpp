// Collectives go through the fit of any other samples. Kernels get up to three constants each: per
// call, per element and per selected entry, fitted to relative errors with none below 0. Which of
// them a kernel has follows from what its work depends on.
#include "calibrate/cuda/gpu_fit.hpp"

#include <cmath>
#include <tuple>

#include "calibrate/cuda/nccl_calls.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::string_view kOwnVariant = "copy_engine";

// "copy_engine plain": how data is copied and how it is launched. It takes the place of the column
// of a log, so that curves of different kinds are never mixed; so does a type that is not float.
std::string column_of(const CollectiveRecord& record) {
  return record.variant + " " + record.launch +
         (record.dtype == kNcclFloat.name ? "" : " " + record.dtype);
}

// One set of samples per curve that has two sizes; a curve of one size cannot be fitted and becomes
// a warning. Times of empty messages are kept in the set but count as no size.
io::Samples sets_of(const GpuSamples& samples, std::vector<std::string>& warnings) {
  using Key = std::tuple<std::string, std::string, std::string, std::uint32_t>;
  std::map<Key, io::SampleSet> sets;
  std::map<Key, std::set<std::int64_t>> sizes;
  std::set<std::pair<Key, std::int64_t>> cold; // sizes that were measured out of the cache
  std::int64_t warm = 0;                       // largest size that was only measured within it
  const auto key_of = [](const CollectiveRecord& record) {
    return Key{record.op, record.algorithm, column_of(record), record.ranks};
  };
  for (const CollectiveRecord& record : samples.collectives) {
    if (record.cache == kCold) {
      cold.insert({key_of(record), record.bytes});
    }
  }
  for (const CollectiveRecord& record : samples.collectives) {
    if (record.cache == kWarm && cold.contains({key_of(record), record.bytes})) {
      continue;
    }
    warm = record.cache == kWarm ? std::max(warm, record.bytes) : warm;
    const Key key = key_of(record);
    io::SampleSet& set = sets[key];
    set.algorithm = record.algorithm;
    set.column = column_of(record);
    add_times(samples, record, set);
    if (record.bytes > 0 && !record.time_s.empty()) {
      sizes[key].insert(record.bytes);
    }
  }
  io::Samples out;
  out.file = samples.file;
  out.source = samples.source;
  for (auto& [key, set] : sets) {
    if (sizes[key].size() >= 2) {
      out.sets.push_back(std::move(set));
    } else {
      warnings.push_back(set.op + " " + set.algorithm + " " + set.column +
                         ": fewer than 2 sizes, left out");
    }
  }
  if (warm > 0) {
    warnings.push_back("collectives: some sizes of up to " + std::to_string(warm) +
                       " B were timed only with buffers in the L2 cache");
  }
  return out;
}

// One point per size (n, k) with the median over the samples of all passes. A kernel with a single
// size is left out: it would not determine two constants.
std::vector<KernelFit> kernel_points(const std::vector<KernelRecord>& records) {
  using Key = std::pair<std::string, std::string>;
  struct Raw {
    std::int64_t achieved_k{};
    std::vector<double> seconds;
  };
  std::map<Key, std::map<std::pair<std::int64_t, std::int64_t>, Raw>> all;
  for (const KernelRecord& record : records) {
    Raw& raw = all[{record.kernel, record.distribution}][{record.n, record.k}];
    raw.achieved_k = record.achieved_k;
    raw.seconds.insert(raw.seconds.end(), record.time_s.begin(), record.time_s.end());
  }
  std::vector<KernelFit> fits;
  for (auto& [key, sizes] : all) {
    KernelFit& fit = fits.emplace_back();
    fit.kernel = key.first;
    fit.distribution = key.second;
    for (auto& [size, raw] : sizes) {
      if (!raw.seconds.empty()) {
        std::ranges::sort(raw.seconds);
        fit.points.push_back({size.first, size.second, raw.achieved_k, base::median(raw.seconds),
                              nearest_rank(raw.seconds, 0.1), nearest_rank(raw.seconds, 0.9)});
      }
    }
  }
  std::erase_if(fits, [](const KernelFit& fit) { return fit.points.size() < 2; });
  return fits;
}

void warn_of_lost(const std::vector<KernelRecord>& records, std::vector<std::string>& warnings) {
  std::set<std::string> named;
  for (const KernelRecord& record : records) {
    if (record.lost > 0 && named.insert(record.kernel + record.distribution).second) {
      warnings.push_back(record.kernel + " (" + record.distribution +
                         "): " + std::to_string(record.lost) +
                         " entries found no room at n=" + std::to_string(record.n) +
                         " k=" + std::to_string(record.k) + ": its times are of less work");
    }
  }
}

// Whether the time depends on the length n of the vector. Merging and adding lists only look at
// their entries; the decoders of whole lists count all entries of kLists lists as k = kLists n, of
// which n is a fixed share, so that both columns together would not be independent.
bool has_elements(const KernelFit& fit) {
  constexpr std::array<std::string_view, 5> kOfLists{"merge", "scatter_add", "qsgd4_decode",
                                                     "qsgd8_decode", "vote_signs"};
  return std::ranges::find(kOfLists, fit.kernel) == kOfLists.end();
}
// A full sort has no k of its own.
bool has_entries(const KernelFit& fit) { return fit.kernel != "radix_sort"; }

// Solves the rows for the constants with the joint fit of links, whose first column is 1 per call.
// A size that the kernel does not depend on stays out, and a single remaining one is the second
// column.
void fit_kernel(KernelFit& fit) {
  const bool elements = has_elements(fit);
  const bool entries = has_entries(fit);
  std::vector<JointRow> rows;
  for (const KernelPoint& point : fit.points) {
    const auto n = static_cast<double>(point.n);
    const auto k = static_cast<double>(point.k);
    rows.push_back({{1.0, elements ? n : k, elements && entries ? k : 0.0}, point.median_s});
  }
  const JointFit joint = fit_jointly(rows);
  fit.c0_s = joint.values[0];
  (elements ? fit.c1_s_per_element : fit.c2_s_per_entry) = joint.values[1];
  if (elements && entries) {
    fit.c2_s_per_entry = joint.values[2];
  }
  fit.max_relative_error = joint.max_error;
  fit.grade = grade_of(joint.max_error);
}

// Kernels count elements, lines bytes.
Line line_of(const KernelFit& fit) {
  Line line;
  line.startup_s = fit.c0_s;
  line.per_byte_s = fit.c1_s_per_element / sizeof(float);
  return line;
}

// What a plain launch costs over a captured graph at the smallest size, where the work hides it
// least. For people only: a scenario has no such number.
std::vector<std::string> launch_lines(const std::vector<GroupFit>& curves) {
  std::vector<std::string> lines;
  for (const GroupFit& plain : curves) {
    constexpr std::string_view kPlain = " plain";
    const std::string& column = plain.group.column;
    if (!column.ends_with(kPlain)) {
      continue;
    }
    const std::string variant = column.substr(0, column.size() - kPlain.size());
    const auto graph = std::ranges::find_if(curves, [&](const GroupFit& each) {
      return each.group.op == plain.group.op && each.group.algorithm == plain.group.algorithm &&
             each.group.ranks == plain.group.ranks && each.group.column == variant + " graph";
    });
    if (graph == curves.end()) {
      continue;
    }
    const Point& least = plain.group.points.front();
    const Point& other = graph->group.points.front();
    lines.push_back(text_of(plain.group) + ": launch_s " +
                    base::significant(least.time_s - other.time_s, 3) + " at " +
                    base::significant(least.bytes, 6) + " B (graph " +
                    base::significant(other.time_s, 3) + " s)");
  }
  return lines;
}

// Fits every curve. The line of the point-to-point messages gives the link.
void fit_curves(const GpuSamples& samples, const FitOptions& options, GpuFit& fit) {
  const std::vector<io::Samples> files{sets_of(samples, fit.warnings)};
  std::optional<Line> plain;
  for (const Group& group : group_samples(files)) {
    GroupFit curve = fit_group(group, options);
    // The calls of a plain launch take longer than a small message: graphs come first.
    if (group.op == "pingpong" && group.column == std::string(kOwnVariant) + " graph") {
      fit.message = curve.line;
    } else if (group.op == "pingpong" && group.column == std::string(kOwnVariant) + " plain") {
      plain = curve.line;
    }
    if (curve.grade == Grade::fail) {
      fit.warnings.push_back(text_of(group) + ": " + curve.failure);
    }
    fit.grade = std::max(fit.grade, curve.grade);
    fit.curves.push_back(std::move(curve));
  }
  if (!fit.message) {
    fit.message = plain;
  }
  fit.launches = launch_lines(fit.curves);
}

// A calibration has one line for the link to the host: the direction with more seconds per byte, so
// that neither direction is predicted faster than it was measured.
std::optional<Line> host_line(const GpuFit& fit) {
  std::optional<Line> slower;
  for (const std::string_view kernel : {"copy_to_host_pinned", "copy_to_device_pinned"}) {
    if (const KernelFit* copy = fit.find(kernel, "any")) {
      const Line line = line_of(*copy);
      if (line.per_byte_s > 0 && (!slower || line.per_byte_s > slower->per_byte_s)) {
        slower = line;
      }
    }
  }
  return slower;
}

} // namespace

const KernelFit* GpuFit::find(std::string_view kernel, std::string_view distribution) const {
  const auto found = std::ranges::find_if(kernels, [&](const KernelFit& each) {
    return each.kernel == kernel && each.distribution == distribution;
  });
  return found == kernels.end() ? nullptr : &*found;
}

std::string text_of(const Group& group) {
  return group.op + (group.algorithm.empty() ? "" : " " + group.algorithm) + " " + group.column +
         " P=" + std::to_string(group.ranks);
}

GpuFit fit_gpu(const GpuSamples& samples, const FitOptions& options) {
  GpuFit fit;
  fit.warnings = samples.warnings;
  fit_curves(samples, options, fit);
  fit.links = device_links(samples.pairs, samples.hosts);
  fit.kernels = kernel_points(samples.kernels);
  warn_of_lost(samples.kernels, fit.warnings);
  for (KernelFit& kernel : fit.kernels) {
    fit_kernel(kernel);
    if (kernel.grade == Grade::fail) {
      fit.warnings.push_back(kernel.kernel + " (" + kernel.distribution +
                             "): c0 + c1 n + c2 k is off by up to " +
                             base::percent(kernel.max_relative_error) + ": not used as a cost");
    }
  }
  fit.host = host_line(fit);
  return fit;
}

} // namespace stepsim::calibrate::gpu
