#pragma once
// One event of a profiler trace, 56 bytes, and a temporary file of many.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "import/kineto/kineto_time.hpp"

namespace stepsim::io {

// module: a Python call of an nn.Module, which only names layers.
enum class KinetoCategory : std::uint8_t {
  annotation,
  cpu_operator,
  launch,
  kernel,
  copy,
  fill,
  module
};

[[nodiscard]] constexpr bool on_device(KinetoCategory category) {
  return category == KinetoCategory::kernel || category == KinetoCategory::copy ||
         category == KinetoCategory::fill;
}

struct KinetoEvent {
  static constexpr std::int64_t kNone = -1;

  Nanoseconds begin{};
  Nanoseconds duration{};
  std::int64_t correlation = kNone; // joins a launch and its work on the device
  std::int64_t external_id = kNone; // joins a collective and its kernel
  std::int64_t sequence = kNone;    // joins a forward operator and its backward node
  std::int32_t thread{};
  std::int32_t name{};         // index into names
  std::int32_t detail = kNone; // index into collectives or inputs
  KinetoCategory category = KinetoCategory::annotation;

  [[nodiscard]] Nanoseconds end() const { return begin + duration; }
};

// The events of a recording in a temporary file, which the destructor deletes, because traces of
// gigabytes do not fit into memory. Events are read in the order in which they were appended. The
// constructor, append() and each() throw SimulationError if the file cannot be made, written or
// read.
class KinetoEventFile {
public:
  KinetoEventFile();
  void append(const KinetoEvent& event) {
    last_.push_back(event);
    ++size_;
    if (last_.size() == kTogether) {
      write();
    }
  }
  // Calls `visit` for every event, from the first; append() may follow.
  void each(const std::function<void(const KinetoEvent&)>& visit);
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  static constexpr std::size_t kTogether = 1024; // events that are written and read at a time
  void write();
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<KinetoEvent> last_; // not in the file yet
  std::size_t size_{};
};

} // namespace stepsim::io
