// A second thread shows what is going on, because a single long run calls nobody; all state is
// behind one mutex.

#include "cli/shell/progress.hpp"

#include "base/quantity.hpp"
#include "base/statistics.hpp"
#include "cli/shell/app.hpp"

#include <atomic>
#include <cmath>
#include <csignal>
#include <iostream>
#include <system_error>
#include <unistd.h>

namespace stepsim::cli {

namespace {

constexpr std::size_t kRecent = 64;
constexpr double kLeastSample_s = 0.1;
constexpr std::chrono::milliseconds kLook{100}; // between two looks, and two redrawn lines
constexpr std::chrono::seconds kFirstLine{2};   // on a terminal
constexpr double kLongWork_s = 2;               // is told before it begins
constexpr std::chrono::seconds kPlainEvery{10};

std::string rate_text(double per_second) {
  return per_second >= 1000 ? base::significant(per_second / 1000, 3) + " k/s"
                            : base::significant(per_second, 3) + " /s";
}

// "1:02:03", or "2:03" below an hour; rounded up, as a countdown should be.
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  const auto two = [](std::int64_t value) {
    std::string text = std::to_string(value);
    return value < 10 ? text.insert(0, 1, '0') : text;
  };
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  return hours > 0 ? std::to_string(hours) + ":" + two(minutes) + ":" + two(whole % 60)
                   : std::to_string(minutes) + ":" + two(whole % 60);
}

// The state is static because a signal handler can reach nothing else, and consists of lock-free
// atomic variables because nothing else may be touched there: the handler must not allocate, lock
// or print.

std::atomic<bool> interrupt_seen{false};
std::atomic<bool> interrupts_are_caught{false};
std::atomic<int> delays{0}; // objects of DelayInterrupts that exist
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// _exit and not exit: destructors and buffers must not run inside a handler.
extern "C" void on_interrupt(int) {
  const bool first = !interrupt_seen.exchange(true);
  if (!first || (!interrupts_are_caught && delays == 0)) {
    _exit(kInterrupted);
  }
}

} // namespace

// "[####      ] 40/200  12 /s  ETA 0:14"; a negative ETA is not known yet.
std::string progress_line(std::int64_t done, std::int64_t total, double per_second, double eta_s,
                          std::string_view unit) {
  constexpr std::int64_t kBar = 20;
  const std::int64_t full = total > 0 ? std::min(kBar, kBar * done / total) : kBar;
  std::string line = "[";
  line.append(static_cast<std::size_t>(full), '#');
  line.append(static_cast<std::size_t>(kBar - full), ' ').append("] ");
  line.append(std::to_string(done)).append("/").append(std::to_string(total));
  line.append(unit.empty() ? "" : " ").append(unit).append("  ");
  line += unit.empty() ? rate_text(per_second)
                       : base::significant(per_second, 3) + " " + std::string(unit) + "/s";
  line += eta_s < 0 ? std::string() : "  ETA " + clock_text(eta_s);
  return line;
}

// "stepsim run: 12 s of about 60 s".
std::string elapsed_line(std::string_view what, double elapsed_s, double estimate_s) {
  const auto text = [](double seconds) {
    return seconds < 100 ? base::shortest(std::round(seconds)) + " s" : clock_text(seconds);
  };
  std::string line(what);
  if (elapsed_s < 1 && estimate_s < 0) {
    return line + ": running";
  }
  line += ": " + text(std::floor(elapsed_s));
  if (estimate_s < 0) {
    return line;
  }
  // What takes longer than expected has no time to go that anybody knows.
  return line + (elapsed_s > std::max(1.0, estimate_s) ? ", expected about " : " of about ") +
         text(std::max(1.0, estimate_s));
}

void Progress::begin(std::string_view choice, bool quiet, std::string_view what) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (quiet || choice == "none" || (choice == "auto" && !terminal)) {
    return;
  }
  style_ = choice == "plain" ? Style::plain : Style::line;
  what_ = what;
  is_ended_ = false;
  began_ = counted_at_ = timed_at_ = Clock::now();
  next_ = began_ + (style_ == Style::line ? kFirstLine : kPlainEvery);
  at_once_ = choice == "plain";
  show_if_due(at_once_);
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) { // no thread to be had: updates alone show the progress
  }
}

// Looks ten times a second whether something is due, and ends as soon as `end` says so.
void Progress::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kLook, [this] { return is_ended_; })) {
    show_if_due(false);
  }
}

void Progress::estimate(double seconds) {
  const std::scoped_lock lock(mutex_);
  estimate_s_ = seconds;
  show_if_due(seconds > kLongWork_s);
}

// A round may begin with points that are already done (--resume): rate and ETA count from there.
void Progress::count(std::int64_t total, std::int64_t already_done, std::string_view unit) {
  const std::scoped_lock lock(mutex_);
  const bool first_look = total_ == 0;
  total_ = total;
  unit_ = unit;
  first_ = done_ = timed_done_ = already_done;
  counted_at_ = timed_at_ = Clock::now();
  recent_s_.clear();
  show_if_due(first_look && at_once_);
}

// Points that finish within a tenth of a second are timed together: single ones would measure the
// clock.
void Progress::update(std::int64_t done) {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> since = now - timed_at_;
  done_ = std::max(done_, done);
  if (style_ == Style::none || since.count() < kLeastSample_s || done_ <= timed_done_) {
    return;
  }
  const double per_point = since.count() / static_cast<double>(done_ - timed_done_);
  if (recent_s_.size() < kRecent) {
    recent_s_.push_back(per_point);
  } else {
    recent_s_[next_recent_++ % kRecent] = per_point;
  }
  timed_at_ = now;
  timed_done_ = done_;
  show_if_due(false);
}

// The ETA uses the median of recent times per point: a few slow points at the start say nothing
// about the rest.
std::string Progress::line() const {
  const auto seconds_since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  if (total_ == 0) {
    return elapsed_line(what_, seconds_since(began_), estimate_s_);
  }
  double eta_s = -1;
  if (!recent_s_.empty()) {
    eta_s = base::median(recent_s_) * static_cast<double>(total_ - done_);
  } else if (estimate_s_ >= 0) {
    eta_s = std::max(0.0, estimate_s_ - seconds_since(began_));
  }
  const double elapsed_s = std::max(seconds_since(counted_at_), 1e-9);
  return progress_line(done_, total_, static_cast<double>(done_ - first_) / elapsed_s, eta_s,
                       unit_);
}

// A line is rewritten in place on a terminal; elsewhere lines follow each other every ten seconds.
void Progress::show_if_due(bool at_once) {
  const Clock::time_point now = Clock::now();
  if (style_ == Style::none || is_ended_ || (!at_once && now < next_)) {
    return;
  }
  if (style_ == Style::plain) {
    std::cerr << line() + "\n";
    next_ = now + kPlainEvery;
  } else {
    std::cerr << "\r\x1b[K" + line() << std::flush;
    shown_ = true;
    next_ = now + kLook;
  }
}

void Progress::hide_locked() {
  if (shown_) {
    std::cerr << "\r\x1b[K" << std::flush;
    shown_ = false;
  }
}

void Progress::hide() {
  const std::scoped_lock lock(mutex_);
  hide_locked();
}

void Progress::end() {
  {
    const std::scoped_lock lock(mutex_);
    is_ended_ = true;
    hide_locked();
  }
  ended_.notify_all();
  if (watcher_.joinable()) {
    watcher_.join();
  }
}

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN); // a closed pipe is a failed write, not a silent death
}

void catch_interrupts() { interrupts_are_caught = true; }

bool interrupted() { return interrupt_seen; }

DelayInterrupts::DelayInterrupts() { ++delays; }

// The interrupt that came meanwhile is served now.
DelayInterrupts::~DelayInterrupts() {
  if (--delays == 0 && interrupt_seen && !interrupts_are_caught) {
    _exit(kInterrupted);
  }
}

} // namespace stepsim::cli
