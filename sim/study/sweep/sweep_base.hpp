#pragma once
// Writes the base scenario of a sweep into the header of its output, so that any point can be run
// again from the output alone. The base has short forms expanded, flags applied and quantities as
// numbers, but no defaults filled in, because a default may depend on an axis. Names of files are
// relative to the folder of the output.
//     "scenario": {...}, "files": [...], "zip": [[0, 1]], "replications": 3, "axes_folder": "../in"
// The members files (scenario/named_files.hpp), zip, replications and axes_folder (the folder to
// which names in axis values are relative) are written only if needed.
#include <string>

#include "document/json.hpp"
#include "scenario/files.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

// The tree with all file names made relative to the folder of `output` ("-" or "" = the working
// directory). Names of shipped data and absolute names are not changed.
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
