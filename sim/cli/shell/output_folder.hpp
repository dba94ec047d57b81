#pragma once
// Folders of commands that write several files.
#include <filesystem>

namespace stepsim::cli {

// A folder for files that nobody asked to keep; it goes with the object.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

// A folder in a place that does not exist is a slip of the pen: throws SimulationError if the
// folder that is to hold `folder` is missing.
void require_parent(const std::filesystem::path& folder);

} // namespace stepsim::cli
