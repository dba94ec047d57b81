#pragma once
// The texts of a program and its commands, for `help`. stepsim and stepsim-calibrate each make one.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

struct ProgramPage {
  struct Row {
    std::string_view name;
    std::string_view summary;
  };
  std::string_view name; // "stepsim"
  // What the program does, without its name.
  std::string_view summary;
  std::string help;                                         // the text of --help
  std::vector<Row> commands;                                // the commands of this build
  std::function<CommandPage(const std::string& name)> page; // throws UsageError for an unknown name
  std::string data_folder{};                                // holds models/; "" = none
  bool has_pages_of_commands = false; // whether each command has a separate man page
};

} // namespace stepsim::cli
