#pragma once
// Files that scenarios refer to, each read once. Shared by the threads of a sweep (guarded).
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/json.hpp"
#include "net/profile.hpp"
#include "plan/cost.hpp"
#include "train/model_table.hpp"
#include "train/trace.hpp"

namespace stepsim::study {

// T(bytes) as a file of kind cost gives it.
struct CostFile {
  std::string op;
  std::int64_t ranks{};
  plan::TableCost table;
  plan::TableReport report;
};

class Files {
public:
  // `data_folder` holds models/ and topologies/ for names without a folder ("resnet50").
  explicit Files(std::string data_folder) : data_folder_(std::move(data_folder)) {}

  // `name` is a string value: a path relative to the file it was written in (to the working
  // directory if it came from a flag), or for models the name of a shipped table. All throw
  // InputError; what they return lives as long as this object. A trace comes with its path.
  const std::pair<train::Trace, std::string>& trace(const io::Json& name);
  const train::ModelTable& model(const io::Json& name);
  const net::NetworkProfile& profile(const io::Json& name);
  const CostFile& cost(const io::Json& name);

  // Every file read so far, sorted: part of a sweep's identity. Content, not place.
  [[nodiscard]] std::vector<std::string> contents_so_far() const;
  [[nodiscard]] const std::string& data_folder() const { return data_folder_; }
  // Names of the shipped model tables, sorted.
  [[nodiscard]] std::vector<std::string> model_names() const;

private:
  template <class Value> using ByPath = std::map<std::string, std::unique_ptr<const Value>>;

  io::Json read(const std::string& path); // remembers the content

  std::string data_folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> contents_; // path -> canonical text
  ByPath<std::pair<train::Trace, std::string>> traces_;
  ByPath<train::ModelTable> models_;
  ByPath<net::NetworkProfile> profiles_;
  ByPath<CostFile> costs_;
};

// `name` relative to the folder of the file it was written in.
[[nodiscard]] std::string path_of(const io::Json& name);

} // namespace stepsim::study
