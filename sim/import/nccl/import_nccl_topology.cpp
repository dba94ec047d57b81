// The file of NCCL_TOPO_DUMP_FILE lists a tree of PCI devices under each CPU. Here the tree becomes
// a topology: GPUs and networks are hosts, bridges and CPUs are switches, every edge of the tree is
// a cable, and cables between CPUs and NVLinks are added, which the tree cannot hold. What the file
// does not tell is assumed, and a warning says what.
#include "import/nccl/import_nccl_topology.hpp"

#include "base/collected.hpp"
#include "scenario/files/network_files.hpp"

namespace stepsim::io {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20; // a machine has kilobytes
constexpr double kUnknownMbps = 10'000;                       // of a network without speed, as NCCL
constexpr std::int64_t kUnknownSm = 80;                       // likewise
constexpr std::string_view kNvswitch = "nvswitch";

std::string microseconds(Seconds time) {
  return base::format_quantity(time.value, base::QuantityKind::time, "us");
}

// What joins the GPUs of a machine.
std::string_view cable_name(const NcclSystem& system) {
  const bool amd =
      std::ranges::any_of(system.nodes, [](const NcclNode& node) { return !node.gcn.empty(); });
  return amd ? "xGMI" : "NVLink";
}

class TopologyBuilder {
public:
  TopologyBuilder(NcclSystem system, const NcclTopologyOptions& options)
      : system_(std::move(system)), options_(options) {}

  NcclTopology build(const std::string& file) {
    const std::vector<std::size_t> gpus =
        order_gpus(system_, options_.gpus, file, result_.topology.warnings);
    find_children();
    nvlinks_ = count_nvlinks(system_, result_.topology.warnings);
    add_nodes(gpus);
    for (std::size_t i = 0; i < system_.nodes.size(); ++i) {
      join_to_parent(i);
    }
    join_cpus();
    join_nvlinks();
    add_warnings();
    result_.gpu_cable = std::string(cable_name(system_)) + " cable";
    return std::move(result_);
  }

private:
  // NVSwitches listed under PCIe carry no traffic there.
  static bool kept(const NcclNode& node) {
    return node.kind != NcclKind::device && node.kind != NcclKind::nvswitch;
  }
  // Traffic ends here: at a GPU, a network, an interface whose network the file does not show.
  [[nodiscard]] bool is_host(std::size_t i) const {
    const NcclKind kind = system_.nodes[i].kind;
    return kind == NcclKind::gpu || kind == NcclKind::net ||
           (kind == NcclKind::nic && !has_children_[i]);
  }

  // Marks the nodes on which others hang, among those that are kept.
  void find_children() {
    std::int64_t left_out = 0;
    has_children_.assign(system_.nodes.size(), false);
    for (const NcclNode& node : system_.nodes) {
      left_out += node.kind == NcclKind::device ? 1 : 0;
      if (node.parent && kept(node)) {
        has_children_[*node.parent] = true;
      }
    }
    add_where(result_.topology.warnings,
              {{left_out > 0, counted(left_out, "PCI device") + " of unknown class left out"}});
  }

  // "pcie:0001:00:00.0". A GPU on the NVSwitch has its PCIe link behind a switch of its own: else
  // two GPUs on one bridge would be as near to each other by PCIe (gpu - bridge - gpu) as by NVLink
  // (gpu - nvswitch - gpu), and routes take the fewest links.
  [[nodiscard]] std::string port_of(std::size_t gpu) const {
    return "pcie:" + system_.nodes[gpu].id;
  }

  // GPUs first and in the order of ranks: rank i runs on host i.
  void add_nodes(const std::vector<std::size_t>& gpus) {
    links::Topology& topology = result_.topology;
    for (const std::size_t gpu : gpus) {
      topology.hosts.push_back(system_.nodes[gpu].id);
    }
    topology.gpus = topology.hosts;
    const std::set<std::size_t> done(gpus.begin(), gpus.end());
    for (std::size_t i = 0; i < system_.nodes.size(); ++i) {
      const NcclNode& node = system_.nodes[i];
      if (kept(node) && !done.contains(i)) {
        (is_host(i) ? topology.hosts : topology.switches).push_back(node.id);
      }
    }
    for (const auto& [gpu, links] : nvlinks_.to_switch) {
      topology.switches.push_back(port_of(gpu));
    }
    if (!nvlinks_.to_switch.empty()) {
      topology.switches.emplace_back(kNvswitch);
    }
    const auto count = [&](NcclKind kind) {
      return std::ranges::count(system_.nodes, kind, &NcclNode::kind);
    };
    result_.counts = {count(NcclKind::cpu), count(NcclKind::bridge),
                      count(NcclKind::gpu), count(NcclKind::nic),
                      count(NcclKind::net), nvlinks_.to_switch.empty() ? 0 : 1};
  }

  void join(const std::string& a, const std::string& b, Seconds latency, double bandwidth_Bps,
            bool assumed) {
    result_.topology.links.push_back(
        {a + "-" + b, a, b, latency.value, bandwidth_Bps, assumed ? "default" : "given"});
  }

  // By its PCIe link, or as a network by its port.
  void join_to_parent(std::size_t i) {
    const NcclNode& node = system_.nodes[i];
    if (!node.parent || !kept(node)) {
      return;
    }
    std::size_t parent = *node.parent;
    while (is_host(parent)) { // a device behind a GPU: hosts pass nothing on
      parent = *system_.nodes[parent].parent;
    }
    const std::string& above = system_.nodes[parent].id;
    if (node.kind == NcclKind::net) {
      join_network(node, above);
      return;
    }
    const bool unknown = !node.speed_GTps || !node.lanes;
    pcie_defaults_ += unknown ? 1 : 0;
    const double rate = pcie_rate({node.speed_GTps.value_or(pcie_default_.speed_GTps),
                                   node.lanes.value_or(pcie_default_.lanes)},
                                  options_.pcie_efficiency.value_or(kPcieEfficiency));
    const bool assumed = unknown || !options_.pcie_latency || !options_.pcie_efficiency;
    const Seconds latency = options_.pcie_latency.value_or(kPcieLatency);
    // A GPU on the NVSwitch has its PCIe link behind a switch of its own, see port_of().
    std::string below = node.id;
    if (nvlinks_.to_switch.contains(i)) {
      below = port_of(i);
      join(node.id, below, Seconds{0}, std::max(rate, node.c2c_Bps), assumed);
    }
    // A GPU of a Grace machine reaches its CPU by C2C; PCIe is left where it leads elsewhere.
    const std::string& cpu = system_.nodes[cpu_of(i)].id;
    if (node.c2c_Bps > 0) {
      join(below, cpu, latency, node.c2c_Bps, !options_.pcie_latency);
      ++result_.counts.c2c_cables;
    }
    if (node.c2c_Bps == 0 || cpu != above) {
      join(below, above, latency, rate, assumed);
      ++result_.counts.pcie_cables;
    }
  }

  [[nodiscard]] std::size_t cpu_of(std::size_t i) const {
    while (system_.nodes[i].parent) {
      i = *system_.nodes[i].parent;
    }
    return i;
  }

  // Speed and latency as the file has them, unless the user says otherwise.
  void join_network(const NcclNode& net, const std::string& above) {
    const bool by_file = net.latency_us && !options_.network_latency;
    const bool by_default = !net.latency_us && !options_.network_latency;
    const Seconds latency = by_file ? Seconds{*net.latency_us * 1e-6}
                                    : options_.network_latency.value_or(kNetworkLatency);
    join(net.id, above, latency, net.rate_Mbps.value_or(kUnknownMbps) * 1e6 / 8,
         !net.rate_Mbps || by_default);
    network_defaults_ += net.rate_Mbps ? 0 : 1;
    network_latency_assumed_ |= by_default;
  }

  // Every pair of CPUs has a cable; NCCL knows its rate by the makes of both, and the lower one
  // counts.
  void join_cpus() {
    const std::vector<NcclNode>& nodes = system_.nodes;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      for (std::size_t b = a + 1; nodes[a].kind == NcclKind::cpu && b < nodes.size(); ++b) {
        if (nodes[b].kind == NcclKind::cpu) {
          const double rate = std::min(cpu_rate(nodes[a]), cpu_rate(nodes[b]));
          cpu_rates_.insert(rate);
          join(nodes[a].id, nodes[b].id, options_.pcie_latency.value_or(kPcieLatency), rate, true);
        }
      }
    }
  }

  // The links of a pair are one cable of their summed rate. The slower generation of two sets it.
  void join_nvlinks() {
    const auto rate = [&](std::size_t gpu) {
      const NcclNode& node = system_.nodes[gpu];
      return node.gcn.empty() ? nvlink_rate(node.sm.value_or(kUnknownSm)) : xgmi_rate(node.gcn);
    };
    const auto cable = [&](const std::string& a, const std::string& b, std::int64_t links,
                           double each) {
      nvlink_rates_.insert(each);
      join(a, b, options_.nvlink_latency.value_or(kNvlinkLatency),
           static_cast<double>(links) * each, true);
      ++result_.counts.nvlink_cables;
    };
    for (const auto& [ends, links] : nvlinks_.pairs) {
      cable(system_.nodes[ends.first].id, system_.nodes[ends.second].id, links,
            std::min(rate(ends.first), rate(ends.second)));
    }
    for (const auto& [gpu, links] : nvlinks_.to_switch) {
      cable(system_.nodes[gpu].id, std::string(kNvswitch), links, rate(gpu));
    }
  }

  // "20 GB/s to 40.1 GB/s", or one where all are equal; "" for none.
  static std::string rates_text(const std::set<double>& rates) {
    std::vector<std::string> ends;
    add_where(ends, {{!rates.empty(), base::readable_rate(rates.empty() ? 0 : *rates.begin())},
                     {rates.size() > 1, base::readable_rate(rates.empty() ? 0 : *rates.rbegin())}});
    return base::listed(ends, {}, " to ");
  }

  // What was assumed for many links alike.
  void add_warnings() {
    const std::string cables(cable_name(system_));
    std::vector<std::string> latencies;
    add_where(latencies,
              {{!nvlink_rates_.empty() && !options_.nvlink_latency,
                cables + " " + microseconds(kNvlinkLatency)},
               {!options_.pcie_latency, "PCIe and between CPUs " + microseconds(kPcieLatency)},
               {network_latency_assumed_, "network " + microseconds(kNetworkLatency)}});
    add_where(
        result_.topology.warnings,
        {{!latencies.empty(),
          "latencies per cable are assumed: " + base::listed(latencies) + "; see --latency"},
         {!options_.pcie_efficiency, "PCIe links are assumed to carry " +
                                         base::shortest(kPcieEfficiency * 100) +
                                         " % of their line rate; see --pcie-efficiency"},
         {pcie_defaults_ > 0,
          fmt::format("{} without speed or width: {} GT/s x{} taken{}",
                      counted(pcie_defaults_, "PCIe link"),
                      base::shortest(pcie_default_.speed_GTps), pcie_default_.lanes,
                      options_.pcie_default ? "" : "; see --pcie-default")},
         {!cpu_rates_.empty(), "links between CPUs are not in the file: " + rates_text(cpu_rates_) +
                                   " assumed, by their make"},
         {!nvlink_rates_.empty(), cables +
                                      " rates are not in the file: " + rates_text(nvlink_rates_) +
                                      " assumed per link and direction"},
         {!system_.any_gpu && result_.topology.gpus.size() > 1,
          "no <gpu> in the file, as in the templates of vendors, which leave NVLink out: GPUs are "
          "joined by PCIe alone; import the NCCL_TOPO_DUMP_FILE of the machine, or take a preset"},
         {network_defaults_ > 0,
          counted(network_defaults_, "network") + " without speed: 10 Gb/s taken"},
         {std::ranges::any_of(system_.nodes, &NcclNode::rate_in_kbps),
          "networks of more than 10000000 Mbit/s are taken as kbit/s, as Slingshot writes them"},
         {system_.renamed > 0,
          counted(system_.renamed, "device") +
              " with the id of another one are taken as devices of their own: #2 and so on is "
              "added"},
         {!system_.ignored.empty(),
          "elements not read: " + base::listed(system_.ignored, [](const auto& element) {
            return fmt::format("{} ({})", element.first, element.second);
          })}});
  }

  NcclSystem system_;
  const NcclTopologyOptions& options_;
  PcieLink pcie_default_ = options_.pcie_default.value_or(PcieLink());
  std::vector<bool> has_children_; // [node], of those kept
  NvlinkCounts nvlinks_;
  std::int64_t pcie_defaults_ = 0, network_defaults_ = 0;
  bool network_latency_assumed_ = false;
  std::set<double> cpu_rates_, nvlink_rates_;
  NcclTopology result_;
};

// Values that were assumed are recorded like those given: the result can be made again from them.
void record_options(const NcclTopologyOptions& options, layers::Source& source) {
  if (!options.gpus.empty()) {
    source.options.emplace_back("gpus", base::listed(options.gpus, {}, ","));
  }
  const auto time = [](const std::optional<Seconds>& given, Seconds fallback) {
    return microseconds(given.value_or(fallback));
  };
  source.options.emplace_back("latency",
                              "nvlink=" + time(options.nvlink_latency, kNvlinkLatency) +
                                  ",pcie=" + time(options.pcie_latency, kPcieLatency) +
                                  ",net=" + time(options.network_latency, kNetworkLatency));
  const PcieLink pcie_default = options.pcie_default.value_or(PcieLink());
  source.options.emplace_back(
      "pcie_default",
      fmt::format("{}GT/s:{}", base::shortest(pcie_default.speed_GTps), pcie_default.lanes));
  source.options.emplace_back("pcie_efficiency",
                              base::shortest(options.pcie_efficiency.value_or(kPcieEfficiency)));
}

} // namespace

NcclTopology import_nccl_topology(const std::string& file, const NcclTopologyOptions& options) {
  const ImportedText input = read_import(file, std::min(options.common.max_bytes, kMostBytes));
  NcclSystem system = read_nccl_system(input.text, input.name);
  NcclTopology result = TopologyBuilder(std::move(system), options).build(input.name);
  result.topology.name = result_name(options.common, file);
  result.source = make_source("nccl-topology", options.common);
  result.source.files.push_back(input.file);
  record_options(options, result.source);
  return result;
}

Json to_json(const NcclTopology& result) {
  Json json = to_json(result.topology);
  json.set("source", to_json(result.source));
  return json;
}

} // namespace stepsim::io
