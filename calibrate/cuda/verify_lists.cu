// Adding vectors and lists, merging, and the residual beside those of the library.
#include "base/random.hpp"
#include "calibrate/cuda/kernel_bench.cuh"
#include "collectives/operators/error_feedback.hpp"

namespace stepsim::calibrate::gpu {

namespace {

// Additions at all 16 pairs of offsets from a 16-byte boundary; the words before and after the
// vector must stay as they were.
void verify_additions(KernelBench& bench, std::int64_t n) {
  const std::vector<float> x = bench.data(n, Data::gaussian);
  for (std::size_t x_shift = 0; x_shift < 4; ++x_shift) {
    for (std::size_t y_shift = 0; y_shift < 4; ++y_shift) {
      std::vector<float> left(x.size() + 8, 77.0F);
      std::vector<float> right(x.size() + 8, -55.0F);
      for (std::size_t i = 0; i < x.size(); ++i) {
        left[i + x_shift] = x[i];
        right[i + y_shift] = 3 * x[x.size() - 1 - i];
      }
      to_device(bench.x.get(), left);
      to_device(bench.y.get(), right);
      add(bench.x.get() + x_shift, bench.y.get() + y_shift, n, bench.stream);
      for (std::size_t i = 0; i < x.size(); ++i) {
        left[i + x_shift] += right[i + y_shift];
      }
      bench.compare("add n=" + std::to_string(n) + " shifts " + std::to_string(x_shift) + ", " +
                        std::to_string(y_shift),
                    bench.x.get(), left);
    }
  }
}

// The nearest value of eight significant bits, ties to even; the quantum of the smallest is 2^-133.
float rounded_bf16(double value) {
  int exponent = 0;
  (void)std::frexp(value, &exponent);
  const int quantum = std::max(exponent - 8, -133);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum));
}

// Values of all exponents, of which every second is added to one of nearly its own size, and ties;
// at all offsets of both that a boundary of 16 bytes allows, alike and not.
void verify_bf16(KernelBench& bench, std::int64_t n) {
  const auto value_of_bits = [](std::uint64_t bits) { // finite
    const auto half = static_cast<std::uint16_t>(bits);
    return (half & 0x7f80U) == 0x7f80U ? static_cast<std::uint16_t>(half & 0xff7fU) : half;
  };
  const Buffer<std::uint16_t> on_x(n + 16);
  const Buffer<std::uint16_t> on_y(n + 16);
  for (const std::size_t x_shift : {0, 1, 7}) {
    for (const std::size_t y_shift : {x_shift, x_shift + 1}) {
      std::vector<std::uint16_t> x(static_cast<std::size_t>(n) + 16, 0x1234);
      std::vector<std::uint16_t> y(x.size(), 0x4321);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const std::uint64_t bits = base::mix64(i + 1);
        x[i + x_shift] = value_of_bits(bits);
        y[i + y_shift] = value_of_bits(i % 2 == 0 ? bits >> 16 : bits ^ (bits >> 16 & 0x81ffU));
      }
      to_device(on_x.get(), x);
      to_device(on_y.get(), y);
      add_bf16(on_x.get() + x_shift, on_y.get() + y_shift, n, bench.stream);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const double sum =
            static_cast<double>(from_upper_half(x[i + x_shift])) + from_upper_half(y[i + y_shift]);
        // Once to fp32 and once to bfloat16, as the kernel.
        x[i + x_shift] = upper_half(rounded_bf16(static_cast<float>(sum)));
      }
      bench.compare("add_bf16 n=" + std::to_string(n) + " shifts " + std::to_string(x_shift) +
                        ", " + std::to_string(y_shift),
                    on_x.get(), x);
    }
  }
}

// Tensors of lengths that are no multiples of four, and one longer than a piece, into a bucket and
// back; what lies between tensors, and behind both, must stay as it was.
void verify_bucket(KernelBench& bench, std::int64_t n) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = n; left > 0; left -= lengths.back()) {
    const std::int64_t wanted = lengths.size() % 3 == 0 ? kMostPiece + 5 : 61;
    lengths.push_back(std::min(left, wanted));
  }
  const TensorBucket bucket(lengths);
  const auto spread = static_cast<std::size_t>(bucket.spread);
  const std::vector<float> x = bench.data(n, Data::gaussian);
  const std::string where = " n=" + std::to_string(n);
  std::vector<float> tensors(spread + 8, 77.0F);
  std::size_t begin = 0;
  auto value = x.begin();
  for (const std::int64_t length : lengths) {
    std::copy_n(value, length, tensors.begin() + static_cast<std::ptrdiff_t>(begin));
    value += length;
    begin += static_cast<std::size_t>((length + kTensorAlignment - 1) / kTensorAlignment *
                                      kTensorAlignment);
  }
  check(begin == spread && bucket.elements == n, "bucket" + where + ": lengths");
  const Buffer<float> memory(tensors.size());
  to_device(memory.get(), tensors);
  std::vector<float> flat(x.size() + 8, -55.0F);
  to_device(bench.y.get(), flat);
  std::ranges::copy(x, flat.begin());
  flatten(bucket, memory.get(), bench.y.get(), bench.stream);
  bench.compare("bucket_flatten" + where, bench.y.get(), flat);
  for (float& each : flat) {
    each = -each;
  }
  to_device(bench.y.get(), flat);
  for (std::size_t i = 0; i < spread; ++i) {
    tensors[i] = tensors[i] == 77.0F ? 77.0F : -tensors[i];
  }
  unflatten(bucket, bench.y.get(), memory.get(), bench.stream);
  bench.compare("bucket_unflatten" + where, memory.get(), tensors);
}

ListSpace on_device(const HostList& list) {
  ListSpace space(list.values.size());
  to_device(space.indices.get(), list.indices);
  to_device(space.values.get(), list.values);
  return space;
}

// Both lists as one by index; of two entries with the same index that of list a comes first.
HostList merged_lists(const HostList& a, const HostList& b) {
  HostList merged;
  std::size_t of_a = 0;
  std::size_t of_b = 0;
  while (of_a < a.indices.size() || of_b < b.indices.size()) {
    const bool from_a =
        of_b == b.indices.size() || (of_a < a.indices.size() && a.indices[of_a] <= b.indices[of_b]);
    const HostList& list = from_a ? a : b;
    const std::size_t at = from_a ? of_a++ : of_b++;
    merged.indices.push_back(list.indices[at]);
    merged.values.push_back(list.values[at]);
  }
  return merged;
}

// k is 1, the length of one list, and that of both together, which the sum cannot exceed: common
// indices make it shorter. The merged list itself is compared as well, because a sum does not show
// in which order its two entries stand.
void verify_merge(KernelBench& bench, const HostList& a, const HostList& b, std::int64_t n) {
  const auto sparse = [&](const HostList& list) {
    const std::vector<std::int64_t> indices(list.indices.begin(), list.indices.end());
    return collectives::make_sparse(indices, doubles(list.values), n);
  };
  const ListSpace of_a = on_device(a);
  const ListSpace of_b = on_device(b);
  const Buffer<float> combined(a.values.size() + b.values.size());
  const auto a_size = static_cast<std::uint32_t>(a.values.size());
  for (const std::uint32_t k : {1U, a_size, a_size + static_cast<std::uint32_t>(b.values.size())}) {
    merge_lists(of_a, of_b, k, bench.work, bench.passed, combined.get(), bench.out);
    bench.compare("merge n=" + std::to_string(n) + " k=" + std::to_string(k), bench.work,
                  host_list(collectives::merge_top_k(sparse(a), sparse(b), k)));
  }
  const HostList merged = merged_lists(a, b);
  const std::string what = "merged list n=" + std::to_string(n);
  bench.compare(what + " indices", bench.passed.indices.get(), merged.indices);
  bench.compare(what + " values", bench.passed.values.get(), merged.values);
}

void verify_scatter(KernelBench& bench, const HostList& list, std::int64_t n) {
  std::vector<float> y = bench.data(n, Data::integers);
  STEPSIM_CUDA(
      cudaMemcpy(bench.y.get(), bench.x.get(), y.size() * sizeof(float), cudaMemcpyDeviceToDevice));
  const ListSpace of_list = on_device(list); // until the kernel has run
  scatter_add(bench.y.get(), of_list, bench.stream);
  for (std::size_t i = 0; i < list.indices.size(); ++i) {
    y[static_cast<std::size_t>(list.indices[i])] += list.values[i];
  }
  bench.compare("scatter_add n=" + std::to_string(n), bench.y.get(), y);
}

// One rank: residual = gradient + residual without what was sent (SPA 7).
void verify_residual(KernelBench& bench, std::int64_t n) {
  const std::vector<float> gradient = bench.data(n, Data::integers);
  std::vector<float> owed(gradient.size());
  for (std::size_t i = 0; i < owed.size(); ++i) {
    owed[i] = 0.5F * static_cast<float>(i % 9);
  }
  const auto k = static_cast<std::uint32_t>(std::max<std::int64_t>(1, n / 10));
  const std::vector gradients{collectives::to_sparse(doubles(gradient))};
  const std::vector residuals{collectives::to_sparse(doubles(owed))};
  const collectives::FeedbackStep step =
      collectives::error_feedback_step(gradients, residuals, collectives::SparseMethod::gtopk_tree,
                                       k, collectives::ResidualMask::per_round);
  to_device(bench.y.get(), owed);
  add(bench.y.get(), bench.x.get(), n, bench.stream);
  const Input input{bench.y.get(), n};
  select_exact(input, k, bench.work, bench.out);
  clear_entries(bench.y.get(), bench.out, &bench.work.state.get()->count, bench.stream);
  bench.compare("residual: selected n=" + std::to_string(n), bench.work,
                host_list(step.selected.front()));
  const std::vector<double> left =
      collectives::to_dense(step.outcome().residuals.front(), static_cast<std::size_t>(n));
  std::vector<float> got = to_host(bench.y.get(), left.size());
  std::ranges::replace(got, -0.0F, 0.0F);
  check_equal("residual n=" + std::to_string(n), got, std::vector<float>(left.begin(), left.end()));
  ++bench.cases;
}

// Integers, whose sum is exact in every order.
void verify_sums(KernelBench& bench, std::int64_t n) {
  const std::vector<float> x = bench.data(n, Data::integers);
  const Buffer<double> sum(1);
  sum_magnitudes(bench.x.get(), n, sum.get(), bench.stream);
  double expected = 0;
  for (const float value : x) {
    expected += std::abs(value);
  }
  bench.compare("sum of magnitudes n=" + std::to_string(n), sum.get(), {expected});
}

} // namespace

void verify_lists(KernelBench& bench, std::int64_t n) {
  verify_additions(bench, n);
  verify_sums(bench, n);
  verify_bf16(bench, n);
  verify_bucket(bench, n);
  // Two lists with common indices and sums that are exact, some of them 0; k of their sum.
  for (const std::int64_t stride : {1, 2, 7}) {
    HostList a;
    HostList b;
    for (std::int64_t i = 0; i < n / 2; i += stride) {
      a.indices.push_back(static_cast<std::int32_t>(i));
      a.values.push_back(static_cast<float>(i * 31 % 41 - 20) + 0.125F);
    }
    for (std::int64_t i = 0; i < n / 2; i += 3) {
      b.indices.push_back(static_cast<std::int32_t>(i));
      b.values.push_back(i % 6 == 0 ? -(static_cast<float>(i * 31 % 41 - 20) + 0.125F)
                                    : static_cast<float>(i % 5) + 0.25F);
    }
    if (a.indices.empty() || b.indices.empty()) {
      continue;
    }
    verify_merge(bench, a, b, n);
    verify_scatter(bench, a, n);
    verify_residual(bench, n);
  }
}

} // namespace stepsim::calibrate::gpu
