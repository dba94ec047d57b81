#include "scenario/file_names.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "json/file.hpp"
#include "json/json_pointer.hpp"

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

} // namespace stepsim::study
