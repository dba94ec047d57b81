#pragma once
// The most memory this process has held at once, in bytes; 0 where the system does not say.
#include <sys/resource.h>

#include <cstdint>

namespace stepsim::cli {

[[nodiscard]] inline std::int64_t peak_memory_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? std::int64_t{usage.ru_maxrss} * 1024 : 0;
}

} // namespace stepsim::cli
