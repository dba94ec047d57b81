#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/number_text.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kRecent = 64;

std::string rate_text(double per_second) {
  return per_second >= 1000 ? base::significant(per_second / 1000, 3) + " k/s"
                            : base::significant(per_second, 3) + " /s";
}

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

} // namespace

std::string progress_line(std::int64_t done, std::int64_t total, double per_second, double eta_s) {
  constexpr std::int64_t kBar = 20;
  const std::int64_t full = total > 0 ? std::min(kBar, kBar * done / total) : kBar;
  std::string line = "[";
  line.append(static_cast<std::size_t>(full), '#');
  line.append(static_cast<std::size_t>(kBar - full), ' ').append("] ");
  line.append(std::to_string(done)).append("/").append(std::to_string(total)).append("  ");
  line += rate_text(per_second);
  line += eta_s < 0 ? std::string() : "  ETA " + clock_text(eta_s);
  return line;
}

Progress::Progress(const Common& common, std::int64_t total, std::int64_t already_done)
    : total_(total), first_(already_done), last_done_(already_done), began_(Clock::now()),
      last_shown_(began_) {
  if (common.quiet || common.progress == "none") {
    style_ = Style::none;
  } else if (common.progress == "plain") {
    style_ = Style::plain;
  } else {
    style_ = isatty(STDERR_FILENO) != 0 ? Style::line : Style::none;
  }
}

void Progress::update(std::int64_t done) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> since_shown = now - last_shown_;
  if (style_ == Style::none || since_shown.count() < (style_ == Style::plain ? 10 : 0.1) ||
      done <= last_done_) {
    return;
  }
  const double per_point = since_shown.count() / static_cast<double>(done - last_done_);
  if (recent_s_.size() < kRecent) {
    recent_s_.push_back(per_point);
  } else {
    recent_s_[next_recent_++ % kRecent] = per_point;
  }
  std::vector<double> sorted = recent_s_;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  const double eta_s = sorted[sorted.size() / 2] * static_cast<double>(total_ - done);
  const std::chrono::duration<double> elapsed = now - began_;
  const std::string line =
      progress_line(done, total_, static_cast<double>(done - first_) / elapsed.count(), eta_s);
  if (style_ == Style::plain) {
    std::cerr << line << '\n';
  } else {
    std::cerr << "\r\x1b[K" << line << std::flush;
    shown_ = true;
  }
  last_shown_ = now;
  last_done_ = done;
}

void Progress::clear() {
  if (shown_) {
    std::cerr << "\r\x1b[K" << std::flush;
    shown_ = false;
  }
}

} // namespace stepsim::cli
