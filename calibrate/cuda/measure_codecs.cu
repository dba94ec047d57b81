// Codecs to time: 16, 8 and 4 bits, signs. What decodes the lists of other ranks does so for kLists
// of them, of n entries each, and counts k = kLists n entries.
#include "calibrate/cuda/kernel_blocks.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Decoding reads what encoding left in the arena or what it was filled with: the time does not
// depend on the values. Codes go round their buffers as values do.
void add_halves(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const auto halves = [=](std::int64_t i) {
    return a->halves.get() + window_offset(i, n, a->most);
  };
  blocks
      .push("truncate16_encode", "any", n, 0,
            [=](std::int64_t i) {
              truncate16(a->data(Distribution::gaussian, n, i), n, halves(i), a->stream.get());
            })
      .cache = a->cache_of(2 * a->most);
  blocks
      .push(
          "truncate16_decode", "any", n, 0,
          [=](std::int64_t i) { untruncate16(halves(i), n, a->target_of(n, i), a->stream.get()); })
      .cache = a->cache_of(2 * a->most);
}

void add_one_scale(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const auto codes = [=](std::int64_t i) { return a->codes.get() + window_offset(i, n, a->most); };
  blocks
      .push("quantize8_encode", "any", n, 0,
            [=](std::int64_t i) {
              quantize8(a->data(Distribution::gaussian, n, i), n, a->scale.get(), codes(i),
                        a->stream.get());
            })
      .cache = a->cache_of(a->most);
  blocks
      .push("quantize8_decode", "any", n, 0,
            [=](std::int64_t i) {
              dequantize8(codes(i), n, a->scale.get(), a->target_of(n, i), a->stream.get());
            })
      .cache = a->cache_of(a->most);
}

// Lists lie one after the other in their buffer, as far as it goes, and start again. n is a
// multiple of kBucket.
void add_buckets_of(KernelBlocks& blocks, std::int64_t n, int bits) {
  Arena* a = &blocks.arena;
  const std::string name = std::string(kBucketCodec) + std::to_string(bits);
  const char* const cache = a->cache_of(a->most * bits / 8);
  blocks
      .push(name + "_encode", "any", n, 0,
            [=](std::int64_t i) {
              const std::int64_t at = window_offset(i, n, a->most);
              quantize_buckets(a->data(Distribution::gaussian, n, i), n, bits,
                               a->scales.get() + at / kBucket,
                               a->packed.get() + at * bits / kWordBits, a->stream.get());
            })
      .cache = cache;
  blocks
      .push(name + "_decode", "any", n, kLists * n,
            [=](std::int64_t i) {
              for (int list = 0; list < kLists; ++list) {
                const std::int64_t at = window_offset(kLists * i + list, n, a->most);
                add_buckets(a->scales.get() + at / kBucket, a->packed.get() + at * bits / kWordBits,
                            n, bits, a->target_of(n, i), a->stream.get());
              }
            })
      .cache = cache;
}

void add_signs(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  const std::int64_t length = words_for(n, 1);
  blocks.push("pack_signs", "any", n, 0, [=](std::int64_t i) {
    const auto words = static_cast<std::int64_t>(a->words.size());
    pack_signs(a->data(Distribution::gaussian, n, i), n,
               a->words.get() + window_offset(i, length, words), a->stream.get());
  });
  blocks.push("vote_signs", "any", n, kLists * n, [=](std::int64_t i) {
    const auto words = static_cast<std::int64_t>(a->words.size());
    vote_signs(a->words.get() + window_offset(i, kLists * length, words), kLists, n,
               a->target_of(n, i), a->stream.get());
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

} // namespace stepsim::calibrate::gpu
