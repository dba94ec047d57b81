#pragma once
// Progress on standard error (IO 13): on a terminal one line, at most 10 times a second,
//     [####    ] 1234/9000  12.3 k/s  ETA 0:42
// with the ETA from the median time of recent points; cleared at the end. Piped: nothing, unless
// --progress plain (a line every 10 s).
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/app.hpp"

namespace stepsim::cli {

// The line without its end; `eta_s` < 0 = unknown.
[[nodiscard]] std::string progress_line(std::int64_t done, std::int64_t total, double per_second,
                                        double eta_s);

// Not thread-safe: the thread that writes results calls it.
class Progress {
public:
  using Clock = std::chrono::steady_clock;
  Progress(const Common& common, std::int64_t total, std::int64_t already_done = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void update(std::int64_t done);
  void clear(); // takes the line off the terminal

private:
  enum class Style { none, line, plain };
  Style style_ = Style::none;
  std::int64_t total_{};
  std::int64_t first_{}; // done when the work began
  std::int64_t last_done_{};
  Clock::time_point began_;
  Clock::time_point last_shown_;
  std::vector<double> recent_s_; // seconds per point between the latest updates, a ring buffer
  std::size_t next_recent_{};
  bool shown_ = false;
};

} // namespace stepsim::cli
