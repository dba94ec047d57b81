// From records of gpu_bench to a calibration file (CAL 5, 7.3).
#include "calibrate/cuda/gpu_fit.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "calibrate/cuda/gpu_calibration.hpp"
#include "files/profile_file.hpp"
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
  CHECK(lines == 1 + 3 * (6 * 4 + 3 * 7) + 2);
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
  CHECK(samples.kernels.size() == 3 * 3 * 7);
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
        "g.jsonl:2: record must be collective, kernel, verified, note or end");
  CHECK(failure(header + "{\"record\": \"kernel\", \"kernel\": \"a\", \"distribution\": \"any\", "
                         "\"n\": 0, \"k\": 0, \"achieved_k\": 0, \"pass\": 0, \"repeats\": 1, "
                         "\"time_s\": [1]}\n") == "g.jsonl:2: n must be an integer >= 1, got 0");
  CHECK(failure("") == "g.jsonl: empty");
}

TEST_CASE("gpu fit: constants of messages and kernels come back") {
  const GpuSamples samples = parse_gpu_samples(records(true), "g.jsonl");
  const GpuFit fit = fit_gpu(samples, {});
  REQUIRE(fit.message);
  CHECK(fit.message->startup_s == within(kAlpha, 1e-6));
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
    const net::NetworkProfile profile = io::parse_profile(tree); // the file is one that we read
    REQUIRE(profile.links.size() == 1);
    CHECK(profile.links.front().name == (same_device ? "same-device" : "nvlink"));
    CHECK(profile.links.front().per_byte_s == within(kBeta, 1e-6));
    CHECK(profile.bandwidth_Bps.has_value() == !same_device);
    if (!same_device) {
      CHECK(*profile.reduction_Bps == within(1 / 3e-13, 1e-6));
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
