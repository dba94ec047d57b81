#pragma once
// Files that scenarios refer to, each read once. Shared by the threads of a sweep (guarded). Names
// are those of file_names.hpp.
#include <map>
#include <memory>
#include <mutex>
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
#include "scenario/file_names.hpp"
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
  // 64 hex digits of its bytes, compressed or not, as sha256sum prints them; "" where no
  // regular file is there. Needs names_file(pointer) (asserted).
  [[nodiscard]] std::string sha256(const io::Json& name, std::string_view pointer);
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
  // The path of the file that the string at `pointer` names.
  [[nodiscard]] std::string path_at(const io::Json& name, std::string_view pointer) const;
  [[nodiscard]] std::string path_or_shipped(const io::Json& name, const Shipped& kind) const;
  [[nodiscard]] std::string node_path(const io::Json& name) const;

  std::string data_folder_;
  std::vector<std::string> outputs_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> digests_; // of paths
  std::map<std::string, std::string> sha256_;  // likewise
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

// The file at `path`, which `name` names. What cannot be read is blamed on the place of the name:
// `s.json: /workload/trace: cannot read t.json: no such file or directory`.
[[nodiscard]] io::Json read_named(const std::string& path, const io::Json& name);

// 16 hex digits: 64-bit FNV-1a.
[[nodiscard]] std::string fnv1a(std::string_view text);

} // namespace stepsim::study
