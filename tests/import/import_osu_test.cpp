// OSU logs and format detection (IO 1, 7, 19; MER 9, 12).
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_detect.hpp"
#include "import/import_osu.hpp"
#include "import/import_samples.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

OsuLog import_text(const std::string& text, const OsuOptions& options = {}) {
  const TemporaryFolder folder;
  return import_osu(folder.put("t.log", text), options);
}

std::string failure(const std::string& text, const OsuOptions& options = {}) {
  try {
    (void)cost_of(import_text(text, options));
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find("t.log") + 5);
  }
  return "no error";
}

OsuOptions with(std::optional<std::string> op, std::optional<std::int64_t> ranks) {
  OsuOptions options;
  options.op = std::move(op);
  options.ranks = ranks;
  return options;
}

const std::string kFull = "# OSU MPI Allreduce Latency Test v7.5\n"
                          "# Datatype: MPI_FLOAT.\n"
                          "# Size  Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n"
                          "4096 12.5 12 13 1000\n"
                          "[node1] a log line\n"
                          "16777216 8630.58 8619.50 8642.46 10\n";

} // namespace

TEST_CASE("osu: title, ranks by flag, average or minimum; log lines between rows are skipped") {
  const OsuLog log = import_text(kFull, with({}, 4));
  CHECK(log.op == "allreduce");
  CHECK(log.ranks == 4);
  REQUIRE(log.points.size() == 2);
  CHECK(log.points[1].bytes.value == 16777216);
  CHECK(log.points[1].time.value == 8630.58e-6);
  OsuOptions minimum = with({}, 4);
  minimum.value = OsuValue::min;
  CHECK(import_text(kFull, minimum).points[1].time.value == 8619.50e-6);
  minimum.value = OsuValue::max;
  CHECK(import_text(kFull, minimum).points[1].time.value == 8642.46e-6);
  CHECK(failure(kFull) == ": the file does not say how many ranks: give --ranks");
}

TEST_CASE("osu: operations by title") {
  const auto op = [](const std::string& title) {
    return import_text("# OSU MPI" + title + " v7\n# Size Overall(us) Pure Comm.(us)\n4 1.5 1\n",
                       with({}, 2))
        .op;
  };
  CHECK(op("-CUDA Allreduce Latency Test") == "allreduce");
  CHECK(op(" Broadcast Latency Test") == "broadcast");
  CHECK(op(" Reduce Latency Test") == "reduce");
  CHECK(op(" Allgather Latency Test") == "allgather");
  CHECK(op(" Reduce_scatter Latency Test") == "reduce_scatter");
  CHECK(op("-CUDA Alltoall Latency Test") == "alltoall");
  CHECK(op(" All-to-All Personalized Exchange Latency Test") == "alltoall");
  CHECK(op(" Non-blocking All-to-All Latency Test") == "alltoall");
  CHECK(op(" Latency Test") == "pingpong");
  const auto failed = [](const std::string& title) {
    return failure("# OSU " + title + " v5.8\n# Size Latency (us)\n4 1.5\n8 2\n", with({}, 2));
  };
  CHECK(failed("MPI_Put Latency Test") == ": MPI_Put is one-sided: use osu_latency");
  CHECK(failed("MPI_Get latency Test") == ": MPI_Get is one-sided: use osu_latency");
  CHECK(failed("MPI Barrier Latency Test") == ": a barrier has no sizes");
  CHECK(failed("MPI Gather Latency Test") == ": the file does not say which operation: give --op");
  const std::string pairs = "# OSU MPI-CUDA Latency Test v7\n4 1.5\n";
  CHECK(import_text(pairs).ranks == 2);
  CHECK(import_text(pairs, with({}, 4)).ranks == 2);
  CHECK(import_text(pairs, with({}, 4)).warnings ==
        std::vector<std::string>{"pingpong: 2 ranks, not 4"});
}

TEST_CASE("osu: rows are numbers; those that failed validation are left out") {
  const std::string title =
      "# OSU MPI Allreduce Latency Test v7.5\n# Size  Avg Latency(us)  Validation\n";
  const OsuLog log =
      import_text(title + "1 12.46 Pass\n[1,0]<stdout>:2 1 Fail\n12 34 jobs\n", with({}, 4));
  REQUIRE(log.points.size() == 1);
  CHECK(log.points[0].time.value == 12.46e-6);
  CHECK(log.warnings ==
        std::vector<std::string>{"allreduce: 1 row that failed validation left out"});
  CHECK(failure(title + "2 12.50 Fail\n", with({}, 4)) == ": all 1 rows failed validation");
  CHECK(failure("4 1.5\n8 2 float sum\n", with("allreduce", 4)) ==
        ":2: expected size and microseconds");
}

TEST_CASE("osu: what stands before the title is output of the job; NCCL has titles of its own") {
  const std::string rows = "# Size  Avg Latency(us)\n4 1.5\n8 2.5\n";
  const std::string job = "[inst:227754] SET UCX_NET_DEVICES=mlx5_2:1\n16 ranks\n\n";
  CHECK(import_text(job + "# OSU MPI Allreduce Latency Test v7.5\n" + rows, with({}, 4))
            .points.size() == 2);
  const OsuLog log = import_text("#Using NCCL\n# OSU NCCL-CUDA All-to-All Personalized Exchange "
                                 "Latency Test v7.5\n" +
                                     rows,
                                 with({}, 4));
  CHECK(log.op == "alltoall");
  CHECK(samples_of(log).sets.at(0).algorithm == "nccl");
}

TEST_CASE("osu: of several tests in one log --op takes one") {
  const std::string rows = "# Size  Avg Latency(us)\n4 1.5\n8 2.5\n";
  const std::string two = "# OSU MPI Allreduce Latency Test v5.7\n" + rows +
                          "openmpi osu_bcast\n# OSU MPI Bandwidth Test v5.7\n4 90\n"
                          "    # OSU MPI Broadcast Latency Test v5.7\n" +
                          rows + "16 4\n";
  CHECK(failure(two, with({}, 4)) ==
        ": several tests (MPI Allreduce, MPI Broadcast): give --op, or a file with one of them");
  CHECK(import_text(two, with("allreduce", 4)).points.size() == 2);
  CHECK(import_text(two, with("broadcast", 4)).points.size() == 3);
  CHECK(failure(two, with("reduce", 4)) == ": no table of reduce (MPI Allreduce, MPI Broadcast)");
  CHECK(failure(two + "# OSU NCCL-CUDA Allreduce Latency Test v7\n" + rows, with("allreduce", 4)) ==
        ": several tests (MPI Allreduce, NCCL-CUDA Allreduce): give --op, or a file with one of "
        "them");
}

TEST_CASE("osu: the time of a non-blocking test is that of its communication alone") {
  const std::string title = "# OSU MPI-CUDA Non-blocking Allreduce Latency Test v5.9\n";
  const std::string log = title + "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
                                  "# Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)\n"
                                  "64 227.77 121.10 116.74 8.63\n";
  const OsuLog twice = import_text(log + log, with({}, 4)); // a title per size is usual
  REQUIRE(twice.points.size() == 2);
  CHECK(twice.points[1].time.value == 116.74e-6);
  CHECK(failure(title + "64 227.77 121.10 116.74 8.63\n", with({}, 4)) ==
        ":2: no column Pure Comm.(us), the time of a non-blocking operation");
}

TEST_CASE("osu: bare two columns, ranks in the size field") {
  const OsuLog log = import_text("8,4 82.28\n\n# comment\n8,8 68.72\n", with("allreduce", {}));
  CHECK(log.ranks == 8);
  const CostPoints cost = cost_of(log);
  REQUIRE(cost.source.find("format") != nullptr);
  CHECK(cost.source.find("format")->as_string() == "osu");
  const Json written = to_json(cost);
  CHECK(compact(to_json(parse_cost(written))) == compact(written));
  REQUIRE(cost.table.size() == 2);
  CHECK(cost.table[0] == std::pair{4.0, 82.28e-6});
  CHECK(cost.table[1] == std::pair{8.0, 68.72e-6});
  CHECK(cost.op == "allreduce");
  CHECK(cost.name == "t");
  // Sorted, without the empty message.
  CHECK(cost_of(import_text("0 1\n16 3\n8 2\n", with("reduce", 2))).table[0].first == 8.0);
}

TEST_CASE("osu: what bad logs get") {
  const OsuOptions options = with("allreduce", 2);
  CHECK(failure("4 1\n8 2\n4 3\n", options) == ":3: size 4 appears twice");
  CHECK(failure("4 1\n", options) == ": needs at least 2 points");
  CHECK(failure("4 1\nhello\n", options) == ":2: expected size and microseconds");
  CHECK(failure("4\n", options) == ":1: expected size and microseconds");
  CHECK(failure("4 x\n", options) == ":1: expected size and microseconds");
  CHECK(failure("# OSU MPI Allreduce Latency Test v7.5\n4 1\n100000000000000000000 3\n", options) ==
        ":3: size must be a whole number of at most 2^53 bytes, got 100000000000000000000");
  CHECK(failure("4 0\n", options) == ":1: time must be in (0, 1e+09] s, got 0");
  CHECK(failure("# nothing\n", options) == ": no result rows found");
  CHECK(failure("4 1\n8 1\n", with({}, 2)) == ": the file does not say which operation: give --op");
  CHECK(failure("8,4 1\n4,8 1\n", with("reduce", {})) == ":2: 4 ranks, expected 8");
  CHECK(failure("# OSU MPI-CUDA Bandwidth Test v7\n4 1\n") ==
        ": osu_bw reports bandwidth, not times; use osu_latency");
  OsuOptions minimum = options;
  minimum.value = OsuValue::min;
  CHECK(failure("4 1\n", minimum) == ":1: no minimum and maximum columns: --value avg");
}

TEST_CASE("osu: 266 sizes of allreduce8.log") {
  const std::string file = sample("b-caffe/allreduce8.log");
  if (absent(file)) {
    return;
  }
  const CostPoints cost = cost_of(import_osu(file, {}));
  CHECK(cost.op == "allreduce");
  CHECK(cost.ranks == 8);
  REQUIRE(cost.table.size() == 266);
  CHECK(cost.table.front() == std::pair{4.0, 82.28e-6});
  CHECK(cost.table.back().first == 1048576.0);
}

TEST_CASE("osu: samples for a fit are the rows of the log, empty messages too") {
  const TemporaryFolder folder;
  const Samples samples = samples_of(import_osu(
      folder.put("t.log", "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n0 1.5\n8 2.5\n"),
      {}));
  CHECK(samples.source.format == "osu");
  REQUIRE(samples.sets.size() == 1);
  const SampleSet& set = samples.sets.front();
  CHECK(set.op == "pingpong");
  CHECK(set.algorithm == "mpi");
  CHECK(set.ranks == 2);
  REQUIRE(set.samples.size() == 2);
  CHECK(set.samples[0].bytes == 0);
  CHECK(set.samples[1].time_s == 2.5e-6);
  const std::string csv = to_csv(samples);
  CHECK(csv == "op,algorithm,ranks,bytes,time_s,pass,column\n"
               "pingpong,mpi,2,0,1.5e-06,,\npingpong,mpi,2,8,2.5e-06,,\n");
  CHECK(to_csv(parse_samples_csv(csv, "t.csv")) == csv);
}

TEST_CASE("osu: sizes of one part become those of the whole buffer") {
  const auto bytes = [](const std::string& op) {
    const OsuLog log = import_text("4 1\n8 2\n", with(op, 16));
    const double sample = samples_of(log).sets.front().samples.back().bytes;
    CHECK(cost_of(log).table.back().first == sample);
    return sample;
  };
  for (const char* of_one_part : {"allgather", "allgatherv", "alltoall"}) {
    CHECK(bytes(of_one_part) == 128);
  }
  for (const char* whole : {"allreduce", "reduce", "broadcast", "reduce_scatter", "pingpong"}) {
    CHECK(bytes(whole) == 8);
  }
  CHECK(failure("4 1\n9007199254740992 2\n", with("allgather", 2)) ==
        ":2: more than 2^53 bytes on all ranks");
}

TEST_CASE("import auto: the format from the first bytes") {
  const auto format = [](std::string_view head) { return detect_format(head).format; };
  CHECK(format("{\"schemaVersion\": 1, \"traceEvents\": [") == ImportFormat::kineto);
  CHECK(format("[{\"ph\": \"X\"}]") == ImportFormat::kineto);
  CHECK(format(R"({"traceEvents": [{"args": {"nodes": 1, "schema": 2}}]})") ==
        ImportFormat::kineto);
  CHECK(format("{\"results\": [{\"out_of_place\": {}}]}") == ImportFormat::nccl_tests);
  CHECK(format("# nThread 1 nGpus 8\n") == ImportFormat::nccl_tests);
  // What people paste of such a log.
  const std::string row = "8 2 float sum -1 10 1 1 0 20 1 1 0\n";
  CHECK(format("#  Rank 71 Group  0 Pid 9 on n device  3 [0x01] H100\n# size count type redop root "
               "time algbw busbw #wrong\n") == ImportFormat::nccl_tests);
  CHECK(format(row) == ImportFormat::nccl_tests);
  CHECK(format("[1,0]<stdout>:NCCL_NET_OPTS={\"a\":1}\n[1,0]<stdout>:# nThread 1\n") ==
        ImportFormat::nccl_tests);
  CHECK(format("[0] MPI startup(): 0  30264  node-0  {0,4}\n\n" + kFull) == ImportFormat::osu);
  CHECK(format("\n[\n {\"ph\": \"X\"}]") == ImportFormat::kineto);
  CHECK(format(kFull) == ImportFormat::osu);
  CHECK(format("8,4 82.28\n") == ImportFormat::osu);
  CHECK(format("I0219 x] [0, 64, 1.5, 2]\n") == ImportFormat::caffe_log);
  CHECK(format("\xef\xbb\xbf# c\nname,params,fwd_us,bwd_us\n") == ImportFormat::layer_table);
  CHECK(format("<?xml version=\"1.0\"?>\n<system version=\"1\">") == ImportFormat::nccl_topology);
  CHECK_FALSE(format("hello\n").has_value());
  CHECK_FALSE(format("").has_value());
  CHECK(detect_format(std::string_view("SQLite format 3\0", 16)).advice.find("Nsight") == 0);
  CHECK(detect_format("\tGPU0\tGPU1\tCPU Affinity\n").advice.find("nvidia-smi") == 0);
  CHECK(detect_format("        GPU0    NIC0    CPU Affinity\n").advice.find("nvidia-smi") == 0);
  CHECK(format("{\"schema\": \"1.1.0-chakra.0.0.4\", \"nodes\": [") == ImportFormat::pytorch_et);
  const auto advice = [](std::string_view head) { return detect_format(head).advice; };
  CHECK(format("DATA\n2\n") == ImportFormat::astra_text);
  using namespace std::string_view_literals;
  CHECK(advice("\x18\0\0\0\0\0\0\0abcd\t12345678\x1a\x0d"
               "brain.Event:2"sv)
            .starts_with("TensorBoard"));
  CHECK(advice("\x08\x08\x12\x07pytorch\0"sv).starts_with("ONNX"));
  CHECK(advice("\x80\x02}q\0X\x0e\0\0\0profiling_name"sv).find("flight recorder") !=
        std::string::npos);
  CHECK(advice(R"({"entries": [{"profiling_name": "nccl:all_reduce"}]})").find("flight recorder") !=
        std::string::npos);
  CHECK(advice("\x0a\x05\0"sv).starts_with("binary files"));
}

TEST_CASE("import auto: every sample file") {
  const auto check = [](const char* file, ImportFormat format) {
    if (!absent(sample(file))) {
      CAPTURE(file);
      CHECK(detect_file(sample(file)) == format);
    }
  };
  check("kineto/resnet50_ddp_2xA100_nccl_meta.json.gz", ImportFormat::kineto);
  check("kineto/resnet50_1gpu_5steps_ns.json.gz", ImportFormat::kineto);
  check("kineto/resnet_30iter_old.json.gz", ImportFormat::kineto);
  check("kineto/alexnet_a100.json.gz", ImportFormat::kineto);
  check("kineto/dlrm_rank0of16_inputdims.json.gz", ImportFormat::kineto);
  check("kineto/hta_backward_thread.json", ImportFormat::kineto);
  check("kineto/mi250_minitoy_rocm.json.gz", ImportFormat::kineto);
  check("b-caffe/tmp8comm.log", ImportFormat::caffe_log);
  check("b-caffe/tmpcomm.log", ImportFormat::caffe_log);
  check("b-caffe/allreduce8.log", ImportFormat::osu);
  check("nccl-tests/nccl_N1_G8.log", ImportFormat::nccl_tests);
  check("nccl-tests/nccl_N10_G8.log", ImportFormat::nccl_tests);
  check("topo/azure_ndv4-topo.xml", ImportFormat::nccl_topology);
  check("chakra/pytorch_et_resnet50_2gpu_rank1.json.gz", ImportFormat::pytorch_et);
  check("chakra/chakra_et_protobuf.tgz", ImportFormat::chakra);
  check("chakra/pytorch_et_1.0.2.tgz", ImportFormat::pytorch_et);
  check("astra/all_gather_4npus.0.et", ImportFormat::chakra);
  check("astra/simai_microAllReduce.txt", ImportFormat::astra_text);
  CHECK_THROWS_AS((void)detect_file("-"), UsageError);
}
