#pragma once
// The files that a scenario names, with their SHA-256 (as sha256sum prints it). They are part of a
// result and of the header of a sweep, so that a later run can warn about files that have changed.
//
//     "files": [{"pointer": "/workload/trace", "sha256": "9f86d081884c7d65..."}]

#include "scenario/files.hpp"

namespace stepsim::study {

struct NamedFile {
  std::string pointer; // pointer of the name, in the scenario with expanded short forms
  std::string sha256;  // 64 hexadecimal digits
};

// The files in the order of the scenario, whose short forms must be expanded. A name without a
// file, and a file that can be read only once, such as a pipe, are left out. Throws InputError for
// a file that cannot be read.
[[nodiscard]] std::vector<NamedFile> named_files(const io::Json& scenario, Files& files);

// Finds the files again that a result or header, whose `recorded` list names their digests, was
// made from. A name leads from the folder of the result, or from the working folder if the result
// was written to standard output; or the file came with the program. The first of these files, in
// this order, whose digest fits is put in place of the name; without one the name stays. The short
// forms of `scenario` must be expanded. `data_folder` may be "".
void find_named_files(io::Json& scenario, const io::Json& recorded, const std::string& data_folder);

// A warning for each file in `recorded`, the list `files` of a result or header, whose content has
// changed: "mine.json at /workload/trace has changed since: SHA-256 9f86d081.. then, 2c26b46b..
// now". `before` is the scenario of the result; a name that differs in `scenario`, because a flag
// has set it, is skipped.
[[nodiscard]] std::vector<std::string> changed_files(const io::Json& recorded,
                                                     const io::Json& before,
                                                     const io::Json& scenario, Files& files);

} // namespace stepsim::study
