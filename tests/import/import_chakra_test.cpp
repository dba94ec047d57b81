// Chakra execution traces (INP 2.4): nodes, sums and buckets of public files, and the rules on
// generated ones.
#include "import/chakra/import_chakra.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"
#include "document/temporary_folder.hpp"
#include "import/chakra/chakra_nodes.hpp"
#include "import/import_detect.hpp"
#include "import/import_samples.hpp"
#include "import/protobuf_builder.hpp"
#include "scenario/files/trace_file.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

ChakraImport imported(const std::string& content, const std::string& name = "t.et") {
  const TemporaryFolder folder;
  return import_chakra(folder.put(name, content), {});
}

std::string failure(const std::string& content) {
  try {
    const ChakraImport result = imported(content);
    return result.remedy;
  } catch (const InputError& error) {
    const std::string text = error.what();
    return text.substr(text.find("t.et") + 6);
  }
}

bool warns(const layers::Trace& trace, std::string_view part) {
  return std::ranges::any_of(trace.warnings, [&](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

std::vector<std::int64_t> bucket_bytes(const layers::Trace& trace) {
  std::vector<std::int64_t> all;
  for (const layers::MeasuredBucket& bucket : trace.buckets) {
    all.push_back(bucket.bytes.value);
  }
  return all;
}

std::size_t nodes_of(const ChakraFile& file, ChakraKind kind) {
  return static_cast<std::size_t>(
      std::ranges::count(file.nodes, kind, [](const ChakraNode& node) { return node.kind; }));
}

// Two layers of a data-parallel job, as its buckets are sent: forward, backward of b, its bucket,
// backward of a, its bucket, update.
std::string two_layers() {
  using namespace wire;
  return metadata() + compute(1, "fwd_a", 10) + compute(2, "fwd_b", 20) +
         compute(3, "b_backward", 40) + collective(4, "reduce_b", 0, 4000, 7) +
         compute(5, "a_backward", 30) + collective(6, "reduce_a", 0, 8000, 9) +
         compute(7, "update", 5);
}

} // namespace

TEST_CASE("chakra: ResNet-50 on two GPUs as protocol buffers, packed in an archive") {
  const std::string path = sample("chakra/chakra_et_protobuf.tgz");
  if (absent(path)) {
    return;
  }
  CHECK(detect_file(path) == ImportFormat::chakra);
  const ChakraFile file = read_chakra(path, kDefaultMaxBytes);
  CHECK(file.nodes.size() == 3664);
  CHECK(nodes_of(file, ChakraKind::compute) == 3643);
  CHECK(nodes_of(file, ChakraKind::collective) == 21 - 14);
  CHECK(nodes_of(file, ChakraKind::launch) == 14);
  const ChakraImport result = import_chakra(path, {});
  const layers::Trace& trace = result.trace;
  CHECK(result.found == "3664 nodes: 3643 compute, 7 collectives, 14 launches of collectives; "
                        "381795 us in all");
  CHECK(result.remedy.empty());
  CHECK(trace.name == "chakra_et_protobuf");
  CHECK(bucket_bytes(trace) ==
        std::vector<std::int64_t>{8196000, 31502336, 26255360, 26550272, 9724160});
  REQUIRE(trace.collectives.size() == 2);
  CHECK(trace.collectives[0].op == "broadcast");
  CHECK(trace.collectives[0].bytes.value == 212480);
  CHECK(trace.collectives[1].bytes.value == 424);
  // The compute of the device: 381795 us less the host's 50941 us and what communicates, 38026 us.
  double all = trace.update.value;
  for (const layers::Layer& layer : trace.layers) {
    all += layer.forward->value + layer.backward->value;
  }
  CHECK(all == within((381795 - 50941 - 38026) * 1e-6, 1e-12));
  CHECK(trace.buckets[0].elements == 2049000);
  CHECK(trace.buckets[0].dtype == "float32");
  CHECK(trace.buckets[0].median->value == 5572 / 1e6);
  CHECK(warns(trace, "2434 compute nodes of the host (50.94 ms) left out"));
  // What run takes: times, sizes, and buckets that cover the gradients.
  CHECK(to_json(parse_trace(to_json(trace))) == to_json(trace));
}

TEST_CASE("chakra: an archive of two files is an error that lists them") {
  const std::string path = sample("chakra/chakra_et_json.tgz");
  if (absent(path)) {
    return;
  }
  CHECK_THROWS_WITH_AS(
      (void)import_chakra(path, {}),
      (path + ": tar archive of 2 files: unpack it and give the files that belong together: "
              "jsonData/chakra.0.json, jsonData/small_chakra.0.json")
          .c_str(),
      InputError);
}

TEST_CASE("chakra: the JSON form has the same nodes, but no sizes") {
  const std::string path = sample("chakra/chakra_et_json.tgz");
  if (absent(path)) {
    return;
  }
  const TemporaryFolder folder;
  const std::string command = "tar xzf '" + path + "' -C '" + folder.file("") + "' 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  const ChakraFile file = read_chakra(folder.file("jsonData/chakra.0.json"), kDefaultMaxBytes);
  CHECK(file.nodes.size() == 3664);
  CHECK(nodes_of(file, ChakraKind::compute) == 3643);
  CHECK(nodes_of(file, ChakraKind::launch) == 21);
  double all = 0;
  for (const ChakraNode& node : file.nodes) {
    all += node.duration_us.value_or(0);
  }
  CHECK(all == 381795);
  const ChakraImport result = import_chakra(folder.file("jsonData/small_chakra.0.json"), {});
  CHECK(result.remedy == "3 collectives without comm_type and comm_size: import the protocol "
                         "buffers (.et) of the same job, which hold them");
  CHECK(result.trace.ranks == 8);
}

TEST_CASE("chakra: one all-gather is no training step") {
  const std::string path = sample("astra/all_gather_4npus.0.et");
  if (absent(path)) {
    return;
  }
  const ChakraFile file = read_chakra(path, kDefaultMaxBytes);
  REQUIRE(file.nodes.size() == 1);
  CHECK(file.nodes[0].op == ChakraOp::all_gather);
  CHECK(file.nodes[0].bytes == 1048576);
  CHECK(file.nodes[0].on_host == false);
  CHECK_THROWS_WITH_AS((void)import_chakra(path, {}),
                       (path + ": 1 node: 1 allgather of 1048576 bytes and no compute node, so no "
                               "training step; stepsim collective --op and --bytes time a "
                               "collective alone")
                           .c_str(),
                       InputError);
}

TEST_CASE("chakra: segments become layers, forward order, with the buckets behind them") {
  const layers::Trace trace = imported(two_layers()).trace;
  // One layer per bucket; the first bucket is that of the last layer.
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].name == "bucket_1");
  CHECK(trace.layers[0].backward->value == 30 / 1e6);
  CHECK(trace.layers[0].gradient_bytes->value == 8000);
  CHECK(trace.layers[1].name == "bucket_0");
  CHECK(trace.layers[1].forward->value == 30 / 1e6);
  CHECK(trace.layers[1].backward->value == 40 / 1e6);
  CHECK(trace.layers[1].gradient_bytes->value == 4000);
  CHECK(trace.update.value == 5 / 1e6);
  CHECK(trace.buckets[0].elements == 1000);
  CHECK(trace.buckets[0].min->value == 7 / 1e6);
  CHECK(trace.layers[0].tensors[0].bucket == 1);
  CHECK(warns(trace, "dtype assumed: float32 for 2 buckets"));
}

TEST_CASE("chakra: any integer type of an attribute, fixed or zigzag, holds a size") {
  using namespace wire;
  const auto fixed = [](unsigned field, unsigned type, std::uint64_t value, std::size_t size) {
    std::string bytes = varint(field * 8 + type);
    for (std::size_t i = 0; i < size; ++i, value /= 256) {
      bytes += static_cast<char>(value % 256);
    }
    return bytes;
  };
  for (const std::string& value :
       {number(7, 4096), number(9, 4096), number(11, 4096), number(13, 4096), number(15, 8192),
        number(17, 8192), fixed(19, 5, 4096, 4), fixed(21, 1, 4096, 8), fixed(23, 5, 4096, 4),
        fixed(25, 1, 4096, 8), fixed(3, 1, 0x40B0000000000000, 8), fixed(5, 5, 0x45800000, 4)}) {
    const std::string file = metadata() + compute(1, "c", 5) +
                             framed(Node{.id = 2,
                                         .name = "r",
                                         .type = 7,
                                         .attributes = attribute("comm_type", number(7, 0)) +
                                                       attribute("comm_size", value)});
    CHECK(bucket_bytes(imported(file).trace) == std::vector<std::int64_t>{4096});
  }
}

TEST_CASE("chakra: the schema without metadata has other numbers") {
  using namespace wire;
  // Types one lower; attributes in field 11 with the value in field 5; collective 3 scatters.
  const auto old = [](std::uint64_t id, std::string_view name, unsigned type,
                      const std::string& attributes) {
    return framed(number(1, id) + text(2, name) + number(3, type) + attributes);
  };
  const auto attribute11 = [](std::string_view name, std::uint64_t value) {
    return text(11, text(1, name) + number(2, 1) + number(5, value));
  };
  const layers::Trace trace =
      imported(old(1, "c", 3, attribute11("runtime", 25)) +
               old(2, "r", 6, attribute11("comm_type", 3) + attribute11("comm_size", 64)))
          .trace;
  REQUIRE(trace.layers.size() == 1);
  CHECK(trace.layers[0].backward->value == 25 / 1e6);
  CHECK(trace.layers[0].gradient_bytes->value == 64);
  CHECK(warns(trace, "1 reduce-scatter of a sharded job"));
  CHECK(failure(old(1, "c", 3, number(13, 1))).find("the schema of 2022") != std::string::npos);
}

TEST_CASE("chakra: nodes run by their starts, else behind what they wait for") {
  using namespace wire;
  const auto node = [](std::uint64_t id, unsigned type, std::uint64_t duration, std::uint64_t start,
                       const std::string& more) {
    return framed(Node{.id = id,
                       .name = "n",
                       .type = type,
                       .duration = duration,
                       .start = start,
                       .attributes = type == 7 ? attribute("comm_type", number(9, 0)) +
                                                     attribute("comm_size", number(9, 4 * id))
                                               : "",
                       .dependencies = more});
  };
  // In the file: the collectives first. They start behind the nodes of 10 and 20 us.
  const std::string timed = metadata() + node(1, 7, 1, 150, "") + node(2, 7, 1, 250, "") +
                            node(3, 4, 20, 200, "") + node(4, 4, 10, 100, "");
  const std::string waiting = metadata() + node(1, 7, 1, 0, number(5, 4)) +
                              node(2, 7, 1, 0, text(5, varint(3))) +
                              node(3, 4, 20, 0, number(5, 1)) + node(4, 4, 10, 0, number(5, 99));
  for (const std::string& file : {timed, waiting}) {
    const layers::Trace trace = imported(file).trace;
    REQUIRE(trace.layers.size() == 2);
    CHECK(trace.layers[1].backward->value == 10 / 1e6);
    CHECK(trace.layers[0].backward->value == 20 / 1e6);
  }
  CHECK(warns(imported(waiting).trace, "nodes have no start"));
  CHECK(failure(metadata() + node(1, 4, 1, 0, number(5, 2)) + node(2, 4, 1, 0, number(5, 1))) ==
        "node 1 waits for itself through its dependencies");
}

TEST_CASE("chakra: iterations by their marks or by collectives with names of their own") {
  using namespace wire;
  std::string file = metadata();
  std::uint64_t id = 0;
  for (const std::uint64_t duration : {10U, 30U, 20U}) {
    file += compute(id + 1, "fwd_FWD", duration) + compute(id + 2, "a_BWD_WG", 2 * duration) +
            collective(id + 3, "reduce_a", 0, 400, 5);
    id += 3;
  }
  const layers::Trace trace = imported(file).trace;
  REQUIRE(trace.layers.size() == 1);
  CHECK(trace.layers[0].forward->value == 20 / 1e6); // the median of 10, 30, 20
  CHECK(trace.layers[0].backward->value == 40 / 1e6);
  CHECK(warns(trace, "3 iterations, of which 3"));
  // Kernels of all collectives have one name: without marks they are one step of two buckets.
  const std::string bucket = compute(1, "a_backward", 10) + collective(2, "nccl", 0, 400);
  const std::string again = compute(3, "a_backward", 30) + collective(4, "nccl", 0, 400);
  CHECK(imported(metadata() + bucket + again).trace.buckets.size() == 2);
  const auto behind = [](std::uint64_t number_of_node, const std::string& name, unsigned type,
                         std::uint64_t t, std::uint64_t before) {
    return framed(Node{.id = number_of_node,
                       .name = name,
                       .type = type,
                       .duration = t,
                       .attributes = type == 7 ? attribute("comm_type", number(9, 0)) +
                                                     attribute("comm_size", number(9, 400))
                                               : "",
                       .dependencies = before > 0 ? number(5, before) : ""});
  };
  const layers::Trace marked =
      imported(metadata() + behind(1, "ProfilerStep#1", 1, 0, 0) +
               behind(2, "a_backward", 4, 10, 1) + behind(3, "nccl", 7, 1, 2) +
               behind(4, "ProfilerStep#2", 1, 0, 3) + behind(5, "a_backward", 4, 30, 4) +
               behind(6, "nccl", 7, 1, 5))
          .trace;
  REQUIRE(marked.buckets.size() == 1);
  CHECK(marked.layers[0].backward->value == 20 / 1e6);
}

TEST_CASE("chakra: only the device counts where it has times, only gradients are buckets") {
  using namespace wire;
  const auto host = [](std::uint64_t id, std::string name, std::uint64_t duration, bool cpu) {
    return framed(Node{.id = id,
                       .name = std::move(name),
                       .type = 4,
                       .duration = duration,
                       .attributes = attribute("is_cpu_op", number(27, cpu ? 1 : 0))});
  };
  const auto grouped = [](std::uint64_t id, std::string_view group, std::uint64_t bytes) {
    return framed(Node{.id = id,
                       .name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)",
                       .type = 7,
                       .duration = 3,
                       .attributes = attribute("comm_type", number(9, 0)) +
                                     attribute("comm_size", number(9, bytes)) +
                                     attribute("pg_name", text(29, group))});
  };
  // Tensor parallelism reduces activations in both passes, in a group of its own.
  const layers::Trace trace =
      imported(metadata() + host(1, "aten::linear", 100, true) + host(2, "gemm", 10, false) +
               grouped(3, "tensor", 64) + host(4, "LinearBackward0", 100, true) +
               host(5, "gemm", 20, false) + grouped(6, "tensor", 64) + host(7, "gemm", 5, false) +
               grouped(8, "data", 2048) +
               framed(Node{.id = 9, .name = "send", .type = 5, .duration = 3}))
          .trace;
  CHECK(bucket_bytes(trace) == std::vector<std::int64_t>{2048});
  CHECK(trace.buckets[0].dtype == "bfloat16");
  CHECK(trace.buckets[0].elements == 1024);
  REQUIRE(trace.layers.size() == 3);
  CHECK(trace.layers[0].forward->value == 10 / 1e6);
  CHECK(trace.layers[1].backward->value == 5 / 1e6);
  CHECK(trace.layers[2].backward->value == 20 / 1e6);
  CHECK(trace.collectives[0].per_step == 2);
  CHECK(warns(trace, "2 reductions of activations"));
  CHECK(warns(trace, "not data-parallel only: 1 send or receive"));
}

TEST_CASE("chakra: reductions of gradients of activations are no buckets") {
  // As the tutorials of ASTRA-sim write a layer of a model-parallel job.
  const auto graph = [](const std::string& more) {
    return R"({"workload_graph": [
      {"Id": 1, "Name": "COMP_NODE_a_FWD", "NodeType": 4, "data_deps": [], "runtime": 10},
      {"Id": 2, "Name": "a_ALLGATHER", "NodeType": 7, "data_deps": [1], "comm_type": 2,
       "comm_size": 64},
      {"Id": 3, "Name": "COMP_NODE_a_BWD_IG", "NodeType": 4, "data_deps": [2], "runtime": 20},
      {"Id": 4, "Name": "a_ALLREDUCE", "NodeType": 7, "data_deps": [3], "comm_type": 0,
       "comm_size": 64},
      {"Id": 5, "Name": "COMP_NODE_a_BWD_WG", "NodeType": 4, "data_deps": [4], "runtime": 30})" +
           more + "]}";
  };
  CHECK(failure(graph("")) ==
        "2 collectives (allgather, allreduce) and no all-reduce of gradients: "
        "import the trace of a data-parallel job");
  const layers::Trace hybrid =
      imported(graph(R"(, {"Id": 6, "Name": "a_WG_ALLREDUCE", "NodeType": 7, "data_deps": [5],
                           "comm_type": 0, "comm_size": 4000})"))
          .trace;
  CHECK(bucket_bytes(hybrid) == std::vector<std::int64_t>{4000});
  CHECK(warns(hybrid, "1 reduction of activations"));
  CHECK(warns(hybrid, "1 all-gather left out"));
  CHECK(hybrid.update.value == 0);
}

TEST_CASE("chakra: JSON of either kind") {
  const std::string graph = R"({"workload_graph": [
    {"Id": 1, "Name": "c", "NodeType": 4, "data_deps": [], "runtime": 12.5, "is_cpu_op": false},
    {"Id": 2, "Name": "r", "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 400}],
    "ngpus": 4})";
  const std::string messages = R"({
  "version": "0.0.4"
}{
  "id": "1",
  "name": "c }{ \" quoted",
  "type": "COMP_NODE",
  "durationMicros": "12"
}{
  "id": "2", "name": "r", "type": "COMM_COLL_NODE", "dataDeps": ["1"],
  "attr": [{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "400"}]
})";
  const layers::Trace first = imported(graph).trace;
  CHECK(first.layers[0].backward->value == 12.5 / 1e6);
  CHECK(first.ranks == 4);
  CHECK(bucket_bytes(first) == std::vector<std::int64_t>{400});
  const layers::Trace second = imported(messages).trace;
  CHECK(second.layers[0].backward->value == 12 / 1e6);
  CHECK(bucket_bytes(second) == std::vector<std::int64_t>{400});
  CHECK(detect_format(graph).format == ImportFormat::chakra);
  CHECK(detect_format(messages).format == ImportFormat::chakra);
  CHECK(failure("{}") == "no workload_graph: not an execution trace of Chakra");
  CHECK(failure(R"({"workload_graph": [{"Id": -1}]})") ==
        "/workload_graph/0/Id: must be the number of a node");
  CHECK(failure(R"({"workload_graph": [{"Id": 1, "NodeType": 7, "comm_type": 12}]})") ==
        "/workload_graph/0/comm_type: comm_type: unknown, 12");
}

TEST_CASE("chakra: a trace without durations has no times and says what to give") {
  using namespace wire;
  const layers::Trace trace =
      imported(metadata() + compute(1, "c", 0) + collective(2, "r", 0, 400)).trace;
  CHECK_FALSE(trace.layers[0].forward.has_value());
  CHECK_FALSE(trace.layers[0].backward.has_value());
  CHECK(warns(trace, "no times: 1 compute node without a duration"));
}

TEST_CASE("chakra: what is no trace, or damaged, names the message") {
  using namespace wire;
  const std::string good = two_layers();
  CHECK(failure("") == "empty");
  CHECK(failure(metadata()) == "no nodes: not an execution trace of Chakra");
  CHECK(failure(good.substr(0, good.size() - 1)).find("bytes long, but the file ends after") !=
        std::string::npos);
  CHECK(failure(metadata() + compute(1, "c", 5) + framed(std::string("\x0b"))) ==
        "message 3 at byte 18: not a message of protocol buffers");
  CHECK(failure(metadata() + varint(std::uint64_t{1} << 40)) ==
        "message 2 at byte 8: longer than 67108864 bytes");
  CHECK(failure(std::string(11, '\xff')) ==
        "message 1 at byte 0: not a message of protocol buffers");
  CHECK(failure(metadata() + compute(1, "c", 5) + compute(1, "d", 5)) == "node 1 appears twice");
  CHECK(failure(metadata() + compute(1, "c", std::uint64_t{1} << 60))
            .find("duration: must be an integer from 0 to 2^53, got") != std::string::npos);
  CHECK(failure(metadata() + collective(1, "r", 0, std::uint64_t{1} << 60))
            .find("comm_size: must be an integer from 0 to 2^53, got") != std::string::npos);
  CHECK(failure(metadata() + collective(1, "r", 10, 4)).ends_with("comm_type: unknown, 10"));
  CHECK(failure(metadata() + compute(1, "c", 5)) ==
        "1 compute node and no collective: nothing is exchanged; import the trace of a job with "
        "several ranks");
  CHECK(failure(metadata() + compute(1, "c", 5) +
                framed(Node{.id = 2, .name = "send", .type = 5, .duration = 3})) ==
        "1 compute node and no collective (1 sends and receives): only collectives are read");
  CHECK(failure(metadata() + compute(1, "c", 5) + collective(2, "g", 2, 64)) ==
        "1 allgather of 64 bytes and no all-reduce of gradients: import the trace of a "
        "data-parallel job");
}

TEST_CASE("chakra: any cut and any changed byte gives a trace or one error") {
  const std::string good = two_layers();
  const TemporaryFolder folder;
  int errors = 0;
  const auto survives = [&](const std::string& content) {
    try {
      const ChakraImport result = import_chakra(folder.put("t.et", content), {});
      (void)parse_trace(to_json(result.trace));
    } catch (const InputError&) {
      ++errors;
    }
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    survives(good.substr(0, i));
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128}) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ change);
      survives(changed);
    }
  }
  CHECK(errors > 0);
}

TEST_CASE("chakra: collectives as samples") {
  const TemporaryFolder folder;
  const std::string path = folder.put("t.et", two_layers());
  const Samples samples = chakra_samples(path, {}, 8);
  REQUIRE(samples.sets.size() == 1);
  CHECK(samples.sets[0].op == "allreduce");
  CHECK(samples.sets[0].ranks == 8);
  REQUIRE(samples.sets[0].samples.size() == 2);
  CHECK(samples.sets[0].samples[1].bytes == 8000);
  CHECK(samples.sets[0].samples[1].time_s == 9 / 1e6);
  CHECK_THROWS_AS((void)chakra_samples(path, {}, std::nullopt), InputError);
}

TEST_CASE("chakra: a sample of an all-gather has the bytes of all ranks") {
  const TemporaryFolder folder;
  const auto bytes = [&](std::uint64_t op) {
    const std::string content = wire::metadata() + wire::collective(1, "c", op, 4000, 7);
    return chakra_samples(folder.put("t.et", content), {}, 8).sets.front().samples.front().bytes;
  };
  CHECK(bytes(2) == 32000); // all-gather
  CHECK(bytes(6) == 4000);  // all-to-all
  CHECK(bytes(7) == 4000);  // reduce-scatter
}

TEST_CASE("chakra: found by its first bytes") {
  CHECK(looks_like_chakra(two_layers()));
  CHECK_FALSE(looks_like_chakra(""));
  CHECK_FALSE(looks_like_chakra(std::string(4096, '\0')));
  CHECK_FALSE(looks_like_chakra("name,params,fwd_us,bwd_us\nconv,1,2,3\n"));
  CHECK(detect_format(two_layers()).format == ImportFormat::chakra);
}
