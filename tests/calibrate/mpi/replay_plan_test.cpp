#include "calibrate/mpi/replay_plan.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate::mpi;
using testing::within;

namespace {

// Workload R: forward 30 ms; layers in backward order i = 0 .. 11, 9 ms if i mod 3 = 0, else 4 ms;
// 65536, 131072 (i mod 4 = 1) or 32768 elements.
io::Json workload_r() {
  io::Array layers;
  for (int i = 11; i >= 0; --i) { // forward order
    const std::int64_t elements = i == 0 ? 65536 : i % 4 == 1 ? 131072 : 32768;
    layers.push_back(io::Object{{"name", "layer" + std::to_string(i)},
                                {"forward_s", i == 11 ? 0.030 : 0.0},
                                {"backward_s", i % 3 == 0 ? 0.009 : 0.004},
                                {"gradient_bytes", 4 * elements}});
  }
  return io::Object{{"layers", std::move(layers)}};
}

io::Json scenario(std::int64_t cap) {
  return io::Object{{"schema_version", 1},
                    {"kind", "scenario"},
                    {"name", "R"},
                    {"workload", workload_r()},
                    {"cluster", io::Object{{"nodes", 1}, {"network", io::Object{}}}},
                    {"training", io::Object{{"algorithm", "sync_sgd"}}},
                    {"communication", io::Object{{"collective", "ring"},
                                                 {"schedule", "ddp"},
                                                 {"bucket_bytes", cap},
                                                 {"first_bucket_bytes", cap}}}};
}

// alpha = gamma = 0, beta = 4.19e-8.
class Bed {
public:
  Bed() {
    io::write_file(path(), R"({"schema_version": 1, "kind": "network_calibration", "name": "bed",
      "label": "measured", "network": {"model": "alpha_beta", "latency_s": 0,
      "bandwidth_Bps": 23866348.44868735, "reduction_Bps": 0}})");
  }
  ~Bed() { std::filesystem::remove(path()); }
  static std::string path() {
    return (std::filesystem::temp_directory_path() /
            ("replay-" + std::to_string(getpid()) + ".calibration.json"))
        .string();
  }
};

ReplayPlan planned(const io::Json& tree, const std::string& schedule = "",
                   const ReplayScale& scale = {}) {
  const Bed bed;
  study::Files files("");
  return replay_plan(tree, Bed::path(), schedule, 4, scale, false, files);
}

} // namespace

TEST_CASE("replay: workload R takes what its buckets say") {
  struct Row {
    std::int64_t cap;
    std::size_t buckets;
    double iteration_ms, exposed_ms;
  };
  for (const Row& row :
       {Row{4, 12, 220.233254, 122.233254}, Row{262'144, 7, 220.233254, 122.233254},
        Row{800'000, 4, 228.233254, 130.233254}, Row{400'000'000, 1, 279.233254, 181.233254}}) {
    CAPTURE(row.cap);
    const ReplayPlan plan = planned(scenario(row.cap));
    CHECK(plan.buckets.size() == row.buckets);
    CHECK(1e3 * plan.predicted_s == within(row.iteration_ms, 1e-8));
    CHECK(1e3 * plan.predicted_exposed_s == within(row.exposed_ms, 1e-8));
    CHECK(plan.compute_s == within(0.030 + 4 * 0.009 + 8 * 0.004, 1e-12));
    // The queue alone gives the same: done = max(done, ready) + 2 * 3/4 n beta.
    double done = 0;
    for (const ReplayBucket& bucket : plan.buckets) {
      CHECK(bucket.predicted_start_s == within(std::max(done, bucket.ready_s), 1e-9));
      done = std::max(done, bucket.ready_s) + 1.5 * static_cast<double>(bucket.bytes) * 4.19e-8;
      CHECK(bucket.predicted_end_s == within(done, 1e-9));
    }
    CHECK(plan.predicted_s == within(done, 1e-9));
  }
}

TEST_CASE("replay: scales change times and bytes") {
  const ReplayPlan whole = planned(scenario(4));
  const ReplayPlan half = planned(scenario(4), "", {.time = 0.5, .bytes = 0.25});
  CHECK(half.compute_s == within(whole.compute_s / 2, 1e-12));
  REQUIRE(half.buckets.size() == whole.buckets.size());
  for (std::size_t i = 0; i < half.buckets.size(); ++i) {
    CHECK(half.buckets[i].bytes == whole.buckets[i].bytes / 4);
    CHECK(half.buckets[i].ready_s == within(whole.buckets[i].ready_s / 2, 1e-12));
  }
}

TEST_CASE("replay: a schedule of the list replaces the scenario's") {
  const ReplayPlan plan = planned(scenario(4), "single");
  CHECK(plan.schedule == "single");
  CHECK(plan.buckets.size() == 1);
  CHECK(1e3 * plan.predicted_s == within(279.233254, 1e-8));
}

TEST_CASE("replay: what cannot be executed is refused") {
  CHECK_THROWS_AS((void)planned(scenario(4), "priority"), UsageError);
  io::Json other = scenario(4);
  io::assign(other, "/communication/collective", "double_binary_tree");
  CHECK_THROWS_AS((void)planned(other), UsageError);
  io::Json pipelined = scenario(4);
  io::assign(pipelined, "/training/algorithm", "pipe_sgd");
  CHECK_THROWS_AS((void)planned(pipelined), UsageError);
}
