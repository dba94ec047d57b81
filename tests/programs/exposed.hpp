#pragma once
// The exposed communication of a program of one rank (TRN 2.6), written without the code under test
// but for the period and the program without its exchanges.
#include "programs/steady_state.hpp"

namespace stepsim::programs {

// The period minus the period of without_exchanges(), per iteration of the program; 0 if the
// difference is below 1e-12 of the period.
[[nodiscard]] inline Seconds exposed_communication(const Program& program) {
  const double period = steady_period(program, layout_of(program)).value;
  const double alone = steady_period(without_exchanges(program), layout_of(program)).value;
  return {period - alone < 1e-12 * period ? 0 : period - alone};
}

} // namespace stepsim::programs
