#include "study/files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/nearest.hpp"
#include "io/cost_file.hpp"
#include "io/model_file.hpp"
#include "io/profile_file.hpp"
#include "io/topology_file.hpp"
#include "io/trace_file.hpp"
#include "net/topology.hpp"

namespace stepsim::study {

namespace fs = std::filesystem;

bool is_shipped_name(std::string_view name) {
  return name.find('/') == std::string_view::npos && !name.ends_with(".json") &&
         !name.ends_with(".gz");
}

std::map<std::string, std::string> shipped_files(const std::string& data_folder,
                                                 const Shipped& kind) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(data_folder) / kind.folder, error)) {
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
  if (!near.empty()) {
    known = {near.front()};
  }
  throw UsageError(base::unknown_word(kind.noun, name, known));
}

std::string path_of(const io::Json& name) {
  const fs::path path(name.as_string());
  const fs::path folder = fs::path(std::string(name.file())).parent_path();
  return path.is_absolute() || folder.empty() ? path.string() : (folder / path).string();
}

io::Json Files::read(const std::string& path) {
  io::Json json = io::read_json(path);
  contents_.emplace(path, io::compact(json));
  return json;
}

const std::pair<train::Trace, std::string>& Files::trace(const io::Json& name) {
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
  auto& known = traces_[path];
  if (!known) {
    known = std::make_unique<const std::pair<train::Trace, std::string>>(
        io::parse_trace(read(path)), path);
  }
  return *known;
}

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
  const std::lock_guard lock(mutex_);
  const std::string path = path_or_shipped(name, kShippedModels);
  auto& known = models_[path];
  if (!known) {
    known = std::make_unique<const train::ModelTable>(io::parse_model(read(path)));
  }
  return *known;
}

const net::NetworkProfile& Files::profile(const io::Json& name) {
  const std::lock_guard lock(mutex_);
  const std::string path = path_or_shipped(name, kShippedProfiles);
  auto& known = profiles_[path];
  if (!known) {
    known = std::make_unique<const net::NetworkProfile>(io::parse_profile(read(path)));
  }
  return *known;
}

const CostFile& Files::cost(const io::Json& name) {
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
  auto& known = costs_[path];
  if (!known) {
    io::CostPoints points = io::parse_cost(read(path));
    auto [table, report] = plan::make_table_cost(points.table);
    known = std::make_unique<const CostFile>(
        CostFile{std::move(points.op), points.ranks, std::move(table), report});
  }
  return *known;
}

const net::Topology& Files::topology(const io::Json& name) {
  const std::lock_guard lock(mutex_);
  const std::string path = path_or_shipped(name, kShippedTopologies);
  auto& known = topologies_[path];
  if (!known) {
    known = std::make_unique<const net::Topology>(io::parse_topology(read(path)));
  }
  return *known;
}

std::shared_ptr<const net::RoutedFabric> Files::routed(const net::Topology& topology) {
  const std::lock_guard lock(mutex_);
  auto& known = routed_[io::compact(io::to_json(topology))];
  if (!known) {
    known = std::make_shared<const net::RoutedFabric>(net::fabric_of(topology));
  }
  return known;
}

std::vector<std::string> Files::contents_so_far() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> contents;
  for (const auto& [path, content] : contents_) {
    contents.push_back(content);
  }
  std::ranges::sort(contents);
  return contents;
}

} // namespace stepsim::study
