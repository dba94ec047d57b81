// stepsim COMMAND ...: finds the command and runs it.

#include "cli/commands/commands.hpp"
#include "cli/shell/entry.hpp"

// Everything that can throw runs inside run_program.
int main(int argc, char** argv) {
  return stepsim::cli::run_program(argc, argv, [](int count, char** words) {
    return stepsim::cli::dispatch(stepsim::cli::stepsim_program(), count, words);
  });
}
