// Workloads of ASTRA-sim and SimAI as text (IO 9, 17, A1; INP 2.5).
#include "import/import_layer_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_detect.hpp"
#include "import/import_samples.hpp"
#include "scenario/files/trace_file.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

layers::Trace imported(const std::string& text, bool drop = false, double tick = 1e-9) {
  const TemporaryFolder folder;
  return import_astra_text(folder.put("work.txt", text), {.common = {},
                                                          .tick = Seconds{tick},
                                                          .tick_given = tick != 1e-9,
                                                          .drop_other_communication = drop});
}

std::string failure(const std::string& text) {
  try {
    (void)imported(text);
  } catch (const InputError& error) {
    const std::string line = error.what();
    return line.substr(line.find("work.txt"));
  }
  return "no error";
}

// A line of a layer: forward, input gradient and weight gradient with type and bytes, update.
std::string layer(const std::string& name, const std::string& passes) {
  return name + "\t-1\t" + passes + "\n";
}

// Lines of a public workload of SimAI (9,216 GPUs): what a sharded optimizer sends, computing
// without communication, tensor and expert parallelism.
const std::string kSharded =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16 pp: 12 all_gpus: "
    "9216\n6\n" +
    layer("grad_gather", "1 NONE 0 1 NONE 0 1 ALLGATHER 2807758848 100") +
    layer("grad_param_comm", "1 NONE 0 1 NONE 0 1 REDUCESCATTER 5615517696 100") +
    layer("grad_param_compute", "1 NONE 0 29700224 NONE 0 1 NONE 0 100") +
    layer("embedding_grads", "1 NONE 0 1 ALLREDUCE 50331648 1 NONE 0 100") +
    layer("moe_grad_norm1", "1 NONE 0 1 NONE 0 1 ALLGATHER_DP_EP 19327352832 100") +
    layer("mlp_moelayer", "1 ALLTOALL_EP 100663296 1 ALLTOALL_EP 100663296 1 NONE 0 100");

} // namespace

TEST_CASE("astra-text: a data-parallel workload") {
  const layers::Trace trace = imported(
      "DATA\n2\n" + layer("conv1", "13003 NONE 0 12864 NONE 0 32291 ALLREDUCE 37632 3229") +
      "fc1000 -1 16416 NONE 0 27708 NONE 0 9220 ALLREDUCE 8192000 922");
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].name == "conv1");
  CHECK(trace.layers[0].forward->value == 13003 / 1e9);
  CHECK(trace.layers[0].backward->value == (12864 + 32291) / 1e9);
  CHECK(trace.layers[0].gradient_bytes->value == 37632);
  CHECK(trace.layers[1].gradient_bytes->value == 8192000);
  CHECK(trace.update.value == (3229 + 922) / 1e9);
  REQUIRE(trace.warnings.size() == 1);
  CHECK(trace.warnings[0].find("1 ns assumed") != std::string::npos);
  CHECK(parse_trace(to_json(trace)).layers.size() == 2);
  // Ticks of another length.
  const layers::Trace slow =
      imported("MICRO\n1\nx -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 64 5", false, 1e-6);
  CHECK(slow.layers[0].forward->value == 5e-6);
  CHECK(slow.warnings.empty());
}

TEST_CASE("astra-text: A1, the micro benchmark of SimAI") {
  const std::string path = sample("astra/simai_microAllReduce.txt");
  if (absent(path)) {
    return;
  }
  CHECK(detect_file(path) == ImportFormat::astra_text);
  CHECK_THROWS_WITH_AS(
      (void)import_astra_text(path, {}),
      (path + ": layers 1 embedding_layer (forward ALLREDUCE), 2 embedding_layer (forward "
              "ALLREDUCE) have communication that is not data-parallel; see "
              "--drop-other-communication")
          .c_str(),
      InputError);
  const layers::Trace trace =
      import_astra_text(path, {.common = {}, .drop_other_communication = true});
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].forward->value == 5.56e-4);
  CHECK(trace.layers[0].backward->value == 2e-9);
  CHECK(trace.layers[1].name == "embedding_layer_2");
  CHECK(trace.layers[1].gradient_bytes->value == 0);
  CHECK(trace.source->options.front() ==
        std::pair<std::string, std::string>("parallelism", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"));
  CHECK(trace.source->options.back().second.starts_with("model_parallel_NPU_group: 8 ep: 1"));
}

TEST_CASE("astra-text: only communication that is data-parallel stays") {
  CHECK(
      failure(kSharded) ==
      "work.txt: layers 4 embedding_grads (input gradient ALLREDUCE), 5 moe_grad_norm1 (weight "
      "gradient ALLGATHER_DP_EP), 6 mlp_moelayer (forward ALLTOALL_EP) have communication that is "
      "not data-parallel; see --drop-other-communication");
  const layers::Trace trace = imported(kSharded, true);
  REQUIRE(trace.layers.size() == 6);
  for (const layers::Layer& each : trace.layers) {
    CHECK(each.gradient_bytes->value == (each.name == "grad_param_comm" ? 5615517696 : 0));
  }
  CHECK(trace.layers[2].backward->value == 29700225 / 1e9);
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.collectives[0].op == "allgather");
  CHECK(trace.collectives[0].bytes.value == 2807758848);
  // A layer that is split over ranks keeps what it reduces over the replicas.
  const std::string hybrid = "HYBRID_DATA_MODEL\n1\n" +
                             layer("mlp", "1 ALLGATHER 64 1 REDUCESCATTER 64 1 ALLREDUCE 128 1");
  CHECK(failure(hybrid) ==
        "work.txt: layer 1 mlp (forward ALLGATHER) has communication that is not "
        "data-parallel; see --drop-other-communication");
  CHECK(imported(hybrid, true).layers[0].gradient_bytes->value == 128);
  // Nothing of model parallelism is data-parallel; 0 bytes are no communication.
  CHECK(failure("MODEL\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1")
            .find("weight gradient ALLREDUCE") != std::string::npos);
  CHECK(imported("DATA\n1\na -1 1 ALLGATHER 0 1 NONE 0 1 ALLREDUCE 8 1").layers.size() == 1);
  // More layers than a message names.
  std::string many = "HYBRID_DLRM 2\n5\n";
  for (int i = 0; i < 5; ++i) {
    many += layer("e", "1 ALLTOALL 8 1 NONE 0 1 NONE 0 1");
  }
  CHECK(failure(many).find("3 e (forward ALLTOALL) and 2 more have") != std::string::npos);
}

TEST_CASE("astra-text: the parallelism of each layer is a field more") {
  const std::string text = "HYBRID_CUSTOMIZED\t\t\n2\t\t\n" +
                           layer("a", "1 NONE \t 0 1 NONE 0 1 ALLREDUCE 8 1 DATA ") +
                           layer("a", "1 NONE 0 1 NONE 0 1 NONE 0 1 MODEL") + "\n";
  const layers::Trace trace = imported(text);
  CHECK(trace.layers[1].name == "a_2");
  CHECK(failure("HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n") ==
        "work.txt:3: expected 13 fields, got 12");
}

TEST_CASE("astra-text: what is wrong, with its line") {
  const std::string good = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n";
  CHECK(failure("") == "work.txt: empty");
  CHECK(failure("DATA\n") ==
        "work.txt: ends before the number of layers: not a workload of ASTRA-sim");
  CHECK(failure("DATTA\n1\n" + good) ==
        "work.txt:1: unknown parallelism \"DATTA\"; did you mean \"DATA\"?");
  CHECK(failure("DATA\nx\n" + good) ==
        "work.txt:2: the number of layers must be an integer from 1 to 1000000, got x");
  CHECK(failure("DATA\n2\n" + good + good + good) == "work.txt:2: line 2 says 2 layers, found 3");
  CHECK(failure("DATA\n2\n" + good) == "work.txt:2: line 2 says 2 layers, found 1");
  CHECK(failure("DATA\n1\n\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8\n") ==
        "work.txt:4: expected 12 fields, got 11");
  CHECK(failure("DATA\n1\na -1 -5 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n") ==
        "work.txt:3: forward time: must be a number of ticks from 0 to 1e18, got -5");
  CHECK(failure("DATA\n1\na -1 5 0 NONE 1 NONE 0 1 ALLREDUCE 8 1\n") ==
        "work.txt:3: forward communication: must be a word such as ALLREDUCE or NONE, got 0");
  CHECK(failure("DATA\n1\na -1 5 NONE 0 1 NONE 0 1 ALLREDUCE 1e9 1\n") ==
        "work.txt:3: weight gradient communication: must be a number of bytes from 0 to "
        "9007199254740992, got 1e9");
}
