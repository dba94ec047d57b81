// Summaries name what a user can check against the tool that measured: numbers of layers, sums of
// times, sizes.

#include "cli/commands/imported.hpp"

#include "base/printable.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/csv.hpp"
#include "document/kind_use.hpp"
#include "import/chakra/import_chakra.hpp"
#include "import/import_detect.hpp"
#include "import/import_layer_table.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "scenario/files/trace_file.hpp"

#include <system_error>

namespace stepsim::cli {

namespace {

std::string milliseconds(double seconds) { return base::significant(seconds * 1e3) + " ms"; }

// Flags are read into the units of the importer: transfers per second and lane for PCIe links, as
// their data sheets have them, and seconds per kind of cable.

constexpr double kMostLatency = 1; // s

// "8GT/s:16": speed of a lane, then the number of lanes.
io::PcieLink parse_link(const std::string& text) {
  constexpr std::string_view kUnit = "GT/s";
  const std::string_view whole = text;
  const std::size_t colon = whole.find(':');
  std::string_view speed = whole.substr(0, colon);
  std::optional<double> per_lane;
  if (speed.ends_with(kUnit)) {
    speed.remove_suffix(kUnit.size());
    per_lane = io::parse_real(speed.substr(0, speed.find_last_not_of(' ') + 1));
  }
  const auto lanes =
      colon == std::string::npos ? std::nullopt : io::parse_whole(whole.substr(colon + 1));
  if (!per_lane || !io::kPcieSpeeds.contains(*per_lane) || !lanes ||
      !io::kPcieLanes.contains(static_cast<double>(*lanes))) {
    throw UsageError("--pcie-default " + base::shown_value(text) +
                     ": must be SPEED:LANES as in 8GT/s:16, SPEED from 0.1 to 1000 GT/s, LANES "
                     "from 1 to 64");
  }
  return {*per_lane, *lanes};
}

// Each kind at most once; kinds that are not named keep their defaults.
void parse_latencies(const std::string& text, io::NcclTopologyOptions& options) {
  constexpr std::array<std::string_view, 3> kKinds{"nvlink", "pcie", "net"};
  const std::array targets{&options.nvlink_latency, &options.pcie_latency,
                           &options.network_latency};
  for (const std::string_view part : io::split(text)) {
    const std::size_t equals = part.find('=');
    const std::string_view kind = part.substr(0, equals);
    const std::string flag = "--latency " + base::shown_value(part) + ": ";
    if (equals == std::string_view::npos) {
      throw UsageError(flag + "must be KIND=TIME as in pcie=1us, KIND nvlink, pcie or net");
    }
    const auto* found = std::ranges::find(kKinds, kind);
    if (found == kKinds.end()) {
      throw UsageError(flag + base::unknown_word("kind of link", kind, kKinds));
    }
    auto& target = *targets[static_cast<std::size_t>(found - kKinds.begin())];
    if (target) {
      throw UsageError(flag + std::string(kind) + " appears twice");
    }
    target = Seconds{quantity("--latency " + std::string(kind), part.substr(equals + 1),
                              base::QuantityKind::time, io::between(0, kMostLatency))};
  }
}

// Bytes of the files, 0 where one of them is no file whose size is known.
std::uintmax_t total_bytes(const std::vector<std::string>& files) {
  std::uintmax_t sum = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error) {
      return 0;
    }
    sum += size;
  }
  return sum;
}

} // namespace

// Sums over the layers, with unknown times and sizes as 0. Update and framework time are one number
// here, as a scenario takes them.
Imported imported_trace(const layers::Trace& trace) {
  double forward = 0;
  double backward = 0;
  double bytes = 0;
  std::size_t tensors = 0;
  for (const layers::Layer& layer : trace.layers) {
    forward += layer.forward.value_or(Seconds{0}).value;
    backward += layer.backward.value_or(Seconds{0}).value;
    bytes += static_cast<double>(layer.gradient_bytes.value_or(Bytes{0}).value);
    tensors += layer.tensors.size();
  }
  std::string text = base::printable(trace.name) + ": " + std::to_string(trace.layers.size()) +
                     " layers, " +
                     (tensors == 0 && bytes > 0 ? "one gradient each"
                                                : std::to_string(tensors) + " gradient tensors") +
                     ", " + base::readable_bytes(bytes) + ", " +
                     std::string(layers::kProvenances[trace.provenance]) + "\n";
  text += "forward " + milliseconds(forward) + ", backward " + milliseconds(backward) +
          ", update " + milliseconds((trace.update + trace.framework).value) + ", input " +
          milliseconds(trace.input.value) + "\n";
  if (!trace.buckets.empty()) {
    text += base::counted(std::ssize(trace.buckets), "measured bucket");
    if (trace.checks) {
      text += ", " + base::counted(trace.checks->steps_used, "step") + " used, " +
              std::to_string(trace.checks->backward_matched) + " of " +
              std::to_string(trace.checks->backward_nodes) + " backward nodes matched";
    }
    text += "\n";
  }
  std::vector<std::string> warnings = trace.warnings;
  if (bytes == 0) {
    const bool known = std::ranges::all_of(
        trace.layers, [](const layers::Layer& layer) { return layer.gradient_bytes.has_value(); });
    warnings.emplace_back(known ? "no layer has a gradient: run sends nothing"
                                : "run refuses this trace: it has no gradient sizes");
  }
  return {io::to_json(trace), text, warnings};
}

Imported imported_model(const layers::ModelTable& table) {
  const std::int64_t active = table.active_elements();
  std::string text = base::printable(table.name) + ": " + std::to_string(table.elements()) +
                     " parameters in " + std::to_string(table.tensors()) + " tensors of " +
                     std::to_string(table.layers.size()) + " layers";
  if (active != table.elements()) {
    text += ", " + std::to_string(active) + " of them active per token";
  }
  return {io::to_json(table), text + "\n", table.warnings};
}

// A cost file has one operation and one number of ranks.
Imported imported_cost(const io::OsuLog& log) {
  const io::CostPoints cost = io::cost_of(log);
  return {io::to_json(cost),
          base::printable(cost.name) + ": " + cost.op + " with " +
              base::counted(cost.ranks, "rank") + ", " + std::to_string(cost.table.size()) +
              " sizes, " + base::readable_bytes(cost.table.front().first) + " to " +
              base::readable_bytes(cost.table.back().first) + "\n",
          {}};
}

// One line per set, which is what `fit` will call a group.
Imported imported_samples(const io::Samples& samples) {
  std::string text;
  std::vector<std::string> warnings = samples.warnings;
  for (const io::SampleSet& set : samples.sets) {
    if (set.ranks == 1) {
      warnings.push_back(set.op + ": " + io::kOneRank + ", and no fit takes its times");
    }
    text += base::printable(samples.name) + ": " + base::printable(set.op) + " with " +
            base::counted(set.ranks, "rank") + ", " +
            (set.column.empty() ? "" : set.column + ", ") + std::to_string(set.samples.size()) +
            " times\n";
  }
  return {io::to_json(samples), text, std::move(warnings), "", io::to_csv(samples)};
}

void refuse_other_format(const std::string& file, std::string_view format) {
  const std::string head = file == "-" ? "" : io::head_of(file);
  if (head.empty()) {
    return;
  }
  const auto detected = io::detect_format(head);
  const bool is_trace = detected.format == io::ImportFormat::kineto;
  const bool wants_trace = format == io::kImportFormats[io::ImportFormat::kineto];
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && (head[begin] == '{' || head[begin] == '[');
  // What only one format has, and no other can be taken for.
  const bool unmistakable = is_trace || detected.format == io::ImportFormat::chakra ||
                            detected.format == io::ImportFormat::pytorch_et ||
                            detected.format == io::ImportFormat::astra_text;
  const bool other = detected.format && format != io::kImportFormats[*detected.format];
  if (other && (unmistakable || (wants_trace && !is_json))) {
    throw InputError(file, "", io::import_first(*detected.format));
  }
  // Formats whose readers know more: XML, and protocol buffers, which are binary.
  const bool is_xml = begin != std::string::npos && head[begin] == '<';
  const bool reader_knows = is_xml || format == io::kImportFormats[io::ImportFormat::chakra];
  if (!detected.format && !detected.advice.empty() &&
      (wants_trace || (!is_json && !reader_knows))) {
    throw InputError(file, "", detected.advice);
  }
  const std::string kind = content_kind(head); // "kind study"
  const io::KindUse* use = kind.starts_with("kind ") ? io::use_of_kind(kind.substr(5)) : nullptr;
  if (wants_trace && use != nullptr) {
    throw InputError(file, "/kind", use->text());
  }
  if (wants_trace && !detected.format && !is_json) {
    throw InputError(file, "", "not JSON: a trace of the PyTorch profiler is JSON, .gz or not");
  }
}

void expect_reading(const std::vector<std::string>& files, const Common& common) {
  constexpr double kBytesPerSecond = 3e7;
  common.work.estimate(static_cast<double>(total_bytes(files)) / kBytesPerSecond);
}

std::function<void(std::uint64_t)> counting_bytes(const std::vector<std::string>& files,
                                                  const Common& common) {
  constexpr std::uintmax_t kCounted = 1'000'000;
  const std::uintmax_t total = total_bytes(files);
  if (total < kCounted) {
    return {};
  }
  common.work.count(static_cast<std::int64_t>(total / kCounted), 0, "MB");
  return [&common](std::uint64_t bytes) {
    common.work.update(static_cast<std::int64_t>(bytes / kCounted));
  };
}

// Only the flags that were given are set: the importer has the defaults, and its warnings name
// those that it used.
io::NcclTopologyOptions topology_options(const ImportFlags& flags) {
  io::NcclTopologyOptions options;
  options.common = common_options(flags);
  if (!flags.gpus.empty()) {
    options.gpus = base::collected<std::string>(io::split(flags.gpus));
  }
  if (!flags.pcie_efficiency.empty()) {
    options.pcie_efficiency = quantity("--pcie-efficiency", flags.pcie_efficiency,
                                       base::QuantityKind::ratio, io::kPcieEfficiencies);
  }
  if (!flags.pcie_default.empty()) {
    options.pcie_default = parse_link(flags.pcie_default);
  }
  if (!flags.latency.empty()) {
    parse_latencies(flags.latency, options);
  }
  return options;
}

// Kinds that the machine does not have are left out. Cables between GPUs are named by their kind.
std::string topology_summary(const io::NcclTopology& imported) {
  const io::NcclTopology::Counts& counts = imported.counts;
  std::string text = base::printable(imported.topology.name) + ":";
  for (const auto& [count, noun] :
       {std::pair{counts.gpus, "GPU"}, std::pair{counts.nics, "network interface"},
        std::pair{counts.nets, "network"}, std::pair{counts.cpus, "CPU"},
        std::pair{counts.bridges, "PCIe bridge"}, std::pair{counts.nvswitches, "NVSwitch"},
        std::pair{counts.pcie_cables, "PCIe link"}, std::pair{counts.c2c_cables, "C2C link"},
        std::pair{counts.nvlink_cables, imported.gpu_cable.c_str()}}) {
    if (count > 0) {
      text += (text.ends_with(':') ? " " : ", ") + io::counted(count, noun);
    }
  }
  return text + "\n";
}

Imported imported_chakra(const std::string& file, const ImportFlags& flags,
                         const std::string& target) {
  const auto ranks = ranks_of(flags);
  if (target.ends_with(".samples.json") || target.ends_with(".samples.csv")) {
    return imported_samples(io::chakra_samples(file, common_options(flags), ranks));
  }
  io::ChakraOptions options{common_options(flags), std::nullopt};
  if (!flags.dtype.empty()) {
    options.dtype = dtype_flag(flags.dtype);
  }
  io::ChakraImport imported = io::import_chakra(file, options);
  if (!flags.allow_unknown_sizes) {
    require_gradients(imported.trace, file, imported.remedy);
  }
  imported.trace.ranks = ranks ? ranks : imported.trace.ranks;
  Imported result = imported_trace(imported.trace);
  result.last_line = imported.found + "\n";
  return result;
}

void require_gradients(const layers::Trace& trace, const std::string& file,
                       const std::string& remedy) {
  if (!remedy.empty()) {
    throw InputError(file, "", remedy);
  }
  if (std::ranges::none_of(trace.layers, [](const layers::Layer& layer) {
        return layer.gradient_bytes.value_or(Bytes{0}).value > 0;
      })) {
    throw InputError(file, "",
                     "no layer reduces a gradient, so there is no communication to simulate "
                     "(--allow-unknown-sizes writes the times alone)");
  }
}

Imported imported_astra_text(const std::string& file, const ImportFlags& flags) {
  io::AstraTextOptions options;
  options.common = common_options(flags);
  options.drop_other_communication = flags.drop_other_communication;
  if (!flags.tick.empty()) {
    options.tick = Seconds{quantity("--tick", flags.tick, base::QuantityKind::time, io::above(0))};
    options.tick_given = true;
  }
  const layers::Trace trace = io::import_astra_text(file, options);
  if (!flags.drop_other_communication && !flags.allow_unknown_sizes) {
    require_gradients(trace, file);
  }
  return imported_trace(trace);
}

} // namespace stepsim::cli
