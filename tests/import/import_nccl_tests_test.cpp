// Logs of nccl-tests, text and JSON (IO 6, 17), and samples as files.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_samples.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

Samples import_text(const std::string& text, const NcclTestsOptions& options = {}) {
  const TemporaryFolder folder;
  return import_nccl_tests(folder.put("n.log", text), options);
}

std::string failure(const std::string& text, const NcclTestsOptions& options = {}) {
  try {
    (void)import_text(text, options);
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find("n.log") + 5);
  }
  return "no error";
}

NcclTestsOptions with(std::optional<std::string> op, std::optional<std::int64_t> ranks,
                      NcclColumn column = NcclColumn::out_of_place) {
  NcclTestsOptions options;
  options.op = std::move(op);
  options.ranks = ranks;
  options.column = column;
  return options;
}

const std::string kRanks =
    "#  Rank  0 Group  0 Pid 11 on n1 device  0 [0000:1b:00] NVIDIA A100-SXM4-40GB\n"
    "#  Rank  1 Group  0 Pid 12 on n1 device  1 [0000:43:00] NVIDIA A100-SXM4-40GB\n"
    "#  Rank  2 Group  0 Pid 13 on n2 device  0 [0000:1b:00] NVIDIA A100-SXM4-40GB\n"
    "#  Rank  3 Group  0 Pid 14 on n2 device  1 [0000:43:00] NVIDIA A100-SXM4-40GB\n";
const std::string kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time   algbw   busbw  #wrong\n";
const std::string kBegin = "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1\n";

} // namespace

TEST_CASE("nccl-tests: operation, ranks, device, both halves; no host name is kept") {
  // busbw = n / t 2 3/4: 1000 / 10 us = 0.1 GB/s -> 0.15; 2000 / 16 us = 0.125 -> 0.1875
  const std::string log = kBegin + kRanks + kHeader +
                          "[n1:11] NCCL INFO Channel 00 : 0 1 2 3\n"
                          "  1000  250  float  sum  -1  10.00  0.1  0.15  0  20.00  0.05  0.08  0\n"
                          "  2000  500  float  sum  -1  16.00  0.1  0.19  0  32.00  0.06  0.09  0\n"
                          "# Avg bus bandwidth    : 0.126563\n";
  const Samples samples = import_text(log);
  CHECK(samples.warnings.empty()); // mean of 0.15, 0.075, 0.1875, 0.09375
  REQUIRE(samples.sets.size() == 1);
  const SampleSet& set = samples.sets[0];
  CHECK(set.op == "allreduce");
  CHECK(set.algorithm == "nccl");
  CHECK(set.ranks == 4);
  CHECK(set.gpus_per_node == 4 / 2);
  CHECK(set.device == "NVIDIA A100-SXM4-40GB");
  CHECK(set.dtype == "float");
  CHECK(set.column == "out-of-place");
  REQUIRE(set.samples.size() == 2);
  CHECK(set.samples[1].bytes == 2000);
  CHECK(set.samples[1].time_s == 16e-6);
  CHECK(import_text(log, with({}, {}, NcclColumn::in_place)).sets[0].samples[1].time_s == 32e-6);
  const std::string text = compact(to_json(samples));
  CHECK(text.find("n1") == std::string::npos);
  CHECK(text.find("sha256") != std::string::npos);

  std::string wrong = log;
  wrong.replace(wrong.find("0.126563"), 8, "0.127000"); // 0.35 % off
  CHECK(import_text(wrong).warnings ==
        std::vector<std::string>{"allreduce: average bus bandwidth 0.1266 GB/s from sizes and "
                                 "times, the log says 0.1270"});
}

TEST_CASE("nccl-tests: tags, time stamps, columns without root or redop, a lone half") {
  const auto times = [](const std::string& text) { // in us
    std::string all;
    const Samples samples = import_text(text, with("allgather", 8));
    for (const Sample& sample : samples.sets.at(0).samples) {
      all += base::shortest(sample.time_s * 1e6) + ' ';
    }
    return all;
  };
  const std::string begin = "# nThread 1 nGpus 8\n";
  CHECK(times(begin + "[1,0]<stdout>:  8 2 float none -1 10 1 1 0 20 1 1 0\n") ==
        "10 "); // 13 words
  CHECK(times(begin + "2026-01-31 12:00:00 8 2 float none 10 1 1 0 20 1 1 0\n") == "10 "); // 12
  CHECK(times(begin + "8 2 float 10 1 1 0 20 1 1 N/A 2026-01-31 12:00:00\n") == "10 ");    // 11
  CHECK(times(begin + "8 2 float none -1 20 1 1 0\n") == "20 "); // 9: in-place
  CHECK(import_text(begin + "8 2 float none -1 20 1 1 0\n", with("allgather", 8)).sets[0].column ==
        "in-place");
  // Per-iteration columns: time algbw busbw #wrong, then min, max, p99, variation
  CHECK(times(begin +
              "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv time "
              "algbw busbw #wrong i_min i_max i_p99 i_cv\n"
              "8 2 float none -1 10 1 1 0 9 11 11 2 20 1 1 0 19 21 21 2\n") == "10 ");
  CHECK(failure(begin + kHeader + "8 2 float none -1 10 1 1 0 20 1\n", with("allgather", 8)) ==
        ":3: 11 columns do not fit the header");
  // Before `#wrong` the column was the largest deviation, and redop was blank without one.
  const std::string deviations = begin +
                                 "# size count type redop time algbw busbw error time algbw "
                                 "busbw error\n";
  CHECK(times(deviations +
              "8 2 float none 10 1 1 4e-07 20 1 1 2\n16 4 float 11 1 1 3 20 1 1 N/A\n") ==
        "10 11 ");
  CHECK(failure(deviations + "8 2 float 10 1 1 0 20 1\n", with("allgather", 8)) ==
        ":3: 9 columns do not fit the header");
}

TEST_CASE("nccl-tests: several tables; wrong rows are left out, rounded times are said") {
  const std::string log =
      kBegin + kRanks + kHeader + "8 2 float sum -1 10 1 1 0 20 1 1 0\n" +
      "16 4 float sum -1 11 1 1 2 20 1 1 0\n" +
      "24 6 float sum -1 11 1 1 1 20 1 1 0\n32 8 float sum -1 1.2e+07 1 1 0 20 1 1 0\n" +
      "# Collective test starting: sendrecv_perf\n# nThread 1 nGpus 1\n" + kRanks + kHeader +
      "8 2 float sum -1 30 1 1 0 20 1 1 N/A\n" +
      "# Collective test starting: hypercube_perf\n# nThread 1 nGpus 1\n" + kRanks + kHeader +
      "8 2 float sum -1 40 1 1 0 20 1 1 0\n";
  const Samples samples = import_text(log);
  REQUIRE(samples.sets.size() == 2);
  CHECK(samples.sets[0].samples.size() == 2);
  CHECK(samples.sets[0].samples[1].time_s == 12);
  CHECK(samples.sets[1].op == "sendrecv");
  CHECK(samples.sets[1].ranks == 4);
  CHECK(samples.warnings ==
        std::vector<std::string>{"allreduce: 2 rows with wrong results left out",
                                 "allreduce: 1 row with times of two digits only",
                                 "hypercube_perf: no operation of ours, left out"});
  CHECK(import_text(log, with("sendrecv", {})).sets.size() == 1);
  CHECK(failure(log, with("broadcast", {})) ==
        ": no table of broadcast (all_reduce_perf, sendrecv_perf, hypercube_perf)");
}

TEST_CASE("nccl-tests: ranks are those of one operation, by their numbers and groups") {
  const auto line = [](int rank, int group, int node) {
    return fmt::format("#  Rank {} Group {} Pid 1 on n{} device 0 [0x0f] H100\n", rank, group,
                       node);
  };
  const std::string row = "8 2 float sum -1 10 1 1 0 20 1 1 0\n";
  const auto ranks = [&](const std::string& list, std::optional<std::int64_t> given = {}) {
    const Samples samples = import_text(kBegin + list + row, with({}, given));
    const SampleSet& set = samples.sets.at(0);
    return fmt::format("{} {}", set.ranks, set.gpus_per_node.value_or(0)) +
           (samples.warnings.empty() ? "" : " " + samples.warnings.front());
  };
  const std::string list = line(0, 0, 1) + line(1, 0, 1) + line(2, 0, 2) + line(3, 0, 2);
  CHECK(ranks(list) == "4 2");
  // NCCL_TESTS_SPLIT_MASK: two nodes of two ranks, an operation for each pair of GPUs.
  CHECK(ranks(line(0, 0, 1) + line(1, 1, 1) + line(2, 0, 2) + line(3, 1, 2)) ==
        "2 1 allreduce: 2 operations of 2 ranks at once (NCCL_TESTS_SPLIT): a time is that of one "
        "beside the others");
  CHECK(failure(kBegin + line(0, 0, 1) + line(1, 1, 1) + line(2, 0, 2) + row) ==
        ": groups of 1 to 2 ranks: which of them the times are of is not in the log");
  // Two programs built without MPI, each of two ranks.
  CHECK(failure(kBegin + line(0, 0, 1) + line(1, 0, 1) + line(0, 0, 2) + line(1, 0, 2) + row) ==
        ": rank 1 is listed twice: several runs in one log (a program built without MPI=1 runs "
        "once per process); split the file");
  // A list that is cut.
  CHECK(ranks(line(71, 0, 9)) ==
        "72 0 allreduce: 1 rank listed, the last is rank 71: 72 ranks are taken (--ranks)");
  CHECK(ranks(line(71, 0, 9), 72) == "72 0");
  CHECK(ranks(line(0, 0, 1) + line(70, 0, 9), 72) == "72 0");
  CHECK(failure(kBegin + line(70, 0, 9) + line(71, 1, 9) + row) ==
        ": the list of ranks is cut, and has 2 groups: give the whole log");
}

TEST_CASE("nccl-tests: the suffix of a build is no part of the operation; redop contradicts") {
  std::string log = kBegin + kRanks + "8 2 float none -1 10 1 1 0 20 1 1 0\n";
  log.replace(log.find("all_reduce_perf"), 15, "broadcast_perf_mpi");
  CHECK(import_text(log).sets.at(0).op == "broadcast");
  log.replace(log.find("broadcast_perf_mpi"), 18, "gatherv_perf");
  CHECK(failure(log) == ": no table of a known operation (gatherv_perf)");
  log = "# nThread 1\n" + kRanks + "8 2 float none -1 10 1 1 0 20 1 1 0\n";
  CHECK(failure(log, with("allreduce", {})) ==
        ": redop none in the rows: they are not of allreduce");
  CHECK(import_text(log, with("allgather", {})).sets.size() == 1);
  CHECK(import_text(log, with("sendrecv", {})).sets.size() == 1);
}

TEST_CASE("nccl-tests: rows that are interrupted, or of another type, are left out") {
  const std::string head = kBegin + kRanks + kHeader;
  const auto sizes = [](const std::string& text) {
    std::string all;
    const Samples samples = import_text(text);
    for (const Sample& sample : samples.sets.at(0).samples) {
      all += base::shortest(sample.bytes) + ' ';
    }
    for (const std::string& warning : samples.warnings) {
      all += warning;
    }
    return all;
  };
  const std::string row = "8 2 float sum -1 10 1 1 0 20 1 1 0\n";
  const std::string interrupted =
      "8 allreduce: 1 row interrupted by other output or the end of the log left out";
  CHECK(sizes(head + row +
              "16 4 float sumn1:43:43 [5] NCCL INFO AllReduce: opCount 0 count 16 datatype 7\n"
              " -1 11 1 1 0 21 1 1 0\n") == interrupted);
  CHECK(failure(head + "16 4 float sumn1:43:43 [5] NCCL INFO AllReduce: opCount 0\n") ==
        ": all 1 rows are interrupted by other output");
  CHECK(sizes(head + row + "16 4 float sum -1 11 1 1 0 21 1 0.0") == interrupted);
  CHECK(sizes(head + row + "16 4 float sum -1 11 1 1 0") == interrupted); // not in-place
  CHECK(sizes(head + row + "16 4 float sum -1 11 1 1 0 21 1 1 0") == "8 16 ");
  CHECK(
      sizes(head + row + "8 4 half sum -1 9 1 1 0 9 1 1 0\n8 2 float prod -1 9 1 1 0 9 1 1 0\n") ==
      "8 allreduce: 2 rows of other types or reductions than float sum left out: split the file");
}

TEST_CASE("nccl-tests: what is missing is named") {
  const std::string row = "8 2 float sum -1 10 1 1 0 20 1 1 0\n";
  CHECK(failure(kBegin) == ": no result rows found");
  CHECK(failure(kBegin + row) == ": the log does not say how many ranks: give --ranks");
  CHECK(failure("# nThread 1\n" + row, with({}, 4)) ==
        ": the log does not say which operation: give --op, or the file a name that does "
        "(allreduce.log)");
  CHECK(failure(kBegin + "8 2 float sum -1 0 1 1 0 20 1 1 0\n", with({}, 4)) ==
        ":3: time must be in (0, 1e+09] s, got 0");
  CHECK(failure(kBegin + "8 2 float sum -1 10 1 1 1 20 1 1 1\n", with({}, 4)) ==
        ": its only row reports wrong results");
  // A damaged count need not fit into an integer.
  CHECK(failure(kBegin + "8 2 float sum -1 10 1 1 2e117 20 1 1 0\n", with({}, 4)) ==
        ": its only row reports wrong results");
  std::string mixed = kRanks;
  mixed.replace(mixed.rfind("A100-SXM4-40GB"), 14, "H100-SXM5-80GB");
  CHECK(failure(kBegin + mixed + row) ==
        ": two devices in one set: NVIDIA A100-SXM4-40GB, NVIDIA H100-SXM5-80GB; split the file");
}

TEST_CASE("nccl-tests: the operation from the command line of the program or the file's name") {
  const TemporaryFolder folder;
  const auto op = [&](const std::string& name, const std::string& head = "") {
    const std::string log = folder.put(name, head + "# nThread 1\n8 2 float 10 1 1 0 20 1 1 0\n");
    const Samples samples = import_nccl_tests(log, with({}, 4));
    CHECK(samples.warnings.size() == (head.empty() ? 1 : 0)); // a name is a guess
    return samples.sets.at(0).op;
  };
  CHECK(op("x.log", "+ mpirun -np 4 ./build/all_gather_perf -b 8\n") == "allgather");
  CHECK(op("x.log", "srun all_reduce_perf_mpi -b 8\n") == "allreduce");
  CHECK(op("lc_nccl_all_reduce0.txt") == "allreduce");
  CHECK(op("bcast_job02.nccl") == "broadcast");
  CHECK(op("Reduce-Scatter.dat.2") == "reduce_scatter");
  CHECK_THROWS_AS((void)op("allreduce_alltoall.log"), InputError);
}

TEST_CASE("nccl-tests as JSON: the same rows; times per iteration are one sample each") {
  const auto json = [](const std::string& results) {
    return R"({"version": 2, "args": ["/opt/all_gather_perf", "-b", "8"], "env": ["SECRET=1"],
      "config": {"devices": [{"rank": 0, "hostname": "n1", "device_info": "H100"},
                             {"rank": 1, "group": 0, "hostname": "n1", "device_info": "H100"}]},
      "results": )" +
           results + R"(, "out_of_bounds": {"count": 0, "okay": "true"}})";
  };
  const Samples samples = import_text(json(
      R"([{"size": 8, "count": 2, "type": "float", "redop": "none", "root": "-1",
           "out_of_place": {"time": 10.5, "alg_bw": 1, "bus_bw": "nan", "nwrong": null},
           "in_place": {"time": 20, "nwrong": 0}},
          {"size": 16, "type": "float",
           "out_of_place": {"time": 11, "nwrong": 0}, "in_place": {"time": 20, "nwrong": 0},
           "out_of_place_per_iter": {"times_us": [10, 12]}}])"));
  REQUIRE(samples.sets.size() == 1);
  const SampleSet& set = samples.sets[0];
  CHECK(set.op == "allgather");
  CHECK(set.ranks == 2);
  CHECK(set.gpus_per_node == 2);
  CHECK(set.device == "H100");
  REQUIRE(set.samples.size() == 1 + 2);
  CHECK(set.samples[0].time_s == within(10.5e-6, 1e-9));
  CHECK_FALSE(set.samples[0].pass);
  CHECK(set.samples[2].time_s == within(12e-6, 1e-9));
  CHECK(set.samples[2].pass == 1);
  CHECK(compact(to_json(samples)).find("SECRET") == std::string::npos);
  CHECK(samples.warnings.empty());
  std::string later = json(R"([{"size": 8, "out_of_place": {"time": 1}}])");
  later.replace(later.find("2"), 1, "9");
  CHECK(import_text(later).warnings ==
        std::vector<std::string>{"version 9 of the log is unknown: it is read as 3"});
  CHECK(failure(json(R"([{"size": 8, "out_of_place": {"time": 0}}])")) ==
        ": /results/0/out_of_place: time must be in (0, 1e+09] s");
  CHECK(failure(json(R"([{"size": -8, "out_of_place": {"time": 1}}])"))
            .starts_with(": /results/0/size: must be an integer in [0, "));
}

TEST_CASE("nccl-tests: bandwidth on the bus of published logs follows from sizes and times") {
  const std::string folder = STEPSIM_SOURCE_DIR "/../shared/data/nccl-tests/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no logs in " << folder);
    return;
  }
  const struct {
    std::string file;
    std::int64_t ranks, per_node;
  } logs[] = {{"nccl_N1_G8.log", 8, 8}, {"nccl_N10_G1.log", 10, 1}, {"nccl_N10_G8.log", 80, 8}};
  for (const auto& log : logs) {
    CAPTURE(log.file);
    const Samples samples = import_nccl_tests(folder + log.file, {});
    CHECK(samples.sets.size() == 5);
    CHECK(samples.warnings.empty()); // the averages of the logs agree to 0.1 %
    for (const SampleSet& set : samples.sets) {
      CHECK(set.ranks == log.ranks);
      CHECK(set.gpus_per_node == log.per_node);
      CHECK(set.device == "NVIDIA H100 80GB HBM3");
    }
  }
  CHECK(bus_factor("allreduce", 4) == 2 * 3.0 / 4);
  CHECK(bus_factor("alltoall", 4) == 3.0 / 4);
  CHECK(bus_factor("broadcast", 4) == 1);
}
