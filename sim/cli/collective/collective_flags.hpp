#pragma once
// The flags of `stepsim collective` that set keys of a file of kind collective: those of the table
// of flags, each with one key, and --param, which names its key. A list or range is an axis of the
// sweep, in the order of the table of flags; a single value is set in the collective itself.

#include "cli/shell/document.hpp"
#include "run/collective_file.hpp"
#include "study/sweep/sweep_file.hpp"

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

// Collectives as a table: a row per point with the best algorithm marked, then crossovers and sums
// as sentences. `stepsim collective` and `stepsim sweep` both print it.

// The columns are op, algorithm, ranks, bytes and every other field that varies, then times [us],
// bandwidths [GB/s] and time / lower bound. With method all there is one column of times per
// evaluator. Only the cells of a record are stored.
class CollectiveTable {
public:
  // `sweep` must outlive the object.
  explicit CollectiveTable(const study::Sweep& sweep);
  // Adds the record of a point, or a record with its `error`.
  void add(std::int64_t point, const io::Json& record);
  // The table. Of the points that differ only in the algorithm, every point with the shortest time
  // is marked. May be called once.
  [[nodiscard]] Table finished();

private:
  [[nodiscard]] bool varies(std::string_view pointer) const;

  const study::Sweep& sweep_;
  std::vector<Column> columns_;
  std::size_t asked_{}; // number of the first columns that show what a point was asked for
  Table table_;
  std::vector<std::int64_t> points_;       // [row]
  std::map<std::int64_t, double> seconds_; // [point], for points that have a time
};

// A sentence per record of a crossover or sum.
[[nodiscard]] std::vector<std::string> extra_sentences(const std::vector<io::Json>& extra);

// Records of `stepsim collective` that follow the records of the grid: sizes at which another
// algorithm becomes the fastest (--crossovers), and sums over several operations.

// Times of one record, or their sums over the operations of the axis /op at one combination of the
// other axes; a sum is empty if a time is missing.
struct Times {
  std::optional<double> closed_form_s, max_plus_s, events_s;
  double seconds{}; // by the evaluator that `method` of the record names

  void add(const Times& other);
};

// The times of a record. add_sums() needs only these, so that the records need not be stored.
[[nodiscard]] Times times_of(const io::Json& record);

// Appends a record per crossover between algorithms of the grid, from its least size (at least 1
// byte) to its largest, for every combination of the other axes. Throws UsageError for fewer than
// two algorithms, not counting auto and compressed exchanges, or for a single message size.
void add_crossovers(const study::Sweep& sweep, study::Files& files, std::vector<io::Json>& records);
// If the grid has several operations, appends a record with the sum of their times for every
// combination of the other axes. `times`: [point of the grid].
void add_sums(const study::Sweep& sweep, study::Files& files, const std::vector<Times>& times,
              std::vector<io::Json>& records);

} // namespace stepsim::cli
