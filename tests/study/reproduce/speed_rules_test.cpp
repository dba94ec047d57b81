// Rules that make a scenario of a measured speed.
#include "study/reproduce/speed_rules.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"

using namespace stepsim;
using reproduce::Scoreboard;

namespace {

Scoreboard rules() {
  Scoreboard out;
  out.rows = "mine.csv";
  out.bus_latency_s = 1e-6;
  out.buses = {{"bus", 1e10}, {"link", 2e10}, {"wire", 3e10}};
  out.bus_kinds = {{"b", "pcie"}, {"l", "nvlink"}};
  out.fabrics = {{"net",
                  {.latency_s = 1e-5,
                   .share = 0.5,
                   .carrier = links::Carrier::tcp,
                   .slow_Bps = 1e8,
                   .slow_latency_s = 1e-3}}};
  out.methods = {{"ring", {.schedule = "wfbp"}},
                 {"host", {.schedule = "horovod", .host_reduction = true}},
                 {"servers", {.schedule = "priority", .servers = reproduce::ServerPlace::machines}},
                 {"cpu", {.schedule = "wfbp", .servers = reproduce::ServerPlace::host}}};
  out.schedules = {{"priority", {{"credit_bytes", 5}}}};
  return out;
}

// Two machines of four GPUs with 8 Gb/s; one GPU makes 100 samples/s in batches of 50.
io::Object row() {
  return {{"row", "r1"},         {"nodes", 2},
          {"gpus_per_node", 4},  {"gpus", 8},
          {"batch_per_gpu", 50}, {"grad_accum", 1},
          {"fabric", "net"},     {"gbps_per_node", 8},
          {"intra", "bus"},      {"method", "ring"},
          {"measured", 400},     {"base_measured", 100},
          {"base_gpus", 1},      {"gradient_bytes_per_element", 4}};
}

io::Object changed(std::vector<io::Member> values) {
  io::Object out = row();
  for (const auto& [name, value] : values) {
    for (auto& [key, old] : out) {
      old = key == name ? value : old;
    }
  }
  return out;
}

double at(const io::Json& tree, const char* pointer) {
  const io::Json* found = io::resolve(tree, pointer);
  REQUIRE(found != nullptr);
  return found->as_double();
}

} // namespace

TEST_CASE(
    "speed rules: a ring of all GPUs takes its slowest link, computing the base measurement") {
  const io::Json tree = reproduce::scenario_of(row(), rules(), "resnet50", 1);
  CHECK(at(tree, "/cluster/nodes") == 2 * 4);
  CHECK(at(tree, "/cluster/network/bandwidth_Bps") == 8e9 / 8 * 0.5); // below the bus's 1e10
  CHECK(at(tree, "/cluster/network/latency_s") == 1e-5);
  const double batch_s = 50.0 / 100;
  CHECK(at(tree, "/workload/measured/forward_s") == batch_s / 3);
  CHECK(at(tree, "/workload/measured/backward_s") == batch_s * 2 / 3);
  CHECK(io::resolve(tree, "/communication/collective")->as_string() == "ring");
  CHECK(reproduce::measured_step_s(row()) == 8 * 50.0 / 400);
  CHECK(reproduce::computing_s(row()) == batch_s);
}

TEST_CASE("speed rules: batches before the last overlap with nothing") {
  const io::Object four = changed({{"grad_accum", 4}});
  const io::Json tree = reproduce::scenario_of(four, rules(), "resnet50", 1);
  const double batch_s = 50.0 / 100;
  CHECK(at(tree, "/workload/measured/forward_s") == 3 * batch_s + batch_s / 3);
  CHECK(at(tree, "/workload/measured/backward_s") == batch_s * 2 / 3);
  CHECK(reproduce::computing_s(four) == 4 * batch_s);
  CHECK(reproduce::samples_of(four) == 4 * 50 * 8);
}

TEST_CASE("speed rules: slow networks, one machine, servers, and bytes that are no value") {
  const auto link = [](const io::Object& of) {
    return reproduce::scenario_of(of, rules(), "resnet50", 1);
  };
  CHECK(at(link(changed({{"gbps_per_node", 0.8}})), "/cluster/network/latency_s") == 1e-3);

  const io::Json one = link(changed({{"nodes", 1}, {"fabric", "none"}}));
  CHECK(at(one, "/cluster/nodes") == 4);
  CHECK(at(one, "/cluster/network/bandwidth_Bps") == 1e10);

  const io::Json servers = link(changed({{"method", "servers"}}));
  CHECK(at(servers, "/cluster/nodes") == 2); // workers are machines
  CHECK(at(servers, "/training/servers") == 2);
  CHECK(at(servers, "/communication/credit_bytes") == 5);
  CHECK(io::resolve(servers, "/communication/collective") == nullptr);
  // The GPUs of one machine exchange as usual, layer by layer.
  const io::Json alone = link(changed({{"method", "servers"}, {"nodes", 1}}));
  CHECK(io::resolve(alone, "/training/algorithm")->as_string() == "sync_sgd");
  CHECK(io::resolve(alone, "/communication/schedule")->as_string() == "wfbp");

  const io::Json host = link(changed({{"method", "cpu"}, {"nodes", 1}}));
  CHECK(at(host, "/training/servers") == 4);
  CHECK(at(host, "/cluster/network/bandwidth_Bps") == 1e10);

  const io::Json three = link(changed({{"gradient_bytes_per_element", 3}}));
  CHECK(at(three, "/workload/value_bytes") == 2);
  CHECK(at(three, "/cluster/network/bandwidth_Bps") == 5e8 / 1.5);

  const io::Json slower = reproduce::scenario_of(row(), rules(), "resnet50", 2);
  CHECK(at(slower, "/cluster/network/latency_s") == 2e-5);
  CHECK(at(slower, "/cluster/network/bandwidth_Bps") == 5e8 / 2);
}

TEST_CASE("speed rules: typical conditions are those of the machines of a row") {
  const auto typical = [](const io::Object& of) {
    return reproduce::typical_scenario_of(of, rules(), "resnet50");
  };
  const io::Json tree = typical(row());
  CHECK(at(tree, "/cluster/nodes") == 2);
  CHECK(at(tree, "/cluster/gpus_per_node") == 4);
  CHECK(at(tree, "/cluster/network/bandwidth_Bps") == 8e9 / 8 * 0.5);
  CHECK(at(tree, "/cluster/intra_network/bandwidth_Bps") == 1e10);
  CHECK(io::resolve(tree, "/cluster/network/transport")->as_string() == "tcp");
  CHECK(io::resolve(tree, "/cluster/intra_network/bus")->as_string() == "pcie");
  CHECK(at(tree, "/workload/measured/gpus") == 1);
  CHECK(!io::resolve(tree, "/training/reduced_precision")->as_bool());
  CHECK(io::resolve(tree, "/training/micro_batches") == nullptr);
  CHECK(io::resolve(tree, "/communication/host_reduction") == nullptr);

  const io::Json one = typical(changed({{"nodes", 1}, {"fabric", "none"}}));
  CHECK(at(one, "/cluster/nodes") == 1);
  CHECK(io::resolve(one, "/cluster/network/transport") == nullptr);
  const io::Json alone = typical(changed({{"gpus_per_node", 1}}));
  CHECK(io::resolve(alone, "/cluster/intra_network") == nullptr);

  const io::Json wire = typical(changed({{"intra", "wire"}})); // the program asks for its kind
  CHECK(io::resolve(wire, "/cluster/intra_network/bus") == nullptr);

  io::Object told = changed({{"method", "host"}, {"grad_accum", 4}});
  told.emplace_back("transport", "tcp_cloud");
  told.emplace_back("reduced_precision", "true");
  const io::Json more = typical(told);
  CHECK(io::resolve(more, "/cluster/network/transport")->as_string() == "tcp_cloud");
  CHECK(io::resolve(more, "/training/reduced_precision")->as_bool());
  CHECK(io::resolve(more, "/communication/host_reduction")->as_bool());
  CHECK(at(more, "/training/micro_batches") == 4);
  CHECK(at(more, "/workload/measured/forward_s") == 50.0 / 100 / 3); // of one micro-batch

  // 3 bytes per element: 16-bit values over links that take 1.5 times as long.
  const io::Json three = typical(changed({{"gradient_bytes_per_element", 3}}));
  CHECK(at(three, "/cluster/network/bandwidth_Bps") == 5e8 / 1.5);
  CHECK(at(three, "/cluster/intra_network/bandwidth_Bps") == 1e10 / 1.5);
}

TEST_CASE("speed rules: a row that lacks a number is refused by its column and cell") {
  const auto refused = [](const io::Object& of) -> std::string {
    try {
      reproduce::require_predictable(of, rules());
      return "";
    } catch (const InputError& error) {
      return error.problems().front().message;
    }
  };
  CHECK(refused(row()).empty());
  for (const char* column : {"measured", "base_measured", "nodes", "gpus_per_node", "gpus",
                             "batch_per_gpu", "base_gpus", "gradient_bytes_per_element"}) {
    CHECK(reproduce::holds_number(column));
    for (const io::Json& cell : {io::Json(0), io::Json(-1), io::Json("1,000"), io::Json("nan")}) {
      CHECK(refused(changed({{column, cell}})).starts_with(std::string(column) + ": must be a "));
    }
  }
  CHECK_FALSE(reproduce::holds_number("row"));
  CHECK(refused(changed({{"base_measured", ""}})) == "no base measurement");
  CHECK(refused(changed({{"gpus", 7}})) == "gpus: must be nodes times gpus_per_node, 8, got 7");
  // The network of one machine carries nothing, steps/s count no samples, and a batch is one.
  CHECK(refused(changed({{"gbps_per_node", 0}})).starts_with("gbps_per_node: "));
  CHECK(refused(changed({{"gbps_per_node", 0}, {"nodes", 1}, {"gpus", 4}})).empty());
  io::Object steps = changed({{"gpus", ""}, {"batch_per_gpu", ""}, {"grad_accum", ""}});
  steps.emplace_back("unit", "steps/s");
  CHECK(refused(steps).empty());
}

TEST_CASE("speed rules: a situation is what carries the gradients") {
  const auto situation = [](const io::Object& of) { return reproduce::situation_of(of, rules()); };
  CHECK(situation(row()) == "TCP");
  CHECK(situation(changed({{"nodes", 1}})) == "one machine");
  CHECK(situation(changed({{"method", "servers"}})) == "servers");
  CHECK(situation(changed({{"method", "servers"}, {"nodes", 1}})) == "one machine");
  CHECK(situation(changed({{"method", "cpu"}, {"nodes", 1}})) == "servers");
  const auto over_rdma = [&](std::vector<io::Member> values) {
    io::Object of = changed(std::move(values));
    of.emplace_back("transport", "rdma");
    return situation(of);
  };
  CHECK(over_rdma({}) == "RDMA, GPUs on PCIe");
  CHECK(over_rdma({{"intra", "link"}}) == "RDMA, GPUs on NVLink");
  CHECK(over_rdma({{"intra", "link"}, {"gpus_per_node", 1}}) == "RDMA, GPUs on PCIe");
  CHECK(over_rdma({{"intra", "wire"}}) == "RDMA, GPUs on PCIe");
}

TEST_CASE("speed rules: steps/s count steps, whatever the batch") {
  const io::Object steps = [] {
    io::Object out = row();
    out.emplace_back("unit", "steps/s");
    return out;
  }();
  CHECK(reproduce::samples_of(steps) == 1);
  CHECK(reproduce::measured_step_s(steps) == 1.0 / 400);
  CHECK(reproduce::computing_s(steps) == 1.0 / 100);
}

TEST_CASE("speed rules: a table with parameters and without a rule is made of the one for others") {
  Scoreboard known = rules();
  known.tables = {{"small", {"gpt2", 5e6}}};
  CHECK(reproduce::table_rule(row(), known, "small").elements == 5e6);
  CHECK_THROWS_AS((void)reproduce::table_rule(row(), known, "large:7e9"), InputError);
  known.other_table = "gpt2_xl";
  CHECK(reproduce::table_rule(row(), known, "large:7e9").model == "gpt2_xl");
  CHECK(reproduce::table_rule(row(), known, "large:7e9").elements == 7e9);
  CHECK(reproduce::table_rule(row(), known, "small:7e9").elements == 5e6); // its own rule wins
  for (const char* bad : {"large", "large:", "large:0", "large:many", "large:inf"}) {
    CHECK_THROWS_AS((void)reproduce::table_rule(row(), known, bad), InputError);
  }
}

TEST_CASE("speed rules: a word without a rule is named with the row") {
  CHECK_THROWS_WITH_AS((void)reproduce::scenario_of(changed({{"method", "rong"}}), rules(), "m", 1),
                       "mine.csv:r1: unknown method \"rong\"; did you mean \"ring\"?", InputError);
}

TEST_CASE("speed rules: a scaled table keeps its layers and rounds each tensor") {
  const io::Json table = io::parse_json(
      R"({"name": "a", "totals": {"elements": 100, "tensors": 2}, "layers": [
          {"name": "l", "tensors": [{"name": "w", "shape": [9, 11]}, {"name": "b", "shape": [1]}]}]})",
      "a.json");
  const io::Json scaled = reproduce::scaled_table(table, "b", 50);
  CHECK(at(scaled, "/layers/0/tensors/0/shape/0") == 50); // 99 / 2, to even
  CHECK(at(scaled, "/layers/0/tensors/1/shape/0") == 1);  // at least one
  CHECK(at(scaled, "/totals/elements") == 51);
  CHECK(scaled.find("name")->as_string() == "b");
}
