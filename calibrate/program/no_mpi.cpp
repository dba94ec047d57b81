// Where MPI was not found when the program was built.
#include "calibrate/program/commands.hpp"

namespace stepsim::calibrate {

CommandFunction mpi_command() { return nullptr; }
CommandFunction replay_command() { return nullptr; }

} // namespace stepsim::calibrate
