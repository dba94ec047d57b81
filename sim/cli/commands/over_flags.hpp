#pragma once
// `--over POINTER=V1,V2,...`, the flag of `compare`, `sweep` and `converge`.
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sweep/grid.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace stepsim::cli {

// Adds the flag; the option is returned so that a command can put it into a group.
CLI::Option* add_over_flag(CLI::App& app, std::vector<std::string>& over);
// Throws UsageError that names the flag.
[[nodiscard]] std::vector<study::Axis> parse_over_flags(const std::vector<std::string>& over);

// If the first problem lies at a field that --over varies, or below it, throws a UsageError that
// names the flag; else throws `error` again.
[[noreturn]] void rethrow_for_flags(const InputError& error, const io::Json& scenario,
                                    const std::vector<std::string>& over);

} // namespace stepsim::cli
