// Only what was measured is written. A run of one rank has no link between ranks, ranks that share
// a device have one of class same-device and no `network`, and a run without kernels has no costs.
#include "calibrate/cuda/gpu_calibration.hpp"

#include <algorithm>

#include "base/number_text.hpp"
#include "base/percent.hpp"
#include "calibrate/core/calibration_file.hpp"
#include "calibrate/cuda/codec_math.hpp"
#include "calibrate/cuda/gpu_costs.hpp"
#include "scenario/files/source_json.hpp"

namespace stepsim::calibrate::gpu {

namespace {

// The constants of a kernel with the points they were fitted to, as one list per quantity.
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

// A link of the file. Where it is not measured how much both directions disturb each other: null.
io::Json link_tree(std::string_view link_class, const Line& line,
                   const std::optional<double>& exchange = {},
                   const std::optional<double>& shift = {}) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? io::Json(*value) : io::Json();
  };
  return io::Object{
      {"class", link_class},
      {"latency_s", line.startup_s},
      {"per_byte_s", line.per_byte_s},
      {"block_latency_s", io::Json()},
      {"duplex", io::Object{{"exchange", or_null(exchange)}, {"shift", or_null(shift)}}}};
}

// Seconds per byte of x += y, from seconds per element of the addition kernel. Empty where it was
// not measured, did not fit, or is held at 0.
std::optional<double> gamma_of(const GpuFit& fit) {
  const KernelFit* add = fit.find("reduce_add", "any");
  return add != nullptr && add->grade != Grade::fail && add->c1_s_per_element > 0
             ? std::optional(add->c1_s_per_element / sizeof(float))
             : std::nullopt;
}

// The class of the link follows from the bandwidth, because CUDA does not tell what connects two
// devices: 16 lanes of PCIe 5 carry at most 63 GB/s each way. An NVLink below 80 GB/s, as between
// many V100, is therefore called pcie, and a faster PCIe nvlink; the numbers are right in any case.
//
// With times of all pairs there is a link per class that was found, and the slowest class is the
// network of flat collectives, whose ring crosses it.
void set_network(io::Json& tree, const GpuFit& fit, double latency_s, double bandwidth_Bps) {
  const std::optional<double> gamma = gamma_of(fit);
  tree.set("network", io::Object{{"model", "alpha_beta"},
                                 {"latency_s", latency_s},
                                 {"bandwidth_Bps", bandwidth_Bps},
                                 {"reduction_Bps", gamma ? 1 / *gamma : 0.0}});
}

void set_links(io::Json& tree, const GpuSamples& samples, const GpuFit& fit) {
  constexpr double kFasterThanPcie = 80e9; // bytes/s
  io::Array links;
  if (!fit.links.empty()) {
    for (const DeviceLinks& each : fit.links) {
      Line line;
      line.startup_s = each.latency_s;
      line.per_byte_s = each.per_byte_s;
      links.push_back(link_tree(each.link_class, line, each.exchange, each.shift));
    }
    set_network(tree, fit, fit.links.back().latency_s, 1 / fit.links.back().per_byte_s);
  } else if (fit.message && fit.message->per_byte_s > 0) {
    const double bandwidth = 1 / fit.message->per_byte_s;
    links.push_back(link_tree(samples.same_device           ? "same-device"
                              : bandwidth > kFasterThanPcie ? "nvlink"
                                                            : "pcie",
                              *fit.message));
    if (!samples.same_device) {
      set_network(tree, fit, fit.message->startup_s, bandwidth);
    }
  }
  if (fit.host) {
    links.push_back(link_tree("host", *fit.host));
  }
  tree.set("links", std::move(links));
}

std::string note_of(const GpuSamples& samples, const GpuFit& fit, const io::Json& costs) {
  std::string note = std::to_string(samples.ranks) + " ranks";
  note += samples.same_device ? " on " + std::to_string(samples.devices) +
                                    " device(s): times on the same device, no network"
                              : ", one per device";
  if (!samples.hosts.empty()) {
    note += ", on " + std::to_string(1 + *std::ranges::max_element(samples.hosts)) + " host(s)";
  }
  for (const DeviceLinks& links : fit.links) {
    note += "; " + text_of(links);
  }
  note += costs.find("powersgd") != nullptr ? "; costs of powersgd at rank 4" : "";
  note += costs.find(kBucketCodec) != nullptr
              ? "; costs of " + std::string(kBucketCodec) + " at 8 bits"
              : "";
  return note;
}

// The ranges of ranks and message sizes that were measured.
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

io::Json gpu_calibration_tree(const GpuSamples& samples, const GpuFit& fit, const GpuNames& names) {
  const io::Json costs = compression_costs(fit);
  layers::Source source = samples.source;
  source.importer = names.importer;
  io::Json tree(io::Object{
      {"schema_version", 1},
      {"kind", "network_calibration"},
      {"name", names.name},
      {"label", "measured"},
      {"note", note_of(samples, fit, costs)},
      {"device", io::Object{{"name", samples.device},
                            {"count", samples.devices},
                            {"driver", samples.driver.empty() ? io::Json() : samples.driver},
                            {"sm_clock_Hz",
                             samples.sm_clock_hz ? io::Json(*samples.sm_clock_hz) : io::Json()},
                            {"p2p", samples.peer_access}}},
      {"valid", valid_tree(samples, fit)}});
  tree.set("source", io::to_json(source));
  set_links(tree, samples, fit);
  io::Array curves;
  for (const GroupFit& curve : fit.curves) {
    if (curve.group.op != "pingpong") { // that is the link
      curves.push_back(collective_tree(curve));
    }
  }
  tree.set("collectives", std::move(curves));
  tree.set("compression_costs", costs);
  io::Array kernels;
  for (const KernelFit& kernel : fit.kernels) {
    kernels.push_back(kernel_tree(samples, kernel));
  }
  tree.set("kernels", std::move(kernels));
  const bool message = !fit.links.empty() || (fit.message && fit.message->per_byte_s > 0);
  tree.set("identifiable", io::Object{{"latency", message},
                                      {"bandwidth", message},
                                      {"reduction", gamma_of(fit).has_value()}});
  tree.set("grade", links::kGrades[fit.grade]);
  tree.set("warnings", io::Array(fit.warnings.begin(), fit.warnings.end()));
  return tree;
}

std::string gpu_text(const GpuSamples& samples, const GpuFit& fit) {
  const std::string end = samples.same_device ? "  (" + std::string(kSameDevice) + ")\n" : "\n";
  std::string text;
  for (const GroupFit& curve : fit.curves) {
    text += text_of(curve.group) + ": " + std::to_string(curve.group.points.size()) + " sizes, " +
            (curve.points.empty() ? std::to_string(curve.curve.size()) + " segment(s)"
                                  : std::string("kept as points")) +
            ", median error " + base::percent(curve.median_error) + ", largest " +
            base::percent(curve.max_error) + ", " + std::string(links::kGrades[curve.grade]) + end;
  }
  for (const std::string& line : fit.launches) {
    text += line + end;
  }
  if (fit.message && fit.message->per_byte_s > 0) {
    text += "message between two ranks: " + base::significant(1e6 * fit.message->startup_s, 4) +
            " us, " + base::significant(1e-9 / fit.message->per_byte_s, 4) + " GB/s" + end;
  }
  for (const DeviceLinks& links : fit.links) {
    text += text_of(links) + end;
  }
  for (const KernelFit& kernel : fit.kernels) {
    text += kernel.kernel + " (" + kernel.distribution +
            "): " + base::significant(1e6 * kernel.c0_s, 4) + " us + " +
            base::significant(1e12 * kernel.c1_s_per_element, 4) + " ps per element + " +
            base::significant(1e12 * kernel.c2_s_per_entry, 4) + " ps per entry, largest error " +
            base::percent(kernel.max_relative_error) + end;
  }
  return text;
}

} // namespace stepsim::calibrate::gpu
