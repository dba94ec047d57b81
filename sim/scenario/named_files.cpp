#include "scenario/named_files.hpp"

#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"

namespace stepsim::study {

namespace {

void add_below(const io::Json& tree, const std::string& pointer, Files& files,
               std::vector<NamedFile>& out) {
  if (tree.is_string() && names_file(pointer)) {
    std::vector<std::string> places{pointer};
    if (file_kind_at(pointer) == FileKind::node) {
      places.push_back(pointer + std::string(kOfNominal));
    }
    for (const std::string& place : places) {
      if (std::string digest = files.sha256(tree, place); !digest.empty()) {
        out.push_back({place, std::move(digest)});
      }
    }
  } else if (tree.is_object()) {
    for (const auto& [key, member] : tree.as_object()) {
      add_below(member, pointer + "/" + io::escape_token(key), files, out);
    }
  } else if (tree.is_array()) {
    for (std::size_t i = 0; i < tree.as_array().size(); ++i) {
      add_below(tree.as_array()[i], pointer + "/" + std::to_string(i), files, out);
    }
  }
}

// As many digits as tell two files apart at a glance.
std::string beginning(const std::string& digest) { return digest.substr(0, 8) + ".."; }

} // namespace

std::vector<NamedFile> named_files(const io::Json& scenario, Files& files) {
  std::vector<NamedFile> out;
  add_below(scenario, "", files, out);
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
