// Where results go. Static state: a signal handler can reach nothing else.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "cli/app.hpp"
#include "cli/interrupt.hpp"

namespace stepsim::cli {

namespace {

std::array<char, 4096> unfinished_file{}; // "" = none
std::atomic<bool> interrupt_seen{false};
std::atomic<bool> interrupts_are_caught{false};

void remember_unfinished(const std::string &path) {
  if (path.size() < unfinished_file.size()) {
    std::copy(path.begin(), path.end(), unfinished_file.begin());
    unfinished_file[path.size()] = '\0';
  }
}

extern "C" void on_interrupt(int) {
  if (interrupts_are_caught && !interrupt_seen.exchange(true)) {
    return;
  }
  if (unfinished_file[0] != '\0') {
    unlink(unfinished_file.data());
  }
  _exit(kInterrupted);
}

[[noreturn]] void fail(const std::string &path, int error) {
  throw SimulationError(path + ": write failed: " + std::strerror(error));
}

// 0 or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return written < 0 ? errno : ENOSPC;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Pipes, /dev/stdout and /dev/null are written in place.
bool is_special(const std::string &path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

} // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

void catch_interrupts() { interrupts_are_caught = true; }

bool interrupted() { return interrupt_seen; }

void write_output(const Common &common, std::string_view text) { write_file(common.output, text); }

void write_file(const std::string &path, std::string_view text) {
  if (path == "-") {
    if (const int error = write_all(STDOUT_FILENO, text); error != 0) {
      fail("standard output", error);
    }
    return;
  }
  const bool special = is_special(path);
  const std::string target =
      special ? path : path + ".unfinished-" + std::to_string(static_cast<long>(getpid()));
  if (!special) {
    remember_unfinished(target);
  }
  const int descriptor = open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    fail(path, errno);
  }
  int error = write_all(descriptor, text);
  if (close(descriptor) != 0 && error == 0) {
    error = errno;
  }
  if (!special) {
    if (error == 0 && std::rename(target.c_str(), path.c_str()) != 0) {
      error = errno;
    }
    if (error != 0) {
      unlink(target.c_str());
    }
    unfinished_file[0] = '\0';
  }
  if (error != 0) {
    fail(path, error);
  }
}

} // namespace stepsim::cli
