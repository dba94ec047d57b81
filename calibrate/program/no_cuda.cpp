// In place of cuda.cpp where no CUDA compiler was found.
#include "calibrate/program/commands.hpp"

namespace stepsim::calibrate {

CommandFunction cuda_command() { return nullptr; }

} // namespace stepsim::calibrate
