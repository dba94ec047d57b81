// Where results go, and Ctrl-C. Static state: a signal handler can reach nothing else.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>

#include "base/error.hpp"
#include "cli/app.hpp"
#include "cli/interrupt.hpp"
#include "io/file.hpp"

namespace stepsim::cli {

namespace {

std::atomic<bool> interrupt_seen{false};
std::atomic<bool> interrupts_are_caught{false};
std::atomic<int> delays{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  const bool first = !interrupt_seen.exchange(true);
  if (!first || (!interrupts_are_caught && delays == 0)) {
    _exit(kInterrupted);
  }
}

void write_standard_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      throw SimulationError(std::string("standard output: write failed: ") + std::strerror(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void require_finite_at(const io::Json& tree, const std::string& pointer) {
  if (tree.is_number() && !std::isfinite(tree.as_double())) {
    throw SimulationError("the result " + pointer + " is beyond the range of numbers");
  }
  if (tree.is_array()) {
    for (std::size_t i = 0; i < tree.as_array().size(); ++i) {
      require_finite_at(tree.as_array()[i], pointer + "/" + std::to_string(i));
    }
  } else if (tree.is_object()) {
    for (const auto& [key, value] : tree.as_object()) {
      require_finite_at(value, pointer + "/" + io::escape_token(key));
    }
  }
}

} // namespace

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

DelayInterrupts::~DelayInterrupts() {
  if (--delays == 0 && interrupt_seen && !interrupts_are_caught) {
    _exit(kInterrupted);
  }
}

void write_output(const Common& common, std::string_view text) {
  if (common.output == "-") {
    write_standard_output(text);
    return;
  }
  const DelayInterrupts delay;
  io::write_file(common.output, text);
}

void require_finite(const io::Json& tree) { require_finite_at(tree, ""); }

void write_tree(const Common& common, const io::Json& tree) {
  require_finite(tree);
  write_output(common, io::pretty(tree));
}

} // namespace stepsim::cli
