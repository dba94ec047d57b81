#pragma once
// `--over POINTER=V1,V2,...`, the flag of `compare`, `sweep` and `converge`.
#include <string>
#include <vector>

#include "base/error.hpp"
#include "study/sweep/grid.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace stepsim::cli {

// Adds the flag and returns its option, so that a command can put it into a group.
CLI::Option* add_over_flag(CLI::App& app, std::vector<std::string>& over);
// The axes of the flags. Throws UsageError that names the flag.
[[nodiscard]] std::vector<study::Axis> parse_over_flags(const std::vector<std::string>& over);

// Throws UsageError that names the flag if the first problem lies at, or inside, a field that
// --over varies; else throws `error` again.
[[noreturn]] void rethrow_for_flags(const InputError& error, const io::Json& scenario,
                                    const std::vector<std::string>& over);

} // namespace stepsim::cli
