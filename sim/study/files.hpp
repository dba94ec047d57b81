#pragma once
// Files that scenarios refer to, each read once. Shared by the threads of a sweep (guarded).
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/json.hpp"
#include "net/profile.hpp"
#include "plan/cost.hpp"
#include "train/model_table.hpp"
#include "train/trace.hpp"

namespace stepsim::study {

class Files {
public:
  // `data_folder` holds models/ and topologies/ for names without a folder ("resnet50").
  explicit Files(std::string data_folder) : data_folder_(std::move(data_folder)) {}

  // `name` as written in a file called `referrer` ("" = the working directory). Each throws
  // InputError; the results live as long as this object.
  const train::Trace &trace(const std::string &name, const std::string &referrer);
  const train::ModelTable &model(const std::string &name, const std::string &referrer);
  const net::NetworkProfile &profile(const std::string &name, const std::string &referrer);
  const io::Json &json(const std::string &name, const std::string &referrer);

  // Every file read so far with its content hash, sorted by path: part of a sweep's identity.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> read_so_far() const;
  [[nodiscard]] const std::string &data_folder() const { return data_folder_; }
  // Names of the shipped model tables, sorted.
  [[nodiscard]] std::vector<std::string> model_names() const;

private:
  std::string data_folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const train::Trace>> traces_;
  std::map<std::string, std::unique_ptr<const train::ModelTable>> models_;
  std::map<std::string, std::unique_ptr<const net::NetworkProfile>> profiles_;
  std::map<std::string, std::unique_ptr<const io::Json>> trees_;
};

} // namespace stepsim::study
