// Checks every kernel against its host reference before any timing (verification, CAL 7.3). There
// is one file per family of kernels; kernel_bench.cuh holds what they share. Sizes lie below, at
// and above a tile of 2048 values; each is run with all kinds of data.
#include "calibrate/cuda/kernel_bench.cuh"

#include <limits>
#include <numeric>

#include "calibrate/cuda/measurement.cuh"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kSizes[] = {1, 5, 1000, 2048, 65'539, kMostVerified};

void verify_sampled(KernelBench& bench, const Input& input, const std::vector<float>& x,
                    std::uint32_t k, const std::string& where) {
  select_sampled(input, k, bench.work, bench.sample_work, bench.sample.get(), bench.passed,
                 bench.out);
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
  List small = bench.passed;
  small.capacity = static_cast<std::uint32_t>(std::max<std::int64_t>(1, passing / 2));
  select_sampled(input, k, bench.work, bench.sample_work, bench.sample.get(), small, bench.out);
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
  select_gaussian(input, k, z, bench.work, bench.out);
  bench.compare("gaussian_k" + where, bench.work, above(x, bench.state(bench.work).threshold));
  check_gaussian_threshold(bench, x, k, z, bench.state(bench.work).threshold, "gaussian_k" + where);

  select_above(input, 1.5F, bench.work, bench.out);
  bench.compare("threshold_reuse" + where, bench.work, above(x, 1.5F));
  const std::vector<float> expected = above(x, 1.5F).values;
  copy_above(input.values, input.n, 1.5F, bench.out.values.get(), bench.sort);
  bench.compare("cub_select_if" + where, bench.sort.indices_out.get(),
                {static_cast<std::int32_t>(expected.size())});
  bench.compare("cub_select_if" + where, bench.out.values.get(), expected);
}

void verify_sort(KernelBench& bench, std::int64_t n, const std::vector<float>& x) {
  sort_magnitudes(bench.x.get(), n, bench.sort);
  std::vector<std::int32_t> expected(x.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::ranges::stable_sort(expected, [&](std::int32_t a, std::int32_t b) {
    return magnitude_key(x[static_cast<std::size_t>(a)]) >
           magnitude_key(x[static_cast<std::size_t>(b)]);
  });
  bench.compare("radix_sort n=" + std::to_string(n), bench.sort.indices_out.get(), expected);
}

void verify_data(KernelBench& bench, std::int64_t n, Data kind) {
  const std::vector<float> x = bench.data(n, kind);
  const Input input{bench.x.get(), n};
  for (const std::int64_t wanted : std::set<std::int64_t>{1, n / 1000, n / 10, n / 4, n}) {
    if (wanted == 0) {
      continue;
    }
    const auto k = static_cast<std::uint32_t>(wanted);
    const std::string where = case_text(n, kind) + " k=" + std::to_string(k);
    const HostList exact = host_list(collectives::select_top_k(doubles(x), k));
    select_exact(input, k, bench.work, bench.out);
    bench.compare("radix_select" + where, bench.work, exact);
    verify_sampled(bench, input, x, k, where);
    verify_approximate(bench, input, x, k, where);
  }
  verify_sort(bench, n, x);
}

} // namespace

KernelBench::KernelBench(std::int64_t most_elements)
    : most(most_elements), x(most + 8), y(most + 8), sample(most / 100 + 1), work(most, stream),
      sample_work(most, stream), out(most), passed(most), sort(most, stream) {}

std::vector<float> KernelBench::fill(float* to, std::int64_t n, Data kind,
                                     std::uint64_t seed) const {
  if (kind != Data::integers) {
    fill_random(to, n, kind == Data::gaussian ? Distribution::gaussian : Distribution::heavy_tailed,
                seed, stream);
    stream.synchronize();
    return to_host(to, n);
  }
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>((i * 7919 + seed) % 13) - 6); // -6 .. 6
  }
  to_device(to, values);
  return values;
}

void KernelBench::compare(const std::string& what, const Workspace& workspace,
                          const HostList& expected) {
  const std::uint32_t count = state(workspace).count;
  check(count <= static_cast<std::uint32_t>(most), what + ": count out of range");
  check_equal(what + " indices", to_host(out.indices.get(), count), expected.indices);
  check_equal(what + " values", to_host(out.values.get(), count), expected.values);
  ++cases;
}

std::string case_text(std::int64_t n, Data kind) {
  return " n=" + std::to_string(n) + " data=" + std::to_string(static_cast<int>(kind));
}

bool verify_kernels(Measurement& measurement) {
  const DeviceGuard guard(measurement.device);
  KernelBench bench;
  std::vector<std::function<void()>> parts;
  parts.push_back([&] {
    try {
      verify_low_rank(bench, LowRank(bench.stream));
    } catch (const NotAvailable& missing) {
      measurement.has_cublas = false;
      measurement.note("low-rank compression is left out: " + std::string(missing.what()));
    }
  });
  for (const std::int64_t n : kSizes) {
    parts.push_back([&bench, n] { verify_selections(bench, n); });
    parts.push_back([&bench, n] { verify_codecs(bench, n); });
    parts.push_back([&bench, n] { verify_lists(bench, n); });
  }
  parts.push_back([&bench] { verify_refusal(bench); });
  for (const auto& part : parts) {
    if (measurement.is_over()) {
      measurement.note("kernels: time was up after " + std::to_string(bench.cases) +
                       " verified cases; not timed");
      return false;
    }
    part();
  }
  measurement.say("kernels: " + std::to_string(bench.cases) + " cases verified");
  measurement.write(VerifiedRecord{"kernels", bench.cases});
  return true;
}

// Selections beside those of the library: exact, sampled, by threshold, and the full sort.

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
  const Input input{bench.x.get(), 65'539};
  select_exact(input, 10, bench.work, bench.out);
  check(bench.state(bench.work).not_finite == 3, "radix_select: 3 values are not finite");
  select_gaussian(input, 10, 1.0, bench.work, bench.out);
  check(bench.state(bench.work).not_finite == 3, "gaussian_k: 3 values are not finite");
  bench.cases += 2;
}

} // namespace stepsim::calibrate::gpu
