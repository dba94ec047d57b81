#pragma once
// Which keys name files, and the files that come with the program: a word without a slash that does
// not end in .json or .gz is the name of one.
//     "resnet50"        models/resnet50.json
//     "10gbe"           topologies/10gbe.calibration.json
//     "./10gbe.json"    a path
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "json/json.hpp"

namespace stepsim::study {

// A kind of file that comes with the program.
struct Shipped {
  std::string_view noun;                     // in errors
  std::string_view folder;                   // of the data folder
  std::span<const std::string_view> endings; // the first that fits is left out of the name
};
inline constexpr std::array<std::string_view, 2> kShippedEndings{".calibration.json", ".json"};
inline constexpr Shipped kShippedModels{"model", "models", std::span(kShippedEndings).last(1)};
inline constexpr Shipped kShippedProfiles{"network profile", "topologies",
                                          std::span(kShippedEndings).first(1)};
inline constexpr Shipped kShippedTopologies{"topology", "topologies", kShippedEndings};

// Path by name, sorted; nothing where `data_folder` is "". Throws InputError where the folder
// cannot be read.
[[nodiscard]] std::map<std::string, std::string> shipped_files(const std::string& data_folder,
                                                               const Shipped& kind);
// Path of one. Throws UsageError, `unknown network profile "10gb"; did you mean "10gbe"?`, and
// InputError as shipped_files.
[[nodiscard]] std::string shipped_file(const std::string& data_folder, const Shipped& kind,
                                       const std::string& name);
// Without a slash, and without .json or .gz at the end.
[[nodiscard]] bool is_shipped_name(std::string_view name);

// What a string at this place of a scenario, a list of flows, a collective or a merge problem
// names. This is the one list of keys that name files: Files asserts that nothing else is read. The
// content of these files belongs to the identity of a sweep, and in an axis their names are
// relative to the file that the axis was written in.
enum class FileKind {
  none,
  trace,
  model,
  profile,
  cost,
  topology,
  links,
  sizes,
  entry,
  node,
  library_calibration,
  overlap
};
[[nodiscard]] FileKind file_kind_at(std::string_view pointer); // "/workload/1/trace" -> trace
[[nodiscard]] inline bool names_file(std::string_view pointer) {
  return file_kind_at(pointer) != FileKind::none;
}

// `name` relative to the folder of the file it was written in.
[[nodiscard]] std::string path_of(const io::Json& name);

} // namespace stepsim::study
