#pragma once
// Estimates the CPU time of an evaluation before it runs, from the number of transfers in its
// schedule, which a phase counts without listing the transfers.
//     closed_form   1 us; a double binary tree, whose trees are built, 0.5 us per rank more
//     max_plus      40 ns per transfer; 1 ns in rings, which are vector loops; if it is the method
//                   chosen, 1 us in rings of equal ranks, whose longest part a formula knows
//     both below    20 ns per rank and block of a pipeline of equal ranks; 1.5 us per rank of
//                   double trees (evaluate/equal_streams.cpp)
//     events        0.3 us per transfer; in rings 30 ns, or 120 ns where ranks, links or levels
//                   differ; 2 us through a fabric, as max_plus in a ring whose connections share no
//                   link; 0.1 us per step of a ring of equal ranks
// Which shortcut an evaluator takes is asked of that shortcut itself.
// With transfer times 0.1 us more per transfer, and every rank of a ring is played by max_plus.
// The constants hold for one core of the 2020s and an optimised build, within a factor of about 3.

#include "collectives/collective.hpp"

namespace stepsim::collectives {

// Seconds of CPU time to evaluate `asked` by `method`; empty stands for automatic_method(). For
// algorithm `auto`: the time to try all candidates, and that of the one that formulas choose, or
// else of the slowest one, once more.
// `with_transfer_times` as of the evaluators; no closed form has them, so that max_plus runs.
[[nodiscard]] double evaluation_seconds(const Collective& asked, std::optional<Method> method,
                                        bool with_transfer_times = false);

} // namespace stepsim::collectives
