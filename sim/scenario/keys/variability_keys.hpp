#pragma once
// The keys of /variability of a scenario (PIP 9).

#include "document/fields/key.hpp"
#include "layers/variability.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// Measured factors are scaled to a mean of 1: they change the spread of times, not their mean.
inline constexpr std::array kFactor{
    number("factors", "A factor on the compute or exchange times of an iteration.", io::above(0))
        .example("1")};

inline constexpr std::array kStraggler{
    integer("worker", "Number of the worker, from 0.", io::at_least(0)).example("3").required(),
    number("factor", "Factor on all compute times of the worker.", io::above(0))
        .example("2")
        .required()};
// A straggler is slower by a constant factor, in addition to the random ones. Workers are numbered
// through all jobs of a scenario.
inline constexpr std::array kStragglers{
    object("stragglers", kStraggler, "One slow worker.").example(R"({"worker": 3, "factor": 2})")};

// A coefficient of 0 means that these times do not vary. With the empirical distribution, any other
// value only means that they vary, with the spread of `factors`. Compute and exchange have separate
// coefficients, because only varying compute makes workers wait for each other.
inline constexpr std::array kVariability{
    number("compute_cv", "Coefficient of variation of compute times.", io::between(0, 1e3))
        .by_default(0)
        .example("0.1")
        .because("workers are equal"),
    number("exchange_cv", "Coefficient of variation of exchange times.", io::between(0, 1e3))
        .by_default(0)
        .example("0.1")
        .because("exchanges are equal"),
    word("distribution", layers::kJitterLaws,
         "Distribution of the random factors; their mean is 1.")
        .by_default("lognormal")
        .because("the usual law"),
    list("factors", kFactor,
         "Factors of the empirical distribution, whose own spread counts; a compute_cv or "
         "exchange_cv above 0 switches them on.")
        .sizes(1)
        .example("[0.9, 1.1]"),
    list("stragglers", kStragglers, "Workers that are always slower.")
        .example(R"([{"worker": 3, "factor": 2}])")};

} // namespace stepsim::study::keys
