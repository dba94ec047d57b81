// Codecs to time: 16, 8 and 4 bits, signs, and the factors of low-rank compression. What decodes
// the lists of other ranks does so for kLists of them, of n entries each, and counts k = kLists n
// entries. Decoding reads what encoding left in the arena or what it was filled with: the time does
// not depend on the values. Codes go round their buffers as values do.
#include <bit>

#include "calibrate/cuda/kernel_blocks.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kRanks[] = {4, 32};

void add_halves(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const char* const cache = a->cache_of(2 * a->most);
  const auto halves = [=](std::int64_t i) {
    return a->halves.get() + window_offset(i, n, a->most);
  };
  blocks.push_any("truncate16_encode", n, 0, cache, [=](std::int64_t i) {
    truncate16(a->data(Distribution::gaussian, n, i), n, halves(i), a->stream.get());
  });
  blocks.push_any("truncate16_decode", n, 0, cache, [=](std::int64_t i) {
    untruncate16(halves(i), n, a->target_of(n, i), a->stream.get());
  });
}

void add_one_scale(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const char* const cache = a->cache_of(a->most);
  const auto codes = [=](std::int64_t i) { return a->codes.get() + window_offset(i, n, a->most); };
  blocks.push_any("quantize8_encode", n, 0, cache, [=](std::int64_t i) {
    quantize8(a->data(Distribution::gaussian, n, i), n, a->scale.get(), codes(i), a->stream.get());
  });
  blocks.push_any("quantize8_decode", n, 0, cache, [=](std::int64_t i) {
    dequantize8(codes(i), n, a->scale.get(), a->target_of(n, i), a->stream.get());
  });
}

// Lists lie one after the other in their buffer, as far as it goes, and start again. n is a
// multiple of kBucket.
void add_buckets_of(KernelBlocks& blocks, std::int64_t n, int bits) {
  Arena* a = &blocks.arena;
  const std::string name = std::string(kBucketCodec) + std::to_string(bits);
  const char* const cache = a->cache_of(a->most * bits / 8);
  const auto scales = [=](std::int64_t at) { return a->scales.get() + at / kBucket; };
  const auto packed = [=](std::int64_t at) { return a->packed.get() + at * bits / kWordBits; };
  blocks.push_any(name + "_encode", n, 0, cache, [=](std::int64_t i) {
    const std::int64_t at = window_offset(i, n, a->most);
    quantize_buckets(a->data(Distribution::gaussian, n, i), n, bits, scales(at), packed(at),
                     a->stream.get());
  });
  blocks.push_any(name + "_decode", n, kLists * n, cache, [=](std::int64_t i) {
    for (int list = 0; list < kLists; ++list) {
      const std::int64_t at = window_offset(kLists * i + list, n, a->most);
      add_buckets(scales(at), packed(at), n, bits, a->target_of(n, i), a->stream.get());
    }
  });
}

void add_signs(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const auto words = [=](std::int64_t i, int lists) {
    return a->words.get() +
           window_offset(i, lists * words_for(n, 1), static_cast<std::int64_t>(a->words.size()));
  };
  blocks.push_any("pack_signs", n, 0, kCold, [=](std::int64_t i) {
    pack_signs(a->data(Distribution::gaussian, n, i), n, words(i, 1), a->stream.get());
  });
  blocks.push_any("vote_signs", n, kLists * n, kCold, [=](std::int64_t i) {
    vote_signs(words(i, kLists), kLists, n, a->target_of(n, i), a->stream.get());
  });
}

} // namespace

void add_codec_blocks(KernelBlocks& blocks, std::int64_t n) {
  add_halves(blocks, n);
  add_one_scale(blocks, n);
  add_buckets_of(blocks, n, 4);
  add_buckets_of(blocks, n, 8);
  add_signs(blocks, n);
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
    blocks.push_any("powersgd_left" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->left_factor(shape, a->data(Distribution::gaussian, n, i), a->right.get(),
                      a->product.get());
    });
    blocks.push_any("powersgd_right" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->right_factor(shape, a->data(Distribution::gaussian, n, i), a->left.get(),
                       a->product.get());
    });
    blocks.push_any("powersgd_decode" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->restore(shape, a->left.get(), a->right.get(), a->target_of(n, i), a->update_of(n, i));
    });
    blocks.push_any("powersgd_orthogonalize" + suffix, n, 0, kCold, [=](std::int64_t i) {
      of->orthogonalize(static_cast<int>(n / rank), rank, a->target_of(n, i));
    });
  }
}

} // namespace stepsim::calibrate::gpu
