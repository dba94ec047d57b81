// Whole measurements on a played machine: what is measured with one, two or four devices, what
// happens where CUDA refuses something or time is up, and whether the links come back that the
// machine was given.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "calibrate/cuda/gpu_calibration.hpp"
#include "calibrate/cuda/measure.hpp"
#include "calibrate/cuda/measurement.cuh"
#include "scenario/files/network_files.hpp"
#include "scenario/files/overlap_file.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate::gpu;
using stepsim::testing::within;

namespace {

constexpr std::int64_t kLittle = std::int64_t{1} << 16; // bytes: short vectors are verified
constexpr std::int64_t kMuch = std::int64_t{1} << 28;

// Devices below one switch have links of their own; others share one between the sockets, whose
// directions share it, too.
cuda_on_cpu::Machine machine_of(int devices) {
  cuda_on_cpu::Machine machine;
  machine.devices = devices;
  machine.free_bytes = kLittle;
  machine.l2_bytes = 1 << 16;
  machine.link = [](int from, int to) -> cuda_on_cpu::Link {
    if (from < 0 || to < 0) {
      return {3e-6, 20e9, {}};
    }
    if (from / 2 == to / 2) {
      return {2e-6, 25e9, {100 + 10 * from + to}};
    }
    return {4e-6, 10e9, {1}};
  };
  return machine;
}

struct Outcome {
  std::string records, progress, error;
};
Outcome measured(const cuda_on_cpu::Machine& machine, const MeasureOptions& options) {
  cuda_on_cpu::set_machine(machine);
  Outcome outcome;
  try {
    measure(
        options, [&](const std::string& line) { outcome.records += line; },
        [&](const std::string& line) { outcome.progress += line; });
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  CHECK(cuda_on_cpu::violations().empty());
  return outcome;
}

MeasureOptions collectives_only() {
  MeasureOptions options;
  options.kernels = false;
  options.timing = false;
  return options;
}

// The parts of a measurement of collectives: verified with little memory and real data, then timed
// with much memory and times only.
Outcome timed(const cuda_on_cpu::Machine& machine, double seconds) { // of collectives, real ones
  MeasureOptions options;
  options.collectives = options.kernels = false;
  Outcome outcome = measured(machine, options);
  const Sink records = [&](const std::string& line) { outcome.records += line; };
  const Sink progress = [&](const std::string& line) { outcome.progress += line; };
  Measurement measurement{options, records, progress};
  measurement.devices = machine.devices;
  measurement.ranks = ranks_for(0, machine.devices);
  measurement.same_device = machine.devices == 1;
  measurement.l2_bytes = machine.l2_bytes;
  measurement.free_bytes = kLittle;
  CHECK(verify_collectives(measurement));
  CHECK(measurement.failed == "");
  cuda_on_cpu::set_execution(false);
  measurement.free_bytes = kMuch;
  measure_pairs(measurement, 1e9);
  measure_collectives(measurement, seconds);
  CHECK(cuda_on_cpu::violations().empty());
  return outcome;
}

const std::string kHeaderOfTwo =
    R"({"schema_version": 1, "kind": "gpu_samples", "ranks": 2, "devices": []})"
    "\n";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("measure: one rank per device where there are several, else eight on one") {
  CHECK(ranks_for(0, 1) == 8);
  CHECK(ranks_for(0, 2) == 2);
  CHECK(ranks_for(0, 4) == 4);
  CHECK(ranks_for(8, 4) == 8);
  for (const int devices : {1, 2, 4}) {
    MeasureOptions options;
    options.collectives = options.kernels = false;
    const Outcome outcome = measured(machine_of(devices), options);
    const GpuSamples samples = parse_gpu_samples(outcome.records, "g.jsonl");
    CHECK(samples.ranks == (devices == 1 ? 8 : devices));
    CHECK(samples.same_device == (devices == 1));
  }
}

TEST_CASE("measure: collectives are right on a played machine, plain and as graphs") {
  const cuda_on_cpu::Machine machine = machine_of(3);
  const Outcome outcome = measured(machine, collectives_only());
  CHECK(outcome.error == "");
  CHECK(contains(outcome.records, "\"what\": \"collectives\""));
  CHECK(!contains(outcome.records, "unusable"));
}

TEST_CASE("measure: what a capture refuses fails alone, and the rest is timed") {
  cuda_on_cpu::Machine machine = machine_of(2);
  machine.refuses_captures = true;
  const Outcome outcome = timed(machine, 1);
  CHECK(outcome.error == "");
  CHECK(contains(outcome.records, "\"record\": \"unusable\", \"variant\": \"copy_engine\", "
                                  "\"launch\": \"graph\""));
  CHECK(contains(outcome.records, "operation not permitted when stream is capturing"));
  CHECK(
      contains(outcome.records, "\"variant\": \"copy_engine\", \"launch\": \"plain\", \"ranks\""));
  CHECK(
      !contains(outcome.records, "\"variant\": \"copy_engine\", \"launch\": \"graph\", \"ranks\""));
  CHECK(contains(outcome.records, "\"variant\": \"host_staged\", \"launch\": \"graph\""));
  const GpuSamples samples = parse_gpu_samples(outcome.records, "g.jsonl");
  CHECK(std::ranges::any_of(samples.warnings, [](const std::string& warning) {
    return warning.starts_with("copy_engine graph cannot be used: ");
  }));
}

TEST_CASE("measure: copies between devices are captured where peer copies are refused") {
  cuda_on_cpu::Machine machine = machine_of(2);
  machine.refuses_peer_copies = true;
  const Outcome outcome = measured(machine, collectives_only());
  CHECK(outcome.error == "");
  CHECK(!contains(outcome.records, "unusable"));
}

TEST_CASE("measure: classes of links, latency and both directions come back from a machine of two "
          "sockets") {
  const Outcome outcome = timed(machine_of(4), 0);
  CHECK(outcome.error == "");
  const GpuSamples samples = parse_gpu_samples(outcome.records, "g.jsonl");
  const GpuFit fit = fit_gpu(samples, {});
  REQUIRE(fit.links.size() == 2);
  const DeviceLinks& below = fit.links[0];
  const DeviceLinks& across = fit.links[1];
  CHECK(below.words == "pcie, below one switch");
  CHECK(below.pairs == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {2, 3}});
  CHECK(1 / below.per_byte_s == within(25e9, 0.03));
  CHECK(below.latency_s == within(2e-6, 0.05)); // not the calls of the host
  CHECK(*below.exchange == within(1.0, 0.03));
  CHECK(across.words == "pcie, across switches or sockets");
  CHECK(across.pairs.size() == 4);
  CHECK(1 / across.per_byte_s == within(10e9, 0.03));
  CHECK(across.latency_s == within(4e-6, 0.05));
  CHECK(*across.exchange == within(2.0, 0.03));
  CHECK(*across.shift == within(2.0, 0.05)); // 1 to 2 and 3 to 0
  const links::NetworkProfile profile =
      io::parse_profile(gpu_calibration_tree(samples, fit, {"gpu", "test"}));
  CHECK(*profile.bandwidth_Bps == within(10e9, 0.03));
}

TEST_CASE("measure: how much a product and an all-reduce slow each other down, a file per GPU") {
  cuda_on_cpu::Machine machine = machine_of(2);
  machine.product_beside = 4; // more than the calls beside are asked to last at first
  machine.work_beside = 5;
  machine.executes = false;
  cuda_on_cpu::set_machine(machine);
  MeasureOptions options;
  std::string records;
  const Sink keep = [&](const std::string& line) { records += line; };
  const Sink nobody = [](const std::string&) {};
  Measurement measurement{options, keep, nobody};
  measurement.devices = 2;
  measurement.ranks = 2;
  measurement.free_bytes = kMuch;
  measure_own_overlap(measurement);
  CHECK(cuda_on_cpu::violations().empty());
  GpuSamples samples;
  samples.overlaps = parse_gpu_samples(kHeaderOfTwo + records, "g.jsonl").overlaps;
  REQUIRE(samples.overlaps.size() == 2);
  for (std::uint32_t device = 0; device < 2; ++device) {
    const OverlapRecord& record = samples.overlaps[device];
    CHECK(record.device == device);
    CHECK(record.exchange == "allreduce ring copy_engine graph P=2 n=16777216");
    const io::OverlapFile file =
        io::parse_overlap(gpu_overlap_tree(samples, record, {"gpu", "test"}));
    CHECK(file.interference.compute.front() == within(4, 0.01));
    CHECK(file.interference.exchange == within(5, 0.01));
    CHECK(contains(file.source, "GPU " + std::to_string(device) + ", product of 2048 x 2048"));
  }
  OverlapRecord faster = samples.overlaps.front(); // noise is no gain
  std::swap(faster.product_s, faster.product_beside_s);
  CHECK(io::parse_overlap(gpu_overlap_tree(samples, faster, {"gpu", "test"}))
            .interference.compute.front() == 1);
}

TEST_CASE(
    "measure: gTop-k of one to eight ranks on three devices is that of the library, and is timed") {
  for (const std::uint64_t order : {0, 1, 5}) { // of blocks and warps
    cuda_on_cpu::set_order(order);
    cuda_on_cpu::set_machine(machine_of(3));
    const MeasureOptions options;
    std::string records;
    const Sink keep = [&](const std::string& line) { records += line; };
    const Sink nobody = [](const std::string&) {};
    Measurement measurement{options, keep, nobody};
    measurement.devices = 3;
    measurement.ranks = 3;
    measurement.l2_bytes = 1 << 16;
    measurement.free_bytes = kMuch;
    CHECK_NOTHROW(CHECK(verify_gtopk(measurement)));
    cuda_on_cpu::set_execution(false);
    measure_gtopk(measurement, 1e9);
    CHECK(cuda_on_cpu::violations().empty());
    const GpuSamples samples = parse_gpu_samples(kHeaderOfTwo + records, "g.jsonl");
    const GpuFit fit = fit_gpu(samples, {});
    const KernelFit* timed = fit.find("gtopk_tree_p3", "gaussian");
    REQUIRE(timed != nullptr);
    CHECK(timed->points.size() >= 4);
    CHECK(timed->points.back().k == timed->points.back().n / 100);
  }
}

TEST_CASE("measure: a run that is told to stop, or has no time left, closes its records") {
  for (const bool stop : {true, false}) {
    MeasureOptions options = collectives_only();
    int asked = 0;
    if (stop) {
      options.stop = [&asked] { return ++asked > 100; };
    } else {
      options.total_seconds = 1e-3;
    }
    const Outcome outcome = measured(machine_of(2), options);
    CHECK(outcome.error == "");
    CHECK(contains(outcome.records, "\"record\": \"end\", \"early\": \"time was up"));
    CHECK(contains(outcome.records, "time was up after"));
    CHECK(!contains(outcome.records, "\"record\": \"collective\""));
  }
}

TEST_CASE("measure: without cuBLAS low-rank compression is left out, and that is said") {
  for (const bool there : {true, false}) {
    cuda_on_cpu::Machine machine = machine_of(1);
    machine.has_cublas = there;
    MeasureOptions options;
    options.collectives = options.timing = false;
    int asked = 0;
    options.stop = [&asked] { return ++asked > 1; }; // behind the first part
    const Outcome outcome = measured(machine, options);
    CHECK(outcome.error == "");
    CHECK(contains(outcome.records, "low-rank compression is left out: cublas: does not start") !=
          there);
  }
}

TEST_CASE("measure: every time says whether its buffers were in the cache") {
  const Outcome outcome = timed(machine_of(1), 1);
  const GpuSamples samples = parse_gpu_samples(outcome.records, "g.jsonl");
  REQUIRE(!samples.collectives.empty());
  for (const CollectiveRecord& record : samples.collectives) {
    CHECK((record.bytes == 0 || record.cache == kCold || record.cache == kWarm));
    if (record.launch == "plain" && record.bytes > 0) {
      CHECK(record.cache == kCold);
    }
  }
}
