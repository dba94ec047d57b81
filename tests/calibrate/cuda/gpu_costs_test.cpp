// From recorded samples of kernels to what a scenario charges for compression (SPA 8.2, 9;
// CAL 7.3).
#include <doctest/doctest.h>

#include "calibrate/cuda/gpu_calibration.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::gpu;
using stepsim::testing::within;

namespace {

struct Kernel { // t = c0 + c1 n + c2 k
  std::string name;
  double c0, c1, c2;
  std::int64_t entries = 0; // k = entries n / 1024
  std::string distribution = "any";
};

std::string records(const std::vector<Kernel>& kernels) {
  Header header;
  header.ranks = 8;
  header.same_device = true;
  header.devices = {DeviceFacts{.name = "NVIDIA Test"}};
  header.peer_access = {{true}};
  std::string text = line(header);
  for (const Kernel& kernel : kernels) {
    for (const std::int64_t n : {1 << 16, 1 << 20, 1 << 24}) {
      const std::int64_t k = kernel.entries * n / 1024;
      KernelRecord record{.kernel = kernel.name,
                          .distribution = kernel.distribution,
                          .n = n,
                          .k = k,
                          .achieved_k = k};
      record.time_s = {kernel.c0 + kernel.c1 * static_cast<double>(n) +
                       kernel.c2 * static_cast<double>(k)};
      text += line(record, true);
    }
  }
  return text;
}

struct File {
  GpuFit fit;
  links::NetworkProfile profile;
};

File file_of(std::vector<Kernel> kernels) {
  kernels.push_back({"copy_to_host_pinned", 1e-5, 1e-10, 0}); // a file needs a link
  const GpuSamples samples = parse_gpu_samples(records(kernels), "g.jsonl");
  GpuFit fit = fit_gpu(samples, {});
  const io::Json tree = gpu_calibration_tree(samples, fit, {"gpu", "test"});
  return {std::move(fit), io::parse_profile(tree)}; // a file that we read
}

// Of a cost that the file has; negative where it has none.
double cost(const File& file, std::string_view method, std::string_view name) {
  for (const links::CompressionCosts& costs : file.profile.compression_costs) {
    for (const auto& [key, value] : costs.values) {
      if (costs.method == method && key == name) {
        return value;
      }
    }
  }
  return -1;
}

const std::vector<Kernel> kLowRank{{"powersgd_left_r4", 1e-6, 2e-12, 0},
                                   {"powersgd_right_r4", 2e-6, 3e-12, 0},
                                   {"powersgd_orthogonalize_r4", 8e-6, 5e-11, 0},
                                   {"powersgd_decode_r4", 4e-6, 7e-12, 0},
                                   {"powersgd_left_r32", 1e-5, 9e-12, 0}};

} // namespace

TEST_CASE(
    "gpu costs: powersgd has both products of rank 4 per element, Gram-Schmidt by its start") {
  const File file = file_of(kLowRank);
  CHECK(cost(file, "powersgd", "select_s") == within(1e-6 + 2e-6 + 8e-6, 1e-6));
  CHECK(cost(file, "powersgd", "select_s_per_element") == within(2e-12 + 3e-12, 1e-6));
  CHECK(cost(file, "powersgd", "select_s_per_entry") == -1);
  CHECK(cost(file, "powersgd", "scatter_s") == within(4e-6, 1e-6));
  CHECK(cost(file, "powersgd", "scatter_s_per_entry") == within(7e-12, 1e-6)); // m entries
  CHECK(file.profile.note.ends_with("; costs of powersgd at rank 4"));
  CHECK(file.fit.kernels.size() == 5 + 1); // other ranks are in the file, for people
}

TEST_CASE("gpu costs: without one of its kernels powersgd has no encoding") {
  std::vector<Kernel> kernels = kLowRank;
  kernels.erase(kernels.begin() + 1);
  const File file = file_of(kernels);
  CHECK(cost(file, "powersgd", "select_s") == -1);
  CHECK(cost(file, "powersgd", "scatter_s") == within(4e-6, 1e-6));
}

TEST_CASE("gpu costs: qsgd and signsgd decode the entries of all ranks and keep no residual") {
  constexpr std::int64_t kLists = 8 * 1024; // k = 8 n
  const File file = file_of({{"qsgd8_encode", 1e-6, 2e-12, 0},
                             {"qsgd8_decode", 3e-6, 0, 4e-13, kLists},
                             {"qsgd4_encode", 1e-5, 2e-11, 0},
                             {"pack_signs", 5e-6, 6e-13, 0},
                             {"vote_signs", 7e-6, 0, 8e-14, kLists},
                             {"residual_update", 2e-6, 9e-12, 0, 10}});
  CHECK(cost(file, "qsgd", "select_s") == within(1e-6, 1e-6));
  CHECK(cost(file, "qsgd", "select_s_per_element") == within(2e-12, 1e-6));
  CHECK(cost(file, "qsgd", "scatter_s") == within(3e-6, 1e-6));
  CHECK(cost(file, "qsgd", "scatter_s_per_entry") == within(4e-13, 1e-6));
  CHECK(cost(file, "signsgd", "select_s") == within(5e-6, 1e-6));
  CHECK(cost(file, "signsgd", "select_s_per_element") == within(6e-13, 1e-6));
  CHECK(cost(file, "signsgd", "scatter_s_per_entry") == within(8e-14, 1e-6));
  CHECK(cost(file, "qsgd", "residual_s_per_element") == 0);
  CHECK(cost(file, "signsgd", "residual_s_per_element") == 0);
  CHECK(cost(file, "any", "residual_s_per_element") == within(9e-12, 1e-6));
  CHECK(file.profile.note.ends_with("; costs of qsgd at 8 bits"));
}

TEST_CASE("gpu costs: selections, merges and lists of entries go to their names") {
  const File file = file_of({{"radix_select", 1e-5, 2e-12, 0, 10, "gaussian"},
                             {"radix_select", 9e-5, 9e-12, 0, 10, "heavy_tailed"},
                             {"threshold_reuse", 3e-6, 4e-12, 0, 10, "gaussian"},
                             {"merge", 2e-5, 0, 4e-11, 10},
                             {"scatter_add", 6e-6, 0, 7e-11, 80}});
  for (const char* method : {"topk", "gtopk_tree", "gtopk_exact", "hierarchical_topk"}) {
    CAPTURE(method);
    CHECK(cost(file, method, "select_s") == within(1e-5, 1e-6));
    CHECK(cost(file, method, "select_s_per_element") == within(2e-12, 1e-6));
  }
  CHECK(cost(file, "ok_topk", "select_s_per_element") == within(4e-12, 1e-6));
  CHECK(cost(file, "any", "merge_s") == within(2e-5, 1e-6));
  CHECK(cost(file, "any", "merge_s_per_entry") == within(4e-11, 1e-6));
  CHECK(cost(file, "any", "scatter_s_per_entry") == within(7e-11, 1e-6));
  CHECK(cost(file, "dgc", "select_s") == -1); // not measured
  CHECK(cost(file, "powersgd", "select_s") == -1);
}

TEST_CASE("gpu costs: a kernel that does not fit gives no cost") {
  std::string text = records({{"pack_signs", 5e-6, 6e-13, 0}});
  for (const std::int64_t n : {1 << 17, 1 << 18, 1 << 19}) {
    KernelRecord record{.kernel = "pack_signs", .distribution = "any", .n = n};
    record.time_s = {n == (1 << 18) ? 1e-3 : 1e-6};
    text += line(record, true);
  }
  const GpuFit fit = fit_gpu(parse_gpu_samples(text, "g.jsonl"), {});
  CHECK(compression_costs(fit).as_object().empty());
  REQUIRE(fit.warnings.size() == 1);
  CHECK(fit.warnings.front().starts_with("pack_signs (any): c0 + c1 n + c2 k is off by up to"));
}

TEST_CASE("gpu costs: a bucket reads and writes every byte on its way in and on its way out") {
  const Kernel in{"bucket_flatten", 1e-6, 4e-12, 0};
  const Kernel out{"bucket_unflatten", 2e-6, 6e-12, 0};
  const File file = file_of({in, out});
  REQUIRE(file.profile.copy_bandwidth_Bps.has_value());
  const double bytes = 4.0 * 1e6; // 4e-12 s + 6e-12 s for each of a million elements
  CHECK(4 * bytes / *file.profile.copy_bandwidth_Bps == within(1e-5, 1e-6));
  CHECK(!file_of({in}).profile.copy_bandwidth_Bps);
}
