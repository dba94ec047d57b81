// Topology files of NCCL (IO 8, 17 and T1 of 19).
#include "import/nccl/import_nccl_topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_samples.hpp"
#include "links/fabric/routes.hpp"
#include "links/fabric/topology.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

NcclTopology import_text(const std::string& text, const NcclTopologyOptions& options = {}) {
  const TemporaryFolder folder;
  return import_nccl_topology(folder.put("t.xml", text), options);
}

// All problems behind the file name, one per line.
std::string failure(const std::string& text, const NcclTopologyOptions& options = {}) {
  try {
    (void)import_text(text, options);
  } catch (const InputError& error) {
    std::string all;
    for (const base::Problem& problem : error.problems()) {
      const std::string line = problem.text();
      all += line.substr(line.find("t.xml") + 5) + "\n";
    }
    return all;
  }
  return "no error";
}

NcclTopologyOptions with_gpus(std::vector<std::string> gpus) {
  NcclTopologyOptions options;
  options.gpus = std::move(gpus);
  return options;
}

std::string machine(const std::string& inside) {
  return "<system version=\"1\">\n" + inside + "</system>\n";
}
std::string cpu(const std::string& inside, const std::string& attributes = "numaid='0'") {
  return "<cpu " + attributes + ">\n" + inside + "</cpu>\n";
}
const std::string kLink = " link_speed='16 GT/s' link_width='16'";
std::string pci(const std::string& id, const std::string& type, const std::string& inside = "",
                const std::string& link = kLink) {
  return "<pci busid='" + id + "' class='" + type + "'" + link + ">" + inside + "</pci>\n";
}
std::string gpu(const std::string& id, const std::string& attributes,
                const std::string& nvlinks = "") {
  return pci(id, "0x030200", "<gpu " + attributes + ">" + nvlinks + "</gpu>");
}
std::string nvlink(const std::string& target, int count, const std::string& type = "0x030200") {
  return "<nvlink target='" + target + "' count='" + std::to_string(count) + "' tclass='" + type +
         "'/>";
}

const double kGen4 = 16e9 * 16 * 128 / 130 / 8 * 0.76; // B/s of 16 GT/s x16
constexpr double kNvlink = 20e9;

const links::TopologyLink& link_of(const NcclTopology& result, const std::string& id) {
  const auto& links = result.topology.links;
  const auto at = std::ranges::find(links, id, &links::TopologyLink::id);
  REQUIRE_MESSAGE(at != links.end(), id);
  return *at;
}

std::uint32_t distance(const NcclTopology& result, std::size_t a, std::size_t b) { // of hosts
  const links::Fabric fabric = links::fabric_of(result.topology);
  return links::Routes(fabric).distance(static_cast<links::NodeId>(a),
                                        static_cast<links::NodeId>(b));
}

} // namespace

TEST_CASE("nccl-topology: GPUs and interfaces are hosts, CPUs and bridges are switches") {
  const NcclTopology result =
      import_text(machine(cpu(pci("b:0", "0x060400",
                                  pci("1:0", "0x030200") + pci("a:0", "0x020700") +
                                      pci("2:0", "0x030200", "",
                                          " link_speed='5.0 GT/s PCIe' "
                                          "link_width='8'")))));
  const links::Topology& topology = result.topology;
  CHECK(topology.name == "t");
  CHECK(topology.hosts == std::vector<std::string>{"1:0", "2:0", "a:0"});
  CHECK(topology.gpus == std::vector<std::string>{"1:0", "2:0"});
  CHECK(topology.switches == std::vector<std::string>{"cpu0", "b:0"});
  REQUIRE(topology.links.size() == 4);
  CHECK(link_of(result, "b:0-cpu0").bandwidth_Bps == within(kGen4, 1e-12));
  CHECK(link_of(result, "a:0-b:0").bandwidth_Bps == within(kGen4, 1e-12));
  CHECK(link_of(result, "a:0-b:0").latency_s == 1e-6);
  CHECK(link_of(result, "a:0-b:0").source == "default");
  CHECK(link_of(result, "2:0-b:0").bandwidth_Bps == // 8/10 up to 5 GT/s
        within(5e9 * 8 * 8 / 10 / 8 * 0.76, 1e-12));
  CHECK(
      topology.warnings ==
      std::vector<std::string>{
          "latencies per cable are assumed: PCIe and between CPUs 1us; see --latency",
          "PCIe links are assumed to carry 76 % of their line rate; see --pcie-efficiency",
          "no <gpu> in the file, as in the templates of vendors, which leave NVLink out: GPUs are "
          "joined by PCIe alone; import the NCCL_TOPO_DUMP_FILE of the machine, or take a "
          "preset"});
}

TEST_CASE("nccl-topology: what it writes is a topology file with its source") {
  const std::string text = machine(cpu(pci("1:0", "0x030200") + pci("2:0", "0x030200")));
  NcclTopologyOptions options;
  options.common.importer = "stepsim test";
  options.common.licence = "MIT";
  const NcclTopology result = import_text(text, options);
  const Json written = to_json(result);
  const links::Topology back = parse_topology(parse_json(pretty(written), "t.json"));
  CHECK(back.gpus == result.topology.gpus);
  CHECK(back.warnings == result.topology.warnings);
  CHECK(compact(to_json(back)) == compact(to_json(result.topology)));
  const Json& source = *written.find("source");
  CHECK(source.find("format")->as_string() == "nccl-topology");
  CHECK(source.find("licence")->as_string() == "MIT");
  CHECK(source.find("files")->as_array()[0].find("name")->as_string() == "t.xml");
  CHECK(source.find("files")->as_array()[0].find("bytes")->as_integer() == std::ssize(text));
  CHECK(compact(*source.find("options")) ==
        R"({"latency":"nvlink=0.6us,pcie=1us,net=2.7us","pcie_default":"8GT/s:16",)"
        R"("pcie_efficiency":"0.76"})");
}

TEST_CASE("nccl-topology: ranks order the GPUs, else dev, else the file") {
  const auto order = [](const std::string& one, const std::string& two) {
    return import_text(machine(cpu(gpu("1:0", one) + gpu("2:0", two)))).topology.gpus;
  };
  const std::vector<std::string> as_written{"1:0", "2:0"};
  const std::vector<std::string> turned{"2:0", "1:0"};
  CHECK(order("rank='1' dev='0'", "rank='0' dev='1'") == turned);
  CHECK(order("rank='0' dev='1'", "rank='1' dev='0'") == as_written);
  CHECK(order("dev='7'", "dev='3'") == turned);
  CHECK(order("rank='-1' dev='7'", "rank='-1' dev='3'") == turned); // no rank
  CHECK(order("dev='7'", "sm='80'") == as_written);
  CHECK(order("", "") == as_written);
  const NcclTopology mixed =
      import_text(machine(cpu(gpu("1:0", "rank='4' dev='7'") + gpu("2:0", "dev='3'"))));
  CHECK(mixed.topology.gpus == turned);
  CHECK(mixed.topology.hosts == turned); // host i = rank i
  CHECK(mixed.topology.warnings.front() == "only 1 of 2 GPUs have a rank: ranks are not used");
}

TEST_CASE("nccl-topology: --gpus names them, in the order of ranks, whatever their class") {
  const std::string text =
      machine(cpu("<pci busid='0000:00:1A.0'/>\n<pci busid='0000:00:1b.0'/>\n" +
                  pci("0000:00:1c.0", "0x020000") + "<pci busid='0000:00:1d.0'/>\n"));
  const NcclTopology result = import_text(text, with_gpus({"0000:00:1b.0", "00000000:00:1a.0"}));
  CHECK(result.topology.gpus == std::vector<std::string>{"0000:00:1b.0", "0000:00:1A.0"});
  CHECK(result.topology.hosts.size() == 3); // with the interface
  CHECK(result.topology.warnings.front() == "1 PCI device of unknown class left out");
  CHECK(to_json(result).find("source")->find("options")->find("gpus")->as_string() ==
        "0000:00:1b.0,00000000:00:1a.0");

  // GPUs by their class that are not named stay hosts without a rank.
  const std::string two = machine(cpu(pci("b:0", "0x0604", gpu("1:0", "") + gpu("2:0", ""))));
  const NcclTopology one = import_text(two, with_gpus({"2:0"}));
  CHECK(one.topology.gpus == std::vector<std::string>{"2:0"});
  CHECK(one.topology.hosts == std::vector<std::string>{"2:0", "1:0"});

  const auto refused = [&](std::vector<std::string> gpus) -> std::string {
    try {
      (void)import_text(two, with_gpus(std::move(gpus)));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK(refused({"1:0", "1:00"}).starts_with("--gpus 1:00: no pci element of "));
  CHECK(refused({"1:00"}).ends_with("has this bus id, did you mean 1:0?"));
  CHECK(refused({"1:0", "01:0"}) == "--gpus 01:0: appears twice");
  CHECK(refused({"b:0"}) == "--gpus b:0: is no GPU, other devices hang on it");
}

TEST_CASE("nccl-topology: NVLinks between GPUs are one cable of all their links") {
  const NcclTopology result = import_text(
      machine(cpu(gpu("1:0", "sm='70'", nvlink("2:0", 2) + nvlink("3:0", 1) + nvlink("2:0", 1)) +
                  gpu("2:0", "sm='60'", nvlink("1:0", 3)) +
                  gpu("3:0", "sm='86'", nvlink("1:0", 4) + nvlink("3:0", 12) + nvlink("9:0", 1)))));
  CHECK(result.counts.nvlink_cables == 2);
  CHECK(link_of(result, "1:0-2:0").bandwidth_Bps == 3 * 18e9); // the slower end's links
  CHECK(link_of(result, "1:0-2:0").latency_s == 0.6e-6);
  CHECK(link_of(result, "1:0-3:0").bandwidth_Bps == 1 * 12e9); // the smaller number
  CHECK(distance(result, 0, 1) == 1);
  CHECK(distance(result, 1, 2) == 2); // by PCIe
  const std::vector<std::string>& warnings = result.topology.warnings;
  REQUIRE(warnings.size() == 6);
  CHECK(warnings[0] == "1 nvlink element left out: the target is the GPU itself");
  CHECK(warnings[1] == "1 nvlink element left out: the target is no GPU of the file");
  CHECK(warnings[2] == "1 pair of GPUs with more NVLinks one way than the other: the smaller "
                       "number counts");
  CHECK(warnings[3] == "latencies per cable are assumed: NVLink 0.6us, PCIe and between CPUs 1us; "
                       "see --latency");
  CHECK(
      warnings[5] ==
      "NVLink rates are not in the file: 12.00 GB/s to 18.00 GB/s assumed per link and direction");
}

TEST_CASE("nccl-topology: NVSwitches are one switch, and GPUs reach each other through it") {
  // Two GPUs under one bridge: two links by the NVSwitch, four by the bridge.
  const auto links = [](const std::string& first, const std::string& second) {
    return nvlink(first, 2, "0x068000") + nvlink(second, 4, "0x068000");
  };
  const NcclTopology result = import_text(machine(cpu(
      pci("b:0", "0x060400",
          gpu("1:0", "sm='80'", links("c7:0", "c8:0")) +
              gpu("2:0", "sm='80'", links("c7:0", "fffffff:ffff:ff")) + pci("a:0", "0x020700")))));
  CHECK(link_of(result, "1:0-nvswitch").bandwidth_Bps == (2 + 4) * kNvlink);
  CHECK(link_of(result, "2:0-nvswitch").bandwidth_Bps == (2 + 4) * kNvlink);
  CHECK(link_of(result, "1:0-pcie:1:0").bandwidth_Bps == within(kGen4, 1e-12));
  CHECK(link_of(result, "1:0-pcie:1:0").latency_s == 0);
  CHECK(link_of(result, "pcie:1:0-b:0").latency_s == 1e-6);
  const links::Fabric fabric = links::fabric_of(result.topology);
  const links::Routes routes(fabric);
  CHECK(routes.distance(0, 1) == 2);
  CHECK(routes.path_count(0, 1) == 1); // never the bridge
  CHECK(fabric.node_names[fabric.links[routes.next_links(0, 1)[0]].to] == "nvswitch");
  CHECK(routes.distance(0, 2) == 3); // the interface: port, bridge, interface
  CHECK_FALSE(fabric.hosts_forward);

  // An NVSwitch that is listed among the PCI devices carries nothing by PCIe.
  const NcclTopology listed =
      import_text(machine(cpu(pci("c7:0", "0x068000") + gpu("1:0", "", nvlink("C7:0", 2, "")) +
                              gpu("2:0", "", nvlink("c7:0", 2, "")))));
  CHECK(link_of(listed, "1:0-nvswitch").bandwidth_Bps == 2 * kNvlink);
  CHECK(listed.counts.nvswitches == 1);
  CHECK(listed.topology.links.size() == 2 * 2 + 2); // GPU - port - CPU, GPU - nvswitch
}

TEST_CASE("nccl-topology: C2C joins the GPU of a Grace machine to its CPU in place of PCIe") {
  const std::string c2c = "<c2c bw='43125' count='8'/>"; // 43125 MB/s each
  const NcclTopology alone =
      import_text(machine(cpu(gpu("1:0", "rank='0'", c2c) + pci("3:0", "0x020000"))));
  CHECK(link_of(alone, "1:0-cpu0").bandwidth_Bps == 8 * 43125e6);
  CHECK(link_of(alone, "3:0-cpu0").bandwidth_Bps == within(kGen4, 1e-12));
  CHECK(alone.counts.c2c_cables == 1);
  CHECK(alone.counts.pcie_cables == 1);
  // Below a bridge PCIe stays, and two GPUs are as near by NVLink as ever.
  const std::string up = nvlink("7:0", 18, "0x068000") + c2c;
  const NcclTopology two = import_text(
      machine(cpu(pci("b:0", "0x060400", gpu("1:0", "rank='0'", up) + pci("3:0", "0x020000")) +
                  gpu("2:0", "rank='1'", up))));
  CHECK(link_of(two, "1:0-pcie:1:0").bandwidth_Bps == 8 * 43125e6);
  CHECK(link_of(two, "pcie:1:0-cpu0").bandwidth_Bps == 8 * 43125e6);
  CHECK(link_of(two, "pcie:1:0-b:0").bandwidth_Bps == within(kGen4, 1e-12));
  CHECK(two.topology.links.size() == 2 + 2 + 1 + 2 + 2);
  CHECK(distance(two, 0, 1) == 2);
  CHECK(two.topology.warnings.size() == alone.topology.warnings.size() + 1); // the rate of NVLink
}

TEST_CASE("nccl-topology: a network hangs on its interface, or on a CPU") {
  const std::string net = "<nic><net name='mlx5_0' dev='2' speed='200000'/></nic>";
  const NcclTopology result = import_text(
      machine(cpu(gpu("1:0", "") + pci("a:0", "0x020700", net) +
                  "<nic><net dev='0' speed='100000' latency='5.5'/><net dev='1' speed='-1'/>"
                  "<net dev='3' net='0'/><collnet dev='9'/></nic>")));
  CHECK(result.topology.hosts == std::vector<std::string>{"1:0", "net2", "net0", "net1"});
  CHECK(result.topology.switches == std::vector<std::string>{"cpu0", "a:0"});
  CHECK(link_of(result, "net2-a:0").bandwidth_Bps == 200000 * 1e6 / 8);
  CHECK(link_of(result, "net2-a:0").latency_s == 2.7e-6);
  CHECK(link_of(result, "net2-a:0").source == "default");
  CHECK(link_of(result, "net0-cpu0").latency_s == within(5.5e-6, 1e-12)); // of the file
  CHECK(link_of(result, "net0-cpu0").source == "given");
  CHECK(link_of(result, "net1-cpu0").bandwidth_Bps == 10000 * 1e6 / 8);
  CHECK(result.topology.warnings[2] == "1 network without speed: 10 Gb/s taken");
  CHECK(result.topology.warnings[3] == "elements not read: collnet (1), net (1)");
  CHECK(compact(to_json(result)).find("mlx5_0") == std::string::npos);
}

TEST_CASE("nccl-topology: every two CPUs are joined, at the rate of the slower make") {
  const auto rate = [](const std::string& one, const std::string& two) {
    const NcclTopology result =
        import_text(machine(cpu(pci("1:0", "0x030200"), "numaid='0' " + one) +
                            cpu(pci("2:0", "0x030200"), "numaid='1' " + two)));
    CHECK(link_of(result, "cpu0-cpu1").source == "default");
    return link_of(result, "cpu0-cpu1").bandwidth_Bps;
  };
  const auto x86 = [](const std::string& vendor, int family, int model) {
    return "arch='x86_64' vendor='" + vendor + "' familyid='" + std::to_string(family) +
           "' modelid='" + std::to_string(model) + "'";
  };
  const auto same = [&](const std::string& attributes) { return rate(attributes, attributes); };
  CHECK(same(x86("AuthenticAMD", 23, 49)) == 16e9);
  CHECK(same(x86("AuthenticAMD", 25, 1)) == 24e9);
  CHECK(same(x86("AuthenticAMD", 175, 1)) == 24e9); // as older files number it
  CHECK(same(x86("AuthenticAMD", 26, 2)) == 32e9);
  CHECK(same(x86("GenuineIntel", 6, 79)) == 6e9);
  CHECK(same(x86("GenuineIntel", 6, 85)) == 10e9);
  CHECK(same(x86("GenuineIntel", 6, 143)) == 22e9);
  CHECK(same(x86("GenuineIntel", 6, 0xAD)) == 40e9);
  CHECK(same("arch='ppc64'") == 32e9);
  CHECK(same("arch='arm64'") == 6e9);
  CHECK(rate(x86("GenuineIntel", 6, 143), "") == 6e9);
}

TEST_CASE("nccl-topology: NVLink rates follow the architecture") {
  CHECK(nvlink_rate(60) == 18e9);
  CHECK(nvlink_rate(70) == 20e9);
  CHECK(nvlink_rate(80) == 20e9);
  CHECK(nvlink_rate(86) == 12e9);
  CHECK(nvlink_rate(90) == 20e9);
  CHECK(nvlink_rate(100) == 40.1e9);
}

TEST_CASE("nccl-topology: options take the place of what is assumed") {
  NcclTopologyOptions options;
  options.pcie_efficiency = 0.5;
  options.pcie_default = PcieLink{32, 8};
  options.pcie_latency = Seconds{2e-6};
  options.nvlink_latency = Seconds{3e-6};
  options.network_latency = Seconds{4e-6};
  const std::string text =
      machine(cpu(pci("1:0", "0x030200", "", "") +
                  pci("2:0", "0x030200", "",
                      " link_speed=''"
                      " link_width='0'") +
                  pci("3:0", "0x030200", "", " link_speed='Unknown' link_width='255'") +
                  pci("4:0", "0x030200", "", " link_speed='16 GT/s' link_width='0'") +
                  "<nic><net dev='0' speed='8' latency='9'/></nic>"));
  const NcclTopology result = import_text(text, options);
  const double unknown = 32e9 * 8 * 128 / 130 / 8 * 0.5;
  for (const char* id : {"1:0-cpu0", "2:0-cpu0", "3:0-cpu0"}) {
    CHECK(link_of(result, id).bandwidth_Bps == within(unknown, 1e-12));
    CHECK(link_of(result, id).latency_s == 2e-6);
    CHECK(link_of(result, id).source == "default");
  }
  CHECK(link_of(result, "4:0-cpu0").bandwidth_Bps == within(unknown / 2, 1e-12)); // 16 GT/s
  CHECK(link_of(result, "net0-cpu0").latency_s == 4e-6); // not that of the file
  CHECK(link_of(result, "net0-cpu0").bandwidth_Bps == 1e6);
  REQUIRE(result.topology.warnings.size() == 2); // and that the file has no <gpu>
  CHECK(result.topology.warnings[0] == "4 PCIe links without speed or width: 32 GT/s x8 taken");
  const NcclTopology given = import_text(
      machine(cpu(gpu("1:0", "", nvlink("2:0", 1)) + gpu("2:0", "", nvlink("1:0", 1)))), options);
  CHECK(link_of(given, "1:0-cpu0").source == "given");
  CHECK(link_of(given, "1:0-2:0").latency_s == 3e-6);
}

TEST_CASE("nccl-topology: an id in several places") {
  const auto nic = [](const std::string& name, int mbps) {
    return "<nic><net name='" + name + "' dev='1' speed='" + std::to_string(mbps) + "'/></nic>";
  };
  // A bridge twice and a card with its id; the net of the card shares its number with a virtual
  // one, which is listed below every CPU.
  const NcclTopology result = import_text(
      machine(cpu(pci("b:0", "0x060400", gpu("1:0", "rank='0'")) +
                  pci("b:0", "0x060400", gpu("2:0", "rank='1'")) +
                  pci("b:0", "0x020700", nic("mlx5_0", 200000)) + nic("cali1", 10000)) +
              cpu(nic("cali1", 10000), "numaid='1'") + cpu(nic("cali1", 10000), "numaid='2'")));
  CHECK(result.topology.hosts == std::vector<std::string>{"1:0", "2:0", "net1", "net1#2"});
  CHECK(result.topology.switches ==
        std::vector<std::string>{"cpu0", "b:0", "b:0#2", "b:0#3", "cpu1", "cpu2"});
  CHECK(link_of(result, "net1-b:0#3").bandwidth_Bps == 200e9 / 8);
  CHECK(link_of(result, "net1#2-cpu0").bandwidth_Bps == 10e9 / 8);
  CHECK(distance(result, 0, 1) == 4); // not by one bridge
  const std::vector<std::string>& warnings = result.topology.warnings;
  CHECK(std::ranges::count(warnings, "3 devices with the id of another one are taken as devices of "
                                     "their own: #2 and so on is added") == 1);
  CHECK(std::ranges::count(warnings, "elements not read: net (2)") == 1);
}

TEST_CASE("nccl-topology: what bad files get") {
  CHECK(failure(machine(cpu("<pci busid='1:0'>\n<gpu>\n</pci>\n</gpu>\n"))) ==
        ":5: this is not XML, says its parser: Start-end tags mismatch\n");
  CHECK(failure(machine(cpu("<pci busid='1:0'/>\n"))) ==
        ": no GPU found: no pci element has a class; pass --gpus\n");
  CHECK(failure(machine(cpu(pci("1:0", "0x020000")))) ==
        ": no GPU found: no pci element has the class of one (0x0302); pass --gpus\n");
  CHECK(failure(machine("")) == ": no GPU found: no pci element has a class; pass --gpus\n");
  CHECK(failure("<graphs version='1'/>").find("not the machine") != std::string::npos);
  CHECK(failure("<topology/>") == ":1: must hold <system>, got <topology>\n");
  CHECK(failure("<system version='3'/>") ==
        ":1: version must be 1 (NCCL) or 2 (RCCL), got \"3\"\n");
  CHECK(failure("") == ": empty\n");
  // All problems of one file.
  CHECK(failure(machine(cpu("<pci class='0x0302'/>\n" + pci("1:0", "0x0302") +
                            pci("01:0", "0x0302") + pci("x", "0x0302") +
                            pci("2:0", "0x0302", "", " link_width='many' link_speed='0 GT/s'") +
                            gpu("3:0", "rank='one'", nvlink("1:0", -1))))) ==
        ":3: <pci> has no busid\n"
        ":5: \"01:0\" appears twice\n"
        ":6: busid: must be hexadecimal digits, ':' and '.', got \"x\"\n"
        ":7: link_width: must be an integer in [0, 255], got \"many\"\n"
        ":7: link_speed: must be a number in [0.1, 1000], got \"0\"\n"
        ":8: rank: must be an integer in [-1, 1e+06], got \"one\"\n"
        ":8: count: must be an integer in [0, 10000], got \"-1\"\n");
  CHECK(failure(machine(cpu("") + cpu(""))) == ":4: \"cpu0\" appears twice\n");
  CHECK(failure(machine(cpu(gpu("1:0", "rank='3'") + "\n" + gpu("2:0", "rank='3'")))) ==
        ":5: rank 3 appears twice\n");
  CHECK(failure(
            machine(cpu("", "numaid='0' host_hash='0xa'") + cpu("", "numaid='1' host_hash='0xb'")))
            .starts_with(":4: this CPU belongs to another machine"));
  NcclTopologyOptions small;
  small.common.max_bytes = 10;
  CHECK(failure(machine(""), small).find("larger than 10 bytes") != std::string::npos);
}

TEST_CASE("nccl-topology: nothing private is kept") {
  const std::string text =
      machine(cpu(gpu("1:0", "rank='0' dev='0' hostname='SECRET'") +
                      "<nic><net name='SECRET' dev='0' speed='100' guid='0x5EC7E7'/></nic>",
                  "numaid='0' host_hash='0x5EC7E7' name='SECRET'"));
  const std::string written = compact(to_json(import_text(text)));
  CHECK(written.find("SECRET") == std::string::npos);
  CHECK(written.find("5EC7E7") == std::string::npos);
}

TEST_CASE("nccl-topology: templates of vendors") {
  struct Machine {
    const char* file;
    std::int64_t cpus, gpus, interfaces, bridges;
    double speed_GTps, rate_Bps, between_cpus_Bps;
  };
  for (const Machine& each : {Machine{"azure_ndv4", 4, 8, 8, 4, 16, 2.395e10, 16e9},
                              Machine{"azure_ndv5", 2, 8, 8, 8, 32, 4.789e10, 22e9},
                              Machine{"aws_p4d-24xl", 2, 8, 4, 4, 8, 1.197e10, 10e9},
                              Machine{"aws_p4de-24xl", 2, 8, 4, 4, 8, 1.197e10, 10e9}}) {
    const std::string file = sample(std::string("topo/") + each.file + "-topo.xml");
    if (absent(file)) {
      return;
    }
    CAPTURE(file);
    const NcclTopology result = import_nccl_topology(file, {});
    CHECK(result.counts.cpus == each.cpus);
    CHECK(result.counts.gpus == each.gpus);
    CHECK(result.counts.nics == each.interfaces);
    CHECK(result.counts.nets == 0);
    CHECK(result.counts.bridges == each.bridges);
    CHECK(result.topology.gpus.size() == static_cast<std::size_t>(each.gpus));
    CHECK(result.topology.warnings.back().starts_with("no <gpu> in the file"));
    const std::int64_t pcie = each.gpus + each.interfaces + each.bridges;
    const std::int64_t between = each.cpus * (each.cpus - 1) / 2;
    REQUIRE(std::ssize(result.topology.links) == pcie + between);
    for (std::int64_t i = 0; i < pcie + between; ++i) {
      const links::TopologyLink& link = result.topology.links[static_cast<std::size_t>(i)];
      CHECK(link.bandwidth_Bps == within(i < pcie ? each.rate_Bps : each.between_cpus_Bps, 1e-3));
      if (i < pcie) {
        CHECK(link.bandwidth_Bps ==
              within(each.speed_GTps * 1e9 * 16 * 128 / 130 / 8 * 0.76, 1e-12));
      }
    }
    CHECK(result.topology.name == std::string(each.file) + "-topo");
    const links::Topology back = parse_topology(parse_json(compact(to_json(result)), "t.json"));
    CHECK(compact(to_json(back)) == compact(to_json(result.topology)));
  }
}

TEST_CASE("nccl-topology: the template of NC A100 v4, with NVLinks to themselves and a network") {
  const std::string file = sample("topo/azure_ncv4-topo.xml");
  if (absent(file)) {
    return;
  }
  const NcclTopology result = import_nccl_topology(file, {});
  CHECK(result.counts.cpus == 4);
  CHECK(result.counts.gpus == 4);
  CHECK(result.counts.nets == 1);
  CHECK(result.counts.nvlink_cables == 0);
  CHECK(result.topology.gpus ==
        std::vector<std::string>{"0001:00:00.0", "0002:00:00.0", "0003:00:00.0", "0004:00:00.0"});
  CHECK(link_of(result, "net0-cpu0").bandwidth_Bps == 100000 * 1e6 / 8);
  CHECK(link_of(result, "0001:00:00.0-cpu0").bandwidth_Bps == within(1.197e10, 1e-3));
  CHECK(result.topology.warnings ==
        std::vector<std::string>{
            "4 nvlink elements left out: the target is the GPU itself",
            "latencies per cable are assumed: PCIe and between CPUs 1us, network 2.7us; see "
            "--latency",
            "PCIe links are assumed to carry 76 % of their line rate; see --pcie-efficiency",
            "4 PCIe links without speed or width: 8 GT/s x16 taken; see --pcie-default",
            "links between CPUs are not in the file: 24.00 GB/s assumed, by their make"});
}

TEST_CASE("nccl-topology: the template of g5 names no classes, the graph is no machine") {
  const std::string file = sample("topo/aws_g5.48xl-topo.xml");
  if (absent(file)) {
    return;
  }
  CHECK_THROWS_WITH_AS((void)import_nccl_topology(file, {}),
                       (file + ": no GPU found: no pci element has a class; pass --gpus").c_str(),
                       InputError);
  const NcclTopology named = import_nccl_topology(
      file, with_gpus({"0000:00:16.0", "0000:00:17.0", "0000:00:18.0", "0000:00:19.0",
                       "0000:00:1a.0", "0000:00:1b.0", "0000:00:1c.0", "0000:00:1d.0"}));
  CHECK(named.counts.cpus == 2);
  CHECK(named.counts.gpus == 8);
  CHECK(named.topology.links.size() == 8 + 1); // 9 devices, one unknown; one pair of CPUs
  const std::string graph = sample("topo/azure_ncv4-graph.xml");
  CHECK_THROWS_AS((void)import_nccl_topology(graph, {}), InputError);
}

namespace {

// How many cables of each rate join two GPUs.
std::map<double, int> gpu_cables(const links::Topology& topology) {
  std::map<double, int> cables;
  const auto is_gpu = [&](const std::string& id) {
    return std::ranges::find(topology.gpus, id) != topology.gpus.end();
  };
  for (const links::TopologyLink& link : topology.links) {
    if (is_gpu(link.a) && is_gpu(link.b)) {
      ++cables[link.bandwidth_Bps];
    }
  }
  return cables;
}

// The rates of the cables of all networks.
std::map<double, int> network_rates(const links::Topology& topology) {
  std::map<double, int> rates;
  for (const links::TopologyLink& link : topology.links) {
    if (link.a.starts_with("net")) {
      ++rates[link.bandwidth_Bps];
    }
  }
  return rates;
}

} // namespace

TEST_CASE("nccl-topology: xGMI cables carry count times the rate of the architecture") {
  const std::string amd = " class='0x038000'";
  const auto node = [&](const std::string& id, const std::string& attributes,
                        const std::string& cable) {
    return "<pci busid='" + id + "'" + amd + kLink + "><gpu " + attributes + ">" + cable +
           "</gpu></pci>\n";
  };
  struct Row {
    std::string gcn;
    double rate;
  };
  for (const auto& [gcn, rate] :
       {Row{"906", 24e9}, Row{"908", 24e9}, Row{"gfx908", 24e9}, Row{"910", 36e9},
        Row{"gfx90a", 36e9}, Row{"gfx90a:sramecc+:xnack-", 36e9}, Row{"940", 48e9},
        Row{"GFX942", 48e9}, Row{"gfx950", 48e9}, Row{"950", 48e9}, Row{"gfx1100", 24e9}}) {
    CAPTURE(gcn);
    const std::string id = " gcn='" + gcn + "'";
    const NcclTopology imported = import_text(
        "<system version='2'>\n" +
        cpu(node("0:1.0", "dev='0' rank='0'" + id, "<xgmi target='0:2.0' count='3'/>") +
            node("0:2.0", "dev='1' rank='1'" + id, "<xgmi target='0:1.0' count='3'/>")) +
        "</system>\n");
    CHECK(imported.gpu_cable == "xGMI cable");
    CHECK(imported.counts.nvlink_cables == 1);
    CHECK(gpu_cables(imported.topology) == std::map<double, int>{{3 * rate, 1}});
  }
}

TEST_CASE("nccl-topology: a network of more than 10,000,000 Mbit/s is one in kbit/s") {
  const NcclTopology imported = import_text(
      machine(cpu(gpu("0:1.0", "dev='0'") +
                  pci("0:3.0", "0x020000", "<nic><net dev='0' speed='200000000'/></nic>"))));
  CHECK(network_rates(imported.topology) == std::map<double, int>{{200e9 / 8, 1}});
  CHECK(std::ranges::any_of(imported.topology.warnings, [](const std::string& warning) {
    return warning.find("kbit/s") != std::string::npos;
  }));
}

// What public files of RCCL hold beside that: comments framed by dashes, GPUs of several PCI
// classes, cables without a count or without an end in the file, interfaces below CPUs, numbers of
// devices that are not the ranks, and attributes that are missing or unknown.
TEST_CASE("nccl-topology: RCCL's files in all their variety") {
  const NcclTopology imported = import_text(
      "<!-----------------------------\n - text -\n ----------------------------->\n"
      "<system version='2'>\n"
      "<cpu numaid='0' host_hash='0x1' arch='x86_64' vendor='AuthenticAMD' familyid='175'>\n"
      "<pci busid='0021:00:00.0' class='0x120000' link_speed='32.0 GT/s PCIe' link_width='16'>"
      "<gpu dev='1' gcn='gfx942' rank='0'><xgmi target='0011:00:00.0'/>"
      "<xgmi target='00ff:00:00.0' count='1'/></gpu></pci>\n"
      "<pci busid='0011:00:00.0' class='0x038000' link_speed='' link_width='255'>"
      "<gpu dev='0' gcn='gfx942' rank='1'><xgmi target='0021:00:00.0' tclass='0x120000'/></gpu>"
      "</pci>\n"
      "<nic><net name='eth0' dev='0' speed='100000' port='0' guid='0x0' gdr='0'/></nic>\n"
      "</cpu>\n"
      "<cpu numaid='1' host_hash='0x1' arch='x86_64' vendor='AuthenticAMD' familyid='175'>\n"
      "<pci busid='0031:00:00.0' link_speed='Unknown' link_width='16'><gpu rank='2'/></pci>\n"
      "<pci busid='0040:00:00.0' class='0x020000' link_speed='16 GT/s' link_width='16'><nic>"
      "<net name='cxi1' dev='1' speed='200000000' coll='1'/>"
      "<net name='cxi2' dev='2' speed='-1'/></nic></pci>\n"
      "</cpu></system>\n");
  CHECK(imported.topology.gpus ==
        std::vector<std::string>{"0021:00:00.0", "0011:00:00.0", "0031:00:00.0"});
  CHECK(gpu_cables(imported.topology) == std::map<double, int>{{48e9, 1}});
  CHECK(imported.counts.nets == 3);
  CHECK(network_rates(imported.topology) ==
        std::map<double, int>{{100e9 / 8, 1}, {200e9 / 8, 1}, {10e9 / 8, 1}});
  CHECK(imported.counts.cpus == 2);
  CHECK(link_of(imported, "cpu0-cpu1").bandwidth_Bps == 24e9);
  CHECK(link_of(imported, "0021:00:00.0-cpu0").bandwidth_Bps == within(2 * kGen4, 1e-12));
  CHECK(link_of(imported, "0011:00:00.0-cpu0").source == "default");
}

TEST_CASE("nccl-topology: files of RCCL, version 2") {
  struct Row {
    std::string file;
    std::int64_t gpus;
    std::map<double, int> cables, networks;
  };
  for (const auto& [file, gpus, cables, networks] :
       {Row{"rccl_8x_gfx942", 8, {{48e9, 8 * 7 / 2}}, {{400e9 / 8, 8}}},
        Row{"rccl_16x_gfx90a", 16, {{4 * 36e9, 8}, {36e9, 16}, {2 * 36e9, 4}}, {{200e9 / 8, 8}}},
        Row{"rccl_4x_gfx940_cxi", 4, {{48e9, 4 * 3 / 2}}, {{200e9 / 8, 4}}}}) {
    const std::string path = sample("traces/" + file + ".xml");
    if (absent(path)) {
      return;
    }
    const NcclTopology imported = import_nccl_topology(path, {});
    CHECK(imported.counts.gpus == gpus);
    CHECK(gpu_cables(imported.topology) == cables);
    CHECK(network_rates(imported.topology) == networks);
    if (file == "rccl_8x_gfx942") { // 16 lanes of 32 GT/s
      CHECK(link_of(imported, "0000:0c:00.0-0000:0a:00.0").bandwidth_Bps == within(4.789e10, 1e-4));
    }
  }
}

TEST_CASE("nccl-topology: all 57 public files of RCCL") {
  const std::string folder = sample("rccl/tools/topo_expl/models");
  if (absent(folder)) {
    return;
  }
  std::int64_t files = 0;
  std::int64_t gpus = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path().string());
    const NcclTopology imported = import_nccl_topology(entry.path().string(), {});
    CHECK(imported.counts.gpus > 0);
    CHECK_FALSE(links::fabric_of(imported.topology).links.empty());
    gpus += imported.counts.gpus;
    ++files;
  }
  CHECK(files == 57);
  CHECK(gpus == 454);
}
