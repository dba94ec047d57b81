#pragma once
// The flags of `stepsim collective` that set keys of a file of kind collective: those of the table
// of flags, each with one key, and --param, which names its key. A list or range is an axis of the
// sweep, in the order of the table of flags; a single value is set in the collective itself.
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "run/collective_file.hpp"
#include "study/sweep/sweep_file.hpp"

namespace CLI {
class App;
}

namespace stepsim::cli {

// The flags as typed.
struct CollectiveFlags {
  std::string file;               // "" = only the flags
  std::string point;              // --point, if FILE is the output of a sweep; "" = not given
  std::vector<std::string> texts; // [row of the table of flags]; "" = not given
  // Values of --late, "3=1ms" if rank 3 enters 1 ms late, and of --param, "NAME=VALUE". The last
  // value of a rank or name counts.
  std::vector<std::string> late;
  std::vector<std::string> params;
};

// Adds FILE and the flags to `app`, in the groups of --help. `flags` must live until the command
// line is parsed.
void add_collective_flags(CLI::App& app, CollectiveFlags& flags);

// The JSON pointer of the key that a flag sets in a file of kind collective: "/op" for "--op"; ""
// for a flag that is not in the table of flags, such as --explain.
[[nodiscard]] std::string_view pointer_of_collective_flag(std::string_view flag);

// The collective of FILE, or an empty one, with the flags applied. Throws UsageError `--ranks 0:
// must be an integer in [1, 1048576], got 0`, and InputError for the file.
[[nodiscard]] study::Sweep read_collective(const CollectiveFlags& flags,
                                           const std::string& data_folder);

// The collective at a point of the grid. Throws InputError if it is invalid.
[[nodiscard]] study::CollectiveFile collective_at(const study::Sweep& sweep, study::Files& files,
                                                  std::int64_t point);
// Throws InputError for a compression key that no algorithm of the sweep reads.
void refuse_meaningless_keys(const study::Sweep& sweep);

// Throws a UsageError in terms of flags if the first problem is about a value that a flag has set
// or, without FILE, could have set; otherwise returns.
void blame_flags(const InputError& error, const CollectiveFlags& flags, const study::Sweep& sweep);

} // namespace stepsim::cli
