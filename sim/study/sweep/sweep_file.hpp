#pragma once
// The input of a sweep: a scenario or a collective, and the grid of values that are put into it. It
// is read from a file of kind `sweep`, or made from a scenario and `--over` flags.

#include "scenario/files.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study {

struct Sweep {
  io::Json base; // the scenario or collective, short forms expanded
  Grid grid;

  // If the base is a collective: an object with the keys that records have in addition to the
  // varied fields. Its values only show which keys hold an object or a list. Empty for a scenario,
  // whose records have the keys of the summary.
  [[nodiscard]] io::Object sample() const;
  // Whether the records of a collective have the keys for the model of a library.
  [[nodiscard]] bool has_library_keys() const;
  // The names of the columns of the varied fields.
  [[nodiscard]] std::vector<std::string> varied() const { return grid.field_names(sample()); }
};

// Throws InputError if the base is a collective, which has no training times.
void require_scenario(const Sweep& sweep);

// Whether the tree has "kind": "sweep", or axes and no kind.
[[nodiscard]] bool is_sweep(const io::Json& tree);
// Reads a tree of kind `sweep`. If `scenario` names a file, the name is relative to the file of the
// tree. Throws InputError with all problems.
[[nodiscard]] Sweep parse_sweep(const io::Json& tree);
// Adds a zip of these axes, at least one, or a problem of `json` if they differ in their numbers of
// values: they share one digit of the point's number.
void add_zip(const io::Json& json, std::vector<std::size_t> axes, io::Problems& problems,
             Grid& grid);
// The sweep of all combinations of `axes` over a scenario. Throws UsageError if the axes are
// invalid.
[[nodiscard]] Sweep sweep_over(const io::Json& scenario, std::vector<Axis> axes);

// Writes the base scenario of a sweep into the header of its output, so that any point can be run
// again from the output alone. The base has short forms expanded, flags applied and quantities as
// numbers, but no defaults filled in, because a default may depend on an axis. Names of files are
// relative to the folder of the output.
//     "scenario": {...}, "files": [...], "zip": [[0, 1]], "replications": 3, "axes_folder": "../in"
// The members files (scenario/file_names.hpp), zip, replications and axes_folder (the folder to
// which names in axis values are relative) are written only if needed.

// The tree with all file names made relative to the folder of `output` ("-" or "" = the working
// directory). Names of shipped data are not changed.
[[nodiscard]] io::Json with_names_relative_to(io::Json tree, const std::string& output);
// Does the same for a resolved scenario; its file names are taken from `written`, the tree from
// which it was read.
[[nodiscard]] io::Json with_names_relative_to(io::Json resolved, const std::string& output,
                                              const io::Json& written);

// The members that the header has in addition to Records::header().
[[nodiscard]] io::Object header_of_base(const Sweep& sweep, const std::string& output,
                                        Files& files);
// The header of a file for use in another file: with names relative to the folder of `output`.
[[nodiscard]] io::Json header_at(io::Json header, const std::string& output);
// Restores the sweep that wrote a header. Names of files are relative to the file of the header.
// Throws InputError if a member is missing, as in files of earlier versions.
[[nodiscard]] Sweep sweep_of_header(const io::Json& header);

} // namespace stepsim::study
