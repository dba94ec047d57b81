#pragma once
// The options of the planners, as plain values. The table of planners (planners.cpp) lists the keys
// of each planner; scenario/keys/schedule_keys.hpp and docs/algorithms.md explain the words.
#include <string>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"

namespace stepsim::buckets {

inline constexpr Bytes kDefaultBucketBytes{25 * 1024 * 1024};
inline constexpr Bytes kDefaultFusionBytes{128 * 1024 * 1024};
inline constexpr Seconds kDefaultCycle{1e-3};
inline constexpr std::int64_t kDefaultBuckets = 4;

enum class DdpMode { rebuilt, first_iteration, unused_parameters, last_small };
enum class PriorityPreset { bytescheduler, p3, tictac };
enum class Prefetch { all, one };
enum class ChannelShares { equal, by_size }; // of messages that are sent at once (sending.hpp)
inline constexpr auto kDdpModes = base::words<DdpMode>();
inline constexpr auto kPriorityPresets = base::words<PriorityPreset>();
inline constexpr auto kChannelShares = base::words<ChannelShares>();
// Releases of PyTorch. Those of 2026 make the first bucket as large as the others where a size was
// given, before 2.x it has 1 MiB (torch/nn/parallel/distributed.py).
enum class Framework { torch_2_x, torch_1_13 };
inline constexpr auto kFrameworks = base::words<Framework>(
    {{Framework::torch_2_x, "torch-2.x"}, {Framework::torch_1_13, "torch-1.13"}});
inline constexpr auto kPrefetches = base::words<Prefetch>();

// The keys of /communication that schedules read (MER 5). Comments name the schedules that read
// each.
struct ScheduleOptions {
  Bytes bucket_bytes = kDefaultBucketBytes; // ddp, dear; >= 1
  // ddp, >= 1; empty: 1 MiB if bucket_bytes has its default value or the framework is torch-1.13,
  // else bucket_bytes
  std::optional<Bytes> first_bucket_bytes;
  Framework framework{};                // ddp
  bool gradient_as_bucket_view = false; // DDP: gradients are in the memory of the buckets
  DdpMode ddp_mode = DdpMode::rebuilt;
  Bytes fusion_bytes = kDefaultFusionBytes; // horovod, >= 0; 0 = no fusion
  Seconds cycle = kDefaultCycle;            // horovod, >= 0
  Seconds phase{0};                         // horovod; first tick, s from the start of backward
  bool blocking = false; // horovod; a cycle waits for the previous cycle's messages
  // Messages that are sent at once, >= 1, what each has of the channel, and how much they slow each
  // other, >= 0 (sending.hpp): by default one after the other, and several share the channel.
  // asc_wfbp has other defaults (default_options()); it alone has a contention, and equal shares.
  std::int64_t concurrency = 1;
  ChannelShares channel_shares{};
  double contention = 1;
  PriorityPreset preset = PriorityPreset::bytescheduler; // priority
  // priority, >= 1; `with_preset` fills in the default of a preset. Empty = unlimited.
  std::optional<Bytes> partition_bytes = Bytes{4'000'000};
  // priority, >= 1; a chunk starts while fewer bytes than this are in flight. With the chunk, there
  // may be more.
  Bytes credit_bytes{16'000'000};
  std::optional<std::int64_t> dear_layers; // dear, >= 1: layers per group, replaces bucket_bytes
  Prefetch prefetch = Prefetch::all;       // dear; all-gathers back to back, or one group ahead
  std::int64_t buckets = kDefaultBuckets;  // fixed_count, >= 1
  // caps, at least one: sizes of the buckets in turn, the last one of all that follow; MiB of 2^20
  // bytes, > 0
  std::vector<double> caps_mib{1, 25};
  std::vector<std::vector<std::uint32_t>> groups; // groups: layers of each message, in launch order
  std::string schedule_name;                      // caps, groups: empty without a name
};

} // namespace stepsim::buckets
