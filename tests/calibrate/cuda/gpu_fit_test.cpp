// From records of gpu_bench to a calibration file (CAL 5, 7.3).
#include "calibrate/cuda/gpu_fit.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "calibrate/cuda/gpu_calibration.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::gpu;
using stepsim::testing::within;

namespace {

constexpr double kAlpha = 5e-6;
constexpr double kBeta = 1e-12;

std::string records(bool same_device) {
  Header header;
  header.program = "gpu_bench \"quoted\"";
  header.ranks = 8;
  header.same_device = same_device;
  header.devices = {DeviceFacts{.name = "NVIDIA Test"}};
  header.peer_access = {{true}};
  std::string text = line(header);
  for (int pass = 0; pass < 3; ++pass) {
    for (const std::int64_t bytes : {0, 4, 4096, 1 << 20, 1 << 24, 1 << 28}) {
      for (const bool graph : {false, true}) {
        const double time = (graph ? 0.5 : 1.0) * kAlpha + kBeta * static_cast<double>(bytes);
        CollectiveRecord record{.op = "pingpong",
                                .algorithm = "",
                                .variant = "copy_engine",
                                .launch = graph ? "graph" : "plain",
                                .ranks = 2,
                                .bytes = bytes,
                                .pass = pass,
                                .time_s = {time, time, time}};
        text += line(record, same_device);
        record.op = "allreduce";
        record.algorithm = "ring";
        record.ranks = 8;
        text += line(record, same_device);
      }
    }
    for (const std::int64_t n : {1 << 16, 1 << 20, 1 << 24}) {
      for (const std::int64_t k : {n / 1000, n / 10, n / 4}) {
        const auto entries = static_cast<double>(k);
        KernelRecord record{.kernel = "radix_select",
                            .distribution = "gaussian",
                            .n = n,
                            .k = k,
                            .achieved_k = k,
                            .pass = pass};
        record.time_s = {1e-5 + 2e-12 * static_cast<double>(n) + 3e-11 * entries};
        text += line(record, same_device);
        record.kernel = "merge";
        record.distribution = "any";
        record.time_s = {2e-5 + 4e-11 * entries};
        text += line(record, same_device);
      }
      KernelRecord record{.kernel = "reduce_add", .distribution = "any", .n = n, .pass = pass};
      record.time_s = {1e-6 + 4 * 3e-13 * static_cast<double>(n)}; // gamma = 3e-13 s/B
      text += line(record, same_device);
      record.kernel = "reduce_add_bf16";
      record.time_s = {1e-6 + 2 * 4e-13 * static_cast<double>(n)};
      text += line(record, same_device);
    }
  }
  return text + line(VerifiedRecord{"kernels", 12}, same_device) +
         end_line(header.devices, same_device);
}

const KernelFit& kernel(const GpuFit& fit, std::string_view name) {
  for (const KernelFit& each : fit.kernels) {
    if (each.kernel == name) {
      return each;
    }
  }
  FAIL("no such kernel");
  return fit.kernels.front();
}

std::string failure(const std::string& text) {
  try {
    (void)parse_gpu_samples(text, "g.jsonl");
  } catch (const InputError& error) {
    return error.problems().front().text();
  }
  return "no error";
}

} // namespace

TEST_CASE("gpu samples: every line of a run on one device says so") {
  const std::string text = records(true);
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1, ++lines) {
    const std::string one = text.substr(begin, text.find('\n', begin) - begin);
    CHECK(one.find("\"where\": \"same device\"") != std::string::npos);
  }
  CHECK(lines == 1 + 3 * (6 * 4 + 3 * 8) + 2);
  CHECK(records(false).find("same device") == std::string::npos);
  CHECK(looks_like_gpu_samples(text));
  CHECK(!looks_like_gpu_samples("op,algorithm\n"));
}

TEST_CASE("gpu samples: what was written is read") {
  const GpuSamples samples = parse_gpu_samples(records(true), "g.jsonl");
  CHECK(samples.same_device);
  CHECK(samples.ranks == 8);
  CHECK(samples.device == "NVIDIA Test");
  CHECK(samples.collectives.size() == 3 * 6 * 4);
  CHECK(samples.kernels.size() == 3 * 3 * 8);
  CHECK(samples.collectives[1].op == "allreduce");
  CHECK(samples.collectives[1].launch == "plain");
  CHECK(samples.collectives[1].time_s == std::vector<double>{kAlpha, kAlpha, kAlpha});
}

TEST_CASE("gpu samples: a cut last line is left out, a wrong one is named") {
  const std::string whole = records(false);
  const GpuSamples cut = parse_gpu_samples(whole + "{\"record\": \"coll", "g.jsonl");
  CHECK(cut.collectives.size() == 3 * 6 * 4);
  REQUIRE(cut.warnings.size() == 1);
  CHECK(cut.warnings.front() == "the last line is cut off: left out");
  const std::string header = whole.substr(0, whole.find('\n') + 1);
  CHECK(failure(header + "{\"record\": \"colective\"}\n") ==
        "g.jsonl:2: record must be collective, kernel, pair, overlap, verified, unusable, note or "
        "end");
  CHECK(failure(header + "{\"record\": \"kernel\", \"kernel\": \"a\", \"distribution\": \"any\", "
                         "\"n\": 0, \"k\": 0, \"achieved_k\": 0, \"pass\": 0, \"repeats\": 1, "
                         "\"time_s\": [1]}\n") == "g.jsonl:2: n must be an integer >= 1, got 0");
  CHECK(failure("") == "g.jsonl: empty");
}

TEST_CASE("gpu fit: constants of messages and kernels come back") {
  const GpuSamples samples = parse_gpu_samples(records(true), "g.jsonl");
  const GpuFit fit = fit_gpu(samples, {});
  REQUIRE(fit.message);
  CHECK(fit.message->startup_s == within(0.5 * kAlpha, 1e-6)); // of graphs, not of plain launches
  CHECK(fit.message->per_byte_s == within(kBeta, 1e-6));
  const KernelFit& select = kernel(fit, "radix_select");
  CHECK(select.c0_s == within(1e-5, 1e-6));
  CHECK(select.c1_s_per_element == within(2e-12, 1e-6));
  CHECK(select.c2_s_per_entry == within(3e-11, 1e-6));
  const KernelFit& merge = kernel(fit, "merge"); // of k only
  CHECK(merge.c0_s == within(2e-5, 1e-6));
  CHECK(merge.c1_s_per_element == 0);
  CHECK(merge.c2_s_per_entry == within(4e-11, 1e-6));
  CHECK(fit.launches.size() == 2); // pingpong and allreduce, plain beside graph
  CHECK(fit.grade == Grade::ok);
}

TEST_CASE("gpu fit: ranks of one device give no network, ranks of several do") {
  for (const bool same_device : {true, false}) {
    const GpuSamples samples = parse_gpu_samples(records(same_device), "g.jsonl");
    const GpuFit fit = fit_gpu(samples, {});
    const io::Json tree = gpu_calibration_tree(samples, fit, {"gpu", "test"});
    const links::NetworkProfile profile = io::parse_profile(tree); // the file is one that we read
    REQUIRE(profile.links.size() == 1);
    CHECK(profile.links.front().name == (same_device ? "same-device" : "nvlink"));
    CHECK(profile.links.front().per_byte_s == within(kBeta, 1e-6));
    CHECK(profile.bandwidth_Bps.has_value() == !same_device);
    if (!same_device) {
      CHECK(*profile.reduction_Bps == within(1 / 3e-13, 1e-6));
    }
    for (const AddedType& added : kAddedTypes) { // one file per type of gradients
      const links::NetworkProfile of_type =
          io::parse_profile(gpu_calibration_tree(samples, fit, {"gpu", "test", added}));
      const bool is_single = added.name == "float32";
      CHECK(of_type.reduction_Bps.has_value() == !same_device);
      CHECK(of_type.reduction_Bps.value_or(0) == within(same_device ? 0
                                                        : is_single ? 1 / 3e-13
                                                                    : 1 / 4e-13,
                                                        1e-6));
      CHECK((of_type.note.find("; adding bfloat16") != std::string::npos) == !is_single);
    }
    CHECK(profile.collectives.size() == 2); // plain and graph
    const std::string text = gpu_text(samples, fit);
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      const std::string one = text.substr(begin, text.find('\n', begin) - begin);
      CHECK((one.find("same device") != std::string::npos) == same_device);
    }
  }
}

TEST_CASE("gpu fit: a curve that is no curve is kept and named, and the file fails") {
  std::string text = records(true);
  for (const std::int64_t bytes : {4, 1024, 4096, 65536}) {
    CollectiveRecord record{.op = "reduce",
                            .algorithm = "mst",
                            .variant = "copy_engine",
                            .launch = "plain",
                            .ranks = 8,
                            .bytes = bytes,
                            .time_s = {bytes == 1024 ? 9e-5 : 1e-5}};
    text += line(record, true);
  }
  const GpuSamples samples = parse_gpu_samples(text, "g.jsonl");
  const GpuFit fit = fit_gpu(samples, {});
  CHECK(fit.curves.size() == 5);
  REQUIRE(fit.warnings.size() == 1);
  CHECK(fit.warnings.front().starts_with("reduce mst copy_engine plain P=8: "));
  CHECK(fit.grade == Grade::fail);
}

TEST_CASE("gpu samples: ways that cannot be used, an early end and lost entries are warnings") {
  const std::string header = records(false).substr(0, records(false).find('\n') + 1);
  KernelRecord record{.kernel = "sampled_threshold",
                      .distribution = "heavy_tailed",
                      .n = 100,
                      .k = 10,
                      .achieved_k = 10,
                      .lost = 7,
                      .time_s = {1e-5}};
  const std::string text =
      header + line(UnusableRecord{"copy_engine", "graph", "not permitted", false}, false) +
      line(record, false) + end_line({}, false, "time was up");
  const GpuFit fit = fit_gpu(parse_gpu_samples(text, "g.jsonl"), {});
  CHECK(fit.warnings == std::vector<std::string>{
                            "copy_engine graph cannot be used: not permitted",
                            "the measurement ended early: time was up",
                            "sampled_threshold (heavy_tailed): 7 entries found no room at n=100 "
                            "k=10: its times are of less work"});
}

TEST_CASE("gpu fit: of one size, times out of the cache are used and those within it are not") {
  std::string text = records(false).substr(0, records(false).find('\n') + 1);
  for (const std::int64_t bytes : {4, 4096, 1 << 20}) {
    for (const bool cold : {true, false}) {
      if (bytes == 4 && cold) {
        continue; // only measured within the cache
      }
      CollectiveRecord record{
          .op = "pingpong",
          .algorithm = "",
          .variant = "copy_engine",
          .launch = "graph",
          .ranks = 2,
          .bytes = bytes,
          .cache = cold ? kCold : kWarm,
          .time_s = {kAlpha + (cold ? 1 : 0.1) * kBeta * static_cast<double>(bytes)}};
      text += line(record, false);
    }
  }
  const GpuFit fit = fit_gpu(parse_gpu_samples(text, "g.jsonl"), {});
  REQUIRE(fit.message);
  CHECK(fit.message->per_byte_s == within(kBeta, 1e-3));
  REQUIRE(fit.warnings.size() == 1);
  CHECK(fit.warnings.front() ==
        "collectives: some sizes of up to 4 B were timed only with buffers in the L2 cache");
}

TEST_CASE(
    "gpu links: NVLink, one PCIe switch and two sockets are classes, the slowest the network") {
  // Devices 0-1 and 2-3 by NVLink, 0 to 3 below one switch, 4 to 7 below the other.
  const auto bandwidth = [](std::uint32_t a, std::uint32_t b) {
    return a / 2 == b / 2 && a < 4 ? 200e9 : a / 4 == b / 4 ? 25e9 : 11e9;
  };
  std::string text = records(false).substr(0, records(false).find('\n') + 1);
  const std::int64_t large = 1 << 26;
  const auto add = [&](const char* kind, std::uint32_t src, std::uint32_t dst, std::int64_t bytes,
                       double seconds) {
    const PairRecord record{.kind = kind,
                            .variant = "copy_engine",
                            .launch = "graph",
                            .src = src,
                            .dst = dst,
                            .bytes = bytes,
                            .time_s = {0.99 * seconds, seconds, 1.3 * seconds}};
    text += line(record, false);
  };
  for (std::uint32_t src = 0; src < 8; ++src) {
    for (std::uint32_t dst = 0; dst < 8; ++dst) {
      const double time = static_cast<double>(large) / bandwidth(src, dst);
      if (src != dst) { // noise of up to 10 %
        add("one_way", src, dst, large, (1 + 0.01 * ((src + 3 * dst) % 10)) * time);
      }
      if (src < dst) {
        add("pingpong", src, dst, 4, 2e-6);
        add("exchange", src, dst, large, 1.5 * time);
      }
    }
  }
  add("shift", 0, 0, large, 3 * static_cast<double>(large) / 11e9);
  const GpuSamples samples = parse_gpu_samples(text, "g.jsonl");
  const GpuFit fit = fit_gpu(samples, {});
  REQUIRE(fit.links.size() == 3);
  CHECK(fit.links[0].words == "nvlink");
  CHECK(fit.links[0].pairs == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {2, 3}});
  CHECK(fit.links[1].words == "pcie, below one switch");
  CHECK(fit.links[1].pairs.size() == 4 + 6);
  CHECK(fit.links[2].words == "pcie, across switches or sockets");
  CHECK(fit.links[2].pairs.size() == 16);
  CHECK(*fit.links[2].exchange == within(1.4, 0.08));
  CHECK(*fit.links[2].shift == within(2.8, 0.08));
  CHECK(!fit.links[0].shift);
  const links::NetworkProfile profile =
      io::parse_profile(gpu_calibration_tree(samples, fit, {"gpu", "test"}));
  REQUIRE(profile.links.size() == 3);
  CHECK(*profile.bandwidth_Bps == within(11e9, 0.1));
  CHECK(*profile.latency_s == within(2e-6, 1e-9));
  CHECK(device_links({}).empty());
}
