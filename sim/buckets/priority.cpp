// P3, ByteScheduler, TicTac: every gradient is cut into chunks, the chunk of the first layer that
// is ready goes first, and only so many bytes as the credit allows are under way (MER 6.2).
//
//     partition 6, credit 1    a chunk at a time: layer 1 waits for one chunk at most, and no
//                              start-up hides behind data
//     partition 6, credit 12   two or three chunks: start-ups hide behind data, but urgent chunks
//                              wait longer
//
// Backward runs from the last layer to the first, so what becomes ready is more urgent than all
// that waits: the queue is a stack of runs of chunks.
#include "buckets/sending.hpp"

#include <fmt/core.h>

#include <numeric>

#include "base/collected.hpp"
#include "base/quantity.hpp"

namespace stepsim::buckets {

ScheduleOptions with_preset(ScheduleOptions options, PriorityPreset preset,
                            std::int64_t element_bytes) {
  options.preset = preset;
  switch (preset) {
  case PriorityPreset::bytescheduler:
    options.partition_bytes = Bytes{1'000'000 * element_bytes};
    options.credit_bytes = Bytes{4'000'000 * element_bytes};
    break;
  case PriorityPreset::p3:
    options.partition_bytes = Bytes{50'000 * element_bytes};
    options.credit_bytes = Bytes{1};
    break;
  case PriorityPreset::tictac:
    options.partition_bytes.reset();
    options.credit_bytes = Bytes{1};
    break;
  }
  return options;
}

std::optional<std::string> too_many_chunks(std::span<const Bytes> bytes,
                                           const ScheduleOptions& options) {
  if (!options.partition_bytes) {
    return std::nullopt;
  }
  const std::int64_t most = options.partition_bytes->value;
  const std::int64_t chunks =
      base::sum_of<std::int64_t>(bytes, [&](Bytes each) { return (each.value + most - 1) / most; });
  if (chunks <= kMaxChunks) {
    return std::nullopt;
  }
  return fmt::format("{} cuts the gradients into {} chunks; at most {} are possible", most, chunks,
                     kMaxChunks);
}

// Chunks, the most urgent first: layers in forward order, chunks of a gradient in theirs.
Plan plan_priority(const Problem& problem, const ScheduleOptions& options) {
  std::vector<std::uint32_t> order(problem.items.size());
  std::iota(order.rbegin(), order.rend(), std::uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return problem.items[a].layer < problem.items[b].layer;
  });
  Plan plan;
  const std::vector<Bytes> sizes = base::collected<Bytes>(problem.items, &Item::bytes);
  if (const auto message = too_many_chunks(sizes, options)) {
    throw UsageError("partition_bytes: " + *message);
  }
  for (const std::uint32_t item : order) {
    const Bytes bytes = problem.items[item].bytes;
    const Bytes most = options.partition_bytes.value_or(bytes);
    for (Bytes left = bytes; left.value > 0; left -= most) {
      plan.groups.push_back(
          {.items = {item}, .bytes = std::min(left, most), .ready = problem.items[item].ready});
    }
  }
  return plan;
}

void send_by_priority(const Sending& sending, const SendInput& input, SendTimes& times) {
  assert(std::is_sorted(input.ready_s.rbegin(), input.ready_s.rend()) &&
         "less urgent chunks are ready first");
  const std::size_t count = sending.transfers.size();
  size_for(count, times);
  times.order.resize(count);
  times.waiting.resize(2 * count);
  const auto full = static_cast<double>(sending.options.credit_bytes.value);
  double credit = full;
  double data_free = input.channel_free_s; // end of the data of the chunk before
  std::size_t arrived = count;             // chunks arrived.. are ready
  std::size_t started = 0;                 // of times.order
  std::size_t completed = 0;               // of times.order
  std::size_t runs = 0;                    // that wait: first, end, first, end, .. in times.waiting
  double now = input.channel_free_s;
  while (started < count) {
    while (completed < started && times.end_s[times.order[completed]] <= now) {
      credit = std::min(credit + sending.transfers[times.order[completed]].bytes, full);
      ++completed;
    }
    if (arrived > 0 && input.ready_s[arrived - 1] <= now) {
      const auto end = static_cast<std::uint32_t>(arrived);
      while (arrived > 0 && input.ready_s[arrived - 1] <= now) {
        --arrived;
      }
      times.waiting[2 * runs] = static_cast<std::uint32_t>(arrived);
      times.waiting[2 * runs + 1] = end;
      ++runs;
    }
    while (runs > 0 && credit > 0) {
      std::uint32_t& first = times.waiting[2 * runs - 2];
      const std::uint32_t chunk = first++;
      if (first == times.waiting[2 * runs - 1]) {
        --runs;
      }
      const Transfer& transfer = sending.transfers[chunk];
      credit -= transfer.bytes;
      times.order[started++] = chunk;
      times.start_s[chunk] = now;
      data_free = std::max(now + transfer.startup_s, data_free) + transfer.data_s;
      times.end_s[chunk] = data_free;
    }
    const double completion = completed < started ? times.end_s[times.order[completed]] : kNever;
    const double arrival = arrived > 0 ? input.ready_s[arrived - 1] : kNever;
    now = std::max(now, std::min(completion, arrival));
  }
  times.finish_s = count > 0 ? data_free : 0.0;
  times.busy_s = busy_seconds(times);
}

std::string priority_settings(const ScheduleOptions& options) {
  const bool whole = !options.partition_bytes;
  const std::int64_t one = whole ? 1 : options.partition_bytes->value;
  std::string text = whole ? "whole gradients" : "chunks of " + base::readable_size(one);
  text += ", first layers first";
  return text + (options.credit_bytes.value <= one
                     ? ", one at a time"
                     : ", " + base::readable_size(options.credit_bytes.value) + " under way");
}

} // namespace stepsim::buckets
