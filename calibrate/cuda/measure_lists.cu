// Adding vectors and lists to time: what follows a selection. Lists of k entries are selected anew
// before each visit; as in a step of training they are in the cache when they are used. Adding goes
// over the lists of kLists ranks, one kernel after the other, as a rank does with what it has
// gathered.
#include "calibrate/cuda/kernel_blocks.cuh"

namespace stepsim::calibrate::gpu {

namespace {

void set_warm(KernelBlock& block, const std::function<void()>& prepare) {
  block.prepare = prepare;
  block.cache = kWarm;
}

void add_lists(KernelBlocks& blocks, std::int64_t n, std::uint32_t k) {
  Arena* a = &blocks.arena;
  const std::function<void()> prepare = [=] {
    select_exact(a->input(Distribution::gaussian, n, 0), k, a->work, a->a(), a->stream.get());
    select_exact(a->input(Distribution::heavy_tailed, n, 0), k, a->work, a->b(), a->stream.get());
    a->stream.synchronize();
  };
  if (2 * std::int64_t{k} <= a->entries) {
    set_warm(blocks.push("merge", "any", n, k,
                         [=](std::int64_t) {
                           merge_lists(a->a_indices.get(), a->a_values.get(), k, a->b_indices.get(),
                                       a->b_values.get(), k, k, a->work, a->passed(),
                                       a->combined.get(), a->out(), a->stream.get());
                         }),
             prepare);
  }
  set_warm(blocks.push("scatter_add", "any", n, kLists * std::int64_t{k},
                       [=](std::int64_t i) {
                         for (int list = 0; list < kLists; ++list) {
                           const bool first = list % 2 == 0;
                           scatter_add(
                               a->target_of(n, i), first ? a->a_indices.get() : a->b_indices.get(),
                               first ? a->a_values.get() : a->b_values.get(), k, a->stream.get());
                         }
                       }),
           prepare);
  blocks
      .push("residual_update", "any", n, k,
            [=](std::int64_t i) {
              float* residual = a->target_of(n, i);
              add(residual, a->data(Distribution::gaussian, n, i), n, a->stream.get());
              clear_entries(residual, a->a_indices.get(), &a->work.state.get()->count, k,
                            a->stream.get());
            })
      .prepare = prepare;
}

} // namespace

void add_list_blocks(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  blocks.push("reduce_add", "any", n, 0, [=](std::int64_t i) {
    add(a->target_of(n, i), a->data(Distribution::gaussian, n, i), n, a->stream.get());
  });
  for (const std::uint32_t k : selected_counts(n)) {
    add_lists(blocks, n, k);
  }
}

} // namespace stepsim::calibrate::gpu
