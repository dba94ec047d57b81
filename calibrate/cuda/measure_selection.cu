// Selections to time, at every density and on both distributions, and what follows them: adding
// vectors and lists. Lists of k entries are selected anew before each visit; as in a step of
// training they are in the cache when they are used. Adding goes over the lists of kLists ranks,
// one kernel after the other, as a rank does with what it has gathered.
#include <algorithm>

#include "calibrate/cuda/kernel_blocks.cuh"
#include "collectives/operators/gaussian_threshold.hpp"

namespace stepsim::calibrate::gpu {

namespace {

std::string_view name(Distribution distribution) {
  return distribution == Distribution::gaussian ? "gaussian" : "heavy_tailed";
}

// After all calls so far.
SelectState state_of(const Arena& arena, const Workspace& work) {
  SelectState state;
  STEPSIM_CUDA(cudaMemcpyAsync(&state, work.state.get(), sizeof(state), cudaMemcpyDeviceToHost,
                               arena.stream.get()));
  arena.stream.synchronize();
  return state;
}

void add_sort(KernelBlocks& blocks, std::int64_t n, Distribution distribution) {
  Arena* a = &blocks.arena;
  blocks.push("radix_sort", name(distribution), n, n, [=](std::int64_t i) {
    sort_magnitudes(a->data(distribution, n, i), n, a->sort, a->stream.get());
  });
}

// The threshold of the first window is found before each visit and used for all windows, as a
// method that computes a new threshold only every few steps does. Other windows then give about k
// entries.
void add_threshold_reuse(KernelBlocks& blocks, std::int64_t n, std::uint32_t k,
                         Distribution distribution) {
  Arena* a = &blocks.arena;
  KernelBlock& block =
      blocks.push("threshold_reuse", name(distribution), n, k, [=](std::int64_t i) {
        select_above(a->input(distribution, n, i), a->threshold, a->work, a->out(),
                     a->stream.get());
      });
  block.state = a->work.state.get();
  block.input = a->input(distribution, n, 0);
  block.prepare = [=] {
    find_threshold(a->input(distribution, n, 0), k, a->work, a->stream.get());
    a->threshold = magnitude_of(state_of(*a, a->work).selection.threshold);
  };
}

void add_selectors(KernelBlocks& blocks, std::int64_t n, std::uint32_t k,
                   Distribution distribution) {
  Arena* a = &blocks.arena;
  const auto selector = [&](const char* kernel, const Workspace& result, auto call) {
    KernelBlock& block = blocks.push(kernel, name(distribution), n, k, call);
    block.state = result.state.get();
    block.input = a->input(distribution, n, 0);
  };
  selector("radix_select", a->work, [=](std::int64_t i) {
    select_exact(a->input(distribution, n, i), k, a->work, a->out(), a->stream.get());
  });
  // What is re-selected from rarely is more than 4 k; the rest of the buffer is not looked at.
  // Where more passes, the room is doubled until all of it fits.
  const auto sampled = [=](std::int64_t i) {
    List passed = a->passed();
    passed.capacity = std::min(passed.capacity, a->passed_capacity);
    select_sampled(a->input(distribution, n, i), k, a->work, a->sample_work, a->sample.get(),
                   passed, a->out(), a->stream.get());
  };
  selector("sampled_threshold", a->sample_work, sampled);
  blocks.back().prepare = [=] {
    for (std::int64_t room = 4 * std::int64_t{k} + 4096;; room *= 2) {
      a->passed_capacity = static_cast<std::uint32_t>(std::min(room, a->entries));
      sampled(0);
      if (state_of(*a, a->sample_work).lost == 0 || room >= a->entries) {
        return;
      }
    }
  };
  const double z = collectives::gaussian_threshold(static_cast<double>(k) / static_cast<double>(n));
  selector("gaussian_k", a->work, [=](std::int64_t i) {
    select_gaussian(a->input(distribution, n, i), k, z, a->work, a->out(), a->stream.get());
  });
  add_threshold_reuse(blocks, n, k, distribution);
}

void add_lists(KernelBlocks& blocks, std::int64_t n, std::uint32_t k) {
  Arena* a = &blocks.arena;
  const std::function<void()> prepare = [=] {
    select_exact(a->input(Distribution::gaussian, n, 0), k, a->work, a->a(), a->stream.get());
    select_exact(a->input(Distribution::heavy_tailed, n, 0), k, a->work, a->b(), a->stream.get());
    a->stream.synchronize();
  };
  const auto first = [=](List list) {
    list.capacity = k;
    return list;
  };
  if (2 * std::int64_t{k} <= a->entries) {
    blocks.push_any("merge", n, k, kWarm, [=](std::int64_t) {
      merge_lists(first(a->a()), first(a->b()), k, a->work, a->passed(), a->combined.get(),
                  a->out(), a->stream.get());
    });
    blocks.back().prepare = prepare;
  }
  blocks.push_any("scatter_add", n, kLists * std::int64_t{k}, kWarm, [=](std::int64_t i) {
    for (int list = 0; list < kLists; ++list) {
      scatter_add(a->target_of(n, i), first(list % 2 == 0 ? a->a() : a->b()), a->stream.get());
    }
  });
  blocks.back().prepare = prepare;
  blocks.push_any("residual_update", n, k, kCold, [=](std::int64_t i) {
    float* residual = a->target_of(n, i);
    add(residual, a->data(Distribution::gaussian, n, i), n, a->stream.get());
    clear_entries(residual, first(a->a()), &a->work.state.get()->count, a->stream.get());
  });
  blocks.back().prepare = prepare;
}

} // namespace

void add_list_blocks(KernelBlocks& blocks, std::int64_t n) {
  Arena* a = &blocks.arena;
  blocks.push_any("reduce_add", n, 0, kCold, [=](std::int64_t i) {
    add(a->target_of(n, i), a->data(Distribution::gaussian, n, i), n, a->stream.get());
  });
  for (const std::uint32_t k : selected_counts(n)) {
    add_lists(blocks, n, k);
  }
}

void add_selection_blocks(KernelBlocks& blocks, std::int64_t n) {
  for (const Distribution distribution : {Distribution::gaussian, Distribution::heavy_tailed}) {
    add_sort(blocks, n, distribution);
    for (const std::uint32_t k : selected_counts(n)) {
      add_selectors(blocks, n, k, distribution);
    }
  }
}

} // namespace stepsim::calibrate::gpu
