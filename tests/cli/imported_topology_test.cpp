// Training on a topology that was imported from NCCL: ranks are the GPUs, NVLink and PCIe carry
// what the shortest ways say.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/nccl/import_nccl_topology.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

constexpr double kBytes = 6e6; // of both layers
constexpr double kCompute = 0.001 + 0.002 + 0.003 + 0.003;
constexpr int kIterations = 3;

// One exchange of all gradients after each backward, on the GPUs of a machine file.
study::Result run_on(const std::string& xml, int gpus, const std::string& model = "flow") {
  const io::TemporaryFolder folder;
  io::write_file(folder.file("machine.json"),
                 io::pretty(io::to_json(io::import_nccl_topology(xml, {}))));
  return study::testing::run_text(
      R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": 2000000},
      {"name": "b", "forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 4000000}]},
      "cluster": {"nodes": 1, "gpus_per_node": )" +
      std::to_string(gpus) + R"(, "topology": ")" + folder.file("machine.json") +
      R"(", "network": {"model": ")" + model + R"("}},
      "training": {"iterations": )" +
      std::to_string(kIterations) +
      R"(}, "communication": {"collective": "ring", "schedule": "single", "element_bytes": )" +
      (model == "alpha_beta" ? "null" : "4") + "}}");
}

std::map<std::string, double> bytes_by_link(const study::Result& result) {
  const links::Fabric& fabric = result.scenario->cluster.fabric->fabric();
  std::map<std::string, double> bytes;
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    bytes[fabric.link_names[link]] = result.links[link].bytes;
  }
  return bytes;
}

// Four GPUs in ranks 3, 1, 2, 0 under two bridges of one CPU, with or without NVSwitch.
std::string machine(bool nvswitch) {
  std::string text = "<system version='1'><cpu numaid='0'>";
  int gpu = 0;
  for (const int rank : {3, 1, 2, 0}) {
    text += gpu % 2 == 0 ? "<pci busid='b:" + std::to_string(gpu) +
                               "' class='0x060400' link_speed='16 GT/s' link_width='16'>"
                         : "";
    text += "<pci busid='a:" + std::to_string(gpu) +
            "' class='0x030200' link_speed='16 GT/s' link_width='16'><gpu sm='80' rank='" +
            std::to_string(rank) + "'>";
    text += nvswitch ? "<nvlink target='c7:0' count='12' tclass='0x068000'/>" : "";
    text += "</gpu></pci>";
    text += gpu % 2 == 1 ? "</pci>" : "";
    ++gpu;
  }
  return text + "</cpu></system>";
}

} // namespace

TEST_CASE("imported topology: a ring on NVSwitch, nothing on PCIe") {
  const io::TemporaryFolder folder;
  const study::Result result = run_on(folder.put("m.xml", machine(true)), 4);
  // 2 (P - 1) steps of M / P over two NVLink cables of 12 links each
  CHECK(*result.summary.iteration_time_s ==
        within(kCompute + 2 * 3 * (2 * 0.6e-6 + kBytes / 4 / (12 * 20e9)), 1e-9));
  for (const auto& [id, bytes] : bytes_by_link(result)) {
    CAPTURE(id);
    const bool nvlink = id.find("nvswitch") != std::string::npos;
    CHECK(bytes == within(nvlink ? kIterations * 2 * 3 * kBytes / 4 : 0, 1e-9));
  }
}

TEST_CASE("imported topology: a ring over bridges, ranks in the order of the file's ranks") {
  const io::TemporaryFolder folder;
  const study::Result result = run_on(folder.put("m.xml", machine(false)), 4);
  // Ranks 0 1 2 3 = a:3 a:1 a:2 a:0: every step crosses the CPU, 0 -> 1 and 2 -> 3 from bridge b:2
  // to b:0, 1 -> 2 and 3 -> 0 back. Both share the link of their bridge, at half its rate.
  const double rate = 16e9 * 16 * 128 / 130 / 8 * 0.76;
  CHECK(*result.summary.iteration_time_s ==
        within(kCompute + 2 * 3 * (4 * 1e-6 + kBytes / 4 / (rate / 2)), 1e-9));
  const std::map<std::string, double> bytes = bytes_by_link(result);
  const double of_rank = kIterations * 2 * 3 * kBytes / 4;
  CHECK(bytes.at("a:0>b:0") == within(of_rank, 1e-9));
  CHECK(bytes.at("b:0>cpu0") == within(2 * of_rank, 1e-9));
  CHECK(bytes.at("cpu0>b:0") == within(2 * of_rank, 1e-9));
}

TEST_CASE("imported topology: alpha-beta takes its longest way and narrowest link") {
  const io::TemporaryFolder folder;
  const study::Result result = run_on(folder.put("m.xml", machine(false)), 4, "alpha_beta");
  CHECK(result.scenario->cluster.network.latency_s == within(4e-6, 1e-9));
  CHECK(result.scenario->cluster.network.bandwidth_Bps ==
        within(16e9 * 16 * 128 / 130 / 8 * 0.76, 1e-9));
}

TEST_CASE("imported topology: eight ranks on the template of a real machine") {
  const std::string file = STEPSIM_SOURCE_DIR "/../shared/data/topo/azure_ndv4-topo.xml";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: no sample file ", file);
    return;
  }
  const study::Result result = run_on(file, 8);
  const double of_rank = kIterations * 2 * 7 * kBytes / 8;
  double up = 0;
  for (const auto& [id, bytes] : bytes_by_link(result)) {
    const bool from_gpu = id.find(":00:00.0>ffff:ff:") != std::string::npos;
    up += from_gpu ? bytes : 0;
  }
  CHECK(up == within(8 * of_rank, 1e-9)); // nothing from the interfaces
  // Not faster than its bytes over one link of a GPU, not slower than all ways over one link.
  const double rate = 16e9 * 16 * 128 / 130 / 8 * 0.76;
  const double exchange = *result.summary.iteration_time_s - kCompute;
  CHECK(exchange >= 2.0 * 7 / 8 * kBytes / rate);
  CHECK(exchange <= 8 * 2.0 * 7 / 8 * kBytes / 16e9 + 1e-3);
}
