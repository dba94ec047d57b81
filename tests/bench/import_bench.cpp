// Time and memory of importing profiler traces: import_bench FILE... prints for each the best of
// five imports in wall and in processor time, megabytes of inflated text per second of the latter,
// the same of reading the events alone, and the peak memory of the process so far.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>

#include "document/file.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/kineto/kineto_read.hpp"

namespace {

std::uint64_t inflated_bytes(const std::string& file) {
  stepsim::io::ByteSource source(file);
  std::uint64_t bytes = 0;
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    bytes += chunk.size();
  }
  return bytes;
}

double processor_seconds() { return static_cast<double>(std::clock()) / double{CLOCKS_PER_SEC}; }

// Seconds for the events of the file: read, inflated and scanned in one thread.
double read_seconds(const std::string& file) {
  const double begin = processor_seconds();
  stepsim::io::ByteSource source(file);
  (void)stepsim::io::read_kineto([&] { return source.next(); }, file);
  return processor_seconds() - begin;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

} // namespace

int main(int count, char** arguments) {
  using Clock = std::chrono::steady_clock;
  std::printf("%-40s %8s %8s %8s %8s %8s %8s %8s\n", "file", "MB", "layers", "wall s", "cpu s",
              "MB/s", "read", "peak MB");
  for (int i = 1; i < count; ++i) {
    try {
      double best = std::numeric_limits<double>::infinity();
      double best_cpu = best;
      double best_read = best;
      std::size_t layers = 0;
      for (int run = 0; run < 5; ++run) {
        const auto begin = Clock::now();
        const double cpu = processor_seconds();
        layers = stepsim::io::import_kineto_job({arguments[i]}, {}).trace.layers.size();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
        best_cpu = std::min(best_cpu, processor_seconds() - cpu);
        best_read = std::min(best_read, read_seconds(arguments[i]));
      }
      const double peak = peak_megabytes();
      const double megabytes = static_cast<double>(inflated_bytes(arguments[i])) / 1e6;
      const std::string name(arguments[i]);
      std::printf("%-40s %8.1f %8zu %8.3f %8.3f %8.0f %8.0f %8.1f\n",
                  name.substr(name.find_last_of('/') + 1).c_str(), megabytes, layers, best,
                  best_cpu, megabytes / best_cpu, megabytes / best_read, peak);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
  return 0;
}
