#pragma once
// The evaluator `recurrence`, for equal ranks, exchange times by formula, fifo streams and no
// interference. It computes one start S and one end E per operation o and iteration t, in
// O(operations + waits) per iteration (TRN 2.2, 2.3):
//
//     S(o, t) = max(E(previous operation on the stream), max over waits (q, d) of E(q, t - d))
//     E(o, t) = S(o, t) + seconds

#include <functional>

#include "programs/operation_layout.hpp"

namespace stepsim::programs {

// Whether the recurrence is exact if all ranks are equal: true for fifo streams without
// interference. Entry `each` is allowed, because equal ranks enter together.
[[nodiscard]] bool recurrence_applies(const Program& program);

// Runs a valid program for which recurrence_applies(). The result has one rank, whatever
// program.ranks is. With Record::steady it ends once all ends of as many iterations in a row as the
// longest wait spans are those of the iterations before, later by the same time: as S and E depend
// on nothing else, all later ones repeat, too. Where every iteration begins as the first does
// (OperationLayout::begins_idle) it ends with the first.
// The period is then the time on a cycle of binding waits over the iterations that it spans, as in
// steady_state.hpp, and rounding is below 1e-13 of the time of the run.
[[nodiscard]] OperationTimes recurrence(const Program& program, std::int64_t iterations,
                                        Record record = Record::marker);
// The same with the layout of the program, for callers that know it. Operations take
// seconds[operation], if these are given, instead of their own times.
[[nodiscard]] OperationTimes recurrence(const Program& program, const OperationLayout& layout,
                                        std::int64_t iterations, Record record,
                                        std::span<const double> seconds = {});
// Seconds of exchanges on the cycle of that period, per iteration. `times` are of such a run, with
// all iterations until they repeat.
[[nodiscard]] double cycle_exchange_s(const Program& program, const OperationLayout& layout,
                                      const OperationTimes& times);

// The evaluator `max_plus`, for ranks that differ: per operation, one vector of times over the
// ranks (TRN 2.2, 2.3). It requires fifo streams and no interference. Exchange times are given by
// formula or by a rule of the collective. O((operations + waits) x ranks) per iteration.

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
// The same with the layout of the program, for callers that know it. Operations are recorded from
// iteration `recorded_from` on.
[[nodiscard]] OperationTimes rank_vectors(const Program& program, const OperationLayout& layout,
                                          std::int64_t iterations, const Factors& factors,
                                          const EachRule& each, Record record,
                                          std::int64_t recorded_from = 0);

} // namespace stepsim::programs
