#include "cli/commands.hpp"

#include <array>

namespace stepsim::cli {

namespace {

constexpr std::array kCommands{
    Command{"Training steps", "run", "the time of one training iteration and where it goes", run},
    // compare and sweep belong here, merge after them
    Command{"Parts of a step", "plan", "all planners on one merge problem", plan},
    Command{"Parts of a step", "collective", "the cost of collective operations", collective},
    Command{"Data", "models", "list and show the shipped layer tables of networks", models},
};

} // namespace

std::span<const Command> commands() { return kCommands; }

} // namespace stepsim::cli
