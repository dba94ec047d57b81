#pragma once
// A program and its commands in words, for `help`: stepsim and stepsim-calibrate each make one.
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
  std::string_view name;                                    // "stepsim"
  std::string_view summary;                                 // what it does, without its name
  std::string help;                                         // the text of --help
  std::vector<Row> commands;                                // those that this build has
  std::function<CommandPage(const std::string& name)> page; // UsageError for an unknown name
  std::string data_folder{};                                // holds models/; "" = none
  bool has_pages_of_commands = false; // a man page per command besides that of the program
};

} // namespace stepsim::cli
