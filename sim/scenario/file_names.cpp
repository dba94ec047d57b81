#include "scenario/file_names.hpp"

#include <filesystem>
#include <system_error>

#include "base/collected.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "scenario/files.hpp"

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

namespace {

// The former names of shipped profiles.
struct Renamed {
  std::string_view former, present;
};
constexpr std::array kRenamed{
    Renamed{"1gbe", "1g-tcp"},
    Renamed{"10gbe", "10g-tcp"},
    Renamed{"25gbe", "25g-tcp"},
    Renamed{"100gbe-tcp", "100g-tcp"},
    Renamed{"100gbe", "100g-roce"},
    Renamed{"roce-25g", "25g-roce"},
    Renamed{"roce-50g", "50g-roce"},
    Renamed{"roce-200g", "200g-roce"},
    Renamed{"roce-400g", "400g-roce"},
    Renamed{"infiniband-56g", "56g-ib"},
    Renamed{"infiniband-100g", "100g-ib"},
    Renamed{"infiniband-200g", "200g-ib"},
    Renamed{"infiniband-400g", "400g-ib"},
};

// Folders of the data folder that documents name.
bool is_shipped_folder(const fs::path& name) {
  constexpr std::array<std::string_view, 5> kFolders{"examples", "models", "reproduce",
                                                     "topologies", "traces"};
  return std::ranges::find(kFolders, name.string()) != kFolders.end();
}

// The present name of a shipped file that was renamed ("10gbe": "10g-tcp"); else `name` itself. A
// former name is read for two releases.
std::string present_name(std::string_view name) {
  const auto found = std::ranges::find(kRenamed, name, &Renamed::former);
  return std::string(found == kRenamed.end() ? name : found->present);
}

// As many digits as tell two files apart at a glance.
std::string beginning(const std::string& digest) { return digest.substr(0, 8) + ".."; }

} // namespace

void renew_name(std::string& name, std::vector<std::string>& warnings) {
  std::string present = present_name(name);
  if (present != name) {
    warnings.push_back("network profile " + name + " is called " + present +
                       " now; the former name is read until release 0.3");
    name = std::move(present);
  }
}

bool is_listed(std::string_view name) {
  return !name.starts_with("testbed-") && !name.ends_with("-recalled");
}

UsageError unknown_file(std::string_view noun, const std::string& name,
                        const std::map<std::string, std::string>& files) {
  std::vector<std::string_view> known;
  for (const auto& [each, path] : files) {
    if (is_listed(each)) {
      known.push_back(each);
    }
  }
  std::vector<std::string_view> tried = known;
  for (const Renamed& each : kRenamed) {
    if (files.contains(std::string(each.present))) {
      tried.push_back(each.former); // "infiniband" begins former names only
    }
  }
  std::vector<std::string> near = base::nearest_words(name, tried);
  if (near.empty()) {
    return UsageError(base::unknown_word(noun, name, known));
  }
  if (near.front().starts_with(name)) { // all of one family: 100g-ib, 100g-roce, 100g-tcp
    std::erase_if(near, [&](const std::string& each) { return !each.starts_with(name); });
  } else {
    near.resize(1);
  }
  const auto shown = [](const std::string& each) { return base::quoted(present_name(each)); };
  return UsageError("unknown " + std::string(noun) + " \"" + base::shown_value(name) +
                    "\"; did you mean " + base::listed(near, shown, ", ", " or ") + "?");
}

std::string shipped_file(const std::string& data_folder, const Shipped& kind,
                         const std::string& name) {
  const std::map<std::string, std::string> files = shipped_files(data_folder, kind);
  if (const auto found = files.find(present_name(name)); found != files.end()) {
    return found->second;
  }
  if (kind.tells_all_near) {
    const auto name_of = [](const auto& each) -> std::string_view { return each.first; };
    throw UsageError(
        base::unknown_word(kind.noun, name, base::collected<std::string_view>(files, name_of)));
  }
  throw unknown_file(kind.noun, name, files);
}

std::string place_in_data_folder(const std::string& data_folder, std::string_view path) {
  const fs::path normal = fs::path(path).lexically_normal();
  for (auto part = normal.begin(); part != normal.end() && !data_folder.empty(); ++part) {
    if (is_shipped_folder(*part)) {
      fs::path place(data_folder);
      std::for_each(part, normal.end(), [&](const fs::path& each) { place /= each; });
      if (std::error_code error; fs::is_regular_file(place, error)) {
        return place.string();
      }
    }
  }
  return "";
}

std::string shipped_place(const std::string& data_folder, std::string_view path) {
  std::error_code error;
  const fs::path typed(path);
  return !typed.empty() && is_shipped_folder(*typed.begin()) && !fs::exists(typed, error)
             ? place_in_data_folder(data_folder, path)
             : "";
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
const Shipped* shipped_kind(FileKind kind) {
  static constexpr std::array kKinds{std::pair{FileKind::trace, &kShippedTraces},
                                     std::pair{FileKind::model, &kShippedModels},
                                     std::pair{FileKind::profile, &kShippedProfiles},
                                     std::pair{FileKind::topology, &kShippedTopologies},
                                     std::pair{FileKind::node, &kShippedNodes},
                                     std::pair{FileKind::conditions, &kShippedConditions}};
  const auto* const found =
      std::ranges::find(kKinds, kind, [](const auto& row) { return row.first; });
  return found == kKinds.end() ? nullptr : found->second;
}

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
      Key{"/links", FileKind::links},
      Key{"/sizes", FileKind::sizes},
      Key{"/cluster/preset", FileKind::node},
      Key{"/communication/library/calibration", FileKind::library_calibration},
      Key{"/enter_s", FileKind::entry},
      Key{"/training/overlap/file", FileKind::overlap},
      Key{"/conditions/file", FileKind::conditions},
  };
  std::string general;
  for (const std::string& token : io::pointer_tokens(pointer)) {
    const bool index = !token.empty() && token.find_first_not_of("0123456789") == token.npos;
    general.append("/").append(index || token == "-" ? "*" : io::escape_token(token));
  }
  // A file of kind collective has the keys of a cluster and of its library at its root, a list of
  // flows has a topology there.
  for (const char* parent : {"", "/cluster", "/communication"}) {
    if (const auto* found = base::found(kKeys, parent + general, &Key::pointer)) {
      return found->kind;
    }
  }
  return FileKind::none;
}

std::vector<NamedFile> named_files(const io::Json& scenario, Files& files) {
  std::vector<NamedFile> out;
  const auto add = [&](const io::Json& name, std::string place) {
    if (std::string digest = files.sha256(name, place); !digest.empty()) {
      out.push_back({std::move(place), std::move(digest)});
    }
  };
  io::for_each_leaf(scenario, "", [&](const io::Json& leaf, const std::string& pointer) {
    if (leaf.is_string() && names_file(pointer)) {
      add(leaf, pointer);
      if (file_kind_at(pointer) == FileKind::node) {
        add(leaf, pointer + std::string(kOfNominal));
      }
    }
  });
  std::ranges::sort(out, {}, &NamedFile::pointer);
  return out;
}

// A name without an origin is relative to the working folder.
void find_named_files(io::Json& scenario, const io::Json& recorded,
                      const std::string& data_folder) {
  for (const io::Json& entry : recorded.is_array() ? recorded.as_array() : io::Array()) {
    const std::string pointer = entry.text("pointer");
    const io::Json* name = names_file(pointer) ? io::resolve(scenario, pointer) : nullptr;
    if (name == nullptr || !name->is_string() || is_shipped_name(name->as_string())) {
      continue;
    }
    const std::array<std::string, 3> places{path_of(*name), name->as_string(),
                                            place_in_data_folder(data_folder, name->as_string())};
    const auto fits = [digest = entry.text("sha256")](const std::string& path) {
      return io::is_regular(path) && io::sha256_of_file(path) == digest;
    };
    const auto* found = std::ranges::find_if(places, fits);
    if (found != places.begin() && found != places.end()) {
      io::assign(scenario, pointer, *found) = io::Json(*found);
    }
  }
}

std::vector<std::string> changed_files(const io::Json& recorded, const io::Json& before,
                                       const io::Json& scenario, Files& files) {
  std::vector<std::string> warnings;
  for (const io::Json& entry : recorded.is_array() ? recorded.as_array() : io::Array()) {
    const std::string pointer = entry.text("pointer");
    const std::string then = entry.text("sha256");
    const std::string_view place = place_of_name(pointer);
    const io::Json* name = names_file(place) ? io::resolve(before, place) : nullptr;
    const io::Json* used = names_file(place) ? io::resolve(scenario, place) : nullptr;
    if (name == nullptr || used == nullptr || !name->is_string() || *used != *name) {
      continue;
    }
    const std::string now = files.sha256(*name, pointer);
    if (!now.empty() && !then.empty() && now != then) {
      warnings.push_back(base::shown_value(name->as_string(), 200) + " at " + pointer +
                         " has changed since: SHA-256 " + beginning(then) + " then, " +
                         beginning(now) + " now");
    }
  }
  return warnings;
}

} // namespace stepsim::study
