#pragma once
// The files that a scenario names, with the SHA-256 of their bytes (as sha256sum prints it): part
// of a result and of the header of a sweep, so that whoever runs them again is told which file has
// changed since.
//
//     "files": [{"pointer": "/workload/trace", "sha256": "9f86d081884c7d65..."}]
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct NamedFile {
  std::string pointer; // of the name, in the scenario with its short forms expanded
  std::string sha256;  // 64 hexadecimal digits
};

// In the order of the scenario, which must have its short forms expanded; what is read only once,
// such as a pipe, is left out. Throws InputError for a file that cannot be read.
[[nodiscard]] std::vector<NamedFile> named_files(const io::Json& scenario, Files& files);

// A warning for each file of `recorded`, the list `files` of a result or of a header, whose content
// is another now: "mine.json at /workload/trace has changed since: SHA-256 9f86d081.. then,
// 2c26b46b.. now". `before` is the scenario of the result; names that are others in `scenario`,
// because a flag has set them, are passed over.
[[nodiscard]] std::vector<std::string> changed_files(const io::Json& recorded,
                                                     const io::Json& before,
                                                     const io::Json& scenario, Files& files);

} // namespace stepsim::study
