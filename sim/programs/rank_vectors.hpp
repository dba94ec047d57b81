#pragma once
// The evaluator `max_plus`, for ranks that differ: per operation, one vector of times over the
// ranks (TRN 2.2, 2.3). It requires fifo streams and no interference. Exchange times are given by
// formula or by a rule of the collective. O((operations + waits) x ranks) per iteration.
#include <cstdint>
#include <functional>
#include <span>

#include "programs/operation_layout.hpp"
#include "programs/operation_times.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// Computes, for an exchange with entry `each`, the times `leave` at which the ranks of one part
// leave if they enter at `enter`. Both spans are in the order of the part's ranks. The times of all
// messages are multiplied by `factor`.
using EachRule = std::function<void(const Operation& exchange, double factor,
                                    std::span<const double> enter, std::span<double> leave)>;

// Runs a valid program with fifo streams and without interference. If an exchange has entry `each`,
// the rule `each` must not be empty.
[[nodiscard]] OperationTimes rank_vectors(const Program& program, std::int64_t iterations,
                                          const Factors& factors = {}, const EachRule& each = {},
                                          Record record = Record::marker);
// The same with the layout of the program, for callers that know it.
[[nodiscard]] OperationTimes rank_vectors(const Program& program, const OperationLayout& layout,
                                          std::int64_t iterations, const Factors& factors,
                                          const EachRule& each, Record record);

} // namespace stepsim::programs
