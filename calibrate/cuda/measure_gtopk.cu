// gTop-k on all GPUs: verified next to the operator of the library, then timed (SPA 6).
#include "base/random.hpp"
#include "calibrate/cuda/gtopk.cuh"
#include "calibrate/cuda/kernel_bench.cuh"
#include "calibrate/cuda/measurement.cuh"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kMostVector = std::int64_t{1} << 24; // elements
constexpr std::int64_t kVerifiedLengths[] = {1, 7, 1000, 4099};
constexpr std::uint32_t kGtopkRanks[] = {1, 2, 3, 4, 5, 7, 8};
constexpr double kGtopkDensities[] = {1e-3, 1e-2};

// Eighths of whole numbers below `range`, many of them equal or 0 where it is small: sums are
// exact.
std::vector<float> eighths(std::int64_t n, std::uint64_t range, std::uint64_t seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t drawn = base::mix64(base::mix64(seed) + static_cast<std::uint64_t>(i));
    values.push_back((static_cast<float>(drawn % (2 * range - 1)) - static_cast<float>(range - 1)) /
                     8);
  }
  return values;
}

void verify(GtopkRanks& set, std::int64_t n, std::uint32_t k, std::uint64_t range) {
  std::vector<collectives::SparseVector> selected;
  for (std::uint32_t rank = 0; rank < set.ranks(); ++rank) {
    const DeviceGuard guard(set.device(rank));
    const std::vector<float> x = eighths(n, range, rank + 1);
    to_device(set.x(rank), x);
    selected.push_back(collectives::select_top_k(doubles(x), k));
  }
  const HostList expected =
      host_list(collectives::gtopk(collectives::SparseMethod::gtopk_tree, selected, k).result);
  set.enqueue(n, k);
  set.main().synchronize();
  for (std::uint32_t rank = 0; rank < set.ranks(); ++rank) {
    const DeviceGuard guard(set.device(rank));
    const List list = set.list(rank, k);
    const std::string what = "gtopk_tree P=" + std::to_string(set.ranks()) +
                             " n=" + std::to_string(n) + " k=" + std::to_string(k) +
                             " rank=" + std::to_string(rank);
    std::vector<std::int32_t> indices = to_host(list.indices, k);
    std::vector<float> values = to_host(list.values, k);
    const auto end = std::ranges::find(indices, GtopkRanks::kNoEntry) - indices.begin();
    indices.resize(static_cast<std::size_t>(end));
    values.resize(static_cast<std::size_t>(end));
    check_equal(what + " indices", indices, expected.indices);
    check_equal(what + " values", values, expected.values);
  }
}

} // namespace

bool verify_gtopk(Measurement& measurement) {
  std::int64_t cases = 0;
  for (const std::uint32_t ranks : kGtopkRanks) {
    for (const std::int64_t n : kVerifiedLengths) {
      const auto k = static_cast<std::uint32_t>(std::max<std::int64_t>(1, n / 10));
      GtopkRanks set(ranks, measurement.devices, n, k);
      for (const std::uint64_t range : {2, 7, 8000}) {
        if (measurement.is_over()) {
          measurement.note("gtopk: time was up after " + std::to_string(cases) +
                           " verified cases; not timed");
          return false;
        }
        verify(set, n, k, range);
        ++cases;
      }
    }
  }
  measurement.say("gtopk: " + std::to_string(cases) + " cases verified");
  measurement.write(VerifiedRecord{"gtopk", cases});
  return true;
}

void measure_gtopk(Measurement& measurement, double seconds) {
  if (measurement.ranks < 2) {
    return;
  }
  const std::int64_t per_device =
      (measurement.ranks + measurement.devices - 1) / measurement.devices;
  const std::int64_t most =
      std::min(kMostVector, measurement.free_bytes / 16 / per_device / std::int64_t{sizeof(float)});
  const auto most_entries =
      static_cast<std::uint32_t>(std::ranges::max(kGtopkDensities) * static_cast<double>(most)) + 1;
  GtopkRanks set(measurement.ranks, measurement.devices, most, most_entries);
  for (std::uint32_t rank = 0; rank < set.ranks(); ++rank) {
    const DeviceGuard guard(set.device(rank));
    const Stream stream;
    fill_random(set.x(rank), most, Distribution::gaussian, measurement.options.seed + rank, stream);
    stream.synchronize();
  }
  std::vector<Block<KernelRecord>> blocks;
  const std::string kernel = "gtopk_tree_p" + std::to_string(set.ranks());
  for (const std::int64_t n : kernel_sizes(most, measurement.options.dense)) {
    for (const double density : kGtopkDensities) {
      const auto k = static_cast<std::uint32_t>(density * static_cast<double>(n));
      blocks.push_back(
          {kernel + " n=" + std::to_string(n) + " k=" + std::to_string(k),
           {.kernel = kernel,
            .distribution = "gaussian",
            .n = n,
            .k = k,
            .achieved_k = k,
            .cache = kWarm},
           [&set, n, k] { return [&set, n, k](std::int64_t) { set.enqueue(n, k); }; }});
    }
  }
  time_blocks(measurement, set.main(), blocks, seconds, "gtopk");
}

} // namespace stepsim::calibrate::gpu
