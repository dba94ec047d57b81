// Profiles that hold measured curves only (topologies/v100-*.calibration.json): what a run makes of
// them, and where it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

constexpr std::int64_t kBytes = 40'000'000;

std::string text(int nodes, const std::string& profile, const std::string& collective) {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
      "gradient_bytes": )" +
         std::to_string(kBytes) + R"(}]}, "cluster": {"nodes": )" + std::to_string(nodes) +
         R"(, "gpus_per_node": 4, "network": {"calibration": ")" + profile +
         R"("}}, "communication": {"schedule": "single", "collective": ")" + collective + "\"}}";
}

} // namespace

TEST_CASE("collective calibrated takes the library's curve of exactly these ranks (MER 10.6)") {
  const Result ethernet = run_text(text(4, "v100-10gbe", "calibrated"));
  const double all_reduce = 9.080981007148093e-4 + 7.395651186836712e-10 * kBytes;
  CHECK(*ethernet.summary.iteration_time_s == within(0.01 + 0.02 + all_reduce, 1e-9));
  CHECK(ethernet.scenario->cluster.network.label == "calibrated");
  const Result infiniband = run_text(text(2, "v100-ib", "calibrated"));
  CHECK(*infiniband.summary.communication_s ==
        within(9.75367204301171e-5 + 3.0568230536676206e-10 * kBytes, 1e-9));
}

TEST_CASE("a warning says that encoded messages take the links of a calibration, not its curve") {
  const auto warns = [](const char* compression) {
    io::Json tree = io::parse_json(text(1, "h100x8", "calibrated"), "test.json");
    io::assign(tree, "/cluster/gpus_per_node", 8);
    io::assign(tree, "/cluster/intra_network",
               io::Object{{"latency_s", 1e-6}, {"bandwidth_Bps", 1e11}});
    io::assign(tree, "/communication/compression", compression);
    return std::ranges::any_of(run_text(io::compact(tree)).warnings, [](const std::string& text) {
      return text.find("was measured for dense gradients") != std::string::npos;
    });
  };
  CHECK_FALSE(warns("fp16")); // dense ones of half the bytes
  CHECK(warns("quantize8"));
}

TEST_CASE("the resolved scenario of a measured curve gives the same time again") {
  const Result first = run_text(text(4, "v100-10gbe", "calibrated"));
  const Result second = run_text(io::pretty(scenario_tree(*first.scenario)));
  CHECK(*second.summary.iteration_time_s == *first.summary.iteration_time_s);
}

TEST_CASE("a message outside of what its own curve was measured for is extrapolated (CAL 4.3)") {
  const io::TemporaryFolder folder;
  const auto curve = [](const std::string& op, const std::string& to_bytes) {
    return R"({"op": ")" + op + R"(", "algorithm": "library", "ranks": 8, "segments": [
        {"from_bytes": 1000, "to_bytes": )" +
           to_bytes + R"(, "startup_s": 1e-5, "per_byte_s": 1e-9}]})";
  };
  const std::string head = R"({"schema_version": 1, "kind": "network_calibration", "name": "t",
      "label": "measured", )";
  for (const std::string valid : {"", R"("valid": {"ranks": [8, 8], "bytes": [8, 1e9]}, )"}) {
    const std::string file =
        folder.put("t.json", head + valid + R"("collectives": [)" + curve("allreduce", "8e6") +
                                 ", " + curve("broadcast", "1e9") + "]}");
    const Result result = run_text(text(2, file, "calibrated"));
    CHECK(*result.extrapolation_factor == within(5, 1e-12)); // 40 MB
    CHECK(std::ranges::any_of(result.warnings, [](const std::string& warning) {
      return warning.ends_with("by 5.00 times at most: extrapolated");
    }));
  }
}

TEST_CASE("one worker needs no curve") {
  const Result alone = run_text(
      R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
          "gradient_bytes": 4000}]}, "cluster": {"nodes": 1, "network": {"calibration":
          "v100-10gbe"}}, "communication": {"collective": "calibrated"}})");
  CHECK(*alone.summary.iteration_time_s == 3);
}

TEST_CASE("other numbers of ranks and other algorithms have no curve") {
  CHECK(problem_of(text(3, "v100-10gbe", "calibrated")) ==
        "test.json: /cluster/network/calibration: no allreduce curve of 12 ranks; measured: 8, 16");
  CHECK(problem_of(text(4, "v100-10gbe", "ring")) ==
        "test.json: /cluster/network/calibration: gives measured curves but no latency and "
        "bandwidth; use collective calibrated");
  CHECK(problem_of(text(4, R"(v100-10gbe", "latency_s": 1e-5, "model": "alpha_beta)", "ring"))
            .find("the other one is needed, too") != std::string::npos);
  CHECK(problem_of(text(4, "allgather-1gbe", "calibrated")) ==
        "test.json: /cluster/network/calibration: no allreduce curve of 16 ranks");
}

TEST_CASE("steps of several messages take the curve of a queue, one message that of a call alone") {
  const io::TemporaryFolder folder;
  int files = 0;
  const auto curve = [](const std::string& start_up, const std::string& seconds) {
    return R"({"op": "allreduce", "algorithm": "gloo", "ranks": 4, "start_up": ")" + start_up +
           R"(", "points": [[1000, )" + seconds + R"(], [1000000, 1]]})";
  };
  const auto step = [&](const std::string& curves, const std::string& schedule) {
    const std::string file =
        folder.put(std::to_string(++files) + ".calibration.json", R"({"kind": "network_calibration",
        "name": "n", "label": "calibrated", "collectives": [)" + curves +
                                                                      "]}");
    return run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 0, "backward_s": 0,
        "gradient_bytes": 1000}]}, "cluster": {"nodes": 4, "network": {"calibration": ")" +
                    file + R"("}}, "communication": {"schedule": ")" + schedule +
                    R"(", "collective": "calibrated"}})");
  };
  const std::string both = curve("alone", "0.5") + "," + curve("queue", "0.25");
  const std::string turned = curve("queue", "0.25") + "," + curve("alone", "0.5");
  for (const std::string& curves : {both, turned}) {
    CHECK(*step(curves, "single").summary.iteration_time_s == within(0.5, 1e-12));
    CHECK(*step(curves, "wfbp").summary.iteration_time_s == within(0.25, 1e-12));
  }
  CHECK(step(both, "ddp").scenario->cluster.network.curve_source.ends_with(", gloo, queued"));
  // Where there is one of them, it is taken.
  CHECK(*step(curve("alone", "0.5"), "wfbp").summary.iteration_time_s == within(0.5, 1e-12));
  CHECK(*step(curve("queue", "0.25"), "single").summary.iteration_time_s == within(0.25, 1e-12));
}

TEST_CASE("sharded training takes measured reduce-scatters and all-gathers of its types") {
  const io::TemporaryFolder folder;
  int files = 0;
  // Time of n bytes: startup + n us.
  const auto curve = [](const std::string& op, const std::string& dtype, const std::string& startup,
                        int ranks = 4) {
    return R"({"op": ")" + op + R"(", "algorithm": "nccl", "ranks": )" + std::to_string(ranks) +
           R"(, "dtype": ")" + dtype + R"(", "segments": [{"from_bytes": 1000, "to_bytes": 1e6,
               "startup_s": )" +
           startup + R"(, "per_byte_s": 1e-6}]})";
  };
  const auto run = [&](const std::string& curves, const std::string& sharding) {
    const std::string file =
        folder.put(std::to_string(++files) + ".calibration.json",
                   R"({"kind": "network_calibration", "name": "n", "label": "calibrated",
                       "collectives": [)" +
                       curves + "]}");
    return run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
        "gradient_bytes": 400000}]}, "cluster": {"nodes": 4, "network": {"calibration": ")" +
                    file + R"("}}, "training": {"sharding": {)" + sharding +
                    R"(}}, "communication": {"collective": "calibrated"}})");
  };
  const std::string whole = curve("allreduce", "float", "0.5");
  const std::string all = whole + "," + curve("reduce_scatter", "bfloat16", "0.0625") + "," +
                          curve("reduce_scatter", "float", "0.125") + "," +
                          curve("allgather", "float", "0.25") + "," +
                          curve("allgather", "bfloat16", "0.03125");
  const std::string full = R"("strategy": "full_shard", "parameter_bytes": 2, "reduce_bytes": )";
  const auto times = [&](const std::string& curves, const std::string& reduce_bytes) {
    const Result result = run(curves, full + reduce_bytes);
    REQUIRE(result.units.size() == 1);
    return std::pair(result.units[0].gather_s, result.units[0].reduce_s);
  };
  // 100,000 parameters: 200,000 bytes gathered, as many or twice as many reduced.
  CHECK(times(all, "4").first == within(0.03125 + 0.2, 1e-12));
  CHECK(times(all, "4").second == within(0.125 + 0.4, 1e-12));
  CHECK(times(all, "2").second == within(0.0625 + 0.2, 1e-12));
  const Result named = run(all, full + "4");
  CHECK(named.scenario->cluster.network.curve_source.ends_with(", nccl reduce_scatter, allgather"));
  CHECK(
      run(all, R"("strategy": "none")").scenario->cluster.network.curve_source.ends_with(", nccl"));
  // ZeRO-1 sends the same two.
  CHECK(*run(all, R"("strategy": "zero1", "parameter_bytes": 2, "reduce_bytes": 4)")
             .summary.communication_s == within(0.03125 + 0.2 + 0.125 + 0.4, 1e-12));
  // A file without them, or with those of other ranks, gives half of the all-reduce.
  const double half_gather = (0.5 + 0.2) / 2;
  const double half_reduce = (0.5 + 0.4) / 2;
  for (const std::string& curves :
       {whole, whole + "," + curve("reduce_scatter", "float", "0.125", 8) + "," +
                   curve("allgather", "bfloat16", "0.125", 8)}) {
    CHECK(times(curves, "4").first == within(half_gather, 1e-12));
    CHECK(times(curves, "4").second == within(half_reduce, 1e-12));
  }
  // A file with one of the two, and with another type, gives what it has.
  const auto one = times(whole + "," + curve("allgather", "float", "0.25"), "4");
  CHECK(one.first == within(0.25 + 0.2, 1e-12));
  CHECK(one.second == within(half_reduce, 1e-12));
  CHECK(problem_of(R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
        "gradient_bytes": 400000}]}, "cluster": {"nodes": 2, "network": {"calibration": ")" +
                   folder.put("two.calibration.json",
                              R"({"kind": "network_calibration", "name": "n",
                                  "label": "calibrated", "collectives": [)" +
                                  whole + "," + curve("allreduce", "half", "0.5") + "]}") +
                   R"("}}, "communication": {"collective": "calibrated"}})") ==
        "test.json: /cluster/network/calibration: no allreduce curve of 2 ranks; measured: 4");
}
