// Time and memory of importing profiler traces: import_bench FILE... prints for each the best of
// five imports in wall and in processor time, megabytes of inflated text per second of the latter,
// and the peak memory of the process so far.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>

#include "import/kineto/import_kineto.hpp"
#include "json/file.hpp"

namespace {

std::uint64_t inflated_bytes(const std::string& file) {
  stepsim::io::ByteSource source(file);
  std::uint64_t bytes = 0;
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    bytes += chunk.size();
  }
  return bytes;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

} // namespace

int main(int count, char** arguments) {
  using Clock = std::chrono::steady_clock;
  std::printf("%-40s %8s %8s %8s %8s %8s %8s\n", "file", "MB", "layers", "wall s", "cpu s", "MB/s",
              "peak MB");
  for (int i = 1; i < count; ++i) {
    try {
      double best = std::numeric_limits<double>::infinity();
      double best_cpu = best;
      std::size_t layers = 0;
      for (int run = 0; run < 5; ++run) {
        const auto begin = Clock::now();
        const std::clock_t cpu = std::clock();
        layers = stepsim::io::import_kineto({arguments[i]}, {}).layers.size();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
        best_cpu =
            std::min(best_cpu, static_cast<double>(std::clock() - cpu) / double{CLOCKS_PER_SEC});
      }
      const double peak = peak_megabytes();
      const double megabytes = static_cast<double>(inflated_bytes(arguments[i])) / 1e6;
      const std::string name(arguments[i]);
      std::printf("%-40s %8.1f %8zu %8.3f %8.3f %8.0f %8.1f\n",
                  name.substr(name.find_last_of('/') + 1).c_str(), megabytes, layers, best,
                  best_cpu, megabytes / best_cpu, peak);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
  return 0;
}
