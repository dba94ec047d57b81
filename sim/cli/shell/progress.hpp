#pragma once
// Progress of a command on standard error (IO 13). A command that runs a known number of points,
// such as a sweep, shows how many are done and an ETA from the median time of the recent points:
//     [##                  ] 1234/9000  12.3 /s  ETA 10:32
// Any other command shows its elapsed time:
//     stepsim run: 12 s of about 60 s
// On a terminal this is one line, shown after 2 s, or at once if the work is expected to take
// longer; it is redrawn in place and cleared at the end. Nothing is shown in a pipe or file.
// `--progress plain` prints a new line every 10 s everywhere, the first one at once, before any
// point is finished.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stepsim::cli {

// The text of the two lines above, without line end. `per_second` is in points/s; a negative
// `eta_s` or `estimate_s` means unknown. `unit` names what is counted; empty for points.
[[nodiscard]] std::string progress_line(std::int64_t done, std::int64_t total, double per_second,
                                        double eta_s, std::string_view unit = {});
[[nodiscard]] std::string elapsed_line(std::string_view what, double elapsed_s, double estimate_s);

// The progress of one command. A background thread prints the line when it is due; if no thread can
// be started, count() and update() print it. After begin(), any thread may call the others.
class Progress {
public:
  using Clock = std::chrono::steady_clock;
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { end(); }

  // `choice`: auto, plain or none; `quiet` means none. `what`: the name of the command, such as
  // "stepsim run", shown with the elapsed time until count() is called.
  void begin(std::string_view choice, bool quiet, std::string_view what);
  void estimate(double seconds); // expected duration of the whole command; long ones show at once
  // Begins a round of `total` points, of which `already_done` need no work. `unit` names what is
  // counted; empty for points.
  void count(std::int64_t total, std::int64_t already_done = 0, std::string_view unit = {});
  void update(std::int64_t done); // points of the round that are done
  void hide();                    // clears the line on the terminal until it is redrawn
  void end();                     // clears the line on the terminal; nothing is shown afterwards

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
  std::int64_t timed_done_ = 0; // done_ at the time timed_at_
  Clock::time_point began_, counted_at_, timed_at_, next_;
  std::vector<double> recent_s_; // seconds per point between the latest updates, a ring buffer
  std::size_t next_recent_{};
  bool at_once_ = false; // choice `plain`: the first line is printed at once
  bool shown_ = false;
};

// Handles Ctrl-C. By default the command ends at once with exit code 130, but a file that is being
// written is finished first. A command that can stop half-way (sweep) catches the first Ctrl-C and
// checks for it between two points; a second Ctrl-C ends the command at once.

// Installs the handlers of SIGINT and SIGPIPE for the whole process; `run_program` calls it once.
void handle_interrupts();

// After this call, the first Ctrl-C only makes interrupted() true.
void catch_interrupts();
[[nodiscard]] bool interrupted();

// Ends a command with exit code 130 once its objects are destroyed.
struct Interrupted : std::exception {};

// While any object of this class exists, the first Ctrl-C takes effect only when the last one is
// destroyed. Objects may be nested and on several threads.
class DelayInterrupts {
public:
  DelayInterrupts();
  ~DelayInterrupts();
  DelayInterrupts(const DelayInterrupts&) = delete;
  DelayInterrupts& operator=(const DelayInterrupts&) = delete;
};

} // namespace stepsim::cli
