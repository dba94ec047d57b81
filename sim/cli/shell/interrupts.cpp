// The state is static because a signal handler can reach nothing else, and consists of lock-free
// atomic variables because nothing else may be touched there: the handler must not allocate, lock
// or print.
#include "cli/shell/interrupts.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

namespace {

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
