#pragma once
// One event of a profiler trace, 56 bytes, and a temporary file of many.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace stepsim::io {

// Reads profiler times, decimal microseconds of any number of digits. Those of today have 16 digits
// before the point ("1712195495523352.380"). A double rounds them to 0.25 us, which breaks the
// nesting of operators, so the text is converted to signed 64-bit nanoseconds:  "12.345" -> 12345,
// "2.5e3" -> 2500000,  "0.0004" -> 0 (nearest).
using Nanoseconds = std::int64_t;

// A JSON number in microseconds as nanoseconds, rounded to the nearest; empty if it is not a
// number, negative, or beyond 2^63 ns.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal);

// The median, exact also where a double is not; of an even number of times the mean of the middle
// two, rounded towards the lower one. Needs at least one time.
[[nodiscard]] Nanoseconds median_time(std::vector<Nanoseconds> times);

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
