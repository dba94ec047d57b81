#pragma once
// What the header of a sweep's output says of its scenario, so that any point can be run again from
// the output alone: the base scenario as every point starts from it (short forms expanded, flags
// applied, quantities as numbers, no defaults filled in, because a default may depend on an axis),
// with the files it names relative to the folder of the output.
//     "scenario": {...}, "files": [...], "zip": [[0, 1]], "replications": 3, "axes_folder": "../in"
// files (scenario/named_files.hpp), zip, replications and axes_folder (where names in axis values
// are relative to) only where needed.
#include <string>

#include "scenario/files.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// The tree with every file name that it holds relative to the folder of `output` ("-" or "": the
// working directory). Names of shipped data and absolute names stay.
[[nodiscard]] io::Json with_names_relative_to(io::Json tree, const std::string& output);
// The same for a resolved scenario, whose names stand in `written`, the tree that it was read from.
[[nodiscard]] io::Json with_names_relative_to(io::Json resolved, const std::string& output,
                                              const io::Json& written);

// Members of the header beside those of Records::header.
[[nodiscard]] io::Object header_of_base(const Sweep& sweep, const std::string& output,
                                        Files& files);
// The header of a file as it stands in another one: names relative to the folder of `output`.
[[nodiscard]] io::Json header_at(io::Json header, const std::string& output);
// The sweep that wrote a header; the header's own file tells where names are relative to. Throws
// InputError where a part is missing, as in files of earlier versions.
[[nodiscard]] Sweep sweep_of_header(const io::Json& header);

} // namespace stepsim::study
