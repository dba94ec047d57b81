#pragma once
// The keys of a problem file: gradients, a cost and planners that merge them (MER 4).

#include "scenario/keys/cluster_keys.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study::keys {

// The words of schedules whose planners need no more data than a merge problem has.
[[nodiscard]] std::vector<std::string_view> problem_schedules();

// Ready times count from the start of the backward pass, as in plans.
inline constexpr std::array kReadyTime{
    number("ready_s", "When a gradient is ready, s from the start of the backward pass.",
           io::at_least(0), "0.001")};
inline constexpr std::array kGradientBytes{
    integer("bytes", "Bytes of a gradient.", io::between(0, io::kMostExact), "37632")};
inline constexpr std::array kPlannerOptions{
    object("planners", kPlannerKeys, "Options of a planner.", "{}")};

// Times and bytes are lists of equal length, in backward order.
inline constexpr std::array kProblemKeys{
    list("ready_s", kReadyTime,
         "When each gradient is ready, s from the start of the backward pass; non-decreasing.",
         "[0.001, 0.002]")
        .sizes(1)
        .required(),
    list("bytes", kGradientBytes, "Bytes of each gradient.", "[4000, 4000]").sizes(1).required(),
    either("cost", kCostForms, "Time of one exchange by its bytes, or a file of kind cost.",
           R"({"startup_s": 0.000908, "per_byte_s": 7.4e-10})")
        .required(),
    number("channel_free_s", "Time until which the channel is busy, s.", io::at_least(0))
        .by_default(0),
    number("copy_bandwidth_Bps",
           "Speed of copies into and out of merged messages, bytes/s. The default is no copies.",
           io::above(0), "1e11")
        .nullable(),
    number("forward_s", "Time of the forward pass, s; iteration times are then given, too.",
           io::at_least(0), "0.001")
        .nullable(),
    map("planners", kPlannerOptions, "Options of planners, by their names.",
        R"({"horovod": {"fusion_bytes": 1000000}})")
        .named(problem_schedules)};

inline constexpr io::Key kProblem =
    object("problem", kProblemKeys,
           "A merge problem: gradients that become ready one after the other, and what a message "
           "costs. Times are in seconds, sizes in bytes.");

// The kind of file with its root and its example.
[[nodiscard]] io::FileKind problem_file();

} // namespace stepsim::study::keys
