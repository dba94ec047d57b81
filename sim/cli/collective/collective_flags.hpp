#pragma once
// The flags of `stepsim collective` that set keys of a file of kind collective: those of the table
// of flags, each with one key, and --param, which names its key. A list or range is an axis of the
// sweep, in the order of the table of flags; a single value is set in the collective itself.

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

// `--param NAME=VALUE` sets rare keys of a collective, which have no flag. The row of the key
// decides which values NAME may have.

struct Param {
  std::string pointer; // pointer of the key in a collective: "/options/cost_form"
  const io::Key* row;
};

// Sets one NAME=VALUE in `tree`; a later value of the same name replaces an earlier one. Throws
// UsageError with the nearest known name or word, or with the range of the number.
void set_param(io::Json& tree, std::string_view text, std::span<const Param> params);
// The help of --param in one sentence: every name, its words and its default.
[[nodiscard]] std::string params_description(std::span<const Param> params);

// The kind of quantity of a key whose value is a number, and a number as the JSON value of the key.
[[nodiscard]] base::QuantityKind quantity_of(const io::Key& row);
[[nodiscard]] io::Json number_json(const io::Key& row, double value);

} // namespace stepsim::cli
