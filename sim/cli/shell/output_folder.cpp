#include "cli/shell/output_folder.hpp"

#include <unistd.h>

#include <system_error>

#include "base/error.hpp"

namespace stepsim::cli {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder()
    : path_(fs::temp_directory_path() / ("stepsim-" + std::to_string(::getpid()))) {
  fs::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void require_parent(const fs::path& folder) {
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  std::error_code error;
  if (!fs::is_directory(parent, error)) {
    throw SimulationError(folder.string() + ": cannot be made: no folder " + parent.string());
  }
}

} // namespace stepsim::cli
