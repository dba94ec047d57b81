#pragma once
// The options of schedules (MER 5, 6), which are keys next to `schedule`: one row per key, with the
// member of buckets::ScheduleOptions for its value. The table of planners (buckets/planners.hpp)
// says which keys each schedule has.

#include "buckets/planner_options.hpp"
#include "buckets/schedules.hpp"
#include "document/fields/members.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kCap{
    number("caps_mib", "MiB of 2^20 bytes.", io::above(0), "25").plain()};
inline constexpr std::array kLayerForms{
    text("groups", "Name of a layer.", R"("fc")"),
    integer("groups", "Place of a layer in forward order, from 0.", io::at_least(0), "3")};
inline constexpr std::array kGroupLayer{either("groups", kLayerForms, "A layer.", "3")};
inline constexpr std::array kGroup{
    list("groups", kGroupLayer, "Layers whose gradients are one message.", "[3, 2]").sizes(1)};
inline constexpr io::Key kCaps =
    list("caps_mib", kCap,
         "Sizes of the buckets of each element type in turn, MiB of 2^20 bytes; the last one "
         "repeats (PyTorch's bucket_cap_mb_list).",
         "[2, 8, 32]")
        .sizes(1)
        .by_default("[1, 25]");
inline constexpr io::Key kGroups = list("groups", kGroup,
                                        "Layers of each message, in the order in which messages "
                                        "are sent: every layer with a gradient is in one list.",
                                        R"([["fc"], [1, 0]])")
                                       .sizes(1);

inline constexpr io::Key kBucketBytes =
    integer("bucket_bytes", "Size of a bucket, bytes.", io::at_least(1))
        .by_default(buckets::kDefaultBucketBytes.value);

inline constexpr std::array kScheduleOptions{
    bound<&buckets::ScheduleOptions::bucket_bytes>(kBucketBytes),
    of<&buckets::ScheduleOptions::first_bucket_bytes>(
        integer("Size of the first bucket, bytes. The default is PyTorch's 1 MiB where "
                "bucket_bytes is the default or the framework is torch-1.13, else bucket_bytes.",
                io::at_least(1), "1048576")),
    of<&buckets::ScheduleOptions::framework>(
        word(buckets::kFrameworks,
             "Release of PyTorch, whose first bucket DDP has: 2.x takes the size that is given for "
             "the first bucket, too (from its source, not run), 1.13 always 1 MiB.")
            .by_default("torch-2.x", "the newest releases")
            .example(R"("torch-1.13")")),
    of<&buckets::ScheduleOptions::ddp_mode>(
        word(buckets::kDdpModes, "When DDP fixes its buckets.").by_default("rebuilt")),
    of<&buckets::ScheduleOptions::gradient_as_bucket_view>(
        boolean("Gradients are views of DDP's buckets, which are a second copy otherwise. Times "
                "do not depend on it.")
            .by_default(false, "PyTorch's default")),
    of<&buckets::ScheduleOptions::fusion_bytes>(
        integer("Size of Horovod's buffer of tensor fusion, bytes; 0 switches fusion off.",
                io::at_least(0))
            .by_default(buckets::kDefaultFusionBytes.value)),
    of<&buckets::ScheduleOptions::cycle>(number("Cycle time of Horovod, s.", io::at_least(0))
                                             .by_default(buckets::kDefaultCycle.value)),
    of<&buckets::ScheduleOptions::phase>(
        number("Offset of Horovod's ticks, s.", io::at_least(0), "0.0005").by_default(0)),
    of<&buckets::ScheduleOptions::blocking>(
        boolean("Horovod's tick waits for the message before it.").by_default(false)),
    of<&buckets::ScheduleOptions::concurrency>(
        integer("Messages that are sent at once and share the link; the next one waits for one of "
                "them to end. The default is 2 with asc_wfbp, else 1.",
                io::between(1, 1 << 20), "2")),
    of<&buckets::ScheduleOptions::channel_shares>(
        word(buckets::kChannelShares,
             "Share of the link that each message has while several are sent at once: equal, all "
             "the same (NCCL's communicators, with connections of their own); by_size, in "
             "proportion to its time alone (messages that take turns on the same connections, as "
             "gloo's do).")
            .by_default("equal")
            .example(R"("by_size")")),
    of<&buckets::ScheduleOptions::contention>(
        number("How much messages slow each other: k of them each have 1 / (1 + contention (k - "
               "1)) of the rate of one. The default is 0.5 with a measured cost or curve, else 1, "
               "which shares the link.",
               io::at_least(0), "0.5")),
    of<&buckets::ScheduleOptions::preset>(
        word(buckets::kPriorityPresets, "System whose chunks and credit are the defaults.")
            .by_default("bytescheduler")),
    of<&buckets::ScheduleOptions::partition_bytes>(
        integer("Bytes of a chunk. The default is the preset's.", io::at_least(1), "4000000")),
    of<&buckets::ScheduleOptions::credit_bytes>(integer(
        "Bytes under way at once. The default is the preset's.", io::at_least(1), "16000000")),
    of<&buckets::ScheduleOptions::dear_layers>(
        integer("Layers of a bucket, instead of bucket_bytes.", io::at_least(1), "4")),
    of<&buckets::ScheduleOptions::buckets>(
        integer("Number of buckets, at most the number of gradients.",
                io::between(1, buckets::kMostBuckets), "8")
            .by_default(buckets::kDefaultBuckets)),
    of<&buckets::ScheduleOptions::prefetch>(
        word(buckets::kPrefetches, "When all-gathers start.").by_default("all")),
    bound<&buckets::ScheduleOptions::caps_mib>(kCaps),
    io::rows::by_hand<buckets::ScheduleOptions>(kGroups), // names of layers need the workload
    of<&buckets::ScheduleOptions::schedule_name>(
        text("What this schedule is called in tables.").example(R"("mine")"))};

// The words of the key `schedule`.
[[nodiscard]] std::vector<std::string_view> schedules();

// The default depends on the workload and the training algorithm, so the row has none; the sentence
// explains it.
// An object stands for the keys next to `schedule` (scenario/scenario_tree.hpp).
inline constexpr std::array kOwnSchedule{
    text("name", "Short form: schedule_name next to schedule.", R"("mine")"),
    list("caps", kCap, "Short form: schedule caps and caps_mib.", "[1, 25]").sizes(1),
    list("groups", kGroup, "Short form: schedule groups and the key groups.", R"([["fc"], [1, 0]])")
        .sizes(1)};
inline constexpr std::array kScheduleForms{
    word("schedule", schedules, "One of the schedules.", R"("wfbp")"),
    object("schedule", kOwnSchedule, "A schedule of your own.",
           R"({"name": "mine", "caps": [1, 25]})")
        .exactly_one("caps|groups")};
inline constexpr io::Key kScheduleWord =
    either("schedule", kScheduleForms,
           "How gradients are merged into messages; trace has the buckets that the trace was "
           "measured with. The default is trace where these buckets hold all gradients, else ddp; "
           "single for pipe_sgd and parameter_server.",
           R"("wfbp")")
        .named(schedules);

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
inline constexpr auto kPlannerKeys = io::keys_of(kScheduleOptions);

// An object with the keys of a schedule only, for the dense baseline of a compression.
inline constexpr io::Key kSchedule = object("schedule", kScheduleKeys, "A schedule with its keys.");

} // namespace stepsim::study::keys
