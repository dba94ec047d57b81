// Selections to time, at every density and on both distributions, and what follows them: adding
// vectors and lists. Lists of k entries are selected anew before each visit; as in a step of
// training they are in the cache when they are used. Adding goes over the lists of kLists ranks,
// one kernel after the other, as a rank does with what it has gathered.
#include "calibrate/cuda/kernel_blocks.cuh"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

namespace {

std::string name(Distribution distribution) {
  return distribution == Distribution::gaussian ? "gaussian" : "heavy_tailed";
}

// The number of entries and the share of the magnitudes that one call on `input` gives, after the
// timed calls: approximate selectors give more or fewer entries than asked for. `state` holds the
// number after a call. Throws SimulationError for values that are not finite. The share is left out
// where the list overflowed.
void measure_quality(const Arena& arena, const Input& input, const SelectState* state,
                     const std::string& text, KernelRecord& out) {
  const SelectState got = value_of(state, arena.stream);
  const auto sum_of = [&](const float* x, std::int64_t count) {
    sum_magnitudes(x, count, arena.sum.get(), arena.stream);
    return value_of(arena.sum.get(), arena.stream);
  };
  if (got.not_finite > 0) {
    throw SimulationError(text + ": " + std::to_string(got.not_finite) + " values are not finite");
  }
  out.achieved_k = got.count;
  out.lost = got.lost;
  const auto written = std::min<std::int64_t>(got.count, arena.entries);
  const double all = sum_of(input.values, input.n);
  if (all > 0 && written == static_cast<std::int64_t>(got.count)) {
    out.mass_kept = written > 0 ? sum_of(arena.out.values.get(), written) / all : 0.0;
  }
}

void add_selectors(KernelBlocks& blocks, std::int64_t n, std::uint32_t k,
                   Distribution distribution) {
  Arena* a = &blocks.arena;
  const auto selector = [&](const char* kernel, const Workspace& result, const Call& call,
                            const std::function<void()>& prepare = {}) {
    auto& block = blocks.push(kernel, n, k, kCold, call, name(distribution));
    block.prepare = prepare;
    block.complete = [=, state = result.state.get(), text = block.text](KernelRecord& record) {
      call(0);
      measure_quality(*a, a->input(n, 0, distribution), state, text, record);
    };
  };
  selector("radix_select", a->work,
           [=](std::int64_t i) { select_exact(a->input(n, i, distribution), k, a->work, a->out); });
  // What is re-selected from rarely is more than 4 k; the rest of the buffer is not looked at.
  // Where more passes, the room is doubled until all of it fits.
  const auto sampled = [=](std::int64_t i) {
    List passed = a->passed;
    passed.capacity = std::min(passed.capacity, a->passed_capacity);
    select_sampled(a->input(n, i, distribution), k, a->work, a->sample_work, a->sample.get(),
                   passed, a->out);
  };
  selector("sampled_threshold", a->sample_work, sampled, [=] {
    for (std::int64_t room = 4 * std::int64_t{k} + 4096;; room *= 2) {
      a->passed_capacity = static_cast<std::uint32_t>(std::min(room, a->entries));
      sampled(0);
      if (value_of(a->sample_work.state.get(), a->stream).lost == 0 || room >= a->entries) {
        return;
      }
    }
  });
  const double z = collectives::gaussian_threshold(static_cast<double>(k) / static_cast<double>(n));
  selector("gaussian_k", a->work, [=](std::int64_t i) {
    select_gaussian(a->input(n, i, distribution), k, z, a->work, a->out);
  });
  // The threshold of the first window is found before each visit and used for all windows, as a
  // method that computes a new threshold only every few steps does. Other windows then give about k
  // entries.
  selector(
      "threshold_reuse", a->work,
      [=](std::int64_t i) {
        select_above(a->input(n, i, distribution), a->threshold, a->work, a->out);
      },
      [=] {
        find_threshold(a->input(n, 0, distribution), k, a->work);
        a->threshold = magnitude_of(value_of(a->work.state.get(), a->stream).selection.threshold);
      });
}

void add_lists(KernelBlocks& blocks, std::int64_t n, std::uint32_t k) {
  Arena* a = &blocks.arena;
  const auto add_block = [&](const char* kernel, std::int64_t entries, const char* cache,
                             const Call& call) {
    blocks.push(kernel, n, entries, cache, call).prepare = [=] {
      select_exact(a->input(n, 0), k, a->work, a->first);
      select_exact(a->input(n, 0, Distribution::heavy_tailed), k, a->work, a->second);
      a->stream.synchronize();
    };
  };
  const auto cut = [=](List list) {
    list.capacity = k;
    return list;
  };
  if (2 * std::int64_t{k} <= a->entries) {
    add_block("merge", k, kWarm, [=](std::int64_t) {
      merge_lists(cut(a->first), cut(a->second), k, a->work, a->passed, a->combined.get(), a->out);
    });
  }
  add_block("scatter_add", kLists * std::int64_t{k}, kWarm, [=](std::int64_t i) {
    for (int list = 0; list < kLists; ++list) {
      scatter_add(a->target_of(n, i), cut(list % 2 == 0 ? a->first : a->second), a->stream);
    }
  });
  add_block("residual_update", k, kCold, [=](std::int64_t i) {
    float* residual = a->target_of(n, i);
    add(residual, a->data(n, i), n, a->stream);
    clear_entries(residual, cut(a->first), &a->work.state.get()->count, a->stream);
  });
}

// k tensors of about n elements together: a long one and one of a 64th of its length in turn, as
// weights and biases of a network, of whole groups of four elements.
void add_bucket(KernelBlocks& blocks, std::int64_t n, std::int64_t k) {
  Arena* a = &blocks.arena;
  const std::int64_t pair = 2 * n / k / 260 * 4; // elements of the short one
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < k; i += 2) {
    lengths.insert(lengths.end(), {64 * pair, pair});
  }
  const auto bucket = std::make_shared<const TensorBucket>(lengths);
  const std::int64_t spread = bucket->spread;
  if (pair == 0 || spread > a->most) {
    return;
  }
  blocks.push("bucket_flatten", bucket->elements, k, kCold, [=](std::int64_t i) {
    flatten(*bucket, a->data(spread, i), a->target_of(n, i), a->stream);
  });
  blocks.push("bucket_unflatten", bucket->elements, k, kCold, [=](std::int64_t i) {
    unflatten(*bucket, a->data(n, i), a->target_of(spread, i), a->stream);
  });
}

constexpr int kRanks[] = {4, 32};

// Lists lie one after the other in their buffer, as far as it goes, and start again. n is a
// multiple of kBucket.
void add_buckets_of(KernelBlocks& blocks, std::int64_t n, int bits) {
  Arena* a = &blocks.arena;
  const std::string name = std::string(kBucketCodec) + std::to_string(bits);
  const char* const cache = a->cache_of(a->most * bits / 8);
  const auto scales = [=](std::int64_t at) { return a->scales.get() + at / kBucket; };
  const auto packed = [=](std::int64_t at) { return a->packed.get() + at * bits / kWordBits; };
  blocks.push(name + "_encode", n, 0, cache, [=](std::int64_t i) {
    const std::int64_t at = window_offset(i, n, a->most);
    quantize_buckets(a->data(n, i), n, bits, scales(at), packed(at), a->stream);
  });
  blocks.push(name + "_decode", n, kLists * n, cache, [=](std::int64_t i) {
    for (int list = 0; list < kLists; ++list) {
      const std::int64_t at = window_offset(kLists * i + list, n, a->most);
      add_buckets(scales(at), packed(at), n, bits, a->target_of(n, i), a->stream);
    }
  });
}

} // namespace

void add_list_blocks(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  blocks.push("copy_on_device", n, 0, kCold, [=](std::int64_t i) {
    STEPSIM_CUDA(cudaMemcpyAsync(a->target_of(n, i), a->data(n, i), bytes_of_floats(n),
                                 cudaMemcpyDeviceToDevice, a->stream));
  });
  blocks.push("reduce_add", n, 0, kCold,
              [=](std::int64_t i) { add(a->target_of(n, i), a->data(n, i), n, a->stream); });
  const char* const cache = a->cache_of(2 * a->most);
  blocks.push("reduce_add_bf16", n, 0, cache, [=](std::int64_t i) {
    auto* const x = reinterpret_cast<std::uint16_t*>(a->target_of(n / 2, i));
    add_bf16(x, a->halves.get() + window_offset(i, n, a->most), n, a->stream);
  });
  for (const std::int64_t tensors : {2, 16, 128}) {
    add_bucket(blocks, n, tensors);
  }
  for (const std::uint32_t k : selected_counts(n)) {
    add_lists(blocks, n, k);
  }
}

void add_selection_blocks(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  for (const Distribution distribution : {Distribution::gaussian, Distribution::heavy_tailed}) {
    const auto sort = [=](std::int64_t i) {
      sort_magnitudes(a->data(n, i, distribution), n, a->sort);
    };
    blocks.push("radix_sort", n, n, kCold, sort, name(distribution));
    // More than 2.5 standard deviations: about 1 % of Gaussian values.
    const auto copy = [=](std::int64_t i) {
      copy_above(a->data(n, i, distribution), n, 2.5F, a->update_of(n, i), a->sort);
    };
    blocks.push("cub_select_if", n, 0, kCold, copy, name(distribution));
    for (const std::uint32_t k : selected_counts(n)) {
      add_selectors(blocks, n, k, distribution);
    }
  }
}

// Codecs to time: 16, 8 and 4 bits, signs, and the factors of low-rank compression. What decodes
// the lists of other ranks does so for kLists of them, of n entries each, and counts k = kLists n
// entries. Decoding reads what encoding left in the arena or what it was filled with: the time does
// not depend on the values. Codes go round their buffers as values do.
void add_codec_blocks(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const char* const of_halves = a->cache_of(2 * a->most);
  const auto halves = [=](std::int64_t i) {
    return a->halves.get() + window_offset(i, n, a->most);
  };
  blocks.push("truncate16_encode", n, 0, of_halves,
              [=](std::int64_t i) { truncate16(a->data(n, i), n, halves(i), a->stream); });
  blocks.push("truncate16_decode", n, 0, of_halves,
              [=](std::int64_t i) { untruncate16(halves(i), n, a->target_of(n, i), a->stream); });
  const char* const of_codes = a->cache_of(a->most);
  const auto codes = [=](std::int64_t i) { return a->codes.get() + window_offset(i, n, a->most); };
  blocks.push("quantize8_encode", n, 0, of_codes, [=](std::int64_t i) {
    quantize8(a->data(n, i), n, a->scale.get(), codes(i), a->stream);
  });
  blocks.push("quantize8_decode", n, 0, of_codes, [=](std::int64_t i) {
    dequantize8(codes(i), n, a->scale.get(), a->target_of(n, i), a->stream);
  });
  add_buckets_of(blocks, n, 4);
  add_buckets_of(blocks, n, 8);
  const auto words = [=](std::int64_t i, int lists) {
    return a->words.get() +
           window_offset(i, lists * words_for(n, 1), static_cast<std::int64_t>(a->words.size()));
  };
  blocks.push("pack_signs", n, 0, kCold,
              [=](std::int64_t i) { pack_signs(a->data(n, i), n, words(i, 1), a->stream); });
  blocks.push("vote_signs", n, kLists * n, kCold, [=](std::int64_t i) {
    vote_signs(words(i, kLists), kLists, n, a->target_of(n, i), a->stream);
  });
}

// A matrix of n elements, as square as a power of two allows, and factors of n values to make
// orthonormal. Layers of a model have other shapes; the costs of a scenario are per element,
// whatever the shape.
void add_low_rank_blocks(KernelBlocks& blocks, const LowRank& low_rank, std::int64_t n) {
  Arena* a = &blocks.arena;
  const LowRank* of = &low_rank;
  const int bits = std::bit_width(static_cast<std::uint64_t>(n)) - 1;
  const std::int64_t columns = std::int64_t{1} << (bits / 2);
  for (const int rank : kRanks) {
    const LowRankShape shape{static_cast<int>(n / columns), static_cast<int>(columns), rank};
    const std::string suffix = "_r" + std::to_string(rank);
    blocks.push("powersgd_left" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->left_factor(shape, a->data(n, i), a->right.get(), a->product.get());
    });
    blocks.push("powersgd_right" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->right_factor(shape, a->data(n, i), a->left.get(), a->product.get());
    });
    blocks.push("powersgd_decode" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->restore(shape, a->left.get(), a->right.get(), a->target_of(n, i), a->update_of(n, i));
    });
    blocks.push("powersgd_orthogonalize" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->orthogonalize(static_cast<int>(n / rank), rank, a->target_of(n, i));
    });
  }
}

} // namespace stepsim::calibrate::gpu
