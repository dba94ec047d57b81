// Times of the kernels that compression needs, of adding, and of copies to and from the host
// (CAL 7.3, 7.4; SPA 8.3). Selections run on windows that go round a region larger than twice the
// L2 cache, so that small sizes do not show the cache only.
#include <algorithm>
#include <functional>
#include <map>

#include "calibrate/cuda/kernels.cuh"
#include "calibrate/cuda/measurement.cuh"
#include "coll/gaussian_threshold.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr double kDensities[] = {1e-4, 1e-3, 1e-2, 0.1, 0.25};
constexpr int kBisections = 16;
constexpr std::uint32_t kLists = 8;                         // that scatter_add adds
constexpr std::int64_t kMostCopied = std::int64_t{1} << 26; // elements
constexpr std::int64_t kBytesPerElement = 80;               // of device memory, all buffers

std::string_view name(Distribution distribution) {
  return distribution == Distribution::gaussian ? "gaussian" : "heavy_tailed";
}

// All buffers, for vectors of up to `most` elements.
struct Arena {
  Arena(std::int64_t most_elements, std::int64_t l2_bytes)
      : most(most_elements), region(std::max(most, 2 * l2_bytes / 4)), entries(most / 2),
        gaussian(size(region)), heavy(size(region)), target(size(region)),
        sample(size(most / 100 + 1)), combined(size(entries)), out_values(size(entries)),
        passed_values(size(entries)), a_values(size(entries)), b_values(size(entries)),
        out_indices(size(entries)), passed_indices(size(entries)), a_indices(size(entries)),
        b_indices(size(entries)), codes(size(most)), halves(size(most)), words(size(most / 32 + 1)),
        scale(1), sum(1), work(most), sample_work(most), sort(most) {}
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  [[nodiscard]] const float* data(Distribution distribution) const {
    return distribution == Distribution::gaussian ? gaussian.get() : heavy.get();
  }
  [[nodiscard]] Input window(Distribution distribution, std::int64_t n,
                             std::int64_t repetition) const {
    return {data(distribution) + window_offset(repetition, n, region), n, nullptr, nullptr};
  }
  [[nodiscard]] List list(const Buffer<std::int32_t>& indices, const Buffer<float>& values) const {
    return {indices.get(), values.get(), static_cast<std::uint32_t>(entries)};
  }
  [[nodiscard]] List out() const { return list(out_indices, out_values); }
  [[nodiscard]] List passed() const { return list(passed_indices, passed_values); }
  [[nodiscard]] List a() const { return list(a_indices, a_values); }
  [[nodiscard]] List b() const { return list(b_indices, b_values); }

  std::int64_t most, region, entries;
  Buffer<float> gaussian, heavy, target, sample, combined;
  Buffer<float> out_values, passed_values, a_values, b_values;
  Buffer<std::int32_t> out_indices, passed_indices, a_indices, b_indices;
  Buffer<std::int8_t> codes;
  Buffer<std::uint16_t> halves;
  Buffer<std::uint32_t> words, scale;
  Buffer<double> sum;
  Workspace work, sample_work;
  SortSpace sort;
  Stream stream;
};

// One kernel at one size. `prepare` runs before each visit, `call` is what is timed.
struct KernelBlock {
  Measurement* measurement;
  Arena* arena;
  std::string kernel, distribution;
  std::int64_t n{};
  std::int64_t k{};
  std::function<void()> prepare;
  std::function<void(std::int64_t)> call;
  // Of selectors: where the number of entries stands after a call on `input`.
  const SelectState* state = nullptr;
  Input input{};

  [[nodiscard]] std::function<void(std::int64_t)> open() const {
    if (prepare) {
      prepare();
    }
    return call;
  }
  [[nodiscard]] std::string text() const {
    return kernel + " " + distribution + " n=" + std::to_string(n) + " k=" + std::to_string(k);
  }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    KernelRecord out;
    out.kernel = kernel;
    out.distribution = distribution;
    out.n = n;
    out.k = k;
    out.achieved_k = k;
    if (state != nullptr) {
      measure_quality(out);
    }
    out.pass = pass;
    out.repeats = repeats;
    out.time_s = seconds;
    measurement->records(line(out, measurement->same_device));
  }

private:
  // Entries and share of the magnitude that one call on the first window gives.
  void measure_quality(KernelRecord& out) const {
    call(0);
    SelectState got;
    const cudaStream_t stream = arena->stream.get();
    const auto sum_of = [&](const float* x, std::int64_t count) {
      double sum = 0;
      sum_magnitudes(x, count, nullptr, arena->sum.get(), stream);
      STEPSIM_CUDA(
          cudaMemcpyAsync(&sum, arena->sum.get(), sizeof(sum), cudaMemcpyDeviceToHost, stream));
      arena->stream.synchronize();
      return sum;
    };
    STEPSIM_CUDA(cudaMemcpyAsync(&got, state, sizeof(got), cudaMemcpyDeviceToHost, stream));
    arena->stream.synchronize();
    if (got.not_finite > 0) {
      throw SimulationError(text() + ": " + std::to_string(got.not_finite) +
                            " values are not finite");
    }
    out.achieved_k = got.count;
    const auto written = std::min<std::int64_t>(got.count, arena->entries);
    const double all = sum_of(input.values, n);
    if (all > 0 && written == static_cast<std::int64_t>(got.count)) {
      out.mass_kept = written > 0 ? sum_of(arena->out_values.get(), written) / all : 0.0;
    }
  }
};

class Blocks {
public:
  Blocks(Measurement& measurement, Arena& arena) : measurement_(measurement), arena_(arena) {}

  std::vector<KernelBlock> make() {
    for (const std::int64_t n : kernel_sizes(arena_.most, measurement_.options.dense)) {
      vectors(n);
      for (const Distribution distribution : {Distribution::gaussian, Distribution::heavy_tailed}) {
        sort(n, distribution);
        for (const double density : kDensities) {
          const auto k = static_cast<std::uint32_t>(density * static_cast<double>(n));
          if (k > 0) {
            selectors(n, k, distribution);
          }
        }
      }
      for (const double density : kDensities) {
        const auto k = static_cast<std::uint32_t>(density * static_cast<double>(n));
        if (k > 0) {
          lists(n, k);
        }
      }
    }
    return std::move(blocks_);
  }

private:
  KernelBlock& push(std::string kernel, std::string_view distribution, std::int64_t n,
                    std::int64_t k, std::function<void(std::int64_t)> call) {
    KernelBlock block;
    block.measurement = &measurement_;
    block.arena = &arena_;
    block.kernel = std::move(kernel);
    block.distribution = std::string(distribution);
    block.n = n;
    block.k = k;
    block.call = std::move(call);
    blocks_.push_back(std::move(block));
    return blocks_.back();
  }

  void vectors(std::int64_t n) {
    Arena* a = &arena_;
    const auto at = [a, n](std::int64_t i) { return window_offset(i, n, a->region); };
    push("reduce_add", "any", n, 0, [=](std::int64_t i) {
      add(a->target.get() + at(i), a->gaussian.get() + at(i), n, a->stream.get());
    });
    push("truncate16_encode", "any", n, 0, [=](std::int64_t i) {
      truncate16(a->gaussian.get() + at(i), n, a->halves.get(), a->stream.get());
    });
    push("truncate16_decode", "any", n, 0, [=](std::int64_t i) {
      untruncate16(a->halves.get(), n, a->target.get() + at(i), a->stream.get());
    });
    push("quantize8_encode", "any", n, 0, [=](std::int64_t i) {
      quantize8(a->gaussian.get() + at(i), n, a->scale.get(), a->codes.get(), a->stream.get());
    });
    push("quantize8_decode", "any", n, 0, [=](std::int64_t i) {
      dequantize8(a->codes.get(), n, a->scale.get(), a->target.get() + at(i), a->stream.get());
    });
    push("pack_signs", "any", n, 0, [=](std::int64_t i) {
      pack_signs(a->gaussian.get() + at(i), n, a->words.get(), a->stream.get());
    });
  }

  void sort(std::int64_t n, Distribution distribution) {
    Arena* a = &arena_;
    push("radix_sort", name(distribution), n, n, [=](std::int64_t i) {
      sort_magnitudes(a->window(distribution, n, i).values, n, a->sort, a->stream.get());
    });
  }

  void selectors(std::int64_t n, std::uint32_t k, Distribution distribution) {
    Arena* a = &arena_;
    const std::string_view data = name(distribution);
    const auto selector = [&](const char* kernel, const Workspace& result, auto call) {
      KernelBlock& block = push(kernel, data, n, k, call);
      block.state = result.state.get();
      block.input = a->window(distribution, n, 0);
    };
    selector("radix_select", a->work, [=](std::int64_t i) {
      select_exact(a->window(distribution, n, i), k, a->work, a->out(), a->stream.get());
    });
    // What is re-selected from rarely is more than 4 k; the rest of the buffer is not looked at.
    selector("sampled_threshold", a->sample_work, [=](std::int64_t i) {
      List passed = a->passed();
      passed.capacity = static_cast<std::uint32_t>(
          std::min<std::int64_t>(passed.capacity, 4 * std::int64_t{k} + 4096));
      select_sampled(a->window(distribution, n, i), k, a->work, a->sample_work, a->sample.get(),
                     passed, a->out(), a->stream.get());
    });
    const double z = coll::gaussian_threshold(static_cast<double>(k) / static_cast<double>(n));
    selector("gaussian_k", a->work, [=](std::int64_t i) {
      select_gaussian(a->window(distribution, n, i), k, z, a->work, a->out(), a->stream.get());
    });
    selector("bisection", a->work, [=](std::int64_t i) {
      select_bisection(a->window(distribution, n, i), k, kBisections, a->work, a->out(),
                       a->stream.get());
    });
    // The exact threshold of the first window, found before each visit.
    selector("threshold_reuse", a->work, [=, this](std::int64_t i) {
      select_above(a->window(distribution, n, i), threshold_, a->work, a->out(), a->stream.get());
    });
    blocks_.back().prepare = [=, this] {
      find_threshold(a->window(distribution, n, 0), k, a->work, a->stream.get());
      SelectState state;
      STEPSIM_CUDA(cudaMemcpyAsync(&state, a->work.state.get(), sizeof(state),
                                   cudaMemcpyDeviceToHost, a->stream.get()));
      a->stream.synchronize();
      threshold_ = magnitude_of(state.selection.threshold);
    };
  }

  // On two lists of k entries, selected anew before each visit.
  void lists(std::int64_t n, std::uint32_t k) {
    Arena* a = &arena_;
    const std::function<void()> prepare = [=] {
      select_exact(a->window(Distribution::gaussian, n, 0), k, a->work, a->a(), a->stream.get());
      select_exact(a->window(Distribution::heavy_tailed, n, 0), k, a->work, a->b(),
                   a->stream.get());
      a->stream.synchronize();
    };
    if (2 * std::int64_t{k} <= a->entries) {
      push("merge", "any", n, k, [=](std::int64_t) {
        merge_lists(a->a_indices.get(), a->a_values.get(), k, a->b_indices.get(), a->b_values.get(),
                    k, k, a->work, a->passed(), a->combined.get(), a->out(), a->stream.get());
      }).prepare = prepare;
    }
    push("scatter_add", "any", n, kLists * std::int64_t{k}, [=](std::int64_t i) {
      float* y = a->target.get() + window_offset(i, n, a->region);
      for (std::uint32_t list = 0; list < kLists; ++list) {
        const bool first = list % 2 == 0;
        scatter_add(y, first ? a->a_indices.get() : a->b_indices.get(),
                    first ? a->a_values.get() : a->b_values.get(), k, a->stream.get());
      }
    }).prepare = prepare;
    push("residual_update", "any", n, k, [=](std::int64_t i) {
      float* residual = a->target.get() + window_offset(i, n, a->region);
      add(residual, a->gaussian.get() + window_offset(i, n, a->region), n, a->stream.get());
      clear_entries(residual, a->a_indices.get(), &a->work.state.get()->count, k, a->stream.get());
    }).prepare = prepare;
  }

  Measurement& measurement_;
  Arena& arena_;
  std::vector<KernelBlock> blocks_;
  float threshold_ = 0; // of the visit under way
};

// Device to host and back, from page-locked and from ordinary memory.
std::vector<KernelBlock> copy_blocks(Measurement& measurement, Arena& arena,
                                     PinnedBuffer<float>& pinned, std::vector<float>& pageable) {
  std::vector<KernelBlock> blocks;
  Arena* a = &arena;
  for (std::int64_t n = 1 << 10; n <= static_cast<std::int64_t>(pinned.size()); n *= 4) {
    for (const bool to_host : {true, false}) {
      for (const bool is_pinned : {true, false}) {
        float* host = is_pinned ? pinned.get() : pageable.data();
        KernelBlock block;
        block.measurement = &measurement;
        block.arena = a;
        block.kernel = std::string(to_host ? "copy_to_host" : "copy_to_device") +
                       (is_pinned ? "_pinned" : "_pageable");
        block.distribution = "any";
        block.n = n;
        block.call = [=](std::int64_t i) {
          float* device = a->target.get() + window_offset(i, n, a->region);
          const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
          if (to_host) {
            STEPSIM_CUDA(
                cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, a->stream.get()));
          } else {
            STEPSIM_CUDA(
                cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, a->stream.get()));
          }
        };
        blocks.push_back(std::move(block));
      }
    }
  }
  return blocks;
}

} // namespace

void measure_kernels(Measurement& measurement, double seconds) {
  const DeviceGuard guard(0);
  const std::int64_t most =
      std::min(std::int64_t{1} << 28, measurement.free_bytes / kBytesPerElement);
  if (most < std::int64_t{1} << 28) {
    measurement.say("kernels: sizes cut to " + std::to_string(most) +
                    " elements, to fit the memory");
  }
  Arena arena(most, measurement.l2_bytes);
  fill_random(arena.gaussian.get(), arena.region, Distribution::gaussian, measurement.options.seed,
              arena.stream.get());
  fill_random(arena.heavy.get(), arena.region, Distribution::heavy_tailed,
              measurement.options.seed + 1, arena.stream.get());
  STEPSIM_CUDA(cudaMemsetAsync(arena.target.get(), 0,
                               static_cast<std::size_t>(arena.region) * sizeof(float),
                               arena.stream.get()));
  STEPSIM_CUDA(cudaMemsetAsync(arena.halves.get(), 0,
                               static_cast<std::size_t>(most) * sizeof(std::uint16_t),
                               arena.stream.get()));
  STEPSIM_CUDA(
      cudaMemsetAsync(arena.codes.get(), 1, static_cast<std::size_t>(most), arena.stream.get()));
  STEPSIM_CUDA(cudaMemsetAsync(arena.scale.get(), 0, sizeof(std::uint32_t), arena.stream.get()));
  arena.stream.synchronize();
  warm_up(arena.stream, [&](std::int64_t) {
    add(arena.target.get(), arena.gaussian.get(), arena.most, arena.stream.get());
  });
  Blocks builder(measurement, arena);
  std::vector<KernelBlock> blocks = builder.make();
  const std::int64_t copied = std::min(kMostCopied, most);
  PinnedBuffer<float> pinned(static_cast<std::size_t>(copied));
  std::vector<float> pageable(static_cast<std::size_t>(copied), 1.0F);
  std::ranges::move(copy_blocks(measurement, arena, pinned, pageable), std::back_inserter(blocks));
  measurement.say("kernels: " + std::to_string(blocks.size()) + " blocks to time");
  time_blocks(measurement, arena.stream, blocks, seconds, "kernels");
}

} // namespace stepsim::calibrate::gpu
