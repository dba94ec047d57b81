#include "program/program_figures.hpp"

#include "program/event_pass.hpp"
#include "program/operation_times.hpp"
#include "program/recurrence.hpp"
#include "program/steady_state.hpp"

namespace stepsim::program {
namespace {

// Equal ranks do the same at the same time.
Program of_one_rank(Program program) {
  program.ranks = 1;
  program.groups.clear();
  for (Operation& operation : program.operations) {
    operation.group = kAllRanks;
  }
  return program;
}

} // namespace

ProgramFigures program_figures(const Program& program, std::int64_t iterations,
                               std::int64_t discard) {
  if (recurrence_applies(program)) {
    return {.period = steady_state(program).period, .exposed = exposed_communication(program)};
  }
  constexpr double kRounding = 1e-10; // of a mean
  const Program one = of_one_rank(program);
  const double period = mean_period(event_pass(one, iterations), discard).value;
  const double alone = mean_period(event_pass(without_exchanges(one), iterations), discard).value;
  return {.period = {period},
          .exposed = {period - alone < kRounding * period ? 0 : period - alone}};
}

} // namespace stepsim::program
