#include "study/files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/nearest.hpp"
#include "io/cost_file.hpp"
#include "io/model_file.hpp"
#include "io/profile_file.hpp"
#include "io/trace_file.hpp"

namespace stepsim::study {

namespace {

namespace fs = std::filesystem;

// A name without a folder or an ending is a shipped model, not a path.
bool is_plain_name(const std::string& name) {
  return name.find('/') == std::string::npos && !name.ends_with(".json") && !name.ends_with(".gz");
}

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

[[noreturn]] void refuse(const io::Json& place, std::string message) {
  throw InputError(std::string(place.file()), place.pointer(), std::move(message));
}

} // namespace

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

const train::ModelTable& Files::model(const io::Json& name) {
  const std::lock_guard lock(mutex_);
  const std::string& word = name.as_string();
  const bool shipped = is_plain_name(word);
  const std::string path =
      shipped ? (fs::path(data_folder_) / "models" / (word + ".json")).string() : path_of(name);
  auto& known = models_[path];
  if (!known) {
    if (shipped && !fs::exists(path)) {
      const std::vector<std::string> names = model_names();
      const std::vector<std::string_view> words(names.begin(), names.end());
      const std::vector<std::string> near = base::nearest_words(word, words);
      refuse(name, "unknown model " + in_quotes(word) +
                       (near.empty() ? std::string()
                                     : "; did you mean " + in_quotes(near.front()) + "?"));
    }
    known = std::make_unique<const train::ModelTable>(io::parse_model(read(path)));
  }
  return *known;
}

const net::NetworkProfile& Files::profile(const io::Json& name) {
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(name);
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

std::vector<std::string> Files::contents_so_far() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> contents;
  for (const auto& [path, content] : contents_) {
    contents.push_back(content);
  }
  std::ranges::sort(contents);
  return contents;
}

std::vector<std::string> Files::model_names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(data_folder_) / "models", error)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

} // namespace stepsim::study
