#include "program/explain/program_evaluation.hpp"

#include <string>

#include "base/error.hpp"
#include "program/event_pass.hpp"
#include "program/recurrence.hpp"
#include "program/steady_state.hpp"

namespace stepsim::program {

Program one_rank(Program program) {
  program.ranks = 1;
  for (Group& group : program.groups) {
    group.parts = {{0}};
  }
  return program;
}

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

OperationTimes evaluate(const Program& program, const Evaluation& evaluation, Record record) {
  if (program.ranks > 1 && evaluation.factors.compute.empty()) {
    return evaluate(one_rank(program), evaluation, record);
  }
  constexpr double kMostRecorded = 0x1p26;
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
    return recurrence(program, evaluation.iterations, evaluation.factors, record);
  case Evaluator::max_plus:
    return rank_vectors(program, evaluation.iterations, evaluation.factors, evaluation.each,
                        record);
  case Evaluator::events:
    if (!event_pass_applies(program)) {
      throw SimulationError("exchanges that ranks enter one by one (entry each) cannot run with "
                            "interference or with streams that are not fifo");
    }
    return event_pass(program, evaluation.iterations, evaluation.factors, record);
  }
  return {};
}

double period_s(const Program& program, const Evaluation& evaluation) {
  return has_critical_cycle(program, evaluation)
             ? steady_state(program).period.value
             : mean_period(evaluate(program, evaluation), evaluation.discard).value;
}

double exposed_s(const Program& program, const Evaluation& evaluation, double period) {
  const double exposed = period - period_s(without_exchanges(program), evaluation);
  return exposed < 1e-12 * period ? 0 : exposed;
}

} // namespace stepsim::program
