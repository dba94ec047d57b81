// stepsim COMMAND ...: finds the command, runs it, turns what it throws into messages and exit
// codes.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/version.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

// The folder with models/ and topologies/: beside the build folder, or ../share/stepsim when
// installed, or where the sources lay.
std::string find_data_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path folder = program.parent_path();
    for (const fs::path& candidate : {folder / "..", folder / "../share/stepsim"}) {
      if (fs::is_directory(candidate / "models", error) &&
          fs::is_directory(candidate / "topologies", error)) {
        return candidate.lexically_normal().string();
      }
    }
  }
  return STEPSIM_DATA_FOLDER;
}

// As one could paste it into a shell.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./=,:+@%~").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) {
    return word;
  }
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

int run_command(const std::string& name, const Invocation& invocation) {
  std::vector<std::string_view> known;
  for (const Command& command : commands()) {
    if (command.name == name) {
      return command.run(invocation);
    }
    known.push_back(command.name);
  }
  const std::string nearest = base::did_you_mean(name, known);
  throw UsageError(base::shown_value(name) + ": unknown command" +
                   (nearest.empty() ? "; see stepsim --help" : nearest));
}

int dispatch(int argc, char** argv) {
  Invocation invocation;
  invocation.started = std::chrono::steady_clock::now();
  invocation.command_line = "stepsim";
  for (int i = 1; i < argc; ++i) {
    invocation.command_line.append(" ").append(quoted(argv[i]));
  }
  if (argc < 2) {
    std::cerr << program_help();
    return kUsage;
  }
  const std::string first = argv[1];
  if (first == "--help" || first == "-h" || (first == "help" && argc == 2)) {
    std::cout << program_help();
    return kOk;
  }
  if (first == "--version") {
    std::cout << version_text();
    return kOk;
  }
  invocation.data_folder = find_data_folder();
  if (first == "help") {
    invocation.arguments = {"--help"};
    return run_command(argv[2], invocation);
  }
  if (first.starts_with('-')) {
    throw UsageError(base::shown_value(first) +
                     ": unknown option; options follow the command, see stepsim --help");
  }
  invocation.arguments.assign(argv + 2, argv + argc);
  return run_command(first, invocation);
}

int report(std::string_view message, int code) {
  const bool color = use_color("auto", Stream::error);
  std::cerr << (color ? "\x1b[31merror:\x1b[0m " : "error: ") << message << '\n';
  return code;
}

} // namespace

} // namespace stepsim::cli

int main(int argc, char** argv) {
  using namespace stepsim;
  cli::handle_interrupts();
  try {
    return cli::dispatch(argc, argv);
  } catch (const UsageError& error) {
    return cli::report(error.what(), cli::kUsage);
  } catch (const InputError& error) {
    for (const base::Problem& problem : error.problems()) {
      cli::report(problem.text(), cli::kBadInput);
    }
    return cli::kBadInput;
  } catch (const SimulationError& error) {
    return cli::report(error.what(), cli::kSimulationError);
  } catch (const std::bad_alloc&) {
    return cli::report("out of memory", cli::kSimulationError);
  } catch (const std::exception& error) {
    return cli::report(std::string("internal error: ") + error.what(), cli::kSimulationError);
  }
}
