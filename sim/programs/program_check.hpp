#pragma once
// Checks whether a program is valid (TRN 2.1, 8.4). The reader of files checks numbers, too; they
// are checked again here, so that programs made by code obey the same rules.

#include "base/error.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

inline constexpr std::uint64_t kMaxOperations = 1'000'000;
// Limit of operations x ranks of one iteration, and of the instances that waits may look back on.
inline constexpr std::uint64_t kMaxInstances = std::uint64_t{1} << 31;

// The problems of a program; empty if it is valid. Problems with the numbers of operations, ranks
// and steps come first, then with streams, groups, operations and waits, each in list order, then
// with marker and slowdowns. The distances and cycles of waits are checked only if nothing else is
// wrong. `file` names the program in the messages:
//     program.json: /operations/4/waits/0/1: must be >= 0, got -1
//     program.json: /operations: a, b, a wait for each other in the same iteration
[[nodiscard]] std::vector<base::Problem> problems_of(const Program& program,
                                                     const std::string& file);

// Throws InputError with the problems of the program, if there are any.
void check(const Program& program, const std::string& file);

// The operations, ascending, that no wait names, except the marker and the tail. Such an operation
// delays training only through the order of its fifo stream, or not at all, which is seldom the
// intention of the author.
[[nodiscard]] std::vector<std::uint32_t> unawaited(const Program& program);

} // namespace stepsim::programs
