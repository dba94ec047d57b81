// Low-rank compression to time: a matrix of n elements, as square as a power of two allows, and
// factors of n values to make orthonormal, by rank. Layers of a model have other shapes; the costs
// of a scenario are per element, whatever the shape.
#include <bit>

#include "calibrate/cuda/kernel_blocks.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kRanks[] = {4, 8, 16, 32};

// Of a number of elements: columns are the power of two at or below its root.
LowRankShape square_shape(std::int64_t n, int rank) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(n)) - 1;
  const std::int64_t columns = std::int64_t{1} << (bits / 2);
  return {n / columns, columns, rank};
}

void add_rank(KernelBlocks& blocks, std::int64_t n, int rank) {
  Arena* a = &blocks.arena;
  const LowRankShape shape = square_shape(n, rank);
  const std::string suffix = "_r" + std::to_string(rank);
  blocks.push("powersgd_left" + suffix, "any", n, 0, [=](std::int64_t i) {
    left_factor(shape, a->data(Distribution::gaussian, n, i), a->right.get(), a->product.get(),
                a->stream.get());
  });
  blocks.push("powersgd_right" + suffix, "any", n, 0, [=](std::int64_t i) {
    right_factor(shape, a->data(Distribution::gaussian, n, i), a->left.get(), a->low_rank,
                 a->product.get(), a->stream.get());
  });
  blocks.push("powersgd_decode" + suffix, "any", n, 0, [=](std::int64_t i) {
    restore(shape, a->left.get(), a->right.get(), a->target_of(n, i), a->update_of(n, i),
            a->stream.get());
  });
  const std::int64_t rows = n / rank;
  blocks.push("powersgd_orthogonalize" + suffix, "any", n, 0, [=](std::int64_t i) {
    orthogonalize(rows, rank, a->target_of(n, i), a->low_rank, a->stream.get());
  });
}

} // namespace

void add_low_rank_blocks(KernelBlocks& blocks, std::int64_t n) {
  for (const int rank : kRanks) {
    add_rank(blocks, n, rank);
  }
}

} // namespace stepsim::calibrate::gpu
