#pragma once
// Parses the values of flags: one quantity, lists and ranges of quantities, lists of words. All
// functions that parse throw UsageError.

#include "cli/shell/app.hpp"
#include "document/reader.hpp"

namespace stepsim::cli {

// The value of a flag in the SI unit of its kind: bytes, seconds, bytes per second. The error reads
// "--max-bytes 0: must be > 0, got 0".
[[nodiscard]] double quantity(std::string_view flag, std::string_view text, base::QuantityKind kind,
                              io::Range range = {},
                              base::BareNumber bare = base::BareNumber::refused);
// An integer, at most 9e15.
[[nodiscard]] std::int64_t count(std::string_view flag, std::string_view text, io::Range range);

// Nothing where the flag was not typed, as its text "" tells.
[[nodiscard]] std::optional<std::int64_t> optional_count(std::string_view flag,
                                                         std::string_view text, io::Range range);
[[nodiscard]] std::optional<std::string> given(const std::string& text);
// A time, where a number alone is in seconds.
[[nodiscard]] double seconds(std::string_view flag, const std::string& text,
                             io::Range range = io::at_least(0));

// The flag --max-seconds of commands that may run for hours. max_seconds() returns its value in s,
// typed with or without a unit; kMaxSeconds if the flag was not given.
void add_max_seconds_flag(CLI::App& app, std::string& text);
[[nodiscard]] double max_seconds(const std::string& text);

// The values of a list or a range, in SI units. The error reads "--ranks 0: must be an integer >=
// 1, got 0".
[[nodiscard]] std::vector<double> numbers(std::string_view flag, std::string_view text,
                                          base::QuantityKind kind, io::Range range);
// The same of counts.
[[nodiscard]] std::vector<std::int64_t> counts(std::string_view flag, std::string_view text,
                                               io::Range range);

// Flags that set one key of a scenario: --nodes 4 means --set /cluster/nodes=4. `init` has some of
// these flags. If a user types such a flag for a command that only has --set, the error names the
// key for --set.

// "--nodes" -> "/cluster/nodes"; "" for a flag without a key.
[[nodiscard]] std::string pointer_of_flag(std::string_view flag);

} // namespace stepsim::cli
