#pragma once
// Files that scenarios refer to, each read once. Shared by the threads of a sweep (guarded). A word
// without a slash that does not end in .json or .gz is the name of a file that comes with the
// program:
//     "resnet50"        models/resnet50.json
//     "10gbe"           topologies/10gbe.calibration.json
//     "./10gbe.json"    a path
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/cost_file.hpp"
#include "files/links_file.hpp"
#include "files/node_file.hpp"
#include "files/overlap_file.hpp"
#include "library/calibration.hpp"
#include "net/fabric/rank_fabric.hpp"
#include "net/profile/profile.hpp"
#include "plan/cost.hpp"
#include "train/workload/model_table.hpp"
#include "train/workload/trace.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// T(bytes) as a file of kind cost gives it: a table, or lines.
struct CostFile {
  std::string op;        // "" where the file gives none
  std::int64_t ranks{};  // 0 where the file gives none
  plan::TableCost table; // monotone; empty where there are lines
  plan::TableReport report;
  std::vector<io::LineCost> lines{}; // by operation and number of ranks
};

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

// Every kind of file has its own function and its own map, because each is parsed once and into its
// own type.
class Files {
public:
  // `data_folder` holds models/ and topologies/ for names without a folder ("resnet50"). A file of
  // `outputs` is refused as an input: the result would replace it.
  explicit Files(std::string data_folder, std::vector<std::string> outputs = {})
      : data_folder_(std::move(data_folder)), outputs_(std::move(outputs)) {}

  // `name` is a string value: a path relative to the file it was written in (to the working
  // directory if it came from a flag), or for models, profiles, topologies and node types the name
  // of a shipped one. All throw InputError, also where a file has changed since it was read first,
  // and UsageError for a file of `outputs`. What they return lives as long as this object. A trace
  // comes with its path. A profile may also be a node type (io::profile_of_node).
  const std::pair<train::Trace, std::string>& trace(const io::Json& name);
  const train::ModelTable& model(const io::Json& name);
  const net::NetworkProfile& profile(const io::Json& name);
  const CostFile& cost(const io::Json& name);
  const net::Topology& topology(const io::Json& name);
  // Of a collective of so many ranks.
  const io::LinksFile& links(const io::Json& name, std::uint32_t ranks);
  const std::vector<double>& sizes(const io::Json& name, std::uint32_t ranks);
  const std::vector<double>& entry(const io::Json& name, std::uint32_t ranks);
  const io::NodePreset& node(const io::Json& name);
  const io::OverlapFile& overlap(const io::Json& name);
  // A path, or the object itself. The correction and the covariance that predictions need are
  // computed once.
  std::shared_ptr<const library::Calibration> library_calibration(const io::Json& value);
  // The routed fabric of a topology, made once. Throws SimulationError as Routes does.
  std::shared_ptr<const net::RoutedFabric> routed(const net::Topology& topology);

  // 16 hex digits of the content of the file that `name`, the string at `pointer`, names: part of a
  // sweep's identity, wherever the file lies and however it is indented. Needs
  // names_file(pointer) (asserted).
  [[nodiscard]] std::string digest(const io::Json& name, std::string_view pointer);
  [[nodiscard]] const std::string& data_folder() const { return data_folder_; }

private:
  template <class Value> using ByPath = std::map<std::string, std::unique_ptr<const Value>>;

  // As read_named, but refuses a file of `outputs`. Remembers the digest, and throws where the file
  // has changed since.
  io::Json read(const std::string& path, const io::Json& name);
  // The parsed file at `path`, read once; the mutex is held.
  template <class Value, class Parse>
  const Value& known_file(ByPath<Value>& known, const std::string& path, const io::Json& name,
                          Parse parse);
  [[nodiscard]] std::string path_or_shipped(const io::Json& name, const Shipped& kind) const;
  [[nodiscard]] std::string node_path(const io::Json& name) const;

  std::string data_folder_;
  std::vector<std::string> outputs_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> digests_; // of paths
  ByPath<std::pair<train::Trace, std::string>> traces_;
  ByPath<train::ModelTable> models_;
  ByPath<net::NetworkProfile> profiles_;
  ByPath<CostFile> costs_;
  ByPath<net::Topology> topologies_;
  ByPath<io::NodePreset> nodes_;
  ByPath<io::OverlapFile> overlaps_;
  // By path, or by the text of an object.
  std::map<std::string, std::shared_ptr<const library::Calibration>> library_calibrations_;
  // By path and number of ranks.
  std::map<std::pair<std::string, std::uint32_t>, std::unique_ptr<const io::LinksFile>> links_;
  std::map<std::pair<std::string, std::uint32_t>, std::unique_ptr<const std::vector<double>>>
      sizes_, entries_;
  std::map<std::string, std::shared_ptr<const net::RoutedFabric>> routed_; // by canonical text
};

// `name` relative to the folder of the file it was written in.
[[nodiscard]] std::string path_of(const io::Json& name);
// The file at `path`, which `name` names. What cannot be read is blamed on the place of the name:
// `s.json: /workload/trace: cannot read t.json: no such file or directory`.
[[nodiscard]] io::Json read_named(const std::string& path, const io::Json& name);

// 16 hex digits: 64-bit FNV-1a.
[[nodiscard]] std::string fnv1a(std::string_view text);

} // namespace stepsim::study
