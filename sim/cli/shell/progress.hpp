#pragma once
// Progress of a command on standard error (IO 13). Counted work:
//     [##                  ] 1234/9000  12.3 /s  ETA 10:32
// with the ETA from the median time of recent points; work that is not counted:
//     stepsim run: 12 s of about 60 s
// On a terminal: from 2 s on, or at once where longer work is expected, one line that is redrawn
// and cleared at the end. Piped: nothing. `plain` gives a line every 10 s everywhere, the first one
// at once, before any point is finished.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stepsim::cli {

// The lines without their ends; `eta_s`, `estimate_s` < 0 = unknown.
// `unit` of what is counted; none for points.
[[nodiscard]] std::string progress_line(std::int64_t done, std::int64_t total, double per_second,
                                        double eta_s, std::string_view unit = {});
[[nodiscard]] std::string elapsed_line(std::string_view what, double elapsed_s, double estimate_s);

// A thread of its own shows the time where nothing else does; where none can be started, updates
// show it. Any thread may call.
class Progress {
public:
  using Clock = std::chrono::steady_clock;
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { end(); }

  // `choice`: auto, plain or none. `what`: the command, for work that is not counted.
  void begin(std::string_view choice, bool quiet, std::string_view what);
  // How long all the work will take, about; long work is told at once.
  void estimate(double seconds);
  void count(std::int64_t total, std::int64_t already_done = 0, std::string_view unit = {});
  void update(std::int64_t done);
  void hide(); // takes the line off the terminal until it is redrawn
  void end();  // takes the line off the terminal; nothing is shown after it

private:
  enum class Style { none, line, plain };
  void show_if_due(bool at_once);
  void hide_locked();
  [[nodiscard]] std::string line() const;
  void watch();

  std::mutex mutex_; // guards all below
  std::condition_variable ended_;
  std::thread watcher_;
  bool is_ended_ = true;
  Style style_ = Style::none;
  std::string what_, unit_;
  double estimate_s_ = -1;
  std::int64_t total_ = 0; // 0 = not counted
  std::int64_t first_ = 0; // done when counting began
  std::int64_t done_ = 0;
  std::int64_t timed_done_ = 0; // at timed_at_
  Clock::time_point began_, counted_at_, timed_at_, next_;
  std::vector<double> recent_s_; // seconds per point between the latest updates, a ring buffer
  std::size_t next_recent_{};
  bool at_once_ = false; // lines are asked for, not only where it takes long
  bool shown_ = false;
};

} // namespace stepsim::cli
