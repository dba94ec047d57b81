#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include "cli/shell/version.hpp"

namespace stepsim::calibrate {

std::string program_and_version() {
  return std::string(kProgram) + " " + std::string(cli::version());
}

void add_texts(CLI::App& app, std::initializer_list<TextFlag> flags) {
  for (const TextFlag& flag : flags) {
    app.add_option(flag.name, flag.value, flag.text)->type_name(flag.type);
  }
}

} // namespace stepsim::calibrate
