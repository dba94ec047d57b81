// One lock guards all maps: files are read once and then only looked up, so that threads of a sweep
// rarely meet here. Entries are behind unique pointers, whose targets stay in place while the maps
// grow.
#include "scenario/files.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "files/library_file.hpp"
#include "files/model_file.hpp"
#include "files/node_profile.hpp"
#include "files/profile_file.hpp"
#include "files/topology_file.hpp"
#include "files/trace_file.hpp"
#include "net/fabric/topology.hpp"
#include "scenario/cost_choice.hpp"
#include "json/file.hpp"
#include "json/file_write.hpp"
#include "json/json_parse.hpp"
#include "json/json_pointer.hpp"
#include "json/json_text.hpp"

namespace stepsim::study {

namespace fs = std::filesystem;

// A path always has a folder or an ending: "./resnet50" is a file.
bool is_shipped_name(std::string_view name) {
  return name.find('/') == std::string_view::npos && !name.ends_with(".json") &&
         !name.ends_with(".gz");
}

std::map<std::string, std::string> shipped_files(const std::string& data_folder,
                                                 const Shipped& kind) {
  std::map<std::string, std::string> files;
  if (data_folder.empty()) {
    return files;
  }
  const fs::path folder = fs::path(data_folder) / kind.folder;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw InputError(folder.string(), "",
                     "cannot read the folder of the " + std::string(kind.noun) +
                         "s that come with the program: " + io::reason_text(error.value()));
  }
  for (const auto& entry : entries) {
    std::string name = entry.path().filename().string();
    const auto ending = std::ranges::find_if(
        kind.endings, [&](std::string_view each) { return name.ends_with(each); });
    if (ending != kind.endings.end()) {
      name.resize(name.size() - ending->size());
      files.emplace(std::move(name), entry.path().string());
    }
  }
  return files;
}

std::string shipped_file(const std::string& data_folder, const Shipped& kind,
                         const std::string& name) {
  const std::map<std::string, std::string> files = shipped_files(data_folder, kind);
  if (const auto found = files.find(name); found != files.end()) {
    return found->second;
  }
  std::vector<std::string_view> known;
  for (const auto& [each, path] : files) {
    known.push_back(each);
  }
  const std::vector<std::string> near = base::nearest_words(name, known);
  if (!near.empty() && near.front().starts_with(name)) {
    known.assign(near.begin(), near.end()); // one family: infiniband-100g, infiniband-400g
  } else if (!near.empty()) {
    known = {near.front()};
  }
  throw UsageError(base::unknown_word(kind.noun, name, known));
}

// Names in a file are relative to that file, so that a scenario and its traces can be moved
// together.
std::string path_of(const io::Json& name) {
  const fs::path path(name.as_string());
  const fs::path folder = fs::path(std::string(name.file())).parent_path();
  return path.is_absolute() || folder.empty() ? path.string() : (folder / path).string();
}

// Indexes of lists are generalised to "*"; a short form lies at the pointer of the object it
// replaces.
FileKind file_kind_at(std::string_view pointer) {
  struct Key {
    std::string_view pointer; // "*" is the index of an element
    FileKind kind;
  };
  static constexpr std::array kKeys{
      Key{"/workload/trace", FileKind::trace},
      Key{"/workload/*/trace", FileKind::trace}, // of a list of jobs
      Key{"/workload/model", FileKind::model},
      Key{"/workload/*/model", FileKind::model},
      Key{"/cluster/network/calibration", FileKind::profile},
      Key{"/cluster/network", FileKind::profile}, // short form
      Key{"/cluster/intra_network/calibration", FileKind::profile},
      Key{"/cluster/intra_network", FileKind::profile},
      Key{"/cluster/network/cost", FileKind::cost},
      Key{"/cost", FileKind::cost}, // of a merge problem
      Key{"/cluster/topology/file", FileKind::topology},
      Key{"/cluster/topology", FileKind::topology}, // short form
      Key{"/topology/file", FileKind::topology},    // of a list of flows, or of a collective
      Key{"/topology", FileKind::topology},
      Key{"/network/calibration", FileKind::profile}, // of a collective
      Key{"/links", FileKind::links},
      Key{"/sizes", FileKind::sizes},
      Key{"/cluster/preset", FileKind::node},
      Key{"/preset", FileKind::node}, // of a collective
      Key{"/communication/library/calibration", FileKind::library_calibration},
      Key{"/library/calibration", FileKind::library_calibration},
      Key{"/enter_s", FileKind::entry},
      Key{"/training/overlap/file", FileKind::overlap},
  };
  std::string general;
  for (const std::string& token : io::pointer_tokens(pointer)) {
    const bool index = !token.empty() && token.find_first_not_of("0123456789") == token.npos;
    general.append("/").append(index || token == "-" ? "*" : io::escape_token(token));
  }
  const auto found = std::ranges::find(kKeys, general, &Key::pointer);
  return found == kKeys.end() ? FileKind::none : found->kind;
}

// A short hash that is the same on every machine; it guards against mistakes, not against intent.
std::string fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) {
    digits[i] = kDigits[hash & 15];
  }
  return digits;
}

namespace {

// Where a profile is named, a shipped node type serves as well.
bool names_node(const std::string& data_folder, const io::Json& name) {
  return is_shipped_name(name.as_string()) &&
         io::shipped_node_presets(data_folder).contains(name.as_string());
}

// Whether the table of keys has the place that `name` was read from.
[[maybe_unused]] bool is_known_place(const io::Json& name, FileKind kind) {
  std::string pointer = name.pointer();
  constexpr std::string_view kInSweep = "/scenario";
  if (pointer.starts_with("/scenario/")) {
    pointer.erase(0, kInSweep.size());
  }
  return pointer.empty() || file_kind_at(pointer) == kind;
}

} // namespace

// The digest is of the compact tree and not of the bytes: indentation changes no result. A file
// that changes during a sweep would give points of two inputs.
io::Json Files::read(const std::string& path, const io::Json& name) {
  const auto is_this = [&](const std::string& output) { return io::same_file(output, path); };
  if (const auto output = std::ranges::find_if(outputs_, is_this); output != outputs_.end()) {
    throw UsageError(*output + ": is an input too" +
                     (name.pointer().empty() ? "" : ", named at " + name.pointer()) +
                     "; a result does not replace what it was made from");
  }
  io::Json json = read_named(path, name);
  const std::string digest = fnv1a(io::compact(json));
  if (digests_.emplace(path, digest).first->second != digest) {
    throw InputError(path, "", "has changed since it was read first");
  }
  return json;
}

// Only "cannot read" is turned into an error of the place that names the file; errors inside the
// file keep their own pointers.
io::Json read_named(const std::string& path, const io::Json& name) {
  try {
    return io::read_json(path);
  } catch (const InputError& error) {
    const base::Problem& problem = error.problems().front();
    constexpr std::string_view kCannotRead = "cannot read: ";
    if (name.pointer().empty() || problem.file != path || !problem.where.empty() ||
        !problem.message.starts_with(kCannotRead)) {
      throw;
    }
    throw InputError(std::string(name.file()), name.pointer(),
                     "cannot read " + path + ": " + problem.message.substr(kCannotRead.size()));
  }
}

// Reading a file only for its digest remembers the digest, so that a later change of the file is
// noticed as well.
std::string Files::digest(const io::Json& name, std::string_view pointer) {
  const std::lock_guard lock(mutex_);
  std::string path;
  switch (file_kind_at(pointer)) {
  case FileKind::none:
    assert(false && "the pointer is one of a key that names a file");
    return {};
  case FileKind::model:
    path = path_or_shipped(name, kShippedModels);
    break;
  case FileKind::profile:
    path =
        names_node(data_folder_, name) ? node_path(name) : path_or_shipped(name, kShippedProfiles);
    break;
  case FileKind::topology:
    path = path_or_shipped(name, kShippedTopologies);
    break;
  case FileKind::node:
    path = node_path(name);
    break;
  case FileKind::trace:
  case FileKind::cost:
  case FileKind::links:
  case FileKind::sizes:
  case FileKind::library_calibration:
  case FileKind::overlap:
  case FileKind::entry:
    path = path_of(name);
    break;
  }
  if (!digests_.contains(path)) {
    (void)read(path, name);
  }
  return digests_.at(path);
}

const std::pair<train::Trace, std::string>& Files::trace(const io::Json& name) {
  assert(is_known_place(name, FileKind::trace) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
  auto& known = traces_[path];
  if (!known) {
    known = std::make_unique<const std::pair<train::Trace, std::string>>(
        io::parse_trace(read(path, name)), path);
  }
  return *known;
}

template <class Value, class Parse>
const Value& Files::known_file(ByPath<Value>& known, const std::string& path, const io::Json& name,
                               Parse parse) {
  auto& file = known[path];
  if (!file) {
    file = std::make_unique<const Value>(parse(read(path, name)));
  }
  return *file;
}

// An unknown name is an error of the file that has it, with the nearest shipped name.
std::string Files::path_or_shipped(const io::Json& name, const Shipped& kind) const {
  if (!is_shipped_name(name.as_string())) {
    return path_of(name);
  }
  try {
    return shipped_file(data_folder_, kind, name.as_string());
  } catch (const UsageError& error) {
    throw InputError(std::string(name.file()), name.pointer(), error.what());
  }
}

const train::ModelTable& Files::model(const io::Json& name) {
  assert(is_known_place(name, FileKind::model) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  return known_file(models_, path_or_shipped(name, kShippedModels), name, io::parse_model);
}

const net::NetworkProfile& Files::profile(const io::Json& name) {
  assert(is_known_place(name, FileKind::profile) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  const std::string path =
      names_node(data_folder_, name) ? node_path(name) : path_or_shipped(name, kShippedProfiles);
  auto& known = profiles_[path];
  if (!known) {
    const io::Json tree = read(path, name);
    const io::Json* kind = tree.find("kind");
    const bool is_node = kind != nullptr && *kind == io::Json("node_preset");
    known = std::make_unique<const net::NetworkProfile>(
        is_node ? io::profile_of_node(io::parse_node_preset(tree)) : io::parse_profile(tree));
  }
  return *known;
}

const CostFile& Files::cost(const io::Json& name) {
  assert(is_known_place(name, FileKind::cost) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  return known_file(costs_, path_of(name), name, read_cost_file);
}

const net::Topology& Files::topology(const io::Json& name) {
  assert(is_known_place(name, FileKind::topology) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  return known_file(topologies_, path_or_shipped(name, kShippedTopologies), name,
                    io::parse_topology);
}

// What is checked depends on the number of ranks, so that each number has its own.
const io::LinksFile& Files::links(const io::Json& name, std::uint32_t ranks) {
  assert(is_known_place(name, FileKind::links) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
  auto& known = links_[{path, ranks}];
  if (!known) {
    known = std::make_unique<const io::LinksFile>(io::parse_links(read(path, name), ranks));
  }
  return *known;
}

const std::vector<double>& Files::sizes(const io::Json& name, std::uint32_t ranks) {
  assert(is_known_place(name, FileKind::sizes) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
  auto& known = sizes_[{path, ranks}];
  if (!known) {
    known = std::make_unique<const std::vector<double>>(io::parse_sizes(read(path, name), ranks));
  }
  return *known;
}

const std::vector<double>& Files::entry(const io::Json& name, std::uint32_t ranks) {
  assert(is_known_place(name, FileKind::entry) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
  auto& known = entries_[{path, ranks}];
  if (!known) {
    known = std::make_unique<const std::vector<double>>(io::parse_entry(read(path, name), ranks));
  }
  return *known;
}

// Node types have a folder of their own.
std::string Files::node_path(const io::Json& name) const {
  if (!is_shipped_name(name.as_string())) {
    return path_of(name);
  }
  try {
    return io::shipped_node_preset(data_folder_, name.as_string());
  } catch (const UsageError& error) {
    throw InputError(std::string(name.file()), name.pointer(), error.what());
  }
}

const io::NodePreset& Files::node(const io::Json& name) {
  assert(is_known_place(name, FileKind::node) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  return known_file(nodes_, node_path(name), name, io::parse_node_preset);
}

const io::OverlapFile& Files::overlap(const io::Json& name) {
  assert(is_known_place(name, FileKind::overlap) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  return known_file(overlaps_, path_of(name), name, io::parse_overlap);
}

std::shared_ptr<const library::Calibration> Files::library_calibration(const io::Json& value) {
  const std::lock_guard lock(mutex_);
  const bool is_name = value.is_string();
  const std::string key = is_name ? path_of(value) : io::compact(value);
  auto& known = library_calibrations_[key];
  if (!known) {
    const io::Json read_value = is_name ? read(key, value) : io::Json();
    const io::Json& tree = is_name ? read_value : value;
    known = std::make_shared<const library::Calibration>(
        library::calibration_of(io::parse_library_calibration(tree).fitted));
  }
  return known;
}

// By content and not by path: an inline topology has no path, and points of a sweep often repeat
// one.
std::shared_ptr<const net::RoutedFabric> Files::routed(const net::Topology& topology) {
  const std::lock_guard lock(mutex_);
  auto& known = routed_[io::compact(io::to_json(topology))];
  if (!known) {
    known = std::make_shared<const net::RoutedFabric>(net::fabric_of(topology));
  }
  return known;
}

} // namespace stepsim::study
