// Every kernel beside the library function that says what it must give, before anything is timed
// (CAL 7.3). Data: normal, heavy-tailed, and small integers with many ties and zeros.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "calibrate/cuda/kernels.cuh"
#include "calibrate/cuda/measurement.cuh"
#include "calibrate/cuda/verify_parts.cuh"
#include "coll/codecs.hpp"
#include "coll/error_feedback.hpp"
#include "coll/gaussian_threshold.hpp"
#include "coll/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kSizes[] = {1, 5, 1000, 2048, 65'539, (1 << 20) + 1};
constexpr std::int64_t kMost = (1 << 20) + 1;
constexpr int kBisections = 16;

class Bench {
public:
  explicit Bench(Measurement& measurement)
      : measurement_(measurement), x_(kMost + 8), y_(kMost + 8), sample_(kMost / 100 + 1),
        work_(kMost), sample_work_(kMost), out_indices_(kMost), passed_indices_(kMost),
        out_values_(kMost), passed_values_(kMost), combined_(kMost), codes_(kMost), halves_(kMost),
        words_(kMost / 32 + 1), scale_(1), sort_(kMost) {}

  void run() {
    for (const std::int64_t n : kSizes) {
      for (int kind = 0; kind < 3; ++kind) {
        selections(n, kind);
        codecs(n, kind);
      }
      additions(n);
      lists(n);
    }
    refusal();
    measurement_.say("kernels: " + std::to_string(cases_) + " cases verified");
    measurement_.records(line(VerifiedRecord{"kernels", cases_}, measurement_.same_device));
  }

private:
  std::vector<float> data(std::int64_t n, int kind) {
    if (kind < 2) {
      fill_random(x_.get(), n, kind == 0 ? Distribution::gaussian : Distribution::heavy_tailed,
                  static_cast<std::uint64_t>(n), stream_.get());
      stream_.synchronize();
      return to_host(x_.get(), static_cast<std::size_t>(n));
    }
    std::vector<float> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(static_cast<int>(i * 7919 % 13) - 6); // -6 .. 6
    }
    to_device(x_.get(), values);
    return values;
  }
  [[nodiscard]] List out() const {
    return {out_indices_.get(), out_values_.get(), static_cast<std::uint32_t>(kMost)};
  }
  [[nodiscard]] List passed() const {
    return {passed_indices_.get(), passed_values_.get(), static_cast<std::uint32_t>(kMost)};
  }
  [[nodiscard]] SelectState state(const Workspace& work) const {
    stream_.synchronize();
    return to_host(work.state.get(), 1).front();
  }
  // What `out` holds is the expected list.
  void compare(const std::string& what, const Workspace& work, const HostList& expected) {
    const std::uint32_t count = state(work).count;
    check(count <= static_cast<std::uint32_t>(kMost), what + ": count out of range");
    check_equal(what + " indices", to_host(out_indices_.get(), count), expected.indices);
    check_equal(what + " values", to_host(out_values_.get(), count), expected.values);
    ++cases_;
  }

  void selections(std::int64_t n, int kind) {
    const std::vector<float> x = data(n, kind);
    const Input input{x_.get(), n, nullptr, nullptr};
    std::vector<std::int64_t> counts{1, n / 1000, n / 10, n / 4, n};
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    for (const std::int64_t wanted : counts) {
      if (wanted == 0) {
        continue;
      }
      const auto k = static_cast<std::uint32_t>(wanted);
      const std::string where =
          " n=" + std::to_string(n) + " k=" + std::to_string(k) + " data=" + std::to_string(kind);
      const HostList exact = host_list(coll::select_top_k(doubles(x), k));
      select_exact(input, k, work_, out(), stream_.get());
      compare("radix_select" + where, work_, exact);
      sampled(input, x, k, where);
      approximate(input, x, k, where);
    }
    sorted(n, x);
  }

  void sampled(const Input& input, const std::vector<float>& x, std::uint32_t k,
               const std::string& where) {
    select_sampled(input, k, work_, sample_work_, sample_.get(), passed(), out(), stream_.get());
    // The k largest of what is at least the threshold.
    const float threshold = state(work_).threshold;
    std::vector<float> left = x;
    for (float& value : left) {
      value = std::abs(value) >= threshold ? value : 0.0F;
    }
    compare("sampled_threshold" + where, sample_work_,
            host_list(coll::select_top_k(doubles(left), k)));
  }

  void approximate(const Input& input, const std::vector<float>& x, std::uint32_t k,
                   const std::string& where) {
    const auto n = static_cast<double>(x.size());
    const double z = coll::gaussian_threshold(std::min(1.0, k / n));
    select_gaussian(input, k, z, work_, out(), stream_.get());
    compare("gaussian_k" + where, work_, above(x, state(work_).threshold));
    check_gaussian_threshold(x, k, z, state(work_).threshold, "gaussian_k" + where);

    select_bisection(input, k, kBisections, work_, out(), stream_.get());
    const float threshold = state(work_).threshold;
    const HostList kept = above(x, threshold);
    compare("bisection" + where, work_, kept);
    const auto non_zero = x.size() - static_cast<std::size_t>(std::ranges::count(x, 0.0F));
    check(kept.values.size() >= std::min<std::size_t>(k, non_zero) || threshold == 0,
          "bisection" + where + ": fewer than k entries");

    select_above(input, 1.5F, work_, out(), stream_.get());
    compare("threshold_reuse" + where, work_, above(x, 1.5F));
  }

  // mu + z sigma times the corrections that its counts ask for. A count beside a bound may fall on
  // either side with a mean that is summed in another order: then anything that halvings give.
  void check_gaussian_threshold(const std::vector<float>& x, std::uint32_t k, double z, float got,
                                const std::string& what) {
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
    ++cases_;
  }

  void sorted(std::int64_t n, const std::vector<float>& x) {
    sort_magnitudes(x_.get(), n, sort_, stream_.get());
    stream_.synchronize();
    std::vector<std::int32_t> expected(x.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::ranges::stable_sort(expected, [&](std::int32_t a, std::int32_t b) {
      return magnitude_key(x[static_cast<std::size_t>(a)]) >
             magnitude_key(x[static_cast<std::size_t>(b)]);
    });
    check_equal("radix_sort n=" + std::to_string(n),
                to_host(sort_.indices_out.get(), expected.size()), expected);
    ++cases_;
  }

  void codecs(std::int64_t n, int kind) {
    const std::vector<float> x = data(n, kind);
    const auto count = static_cast<std::size_t>(n);
    const std::string where = " n=" + std::to_string(n) + " data=" + std::to_string(kind);
    truncate16(x_.get(), n, halves_.get(), stream_.get());
    untruncate16(halves_.get(), n, y_.get(), stream_.get());
    stream_.synchronize();
    const std::vector<std::uint16_t> halves = coll::truncate16(x);
    check_equal("truncate16" + where, to_host(halves_.get(), count), halves);
    check_equal("untruncate16" + where, to_host(y_.get(), count), coll::untruncate16(halves));

    quantize8(x_.get(), n, scale_.get(), codes_.get(), stream_.get());
    dequantize8(codes_.get(), n, scale_.get(), y_.get(), stream_.get());
    pack_signs(x_.get(), n, words_.get(), stream_.get());
    stream_.synchronize();
    const coll::Quantized8 quantized = coll::quantize8(x);
    check(magnitude_of(to_host(scale_.get(), 1).front()) == quantized.scale,
          "quantize8" + where + ": scale");
    check_equal("quantize8" + where, to_host(codes_.get(), count), quantized.codes);
    check_equal("dequantize8" + where, to_host(y_.get(), count), coll::dequantize8(quantized));
    std::vector<std::uint32_t> words((count + 31) / 32, 0);
    for (std::size_t i = 0; i < count; ++i) {
      words[i / 32] |= x[i] < 0 ? 1U << i % 32 : 0U;
    }
    check_equal("pack_signs" + where, to_host(words_.get(), words.size()), words);
    cases_ += 5;
  }

  // Any alignment of 4 bytes; words before and after stay.
  void additions(std::int64_t n) {
    const std::vector<float> x = data(n, 0);
    for (std::int64_t x_shift = 0; x_shift < 4; ++x_shift) {
      for (std::int64_t y_shift = 0; y_shift < 4; ++y_shift) {
        for (const bool adds : {true, false}) {
          std::vector<float> left(static_cast<std::size_t>(n + 8), 77.0F);
          std::vector<float> right(static_cast<std::size_t>(n + 8), -55.0F);
          for (std::size_t i = 0; i < x.size(); ++i) {
            left[i + static_cast<std::size_t>(x_shift)] = x[i];
            right[i + static_cast<std::size_t>(y_shift)] = 3 * x[x.size() - 1 - i];
          }
          to_device(x_.get(), left);
          to_device(y_.get(), right);
          if (adds) {
            add(x_.get() + x_shift, y_.get() + y_shift, n, stream_.get());
          } else {
            store(x_.get() + x_shift, y_.get() + y_shift, n, stream_.get());
          }
          stream_.synchronize();
          for (std::size_t i = 0; i < x.size(); ++i) {
            float& to = left[i + static_cast<std::size_t>(x_shift)];
            const float from = right[i + static_cast<std::size_t>(y_shift)];
            to = adds ? to + from : from;
          }
          check_equal((adds ? "add" : "store") + std::string(" n=") + std::to_string(n) +
                          " shifts " + std::to_string(x_shift) + ", " + std::to_string(y_shift),
                      to_host(x_.get(), left.size()), left);
          ++cases_;
        }
      }
    }
  }

  // Two lists with common indices and sums that are exact, some of them 0; k of their sum.
  void lists(std::int64_t n) {
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
      merging(a, b, n);
      adding_lists(a, n);
      residual(n);
    }
  }

  void merging(const HostList& a, const HostList& b, std::int64_t n) {
    const auto sparse = [&](const HostList& list) {
      const std::vector<std::int64_t> indices(list.indices.begin(), list.indices.end());
      return coll::make_sparse(indices, doubles(list.values), n);
    };
    const Buffer<std::int32_t> a_indices(a.indices.size());
    const Buffer<std::int32_t> b_indices(b.indices.size());
    const Buffer<float> a_values(a.values.size());
    const Buffer<float> b_values(b.values.size());
    to_device(a_indices.get(), a.indices);
    to_device(b_indices.get(), b.indices);
    to_device(a_values.get(), a.values);
    to_device(b_values.get(), b.values);
    const auto a_size = static_cast<std::uint32_t>(a.indices.size());
    const auto b_size = static_cast<std::uint32_t>(b.indices.size());
    for (const std::uint32_t k : {1U, a_size, a_size + b_size}) {
      merge_lists(a_indices.get(), a_values.get(), a_size, b_indices.get(), b_values.get(), b_size,
                  k, work_, passed(), combined_.get(), out(), stream_.get());
      compare("merge n=" + std::to_string(n) + " k=" + std::to_string(k), work_,
              host_list(coll::merge_top_k(sparse(a), sparse(b), k)));
    }
  }

  void adding_lists(const HostList& list, std::int64_t n) {
    std::vector<float> y = data(n, 2);
    STEPSIM_CUDA(
        cudaMemcpy(y_.get(), x_.get(), y.size() * sizeof(float), cudaMemcpyDeviceToDevice));
    to_device(out_indices_.get(), list.indices);
    to_device(out_values_.get(), list.values);
    scatter_add(y_.get(), out_indices_.get(), out_values_.get(),
                static_cast<std::uint32_t>(list.indices.size()), stream_.get());
    stream_.synchronize();
    for (std::size_t i = 0; i < list.indices.size(); ++i) {
      y[static_cast<std::size_t>(list.indices[i])] += list.values[i];
    }
    check_equal("scatter_add n=" + std::to_string(n), to_host(y_.get(), y.size()), y);
    ++cases_;
  }

  // One rank: residual = gradient + residual without what was sent (SPA 7).
  void residual(std::int64_t n) {
    const std::vector<float> gradient = data(n, 2);
    std::vector<float> owed(gradient.size());
    for (std::size_t i = 0; i < owed.size(); ++i) {
      owed[i] = 0.5F * static_cast<float>(i % 9);
    }
    const auto k = static_cast<std::uint32_t>(std::max<std::int64_t>(1, n / 10));
    const std::vector gradients{coll::to_sparse(doubles(gradient))};
    const std::vector residuals{coll::to_sparse(doubles(owed))};
    const coll::FeedbackStep step = coll::error_feedback_step(
        gradients, residuals, coll::SparseMethod::gtopk_tree, k, coll::ResidualMask::per_round);
    to_device(y_.get(), owed);
    add(y_.get(), x_.get(), n, stream_.get());
    const Input input{y_.get(), n, nullptr, nullptr};
    select_exact(input, k, work_, out(), stream_.get());
    clear_entries(y_.get(), out_indices_.get(), &work_.state.get()->count,
                  static_cast<std::uint32_t>(kMost), stream_.get());
    compare("residual: selected n=" + std::to_string(n), work_, host_list(step.selected.front()));
    const std::vector<double> left =
        coll::to_dense(step.outcome().residuals.front(), static_cast<std::size_t>(n));
    std::vector<float> got = to_host(y_.get(), left.size());
    std::ranges::replace(got, -0.0F, 0.0F);
    check_equal("residual n=" + std::to_string(n), got,
                std::vector<float>(left.begin(), left.end()));
    ++cases_;
  }

  // NaN and infinities are counted, wherever they stand.
  void refusal() {
    std::vector<float> x = data(65'539, 0);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    x[40'000] = -std::numeric_limits<float>::infinity();
    x[65'538] = std::numeric_limits<float>::infinity();
    to_device(x_.get(), x);
    const Input input{x_.get(), 65'539, nullptr, nullptr};
    select_exact(input, 10, work_, out(), stream_.get());
    check(state(work_).not_finite == 3, "radix_select: 3 values are not finite");
    select_gaussian(input, 10, 1.0, work_, out(), stream_.get());
    check(state(work_).not_finite == 3, "gaussian_k: 3 values are not finite");
    select_bisection(input, 10, 1, work_, out(), stream_.get());
    check(state(work_).not_finite == 3, "bisection: 3 values are not finite");
    cases_ += 3;
  }

  Measurement& measurement_;
  Stream stream_;
  Buffer<float> x_, y_, sample_;
  Workspace work_, sample_work_;
  Buffer<std::int32_t> out_indices_, passed_indices_;
  Buffer<float> out_values_, passed_values_, combined_;
  Buffer<std::int8_t> codes_;
  Buffer<std::uint16_t> halves_;
  Buffer<std::uint32_t> words_, scale_;
  SortSpace sort_;
  std::int64_t cases_ = 0;
};

} // namespace

void verify_kernels(Measurement& measurement) {
  const DeviceGuard guard(0);
  Bench(measurement).run();
}

} // namespace stepsim::calibrate::gpu
