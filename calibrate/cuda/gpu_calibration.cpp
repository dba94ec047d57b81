// Only what was measured is written. A run of one rank has no link between ranks, ranks that share
// a device have one of class same-device and no `network`, and a run without kernels has no costs.
#include "calibrate/cuda/gpu_calibration.hpp"

#include <functional>

#include "calibrate/core/calibration_file.hpp"
#include "calibrate/cuda/codec_math.hpp"
#include "document/fields/members.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate::gpu {

// From fitted kernels to `compression_costs` (SPA 8.2, 9), under the names of a scenario's
// `compression.costs`. What did not fit is left out.

namespace {

using Kernels = std::vector<const KernelFit*>; // run one after the other

// Empty where one is missing or did not fit.
Kernels find_all(const GpuFit& fit, const std::vector<std::string_view>& names,
                 std::string_view distribution = "any") {
  Kernels kernels;
  for (const std::string_view name : names) {
    const KernelFit* found = fit.find(name, distribution);
    if (found == nullptr || found->grade == Grade::fail) {
      return {};
    }
    kernels.push_back(found);
  }
  return kernels;
}

// The sum of one constant over kernels that run one after the other.
double sum(const Kernels& kernels, double KernelFit::*constant) {
  double all = 0;
  for (const KernelFit* kernel : kernels) {
    all += kernel->*constant;
  }
  return all;
}

// A part of a method costs KEY_s + KEY_s_per_element m + KEY_s_per_entry k; null: it has no such
// term. Of the kernel `start` only the start-up counts.
struct Part {
  std::string_view method, key;
  std::vector<std::string_view> kernels;
  double KernelFit::*per_element = nullptr;
  double KernelFit::*per_entry = nullptr;
  std::string_view distribution = "any";
  std::string_view start{};
};

// Every selector was timed on Gaussian and on heavy-tailed values; a scenario takes the times of
// the Gaussian ones. The methods that exchange selected entries in different ways select with the
// same kernel. Both products of powersgd go over the matrix; Gram-Schmidt goes over one factor, a
// few of its columns. Decoding takes the place of adding lists of scattered entries, which `any`
// has.
std::vector<Part> all_parts() {
  constexpr auto kElement = &KernelFit::c1_s_per_element;
  constexpr auto kEntry = &KernelFit::c2_s_per_entry;
  std::vector<Part> parts{{"any", "merge", {"merge"}, nullptr, kEntry},
                          {"any", "scatter", {"scatter_add"}, nullptr, kEntry},
                          {"dgc", "select", {"sampled_threshold"}, kElement, kEntry, "gaussian"},
                          {"gaussian_k", "select", {"gaussian_k"}, kElement, kEntry, "gaussian"},
                          {"ok_topk", "select", {"threshold_reuse"}, kElement, kEntry, "gaussian"},
                          {"powersgd",
                           "select",
                           {"powersgd_left_r4", "powersgd_right_r4"},
                           kElement,
                           nullptr,
                           "any",
                           "powersgd_orthogonalize_r4"},
                          {"powersgd", "scatter", {"powersgd_decode_r4"}, nullptr, kElement},
                          {kBucketCodec, "select", {"qsgd8_encode"}, kElement},
                          {kBucketCodec, "scatter", {"qsgd8_decode"}, nullptr, kEntry},
                          {"signsgd", "select", {"pack_signs"}, kElement},
                          {"signsgd", "scatter", {"vote_signs"}, nullptr, kEntry}};
  for (const char* method : {"topk", "gtopk_tree", "gtopk_butterfly", "gtopk_exact", "sparcml_rd",
                             "sparcml_split", "topk_dsa", "hierarchical_topk"}) {
    parts.push_back({method, "select", {"radix_select"}, kElement, kEntry, "gaussian"});
  }
  return parts;
}

// The constants of a kernel with the points they were fitted to, as one list per quantity.
io::Json kernel_tree(const GpuSamples& samples, const KernelFit& fit) {
  io::Json tree = io::tree_of<&KernelFit::kernel, &KernelFit::distribution>(fit);
  tree.set("device", samples.device);
  tree.set("fit", io::tree_of<&KernelFit::c0_s, &KernelFit::c1_s_per_element,
                              &KernelFit::c2_s_per_entry, &KernelFit::max_relative_error>(fit));
  io::set_given(tree, "driver", samples.driver);
  const auto list = [&](std::string_view key, auto member) {
    tree.set(key, io::write_each(fit.points, std::mem_fn(member)));
  };
  list("n", &KernelPoint::n);
  list("k", &KernelPoint::k);
  list("achieved_k", &KernelPoint::achieved_k);
  list("median_s", &KernelPoint::median_s);
  list("p10_s", &KernelPoint::p10_s);
  list("p90_s", &KernelPoint::p90_s);
  return tree;
}

// Seconds per byte of x += y, from seconds per element of the addition kernel. Empty where it was
// not measured, did not fit, or is held at 0.
std::optional<double> gamma_of(const GpuFit& fit, const AddedType& added) {
  const KernelFit* add = fit.find(added.kernel, "any");
  return add != nullptr && add->grade != Grade::fail && add->c1_s_per_element > 0
             ? std::optional(add->c1_s_per_element / added.bytes)
             : std::nullopt;
}

// Bytes per second of which a bucket takes four: read and written when tensors are copied into it,
// and again when they are copied back. Empty as gamma_of().
std::optional<double> copies_of(const GpuFit& fit) {
  const Kernels both = find_all(fit, {"bucket_flatten", "bucket_unflatten"});
  const double per_element = sum(both, &KernelFit::c1_s_per_element);
  return per_element > 0 ? std::optional(4 * sizeof(float) / per_element) : std::nullopt;
}

// The class of a message between two ranks follows from its bandwidth, as that of pairs does
// (gpu_fit.hpp). With times of all pairs there is a link per class that was found, and the slowest
// class is the network of flat collectives, whose ring crosses it.
void set_links(io::Json& tree, const GpuSamples& samples, const GpuFit& fit,
               const std::optional<double>& gamma) {
  io::Array links;
  std::optional<Line> slowest; // of the network
  for (const DeviceLinks& each : fit.links) {
    links.push_back(
        link_tree(each.link_class, each.latency_s, each.per_byte_s, each.exchange, each.shift));
    slowest = {.startup_s = each.latency_s, .per_byte_s = each.per_byte_s};
  }
  if (fit.links.empty() && fit.message && fit.message->per_byte_s > 0) {
    const Line& line = *fit.message;
    const bool fast = line.per_byte_s * kSlowestNvlink < 1;
    links.push_back(link_tree(samples.same_device ? "same-device"
                              : fast              ? "nvlink"
                                                  : "pcie",
                              line.startup_s, line.per_byte_s));
    slowest = samples.same_device ? std::nullopt : fit.message;
  }
  if (slowest) {
    tree.set("network",
             network_tree(slowest->startup_s, 1 / slowest->per_byte_s, gamma ? 1 / *gamma : 0.0));
  }
  if (fit.host) {
    links.push_back(link_tree("host", fit.host->startup_s, fit.host->per_byte_s));
  }
  tree.set("links", std::move(links));
}

std::string note_of(const GpuSamples& samples, const GpuFit& fit, const io::Json& costs,
                    const AddedType& added) {
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
  note += added.name == kAddedTypes.front().name ? "" : "; adding " + std::string(added.name);
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
    valid.set("bytes", bytes_tree(fit.curves));
  }
  return valid;
}

// Never below 1: what is faster next to other work is noise.
double slowdown(const std::vector<double>& beside, const std::vector<double>& alone) {
  if (beside.empty() || alone.empty()) {
    throw SimulationError("overlap: no samples");
  }
  return std::max(1.0, base::median(beside) / base::median(alone));
}
double of_product(const OverlapRecord& record) {
  return slowdown(record.product_beside_s, record.product_s);
}
double of_exchange(const OverlapRecord& record) {
  return slowdown(record.exchange_beside_s, record.exchange_s);
}

} // namespace

// A method for which nothing was measured has no entry. Codecs keep no residual.
io::Json compression_costs(const GpuFit& fit) {
  io::Json costs{io::Object{}};
  const auto set = [&](std::string_view method, const std::string& key, double seconds) {
    io::Json* known = costs.find(method);
    (known != nullptr ? *known : costs.set(method, io::Object{})).set(key, seconds);
  };
  if (const Kernels residual = find_all(fit, {"residual_update"}); !residual.empty()) {
    set("any", "residual_s_per_element", sum(residual, &KernelFit::c1_s_per_element));
  }
  for (const Part& part : all_parts()) {
    const Kernels kernels = find_all(fit, part.kernels, part.distribution);
    const Kernels start =
        find_all(fit, {part.start.empty() ? part.kernels[0] : part.start}, part.distribution);
    if (kernels.empty() || start.empty()) {
      continue;
    }
    const std::string key = std::string(part.key) + "_s";
    set(part.method, key,
        sum(kernels, &KernelFit::c0_s) + (part.start.empty() ? 0 : start[0]->c0_s));
    if (part.per_element != nullptr) {
      set(part.method, key + "_per_element", sum(kernels, part.per_element));
    }
    if (part.per_entry != nullptr) {
      set(part.method, key + "_per_entry", sum(kernels, part.per_entry));
    }
  }
  for (const std::string_view method : {kBucketCodec, std::string_view("signsgd")}) {
    if (io::Json* known = costs.find(method)) {
      known->set("residual_s_per_element", 0);
    }
  }
  return costs;
}

io::Json gpu_calibration_tree(const GpuSamples& samples, const GpuFit& fit, const GpuNames& names) {
  const io::Json costs = compression_costs(fit);
  layers::Source source = samples.source;
  source.importer = names.importer;
  io::Json tree =
      calibration_head(names.name, note_of(samples, fit, costs, names.added), io::to_json(source),
                       device_tree(samples.device, samples.devices, samples.driver,
                                   samples.sm_clock_hz, samples.peer_access),
                       valid_tree(samples, fit));
  const std::optional<double> gamma = gamma_of(fit, names.added);
  set_links(tree, samples, fit, gamma);
  io::set_given(tree, "copy_bandwidth_Bps", copies_of(fit));
  io::Array curves;
  for (const GroupFit& curve : fit.curves) {
    if (curve.group.op != "pingpong") { // that is the link
      curves.push_back(collective_tree(curve));
    }
  }
  tree.set("collectives", std::move(curves));
  tree.set("compression_costs", costs);
  tree.set("kernels", io::write_each(fit.kernels, [&](const KernelFit& kernel) {
             return kernel_tree(samples, kernel);
           }));
  const bool message = !fit.links.empty() || (fit.message && fit.message->per_byte_s > 0);
  set_end(tree, {message, message, gamma.has_value()}, fit.grade, fit.warnings);
  return tree;
}

io::Json gpu_overlap_tree(const GpuSamples& samples, const OverlapRecord& record,
                          const GpuNames& names) {
  const std::string side = std::to_string(record.side);
  return io::Object{{"schema_version", 1},
                    {"kind", "overlap"},
                    {"name", names.name},
                    {"source", names.importer + ": " +
                                   (samples.device.empty() ? "GPU" : samples.device) + ", GPU " +
                                   std::to_string(record.device) + ", product of " + side + " x " +
                                   side + " fp32 matrices next to " + record.exchange +
                                   (samples.same_device ? ", " + std::string(kSameDevice) : "")},
                    {"compute", of_product(record)},
                    {"exchange", of_exchange(record)}};
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
  for (const OverlapRecord& record : samples.overlaps) {
    text += "GPU " + std::to_string(record.device) + ": a product takes " +
            base::significant(of_product(record), 4) + " x its time next to " + record.exchange +
            ", which takes " + base::significant(of_exchange(record), 4) + " x its time" + end;
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
