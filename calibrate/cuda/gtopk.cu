#include "calibrate/cuda/gtopk.cuh"

#include <algorithm>

#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Entries without a value stand behind all others, and add nothing.
void end_list(const List& list, const Workspace& work) {
  const SelectState* const state = work.state.get();
  run_in_blocks(grid_for(list.capacity), kThreads, work.stream, [=] __device__ {
    const std::uint32_t count = state->count;
    for_each_index(std::int64_t{list.capacity} - count, [&](std::int64_t i) {
      list.indices[count + i] = GtopkRanks::kNoEntry;
      list.values[count + i] = 0;
    });
  });
}

} // namespace

GtopkRanks::Rank::Rank(int on_device, std::int64_t most, std::uint32_t most_entries)
    : device(on_device), done(Event::Use::order), x(most), combined(2 * most_entries),
      own(2 * most_entries), received(2 * most_entries), merged(2 * most_entries),
      work(std::max<std::int64_t>(most, 2 * std::int64_t{most_entries}), stream) {}

GtopkRanks::GtopkRanks(std::uint32_t ranks, int devices, std::int64_t most,
                       std::uint32_t most_entries)
    : start_(Event::Use::order) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const DeviceGuard guard(static_cast<int>(rank) % devices);
    ranks_.emplace_back(static_cast<int>(rank) % devices, most, most_entries);
  }
}

void GtopkRanks::copy(const Rank& from, const Rank& to, const Buffer<std::uint32_t>& into,
                      std::uint32_t k) const {
  STEPSIM_CUDA(cudaStreamWaitEvent(to.stream, from.done, 0));
  STEPSIM_CUDA(cudaMemcpyAsync(into.get(), from.own.get(), std::size_t{k} * 8, cudaMemcpyDefault,
                               to.stream));
}

// A rank has one stream, and its event stands behind the last work whose list others copy. A list
// that was copied is overwritten only by the result, which comes from the rank that copied it.
void GtopkRanks::enqueue(std::int64_t n, std::uint32_t k) {
  start_.record(main_);
  for (Rank& rank : ranks_) {
    const DeviceGuard guard(rank.device);
    STEPSIM_CUDA(cudaStreamWaitEvent(rank.stream, start_, 0));
    const List own = list_in(rank.own, k);
    select_exact({rank.x.get(), n}, k, rank.work, own);
    end_list(own, rank.work);
    rank.done.record(rank.stream);
  }
  std::size_t distance = 1;
  for (; distance < ranks_.size(); distance *= 2) {
    for (std::size_t to = 0; to + distance < ranks_.size(); to += 2 * distance) {
      Rank& rank = ranks_[to];
      const DeviceGuard guard(rank.device);
      copy(ranks_[to + distance], rank, rank.received, k);
      const List own = list_in(rank.own, k);
      merge_lists(own, list_in(rank.received, k), k, rank.work, rank.merged, rank.combined.get(),
                  own);
      end_list(own, rank.work);
      rank.done.record(rank.stream);
    }
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    for (std::size_t from = 0; from + distance < ranks_.size(); from += 2 * distance) {
      const Rank& rank = ranks_[from + distance];
      const DeviceGuard guard(rank.device);
      copy(ranks_[from], rank, rank.own, k);
      rank.done.record(rank.stream);
    }
  }
  const DeviceGuard guard(0);
  for (const Rank& rank : ranks_) {
    STEPSIM_CUDA(cudaStreamWaitEvent(main_, rank.done, 0));
  }
}

} // namespace stepsim::calibrate::gpu
