#include "programs/explain/program_evaluation.hpp"

#include "base/error.hpp"
#include "programs/event_pass.hpp"

namespace stepsim::programs {

namespace {

constexpr double kMostRecorded = 0x1p26;

// The steady state of equal ranks by events, if the times of iterations repeat.
std::optional<EventPeriod> steady_events(const Program& program, const Evaluation& evaluation) {
  if (evaluator_of(program, evaluation) != Evaluator::events || !program.enters_together() ||
      !evaluation.factors.compute.empty() || !evaluation.factors.exchange.empty()) {
    return std::nullopt;
  }
  const EventPeriod found = event_period(program);
  return found.cyclicity > 0 ? std::optional(found) : std::nullopt;
}

} // namespace

bool has_critical_cycle(const Program& program, const Evaluation& evaluation) {
  return recurrence_applies(program) && evaluation.factors.compute.empty() &&
         evaluation.factors.exchange.empty();
}

Evaluator evaluator_of(const Program& program, const Evaluation& evaluation) {
  if (has_critical_cycle(program, evaluation)) {
    return Evaluator::closed_form;
  }
  return recurrence_applies(program) ? Evaluator::max_plus : Evaluator::events;
}

Evaluation settled(const Program& program, const Evaluation& evaluation) {
  const std::optional<EventPeriod> steady = steady_events(program, evaluation);
  if (!steady) {
    return evaluation;
  }
  constexpr std::int64_t kFewest = 16; // iterations, so that a path through them is typical
  Evaluation result = evaluation;
  result.discard = std::max(evaluation.discard, steady->steady_from + 1);
  const std::int64_t wanted = std::max(kFewest, evaluation.iterations - evaluation.discard);
  const std::int64_t whole = 4 * steady->cyclicity; // a path leaves out the last quarter
  result.iterations = result.discard + (wanted + whole - 1) / whole * whole;
  result.after = iterations_after(program);
  const double recorded = static_cast<double>(program.operations.size()) *
                          static_cast<double>(result.iterations + result.after);
  return recorded > kMostRecorded ? evaluation : result;
}

OperationTimes evaluate(const Program& program, const Evaluation& evaluation, Record record) {
  if (program.ranks > 1 && evaluation.factors.compute.empty()) {
    return evaluate(one_rank(program), evaluation, record);
  }
  const double recorded = static_cast<double>(program.operations.size()) *
                          static_cast<double>(program.ranks) *
                          static_cast<double>(evaluation.iterations);
  if (record == Record::all && recorded > kMostRecorded) {
    throw SimulationError("recording " + std::to_string(evaluation.iterations) + " iterations of " +
                          std::to_string(program.operations.size()) + " operations on " +
                          std::to_string(program.ranks) +
                          " ranks takes too much memory: at most 67108864 in all");
  }
  switch (evaluator_of(program, evaluation)) {
  case Evaluator::closed_form:
    return recurrence(program, evaluation.iterations, record);
  case Evaluator::max_plus:
    return rank_vectors(program, evaluation.iterations, evaluation.factors, evaluation.each,
                        record);
  case Evaluator::events:
    if (!program.enters_together()) {
      throw SimulationError("exchanges that ranks enter one by one (entry each) cannot run with "
                            "interference or with streams that are not fifo");
    }
    return first_iterations(
        event_pass(program, evaluation.iterations + evaluation.after, evaluation.factors, record),
        evaluation.iterations);
  }
  return {};
}

double period_s(const Program& program, const Evaluation& evaluation) {
  if (has_critical_cycle(program, evaluation)) {
    return steady_period(program, layout_of(program)).value;
  }
  const std::optional<EventPeriod> steady = steady_events(program, evaluation);
  return steady ? steady->period.value
                : mean_period(evaluate(program, evaluation), evaluation.discard).value;
}

double beyond_s(const Program& part, const Evaluation& evaluation, double period) {
  const double beyond = period - period_s(part, evaluation);
  return beyond < 1e-12 * period ? 0 : beyond;
}

} // namespace stepsim::programs
