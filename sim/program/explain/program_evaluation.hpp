#pragma once
// Which evaluator runs a program: the first that is exact for it (TRN 2.3).
#include <cstdint>
#include <string_view>

#include "base/words.hpp"
#include "program/operation_times.hpp"
#include "program/rank_vectors.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// closed_form: one number per operation; max_plus: one per rank; events: every start and end.
enum class Evaluator { closed_form, max_plus, events };
inline constexpr auto kEvaluators = base::words<Evaluator>({{Evaluator::closed_form, "closed_form"},
                                                            {Evaluator::max_plus, "max_plus"},
                                                            {Evaluator::events, "events"}});

// What a program is run with.
struct Evaluation {
  std::int64_t iterations = 100;
  std::int64_t discard =
      50; // iterations that the mean period leaves out; 1 <= discard < iterations
  Factors factors;
  EachRule each; // of exchanges whose ranks enter one by one
};

// The program of one rank, which is that of equal ranks: each waits for itself alone, and its
// groups are the rank.
[[nodiscard]] Program one_rank(Program program);

// True if the period is that of a critical cycle: equal ranks, constant durations, fifo streams, no
// interference.
[[nodiscard]] bool has_critical_cycle(const Program& program, const Evaluation& evaluation);

// closed_form where has_critical_cycle(), else max_plus without other disciplines and interference.
[[nodiscard]] Evaluator evaluator_of(const Program& program, const Evaluation& evaluation);

// Without compute factors the result has one rank. Throws SimulationError for ranks that enter one
// by one on a program that only `events` could run, and for a recording of more than 2^26
// operations x ranks x iterations.
[[nodiscard]] OperationTimes evaluate(const Program& program, const Evaluation& evaluation,
                                      Record record = Record::marker);

// The cycle ratio where has_critical_cycle(), else the mean over the iterations that count.
[[nodiscard]] double period_s(const Program& program, const Evaluation& evaluation);

// Period minus that of without_exchanges(), s; differences below 1e-12 of the period are 0.
[[nodiscard]] double exposed_s(const Program& program, const Evaluation& evaluation,
                               double period_s);

} // namespace stepsim::program
