#pragma once
// The keys of slowdowns by overlap (TRN 3): how much slower compute is while an exchange is in
// progress, and an exchange while its ranks compute. Scenarios have them at /training/overlap;
// `stepsim fit-overlap` writes them to a file of kind overlap, from measured steps.

#include "document/fields/bound.hpp"
#include "document/fields/schema.hpp"

namespace stepsim::io::keys {

using namespace rows;

// The names allowed in `compute`: "*", and the kinds of operations that compute.
[[nodiscard]] std::vector<std::string_view> computing_kinds();

inline constexpr std::array kComputeSlowdown{
    number("compute", "Factor for one kind of computing; * is every kind that is not named.",
           at_least(1), "1.5")
        .plain()};
inline constexpr std::array kComputeForms{
    number("compute", "One factor for all computing.", at_least(1), "2.26").plain(),
    map("compute", kComputeSlowdown, "Factors by kind of computing.", R"({"*": 1, "backward": 2})")
        .named(computing_kinds)
        .sizes(1)};
inline constexpr Key kOverlapCompute = either(
    "compute", kComputeForms,
    "Factor on the time of computing while an exchange of the same rank is under way.", "2.26");
inline constexpr Key kOverlapExchange =
    number("exchange",
           "Factor on the time of the data of an exchange while one of its ranks computes.",
           at_least(1), "1.2")
        .plain()
        .by_default(1);

// The constants but for `compute`, and their errors on the rows of the fit or on rows left out.
inline constexpr std::array kOverlapFitted{
    kOverlapExchange,
    number("startup_s", "Fitted time of an empty message, s.", at_least(0), "0.00079"),
    number("per_byte_s", "Fitted time per byte, s.", at_least(0), "2.1e-9"),
    integer("rows", "Number of measured steps.", at_least(1), "24"),
    number("median_error", "Median of |predicted / measured - 1|.", at_least(0), "0.04").plain(),
    number("max_error", "Largest |predicted / measured - 1|.", at_least(0), "0.2").plain()};
inline constexpr std::array kOverlapFolded{
    text("left_out", "Value of the key that tells the folds apart.", R"("resnet152")"),
    kOverlapCompute};
inline constexpr auto kOverlapFoldKeys = joined_keys(kOverlapFolded, kOverlapFitted);
inline constexpr std::array kOverlapFold{
    object("folds", kOverlapFoldKeys,
           "Constants fitted without the rows of one value, and their errors on these rows.")};

inline constexpr std::array kOverlapStepKeys{
    text("schedule", "Schedule of the step.", R"("wfbp")"),
    text("left_out", "Value of the key that tells the folds apart.", R"("resnet152")"),
    number("step_s", "Measured time of the step, s.", above(0), "1.2334"),
    number("predicted_s", "Time by the constants of all rows, s.", above(0), "1.3"),
    number("held_out_s", "Time by constants that were fitted without this row's fold, s.", above(0),
           "1.3")};
inline constexpr std::array kOverlapStep{object("steps", kOverlapStepKeys, "One measured step.")};

inline constexpr std::array kOverlapSource{
    text("source", "Where the numbers come from.", R"("fitted to v100.measured.json")"),
    kOverlapCompute.required()};
inline constexpr std::array kOverlapRows{
    text("leave_out", "Pointer of the key that tells the folds apart.", R"("/workload/model")"),
    list("folds", kOverlapFold, "Fits without the rows of one value each.",
         R"([{"left_out": "resnet152", "compute": 2.2, "rows": 6, "median_error": 0.03}])"),
    list("steps", kOverlapStep, "Every measured step beside its predictions.",
         R"([{"schedule": "wfbp", "step_s": 1.2334, "predicted_s": 1.3}])")};

inline constexpr auto kOverlapKeys = joined_keys(kOverlapSource, kOverlapFitted, kOverlapRows);

inline constexpr Key kOverlap =
    object("overlap", kOverlapKeys, "Slowdown of computing and exchanges that overlap.");

[[nodiscard]] FileKind overlap_file();

} // namespace stepsim::io::keys
