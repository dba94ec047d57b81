#pragma once
// The files that scenarios name, each read once. Threads of a sweep share the object, which is
// guarded by a mutex. file_names.hpp resolves the names.

#include <mutex>
#include <tuple>

#include "buckets/cost.hpp"
#include "layers/model_table.hpp"
#include "links/fabric/placement.hpp"
#include "scenario/conditions.hpp"
#include "scenario/file_names.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/files/overlap_file.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::study {

// T(bytes) of a file of kind cost: a table, or lines.
struct CostFile {
  std::string op;           // "" if the file gives none
  std::int64_t ranks{};     // 0 if the file gives none
  buckets::TableCost table; // monotone; empty if there are lines
  buckets::TableReport report;
  std::vector<io::LineCost> lines{}; // sorted by operation and number of ranks
};

// Tells a file from its successor at the same path.
struct FileStamp {
  std::uint64_t device{}, inode{};
  std::int64_t bytes{}, changed_ns{}; // changed: since 1970
  bool operator==(const FileStamp&) const = default;
};

// Every kind of file has its own function, because each is parsed once, into its own type.
class Files {
public:
  // `data_folder` has models/ and topologies/ for names without a folder ("resnet50"). A file in
  // `outputs` is refused as an input, because the result would replace it.
  explicit Files(std::string data_folder, std::vector<std::string> outputs = {})
      : data_folder_(std::move(data_folder)), outputs_(std::move(outputs)) {}

  // `name` is a string value: a path relative to the file that contains it (to the working
  // directory if it came from a flag), or the name of a shipped model, profile, topology, trace or
  // node type. A trace comes with its path; a profile may also be a node type
  // (io::profile_of_node). The results live as long as this object. All throw InputError, also if a
  // file that is read again, as another kind or for another number of ranks, has changed since it
  // was first read, and UsageError for a file in `outputs`.
  const std::pair<layers::Trace, std::string>& trace(const io::Json& name);
  const layers::ModelTable& model(const io::Json& name);
  const links::NetworkProfile& profile(const io::Json& name);
  const CostFile& cost(const io::Json& name);
  const links::Topology& topology(const io::Json& name);
  // These files describe the links, sizes and entry times of a collective on `ranks` ranks.
  const io::LinksFile& links(const io::Json& name, std::uint32_t ranks);
  const std::vector<double>& sizes(const io::Json& name, std::uint32_t ranks);
  const std::vector<double>& entry(const io::Json& name, std::uint32_t ranks);
  const io::NodePreset& node(const io::Json& name);
  const io::OverlapFile& overlap(const io::Json& name);
  const FactorValues& conditions(const io::Json& name);
  // `value` is a path, or an object that is the calibration itself. The correction and the
  // covariance for predictions are computed once per calibration.
  std::shared_ptr<const nccl::Calibration> library_calibration(const io::Json& value);
  // The fabric of a topology with its routes, built once. Throws SimulationError if two hosts have
  // no path, or if the fabric is too large (links::Routes).
  std::shared_ptr<const links::RoutedFabric> routed(const links::Topology& topology);

  // The digest, 16 hex digits, of the content of a file, which is part of the hash that identifies
  // a sweep. `name` is the name of the file, the string at `pointer` of the scenario. Path and
  // indentation of the file have no effect. Needs names_file(pointer) (asserted).
  [[nodiscard]] std::string digest(const io::Json& name, std::string_view pointer);
  // SHA-256 of the bytes of the file, compressed or not, as sha256sum prints it; "" if there is no
  // regular file. At `pointer` + kOfNominal it is the file of the shares of the node type `name`.
  // Needs names_file(place_of_name(pointer)) (asserted).
  [[nodiscard]] std::string sha256(const io::Json& name, std::string_view pointer);
  [[nodiscard]] const std::string& data_folder() const { return data_folder_; }
  // Whether another run may use what this object has read: every file is still the one that was
  // read, by inode, size and nanosecond of its last change, which was at least 2 s ago then. A
  // younger file may change once more within one tick of the clock of the file system. False as
  // well once hundreds of things are kept.
  [[nodiscard]] bool may_be_kept() const;

private:
  // Remembers which file is about to be read at `path`.
  void note_file(const std::string& path);
  // Reads as read_named() does, but refuses a file in `outputs`. Keeps the SHA-256.
  io::Json read_input(const std::string& path, const io::Json& name);
  // The same, with the file of the shares of a node type. Keeps the digest of both, and throws if
  // one has changed since the first time.
  io::Json read(const std::string& path, const io::Json& name);
  // The parsed file that `name` names, read once for as many ranks.
  template <class Parse>
  const auto& known_file(FileKind kind, const io::Json& name, Parse parse, std::uint32_t ranks = 0);
  // The path of the file of the kind that `name` names.
  [[nodiscard]] std::string path_as(FileKind kind, const io::Json& name);

  std::string data_folder_;
  std::vector<std::string> outputs_;
  mutable std::mutex mutex_;
  std::map<std::string, std::optional<FileStamp>> stamps_; // by path; empty if it is not kept
  std::map<std::pair<FileKind, std::string>, std::string> shipped_paths_; // by kind and name
  std::map<std::string, std::string> digests_;                            // by path
  std::map<std::string, std::string> sha256_;                             // by path
  // What known_file() parsed, by kind, path and number of ranks; the kind decides the type.
  std::map<std::tuple<FileKind, std::string, std::uint32_t>, std::shared_ptr<const void>> known_;
  // By path, or by the text of an object.
  std::map<std::string, std::shared_ptr<const nccl::Calibration>> library_calibrations_;
  std::map<std::string, std::shared_ptr<const links::RoutedFabric>> routed_; // by canonical text
};

// Reads the file at `path`. An error names the key with the name: `s.json: /workload/trace: cannot
// read t.json: no such file or directory`.
[[nodiscard]] io::Json read_named(const std::string& path, const io::Json& name);

// 64-bit FNV-1a hash as 16 hex digits.
[[nodiscard]] std::string fnv1a(std::string_view text);

// Chooses the cost of an all-reduce in a file of kind cost (MER 4.2, INP 1.10). A file has measured
// points of one operation, or one linear cost (a line) per operation and number of ranks.

// Reads the file. Points are changed so that the time never falls with the size (CostFile::report
// says by how much). Throws InputError if the file is invalid.
[[nodiscard]] CostFile read_cost_file(const io::Json& tree);

struct ChosenCost {
  buckets::Cost cost;
  std::string warning; // "link at least 201 GB/s: times are upper bounds"; "" = none
};
// The points of the file, or its line for an all-reduce on `ranks` ranks. A problem is reported at
// `place`, the name of the file, unless exactly one line fits, or if the file names another
// operation or number of ranks for its points. Without `ranks`, as in a merge problem, any number
// of ranks fits.
[[nodiscard]] ChosenCost all_reduce_cost(const CostFile& file, std::optional<std::int64_t> ranks,
                                         const io::Json& place, io::Problems& problems);

} // namespace stepsim::study
