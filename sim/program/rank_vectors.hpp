#pragma once
// Evaluator `max_plus`: one vector over the ranks per operation, for ranks that differ; fifo
// streams, exchange times by formula or by a rule of the collective, no interference
// (TRN 2.2, 2.3). O((operations + waits) x ranks) per iteration.
#include <cstdint>
#include <functional>
#include <span>

#include "program/operation_times.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// Entry `each`: when the ranks of one part of the group leave an exchange that they enter at
// `enter`; `factor` lengthens all its messages. Both spans are in the order of the part's ranks.
using EachRule = std::function<void(const Operation& exchange, double factor,
                                    std::span<const double> enter, std::span<double> leave)>;

// Runs a valid program with fifo streams and without interference. `each` must not be empty if an
// exchange has entry `each`.
[[nodiscard]] OperationTimes rank_vectors(const Program& program, std::int64_t iterations,
                                          const Factors& factors = {}, const EachRule& each = {},
                                          Record record = Record::marker);

} // namespace stepsim::program
