#include "calibrate/cuda/gpu_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/number_text.hpp"
#include "base/statistics.hpp"
#include "io/samples_file.hpp"
#include "io/source_json.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::string_view kOwnVariant = "copy_engine";

std::string column_of(const CollectiveRecord& record) {
  return record.variant + " " + record.launch;
}

std::string text_of(const Group& group) {
  return group.op + (group.algorithm.empty() ? "" : " " + group.algorithm) + " " + group.column +
         " P=" + std::to_string(group.ranks);
}

// One set per curve that has two sizes; the others are warnings.
io::Samples sets_of(const GpuSamples& samples, std::vector<std::string>& warnings) {
  using Key = std::tuple<std::string, std::string, std::string, std::uint32_t>;
  std::map<Key, io::SampleSet> sets;
  std::map<Key, std::set<std::int64_t>> sizes;
  for (const CollectiveRecord& record : samples.collectives) {
    const Key key{record.op, record.algorithm, column_of(record), record.ranks};
    io::SampleSet& set = sets[key];
    set.op = record.op;
    set.algorithm = record.algorithm;
    set.ranks = record.ranks;
    set.column = column_of(record);
    set.device = samples.device;
    set.dtype = "float";
    for (const double each : record.time_s) {
      set.samples.push_back({static_cast<double>(record.bytes), each, record.pass});
    }
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
  return out;
}

double percentile(std::vector<double>& sorted, double share) { // nearest rank
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

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
                              percentile(raw.seconds, 0.1), percentile(raw.seconds, 0.9)});
      }
    }
  }
  std::erase_if(fits, [](const KernelFit& fit) { return fit.points.size() < 2; });
  return fits;
}

// Merging and adding lists do not look at all n elements.
bool has_elements(const KernelFit& fit) {
  return fit.kernel != "merge" && fit.kernel != "scatter_add";
}
// A full sort has no k of its own.
bool has_entries(const KernelFit& fit) { return fit.kernel != "radix_sort"; }

// A size that the kernel does not depend on stays out; a single one is the second column.
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

Line line_of(const KernelFit& fit) {
  Line line;
  line.startup_s = fit.c0_s;
  line.per_byte_s = fit.c1_s_per_element / sizeof(float);
  return line;
}

const KernelFit* find(const GpuFit& fit, std::string_view kernel, std::string_view distribution) {
  const auto found = std::ranges::find_if(fit.kernels, [&](const KernelFit& each) {
    return each.kernel == kernel && each.distribution == distribution;
  });
  return found == fit.kernels.end() ? nullptr : &*found;
}

// What a plain launch costs over a captured graph, where both were measured.
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

void fit_curves(const GpuSamples& samples, const FitOptions& options, bool force, GpuFit& fit) {
  const std::vector<io::Samples> files{sets_of(samples, fit.warnings)};
  for (const Group& group : group_samples(files)) {
    GroupFit curve = fit_group(group, options);
    if (group.op == "pingpong" && group.column == std::string(kOwnVariant) + " plain") {
      fit.message = curve.line;
    }
    if (curve.grade == Grade::fail && !force) {
      fit.warnings.push_back(text_of(group) + ": left out, " + curve.failure);
      continue;
    }
    if (curve.grade == Grade::fail) {
      fit.warnings.push_back(text_of(group) + ": " + curve.failure);
    }
    fit.grade = std::max(fit.grade, curve.grade);
    fit.curves.push_back(std::move(curve));
  }
  fit.launches = launch_lines(fit.curves);
}

std::optional<Line> host_line(const GpuFit& fit) {
  std::optional<Line> slower;
  for (const std::string_view kernel : {"copy_to_host_pinned", "copy_to_device_pinned"}) {
    if (const KernelFit* copy = find(fit, kernel, "any")) {
      const Line line = line_of(*copy);
      if (line.per_byte_s > 0 && (!slower || line.per_byte_s > slower->per_byte_s)) {
        slower = line;
      }
    }
  }
  return slower;
}

// Names of `compression.costs` from the constants of a kernel; what did not fit is left out.
void add_costs(io::Json& costs, const GpuFit& fit, std::string_view kernel,
               std::string_view distribution, std::string_view prefix) {
  const KernelFit* found = find(fit, kernel, distribution);
  if (found == nullptr || found->grade == Grade::fail) {
    return;
  }
  const std::string name(prefix);
  if (prefix == "residual") {
    costs.set("residual_s_per_element", found->c1_s_per_element);
    return;
  }
  costs.set(name + "_s", found->c0_s);
  if (prefix == "select") {
    costs.set("select_s_per_element", found->c1_s_per_element);
  }
  costs.set(name + "_s_per_entry", found->c2_s_per_entry);
}

io::Json compression_costs(const GpuFit& fit) {
  struct Selector {
    std::string_view method;
    std::string_view kernel;
  };
  constexpr std::array kSelectors{Selector{"topk", "radix_select"},
                                  Selector{"dgc", "sampled_threshold"},
                                  Selector{"gaussian_k", "gaussian_k"},
                                  Selector{"gtopk_tree", "radix_select"},
                                  Selector{"gtopk_butterfly", "radix_select"},
                                  Selector{"gtopk_exact", "radix_select"},
                                  Selector{"sparcml_rd", "radix_select"},
                                  Selector{"sparcml_split", "radix_select"},
                                  Selector{"topk_dsa", "radix_select"},
                                  Selector{"ok_topk", "threshold_reuse"},
                                  Selector{"hierarchical_topk", "radix_select"}};
  io::Json costs{io::Object{}};
  const auto add = [&](std::string_view method, io::Json values) {
    if (values.is_object() && !values.as_object().empty()) {
      costs.set(method, std::move(values));
    }
  };
  io::Json any{io::Object{}};
  add_costs(any, fit, "residual_update", "any", "residual");
  add_costs(any, fit, "merge", "any", "merge");
  add_costs(any, fit, "scatter_add", "any", "scatter");
  add("any", any);
  for (const Selector& selector : kSelectors) {
    io::Json values{io::Object{}};
    add_costs(values, fit, selector.kernel, "gaussian", "select");
    add(selector.method, std::move(values));
  }
  return costs;
}

io::Json curve_tree(const GroupFit& fit) {
  io::Array segments;
  for (const net::CurveSegment& segment : fit.curve) {
    segments.push_back(io::Object{{"from_bytes", segment.from_bytes},
                                  {"to_bytes", segment.to_bytes},
                                  {"startup_s", segment.startup_s},
                                  {"per_byte_s", segment.per_byte_s}});
  }
  io::Array residuals;
  for (const Residual& row : fit.residuals) {
    residuals.push_back(io::Array{row.bytes, row.measured_s, row.fitted_s});
  }
  return io::Object{
      {"op", fit.group.op},
      {"algorithm", fit.group.algorithm},
      {"ranks", fit.group.ranks},
      {"column", fit.group.column},
      {"dtype", fit.group.dtype},
      {"segments", std::move(segments)},
      {"residuals", std::move(residuals)},
      {"fit", io::Object{{"bic", io::Array(fit.bic.begin(), fit.bic.end())},
                         {"median_relative_error", fit.median_error},
                         {"max_relative_error", fit.max_error},
                         {"points", static_cast<std::int64_t>(fit.group.points.size())}}}};
}

io::Json kernel_tree(const GpuSamples& samples, const KernelFit& fit) {
  io::Json tree(io::Object{{"kernel", fit.kernel},
                           {"distribution", fit.distribution},
                           {"device", samples.device},
                           {"fit", io::Object{{"c0_s", fit.c0_s},
                                              {"c1_s_per_element", fit.c1_s_per_element},
                                              {"c2_s_per_entry", fit.c2_s_per_entry},
                                              {"max_relative_error", fit.max_relative_error}}}});
  if (!samples.driver.empty()) {
    tree.set("driver", samples.driver);
  }
  const auto list = [&](std::string_view key, auto value) {
    io::Array values;
    for (const KernelPoint& point : fit.points) {
      values.push_back(value(point));
    }
    tree.set(key, std::move(values));
  };
  list("n", [](const KernelPoint& p) { return p.n; });
  list("k", [](const KernelPoint& p) { return p.k; });
  list("achieved_k", [](const KernelPoint& p) { return p.achieved_k; });
  list("median_s", [](const KernelPoint& p) { return p.median_s; });
  list("p10_s", [](const KernelPoint& p) { return p.p10_s; });
  list("p90_s", [](const KernelPoint& p) { return p.p90_s; });
  return tree;
}

io::Json link_tree(std::string_view link_class, const Line& line) {
  return io::Object{{"class", link_class},
                    {"latency_s", line.startup_s},
                    {"per_byte_s", line.per_byte_s},
                    {"block_latency_s", io::Json()},
                    {"duplex", io::Object{{"exchange", io::Json()}, {"shift", io::Json()}}}};
}

// Seconds per byte of x += y.
std::optional<double> gamma_of(const GpuFit& fit) {
  const KernelFit* add = find(fit, "reduce_add", "any");
  return add != nullptr && add->grade != Grade::fail && add->c1_s_per_element > 0
             ? std::optional(add->c1_s_per_element / sizeof(float))
             : std::nullopt;
}

void set_links(io::Json& tree, const GpuSamples& samples, const GpuFit& fit) {
  constexpr double kFasterThanPcie = 80e9; // bytes/s
  io::Array links;
  if (fit.message && fit.message->per_byte_s > 0) {
    const double bandwidth = 1 / fit.message->per_byte_s;
    links.push_back(link_tree(samples.same_device           ? "same-device"
                              : bandwidth > kFasterThanPcie ? "nvlink"
                                                            : "pcie",
                              *fit.message));
    if (!samples.same_device) {
      const std::optional<double> gamma = gamma_of(fit);
      tree.set("network", io::Object{{"model", "alpha_beta"},
                                     {"latency_s", fit.message->startup_s},
                                     {"bandwidth_Bps", bandwidth},
                                     {"reduction_Bps", gamma ? 1 / *gamma : 0.0}});
    }
  }
  if (fit.host) {
    links.push_back(link_tree("host", *fit.host));
  }
  tree.set("links", std::move(links));
}

io::Json valid_tree(const GpuSamples& samples, const GpuFit& fit) {
  io::Json valid(io::Object{{"ranks", io::Array{samples.ranks, samples.ranks}}});
  if (!fit.curves.empty()) {
    double low = fit.curves.front().group.points.front().bytes;
    double high = low;
    for (const GroupFit& curve : fit.curves) {
      low = std::min(low, curve.group.points.front().bytes);
      high = std::max(high, curve.group.points.back().bytes);
    }
    valid.set("bytes", io::Array{low, high});
  }
  return valid;
}

} // namespace

GpuFit fit_gpu(const GpuSamples& samples, const FitOptions& options, bool force) {
  GpuFit fit;
  fit.warnings = samples.warnings;
  fit_curves(samples, options, force, fit);
  fit.kernels = kernel_points(samples.kernels);
  for (KernelFit& kernel : fit.kernels) {
    fit_kernel(kernel);
    if (kernel.grade == Grade::fail) {
      fit.warnings.push_back(
          kernel.kernel + " (" + kernel.distribution + "): c0 + c1 n + c2 k is off by up to " +
          base::significant(100 * kernel.max_relative_error, 3) + " %: not used as a cost");
    }
  }
  fit.host = host_line(fit);
  return fit;
}

io::Json gpu_calibration_tree(const GpuSamples& samples, const GpuFit& fit, const GpuNames& names) {
  train::Source source = samples.source;
  source.importer = names.importer;
  io::Json tree(io::Object{
      {"schema_version", 1},
      {"kind", "network_calibration"},
      {"name", names.name},
      {"label", "measured"},
      {"note", samples.same_device ? std::to_string(samples.ranks) + " ranks on " +
                                         std::to_string(samples.devices) +
                                         " device(s): times on the same device, no network"
                                   : std::to_string(samples.ranks) + " ranks, one per device"},
      {"device", io::Object{{"name", samples.device},
                            {"count", samples.devices},
                            {"driver", samples.driver.empty() ? io::Json() : samples.driver},
                            {"sm_clock_Hz",
                             samples.sm_clock_Hz ? io::Json(*samples.sm_clock_Hz) : io::Json()},
                            {"p2p", samples.peer_access}}},
      {"valid", valid_tree(samples, fit)}});
  tree.set("source", io::to_json(source));
  set_links(tree, samples, fit);
  io::Array curves;
  for (const GroupFit& curve : fit.curves) {
    if (curve.group.op != "pingpong") { // that is the link
      curves.push_back(curve_tree(curve));
    }
  }
  tree.set("collectives", std::move(curves));
  tree.set("compression_costs", compression_costs(fit));
  io::Array kernels;
  for (const KernelFit& kernel : fit.kernels) {
    kernels.push_back(kernel_tree(samples, kernel));
  }
  tree.set("kernels", std::move(kernels));
  const bool message = fit.message && fit.message->per_byte_s > 0;
  tree.set("identifiable", io::Object{{"latency", message},
                                      {"bandwidth", message},
                                      {"reduction", gamma_of(fit).has_value()}});
  tree.set("grade", name(fit.grade));
  tree.set("warnings", io::Array(fit.warnings.begin(), fit.warnings.end()));
  return tree;
}

std::string gpu_text(const GpuSamples& samples, const GpuFit& fit) {
  const std::string end = samples.same_device ? "  (" + std::string(kSameDevice) + ")\n" : "\n";
  std::string text;
  for (const GroupFit& curve : fit.curves) {
    text += text_of(curve.group) + ": " + std::to_string(curve.group.points.size()) + " sizes, " +
            std::to_string(curve.curve.size()) + " segment(s), median error " +
            base::significant(100 * curve.median_error, 3) + " %, largest " +
            base::significant(100 * curve.max_error, 3) + " %, " + std::string(name(curve.grade)) +
            end;
  }
  for (const std::string& line : fit.launches) {
    text += line + end;
  }
  if (fit.message && fit.message->per_byte_s > 0) {
    text += "message between two ranks: " + base::significant(1e6 * fit.message->startup_s, 4) +
            " us, " + base::significant(1e-9 / fit.message->per_byte_s, 4) + " GB/s" + end;
  }
  for (const KernelFit& kernel : fit.kernels) {
    text += kernel.kernel + " (" + kernel.distribution +
            "): " + base::significant(1e6 * kernel.c0_s, 4) + " us + " +
            base::significant(1e12 * kernel.c1_s_per_element, 4) + " ps per element + " +
            base::significant(1e12 * kernel.c2_s_per_entry, 4) + " ps per entry, largest error " +
            base::significant(100 * kernel.max_relative_error, 3) + " %" + end;
  }
  return text;
}

} // namespace stepsim::calibrate::gpu
