// Selections beside those of the library: exact, sampled, by threshold, and the full sort.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "calibrate/cuda/kernel_bench.cuh"
#include "collectives/operators/gaussian_threshold.hpp"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

namespace {

void verify_sampled(KernelBench& bench, const Input& input, const std::vector<float>& x,
                    std::uint32_t k, const std::string& where) {
  select_sampled(input, k, bench.work, bench.sample_work, bench.sample.get(), bench.passed(),
                 bench.out(), bench.stream.get());
  // The k largest of what is at least the threshold.
  const float threshold = bench.state(bench.work).threshold;
  std::vector<float> left = x;
  for (float& value : left) {
    value = std::abs(value) >= threshold ? value : 0.0F;
  }
  bench.compare("sampled_threshold" + where, bench.sample_work,
                host_list(collectives::select_top_k(doubles(left), k)));
  check(bench.state(bench.sample_work).lost == 0, "sampled_threshold" + where + ": entries lost");
  // With too little room the first entries that pass are used, and the others are counted.
  const auto passing = static_cast<std::int64_t>(above(left, 0).values.size());
  List small = bench.passed();
  small.capacity = static_cast<std::uint32_t>(std::max<std::int64_t>(1, passing / 2));
  select_sampled(input, k, bench.work, bench.sample_work, bench.sample.get(), small, bench.out(),
                 bench.stream.get());
  const std::int64_t lost = bench.state(bench.sample_work).lost;
  check(lost == std::max<std::int64_t>(0, passing - small.capacity),
        "sampled_threshold" + where + ": " + std::to_string(lost) + " entries lost of " +
            std::to_string(passing));
  ++bench.cases;
}

// The threshold must be mu + z sigma times the corrections that its counts ask for. The kernel sums
// the mean in another order, so that a count next to a bound may fall on either side of it: every
// threshold on the way of the corrections is therefore right.
void check_gaussian_threshold(KernelBench& bench, const std::vector<float>& x, std::uint32_t k,
                              double z, float got, const std::string& what) {
  double sum = 0;
  double squares = 0;
  for (const float value : x) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto n = static_cast<double>(x.size());
  const double mean = sum / n;
  double expected = std::max(0.0, mean + z * std::sqrt(std::max(0.0, squares / n - mean * mean)));
  bool close = std::abs(got - expected) <= 1e-4 * expected + 1e-6;
  for (int i = 0; i < 3 && !close; ++i) {
    const auto count = static_cast<double>(above(x, static_cast<float>(expected)).values.size());
    if (3 * count < 2.0 * k) {
      expected *= 0.5;
    } else if (3 * count > 4.0 * k) {
      expected *= 1.5;
    }
    close = std::abs(got - expected) <= 1e-4 * expected + 1e-6;
  }
  check(close,
        what + ": threshold " + std::to_string(got) + ", expected " + std::to_string(expected));
  ++bench.cases;
}

void verify_approximate(KernelBench& bench, const Input& input, const std::vector<float>& x,
                        std::uint32_t k, const std::string& where) {
  const auto n = static_cast<double>(x.size());
  const double z = collectives::gaussian_threshold(std::min(1.0, k / n));
  select_gaussian(input, k, z, bench.work, bench.out(), bench.stream.get());
  bench.compare("gaussian_k" + where, bench.work, above(x, bench.state(bench.work).threshold));
  check_gaussian_threshold(bench, x, k, z, bench.state(bench.work).threshold, "gaussian_k" + where);

  select_above(input, 1.5F, bench.work, bench.out(), bench.stream.get());
  bench.compare("threshold_reuse" + where, bench.work, above(x, 1.5F));
}

void verify_sort(KernelBench& bench, std::int64_t n, const std::vector<float>& x) {
  sort_magnitudes(bench.x.get(), n, bench.sort, bench.stream.get());
  bench.stream.synchronize();
  std::vector<std::int32_t> expected(x.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::ranges::stable_sort(expected, [&](std::int32_t a, std::int32_t b) {
    return magnitude_key(x[static_cast<std::size_t>(a)]) >
           magnitude_key(x[static_cast<std::size_t>(b)]);
  });
  check_equal("radix_sort n=" + std::to_string(n),
              to_host(bench.sort.indices_out.get(), expected.size()), expected);
  ++bench.cases;
}

void verify_data(KernelBench& bench, std::int64_t n, Data kind) {
  const std::vector<float> x = bench.data(n, kind);
  const Input input{bench.x.get(), n, nullptr, nullptr};
  for (const std::int64_t wanted : std::set<std::int64_t>{1, n / 1000, n / 10, n / 4, n}) {
    if (wanted == 0) {
      continue;
    }
    const auto k = static_cast<std::uint32_t>(wanted);
    const std::string where = case_text(n, kind) + " k=" + std::to_string(k);
    const HostList exact = host_list(collectives::select_top_k(doubles(x), k));
    select_exact(input, k, bench.work, bench.out(), bench.stream.get());
    bench.compare("radix_select" + where, bench.work, exact);
    verify_sampled(bench, input, x, k, where);
    verify_approximate(bench, input, x, k, where);
  }
  verify_sort(bench, n, x);
}

} // namespace

void verify_selections(KernelBench& bench, std::int64_t n) {
  for (const Data kind : kData) {
    verify_data(bench, n, kind);
  }
}

// NaN and infinities are counted, wherever they stand.
void verify_refusal(KernelBench& bench) {
  std::vector<float> x = bench.data(65'539, Data::gaussian);
  x[0] = std::numeric_limits<float>::quiet_NaN();
  x[40'000] = -std::numeric_limits<float>::infinity();
  x[65'538] = std::numeric_limits<float>::infinity();
  to_device(bench.x.get(), x);
  const Input input{bench.x.get(), 65'539, nullptr, nullptr};
  select_exact(input, 10, bench.work, bench.out(), bench.stream.get());
  check(bench.state(bench.work).not_finite == 3, "radix_select: 3 values are not finite");
  select_gaussian(input, 10, 1.0, bench.work, bench.out(), bench.stream.get());
  check(bench.state(bench.work).not_finite == 3, "gaussian_k: 3 values are not finite");
  bench.cases += 2;
}

} // namespace stepsim::calibrate::gpu
