#pragma once
// Ctrl-C. By default the command ends at once with exit code 130, except that a file being written
// is finished first. A command that can stop half-way (sweep) catches the first Ctrl-C and asks for
// it between two points; a second one ends it at once.

namespace stepsim::cli {

// Installs the handlers of SIGINT and SIGPIPE for the whole process. Called once by `run_program`.
void handle_interrupts();

// From now on the first Ctrl-C only makes `interrupted` true.
void catch_interrupts();
[[nodiscard]] bool interrupted();

// While one exists, the first Ctrl-C waits for its end; they may be nested and on several threads.
class DelayInterrupts {
public:
  DelayInterrupts();
  ~DelayInterrupts();
  DelayInterrupts(const DelayInterrupts&) = delete;
  DelayInterrupts& operator=(const DelayInterrupts&) = delete;
};

} // namespace stepsim::cli
