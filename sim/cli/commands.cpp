#include "cli/commands.hpp"

#include <array>

namespace stepsim::cli {

namespace {

constexpr std::array kCommands{
    Command{"Data", "models", "list and show the shipped layer tables of networks", models},
};

} // namespace

std::span<const Command> commands() { return kCommands; }

} // namespace stepsim::cli
