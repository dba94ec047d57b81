#pragma once
// A folder of its own for a test, removed at its end.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace stepsim::io {

class TemporaryFolder {
public:
  TemporaryFolder() {
    const std::string pattern = "stepsim-test-" + std::string(6, 'X'); // mkdtemp fills it
    std::string name = (std::filesystem::temp_directory_path() / pattern).string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and gives its path.
  [[nodiscard]] std::string put(const std::string& name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) {
      ++count;
    }
    return count;
  }

private:
  std::string path_;
};

} // namespace stepsim::io
