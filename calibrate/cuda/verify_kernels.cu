// Checks every kernel against its host reference before any timing (verification, CAL 7.3). There
// is one file per family of kernels; kernel_bench.cuh holds what they share. Sizes lie below, at
// and above a tile of 2048 values; each is run with all kinds of data.
#include "calibrate/cuda/kernel_bench.cuh"
#include "calibrate/cuda/measurement.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kSizes[] = {1, 5, 1000, 2048, 65'539, kMostVerified};

} // namespace

KernelBench::KernelBench(std::int64_t most_elements)
    : most(most_elements), x(static_cast<std::size_t>(most + 8)),
      y(static_cast<std::size_t>(most + 8)), sample(static_cast<std::size_t>(most / 100 + 1)),
      work(most), sample_work(most), out_indices(static_cast<std::size_t>(most)),
      passed_indices(static_cast<std::size_t>(most)), out_values(static_cast<std::size_t>(most)),
      passed_values(static_cast<std::size_t>(most)), sort(most) {}

std::vector<float> KernelBench::fill(float* to, std::int64_t n, Data kind,
                                     std::uint64_t seed) const {
  if (kind != Data::integers) {
    fill_random(to, n, kind == Data::gaussian ? Distribution::gaussian : Distribution::heavy_tailed,
                seed, stream.get());
    stream.synchronize();
    return to_host(to, static_cast<std::size_t>(n));
  }
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>((i * 7919 + seed) % 13) - 6); // -6 .. 6
  }
  to_device(to, values);
  return values;
}

List KernelBench::out() const {
  return {out_indices.get(), out_values.get(), static_cast<std::uint32_t>(most)};
}
List KernelBench::passed() const {
  return {passed_indices.get(), passed_values.get(), static_cast<std::uint32_t>(most)};
}
SelectState KernelBench::state(const Workspace& workspace) const {
  stream.synchronize();
  return to_host(workspace.state.get(), 1).front();
}

void KernelBench::compare(const std::string& what, const Workspace& workspace,
                          const HostList& expected) {
  const std::uint32_t count = state(workspace).count;
  check(count <= static_cast<std::uint32_t>(most), what + ": count out of range");
  check_equal(what + " indices", to_host(out_indices.get(), count), expected.indices);
  check_equal(what + " values", to_host(out_values.get(), count), expected.values);
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
  measurement.records(line(VerifiedRecord{"kernels", bench.cases}, measurement.same_device));
  return true;
}

} // namespace stepsim::calibrate::gpu
