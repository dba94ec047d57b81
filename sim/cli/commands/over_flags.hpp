#pragma once
// `--over POINTER=V1,V2,...`, the flag of `compare` and `sweep`.
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

// A problem at a field that --over varies is the flag's: UsageError. All others are the file's.
[[noreturn]] void rethrow_for_flags(const InputError& error, const io::Json& scenario,
                                    const std::vector<std::string>& over);

} // namespace stepsim::cli
