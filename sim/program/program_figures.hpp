#pragma once
// Period and exposed communication of a program whose ranks are equal (TRN 2.4, 2.6).
#include <cstdint>

#include "base/units.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct ProgramFigures {
  Seconds period;  // per iteration of the program
  Seconds exposed; // period minus the period without exchanges and interference, at least 0
};

// Returns exact figures if all streams are fifo and there is no interference. Otherwise returns the
// means over `iterations` iterations by the evaluator `events`, without the first `discard` of
// them; 1 <= discard < iterations.
[[nodiscard]] ProgramFigures program_figures(const Program& program, std::int64_t iterations = 400,
                                             std::int64_t discard = 200);

} // namespace stepsim::program
