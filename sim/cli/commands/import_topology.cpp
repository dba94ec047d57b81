// Flags are read into the units of the importer: transfers per second and lane for PCIe links, as
// their data sheets have them, and seconds per kind of cable.
#include "cli/commands/imported.hpp"

#include "base/printable.hpp"
#include "cli/shell/flag_values.hpp"

namespace stepsim::cli {

namespace {

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
  for (const std::string_view part : split(text)) {
    const std::size_t equals = part.find('=');
    const std::string_view kind = part.substr(0, equals);
    const std::string flag = "--latency " + base::shown_value(part) + ": ";
    if (equals == std::string_view::npos) {
      throw UsageError(flag + "must be KIND=TIME as in pcie=1us, KIND nvlink, pcie or net");
    }
    std::size_t i = 0;
    while (i < kKinds.size() && kKinds[i] != kind) {
      ++i;
    }
    if (i == kKinds.size()) {
      throw UsageError(flag + base::unknown_word("kind of link", kind, kKinds));
    }
    if (*targets[i]) {
      throw UsageError(flag + std::string(kind) + " appears twice");
    }
    *targets[i] = Seconds{quantity("--latency " + std::string(kind), part.substr(equals + 1),
                                   base::QuantityKind::time, io::between(0, kMostLatency))};
  }
}

} // namespace

// Only the flags that were given are set: the importer has the defaults, and its warnings name
// those that it used.
io::NcclTopologyOptions topology_options(const ImportFlags& flags) {
  io::NcclTopologyOptions options;
  options.common = common_options(flags);
  if (!flags.gpus.empty()) {
    for (const std::string_view id : split(flags.gpus)) {
      options.gpus.emplace_back(id);
    }
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
        std::pair{counts.pcie_cables, "PCIe link"},
        std::pair{counts.nvlink_cables, imported.gpu_cable.c_str()}}) {
    if (count > 0) {
      text += (text.ends_with(':') ? " " : ", ") + io::counted(count, noun);
    }
  }
  return text + "\n";
}

} // namespace stepsim::cli
