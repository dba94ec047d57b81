#pragma once
// The options of schedules (MER 5, 6), which are keys next to `schedule`: one row per key, with the
// member of plan::ScheduleOptions for its value. The table of planners (plan/planners.hpp) says
// which keys each schedule has.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "plan/fixed_count.hpp"
#include "plan/planner_options.hpp"
#include "json/fields/key.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

template <class Value> using OptionMember = Value plan::ScheduleOptions::*;

// A key, and the member that holds its value. Reader and writer visit the variant, which has one
// alternative per type of option, so that a new option of a known type only needs a row.
struct ScheduleOption {
  io::Key key;
  std::variant<OptionMember<Bytes>, OptionMember<std::optional<Bytes>>, OptionMember<Seconds>,
               OptionMember<bool>, OptionMember<double>, OptionMember<std::int64_t>,
               OptionMember<std::optional<std::int64_t>>, OptionMember<plan::DdpMode>,
               OptionMember<plan::PriorityPreset>, OptionMember<plan::Prefetch>>
      member;
};

inline constexpr std::array kScheduleOptions{
    ScheduleOption{integer("bucket_bytes", "Size of a bucket, bytes.")
                       .in(io::at_least(1))
                       .by_default(plan::kDefaultBucketBytes.value),
                   &plan::ScheduleOptions::bucket_bytes},
    ScheduleOption{integer("first_bucket_bytes",
                           "Size of the first bucket, bytes. The default is PyTorch's 1 MiB.")
                       .in(io::at_least(1))
                       .example("1048576"),
                   &plan::ScheduleOptions::first_bucket_bytes},
    ScheduleOption{
        word("ddp_mode", plan::kDdpModes, "When DDP fixes its buckets.").by_default("rebuilt"),
        &plan::ScheduleOptions::ddp_mode},
    ScheduleOption{
        integer("fusion_bytes", "Size of Horovod's fusion buffer, bytes; 0 switches fusion off.")
            .in(io::at_least(0))
            .by_default(plan::ScheduleOptions{}.fusion_bytes.value),
        &plan::ScheduleOptions::fusion_bytes},
    ScheduleOption{number("cycle_s", "Cycle time of Horovod, s.")
                       .in(io::at_least(0))
                       .by_default(plan::ScheduleOptions{}.cycle.value),
                   &plan::ScheduleOptions::cycle},
    ScheduleOption{number("phase_s", "Offset of Horovod's ticks, s.")
                       .in(io::at_least(0))
                       .by_default(0)
                       .example("0.0005"),
                   &plan::ScheduleOptions::phase},
    ScheduleOption{
        boolean("blocking", "Horovod's tick waits for the message before it.").by_default(false),
        &plan::ScheduleOptions::blocking},
    ScheduleOption{integer("concurrency", "Messages that are sent at once.")
                       .in(io::at_least(1))
                       .by_default(plan::ScheduleOptions{}.concurrency),
                   &plan::ScheduleOptions::concurrency},
    ScheduleOption{number("contention", "How much messages slow each other: k of them each have 1 "
                                        "/ (1 + contention (k - 1)) of "
                                        "the rate of one. The default is 0.5 with a measured cost "
                                        "or curve, else 1, which shares "
                                        "the link.")
                       .in(io::at_least(0))
                       .example("0.5"),
                   &plan::ScheduleOptions::contention},
    ScheduleOption{
        word("preset", plan::kPriorityPresets, "System whose chunks and credit are the defaults.")
            .by_default("bytescheduler"),
        &plan::ScheduleOptions::preset},
    ScheduleOption{integer("partition_bytes", "Bytes of a chunk. The default is the preset's.")
                       .in(io::at_least(1))
                       .example("4000000"),
                   &plan::ScheduleOptions::partition_bytes},
    ScheduleOption{integer("credit_bytes", "Bytes under way at once. The default is the preset's.")
                       .in(io::at_least(1))
                       .example("16000000"),
                   &plan::ScheduleOptions::credit_bytes},
    ScheduleOption{integer("dear_layers", "Layers of a bucket, instead of bucket_bytes.")
                       .in(io::at_least(1))
                       .example("4"),
                   &plan::ScheduleOptions::dear_layers},
    ScheduleOption{integer("buckets", "Number of buckets, at most that of the gradients.")
                       .in(io::between(1, plan::kMostBuckets))
                       .by_default(plan::ScheduleOptions{}.buckets)
                       .example("8"),
                   &plan::ScheduleOptions::buckets},
    ScheduleOption{word("prefetch", plan::kPrefetches, "When all-gathers start.").by_default("all"),
                   &plan::ScheduleOptions::prefetch}};

// The words of the key `schedule`.
[[nodiscard]] std::vector<std::string_view> schedules();

// The default depends on the workload and the training algorithm, so the row has none; the sentence
// explains it.
inline constexpr io::Key kScheduleWord =
    word(
        "schedule", schedules,
        "How gradients are merged into messages; trace has the buckets that the trace was measured "
        "with. The default is trace where these buckets hold all gradients, else ddp; single for "
        "pipe_sgd and parameter_server.")
        .example(R"("wfbp")");

// The key `schedule` and then the keys of the rows above, without their members.
inline constexpr auto kScheduleKeys = [] {
  std::array<io::Key, kScheduleOptions.size() + 1> all{};
  all.front() = kScheduleWord;
  for (std::size_t i = 0; i < kScheduleOptions.size(); ++i) {
    all[i + 1] = kScheduleOptions[i].key;
  }
  return all;
}();

// The keys of the rows above without `schedule`, for a planner in a problem file.
inline constexpr auto kPlannerKeys = [] {
  std::array<io::Key, kScheduleOptions.size()> all{};
  for (std::size_t i = 0; i < kScheduleOptions.size(); ++i) {
    all[i] = kScheduleOptions[i].key;
  }
  return all;
}();

// An object with the keys of a schedule only, for the dense baseline of a compression.
inline constexpr io::Key kSchedule = object("schedule", kScheduleKeys, "A schedule with its keys.");

} // namespace stepsim::study::keys
