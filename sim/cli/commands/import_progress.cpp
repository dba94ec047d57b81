#include "cli/commands/imported.hpp"

#include <filesystem>
#include <system_error>

namespace stepsim::cli {

namespace {

// Bytes of the files, 0 where one of them is no file whose size is known.
std::uintmax_t total_bytes(const std::vector<std::string>& files) {
  std::uintmax_t sum = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error) {
      return 0;
    }
    sum += size;
  }
  return sum;
}

} // namespace

void expect_reading(const std::vector<std::string>& files, const Common& common) {
  constexpr double kBytesPerSecond = 3e7;
  common.work.estimate(static_cast<double>(total_bytes(files)) / kBytesPerSecond);
}

std::function<void(std::uint64_t)> counting_bytes(const std::vector<std::string>& files,
                                                  const Common& common) {
  constexpr std::uintmax_t kCounted = 1'000'000;
  const std::uintmax_t total = total_bytes(files);
  if (total < kCounted) {
    return {};
  }
  common.work.count(static_cast<std::int64_t>(total / kCounted), 0, "MB");
  return [&common](std::uint64_t bytes) {
    common.work.update(static_cast<std::int64_t>(bytes / kCounted));
  };
}

} // namespace stepsim::cli
