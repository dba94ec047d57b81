#pragma once
// Real files that importers are held to. They are not part of the project: tests that need one
// skip with a message where it is absent.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "document/json.hpp"
#include "document/json_text.hpp"
#include "layers/model_table.hpp"
#include "scenario/files/trace_file.hpp"
#include "testing/paths.hpp"

namespace stepsim::io {

inline std::string sample(const std::string& name) {
  return std::string(STEPSIM_SOURCE_DIR "/../shared/data/") + name;
}

// Use as `if (absent(file)) { return; }`.
inline bool absent(const std::string& file) {
  const bool missing = !std::filesystem::exists(file);
  if (missing) {
    MESSAGE("skipped: no sample file ", file);
  }
  return missing;
}

// All shipped model tables, by name.
inline std::vector<layers::ModelTable> shipped_models() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(STEPSIM_SOURCE_DIR "/models")) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  std::vector<layers::ModelTable> models;
  for (const std::string& file : files) {
    models.push_back(parse_model(read_json(file)));
  }
  return models;
}

} // namespace stepsim::io
