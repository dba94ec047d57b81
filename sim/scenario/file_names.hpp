#pragma once
// Lists the keys that name files, and finds shipped files: a word without a slash that does not end
// in .json or .gz is the name of a shipped file.
//     "resnet50"        models/resnet50.json
//     "10g-tcp"         topologies/10g-tcp.calibration.json
//     "resnet50.1gpu"   traces/resnet50.1gpu.json, of a workload's trace
//     "./10g-tcp.json"  a path
#include <array>

#include "base/error.hpp"
#include "document/json.hpp"

namespace stepsim::study {

class Files;

// A kind of shipped file.
struct Shipped {
  std::string_view noun;   // what errors call such a file
  std::string_view folder; // folder in the data folder
  // Endings of the files. A name is the name of the file without the first ending that fits.
  std::span<const std::string_view> endings;
  bool tells_all_near = false; // of an unknown name, and not the nearest one or family alone
};
inline constexpr std::array<std::string_view, 2> kShippedEndings{".calibration.json", ".json"};
inline constexpr Shipped kShippedModels{"model", "models", std::span(kShippedEndings).last(1)};
inline constexpr Shipped kShippedTraces{"trace", "traces", std::span(kShippedEndings).last(1)};
inline constexpr Shipped kShippedProfiles{"network profile", "topologies",
                                          std::span(kShippedEndings).first(1)};
inline constexpr Shipped kShippedTopologies{"topology", "topologies", kShippedEndings};
inline constexpr Shipped kShippedNodes{"node type", "topologies/nodes",
                                       std::span(kShippedEndings).last(1), true};
inline constexpr Shipped kShippedConditions{"set of conditions", "topologies/conditions",
                                            std::span(kShippedEndings).last(1)};

// The shipped files of a kind, name -> path; empty if `data_folder` is "". Throws InputError if the
// folder cannot be read.
[[nodiscard]] std::map<std::string, std::string> shipped_files(const std::string& data_folder,
                                                               const Shipped& kind);
// If `name` is a former name, replaces it and adds a warning that says so.
void renew_name(std::string& name, std::vector<std::string>& warnings);
// Whether lists show the profile without --all. They leave out profiles of test beds on one machine
// and numbers that were recalled and not looked up.
[[nodiscard]] bool is_listed(std::string_view name);
// The error `unknown network profile "10g"; did you mean "10g-tcp"?` for a name that is not among
// the shipped files (name -> path). A former name near it stands for the present one.
[[nodiscard]] UsageError unknown_file(std::string_view noun, const std::string& name,
                                      const std::map<std::string, std::string>& files);
// The path of a shipped file, also by its former name. Throws UsageError, `unknown network profile
// "10g-tpc"; did you mean "10g-tcp"?`, and as shipped_files() does.
[[nodiscard]] std::string shipped_file(const std::string& data_folder, const Shipped& kind,
                                       const std::string& name);
// Whether `name` has no slash and does not end in .json or .gz.
[[nodiscard]] bool is_shipped_name(std::string_view name);

// The file below the data folder that has the last folders of `path`, "/home/me/traces/a.json" ->
// "/usr/share/stepsim/traces/a.json"; "" if there is none.
[[nodiscard]] std::string place_in_data_folder(const std::string& data_folder,
                                               std::string_view path);
// The same for a path as the documentation writes it, which begins with such a folder
// ("examples/quickstart.scenario.json"); "" also if the path leads to a file.
[[nodiscard]] std::string shipped_place(const std::string& data_folder, std::string_view path);

// The kind of file that a string at this pointer names, in a scenario, a list of flows, a
// collective or a merge problem. This is the only list of keys that name files: Files asserts that
// no other is read. The content of these files is part of the identity of a sweep, and their names
// in an axis are relative to the file with the axis.
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
  overlap,
  conditions
};
[[nodiscard]] FileKind file_kind_at(std::string_view pointer); // "/workload/1/trace" -> trace
// The shipped files that a name of this kind may mean; null if there are none.
[[nodiscard]] const Shipped* shipped_kind(FileKind kind);
[[nodiscard]] inline bool names_file(std::string_view pointer) {
  return file_kind_at(pointer) != FileKind::none;
}

// A node type may name one more file, whose place is that of the node type with this ending.
inline constexpr std::string_view kOfNominal = "/of_nominal";
// The place in a scenario of the name that leads to the file at `pointer`.
[[nodiscard]] inline std::string_view place_of_name(std::string_view pointer) {
  return pointer.substr(0,
                        pointer.size() - (pointer.ends_with(kOfNominal) ? kOfNominal.size() : 0));
}

// The path of `name`, relative to the folder of the file that contains the name.
[[nodiscard]] std::string path_of(const io::Json& name);

// The files that a scenario names, with their SHA-256 (as sha256sum prints it). They are part of a
// result and of the header of a sweep, so that a later run can warn about files that have changed.
//
//     "files": [{"pointer": "/workload/trace", "sha256": "9f86d081884c7d65..."}]
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
