#pragma once
// The flags of `stepsim collective`: each sets one key of a file of kind collective. A list
// or a range is an axis of a sweep, in the order of the table of flags; one value is put into the
// collective itself.
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "collective/collective_file.hpp"
#include "sweep/sweep_file.hpp"

namespace CLI {
class App;
}

namespace stepsim::cli {

// As typed.
struct CollectiveFlags {
  std::string file;                // "" = the flags say everything
  std::string point;               // of a sweep's output; "" = the file is none
  std::vector<std::string> texts;  // [flag of the table], "" = not given
  std::vector<std::string> late;   // of --late: "3=1ms", rank 3 enters 1 ms late
  std::vector<std::string> params; // of --param: "NAME=VALUE"
};

// Adds FILE and the flags to `app`, in groups as --help shows them. `flags` must live until the
// command line is parsed.
void add_collective_flags(CLI::App& app, CollectiveFlags& flags);

// The pointer of the key that a flag sets in a file of kind collective, "--op" -> "/op"; "" for
// flags that set none.
[[nodiscard]] std::string_view pointer_of_collective_flag(std::string_view flag);

// The collective of FILE, or an empty one, with the flags put in. Throws UsageError `--ranks 0:
// must be an integer in [1, 1048576], got 0`, InputError for the file.
[[nodiscard]] study::Sweep read_collective(const CollectiveFlags& flags);

// The collective of a point. Throws InputError.
[[nodiscard]] study::CollectiveFile collective_at(const study::Sweep& sweep, study::Files& files,
                                                  std::int64_t point);
// Throws InputError for a key of the compression that none of the algorithms of the sweep reads.
void refuse_meaningless_keys(const study::Sweep& sweep);

// Throws a UsageError in words of the flags if the first problem is one of a value that a flag has
// set or, without FILE, could have set. Else returns.
void blame_flags(const InputError& error, const CollectiveFlags& flags, const study::Sweep& sweep);

} // namespace stepsim::cli
