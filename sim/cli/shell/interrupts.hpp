#pragma once
// Handles Ctrl-C. By default the command ends at once with exit code 130, but a file that is being
// written is finished first. A command that can stop half-way (sweep) catches the first Ctrl-C and
// checks for it between two points; a second Ctrl-C ends the command at once.

#include <exception>

namespace stepsim::cli {

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
