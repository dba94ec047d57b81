#include "cli/entry.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "base/error.hpp"
#include "cli/app.hpp"
#include "cli/interrupt.hpp"

namespace stepsim::cli {

namespace {

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

} // namespace

int report_error(std::string_view message, int code) {
  const bool color = use_color("auto", Stream::error);
  std::cerr << (color ? "\x1b[31merror:\x1b[0m " : "error: ") << message << '\n';
  return code;
}

int run_program(int argc, char** argv, int (*dispatch)(int, char**)) {
  handle_interrupts();
  try {
    return dispatch(argc, argv);
  } catch (const UsageError& error) {
    return report_error(error.what(), kUsage);
  } catch (const InputError& error) {
    for (const base::Problem& problem : error.problems()) {
      report_error(problem.text(), kBadInput);
    }
    return kBadInput;
  } catch (const SimulationError& error) {
    return report_error(error.what(), kSimulationError);
  } catch (const std::bad_alloc&) {
    return report_error("out of memory", kSimulationError);
  } catch (const std::exception& error) {
    return report_error(std::string("internal error: ") + error.what(), kSimulationError);
  }
}

std::string find_data_folder() {
  namespace fs = std::filesystem;
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

std::string command_line(std::string_view program, int argc, char** argv) {
  std::string line(program);
  for (int i = 1; i < argc; ++i) {
    line.append(" ").append(quoted(argv[i]));
  }
  return line;
}

} // namespace stepsim::cli
