#pragma once
// Whether a program is valid (TRN 2.1, 8.4). Numbers are checked where they are read from a file
// and here once more, so that programs made by code obey the same rules.
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

inline constexpr std::uint64_t kMaxOperations = 1'000'000;
// Operations x ranks of one iteration, and instances that waits may look back on.
inline constexpr std::uint64_t kMaxInstances = std::uint64_t{1} << 31;

// The problems of a program; empty for a valid one. Limits come first, then streams, groups,
// operations and waits, each in list order, then marker and slowdowns. How far waits look back and
// cycles are only checked where nothing else is wrong. `file` names the program in the errors.
//     program.json: /operations/4/waits/0/1: must be >= 0, got -1
//     program.json: /operations: a, b, a wait for each other in the same iteration
[[nodiscard]] std::vector<base::Problem> problems_of(const Program& program,
                                                     const std::string& file);

// Throws InputError with the problems, if there are any.
void check(const Program& program, const std::string& file);

// Operations that no wait names, other than the marker and the tail, ascending. Such an operation
// delays training only through the order of its fifo stream, or not at all, which is seldom meant.
[[nodiscard]] std::vector<std::uint32_t> unawaited(const Program& program);

} // namespace stepsim::program
