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

// Every problem, in list order; empty for a valid program. `file` names the program in the errors.
//     program.json: /operations/4/waits/0/1: must be >= 0, got -1
//     program.json: /operations: a, b, a wait for each other in the same iteration
[[nodiscard]] std::vector<base::Problem> problems_of(const Program& program,
                                                     const std::string& file);

// Throws InputError with the problems, if there are any.
void check(const Program& program, const std::string& file);

// Operations that no operation waits for, other than the marker: what they do never delays
// training, which is seldom meant.
[[nodiscard]] std::vector<std::uint32_t> unawaited(const Program& program);

} // namespace stepsim::program
