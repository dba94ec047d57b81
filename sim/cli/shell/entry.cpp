// Exceptions become exit codes here and nowhere else: what the user typed, what a file holds, what
// a simulation cannot do, and at last what should not happen.
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/shell_word.hpp"
#include "document/file.hpp"

namespace stepsim::cli {

namespace {

// Where a program is started with one of them closed, the first file that it opens would become
// its standard output. A folder stands in: nothing can be read from it or written to it.
void open_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      (void)::open("/", O_RDONLY | O_DIRECTORY); // takes the lowest free number: this one
    }
  }
}

// What --color says, which may be wrong or follow what is wrong.
std::string_view color_choice(int argc, char** argv) {
  constexpr std::string_view kFlag = "--color";
  std::string_view choice = "auto";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kFlag && i + 1 < argc) {
      choice = argv[i + 1];
    } else if (word.starts_with(kFlag) && word.substr(kFlag.size()).starts_with("=")) {
      choice = word.substr(kFlag.size() + 1);
    }
  }
  return choice == "always" || choice == "never" ? choice : "auto";
}

} // namespace

int report_thrown(std::string_view color) {
  const auto report = [color](std::string_view message, int code) {
    return report_error(message, code, color);
  };
  try {
    throw;
  } catch (const HelpWasGiven&) {
    return kOk;
  } catch (const Interrupted&) {
    return kInterrupted;
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  } catch (const InputError& error) {
    for (const base::Problem& problem : error.problems()) {
      report(problem.text(), kBadInput);
    }
    return kBadInput;
  } catch (const io::ClosedPipe&) {
    return kClosedPipe; // whoever closed it has what it wanted
  } catch (const SimulationError& error) {
    return report(error.what(), kSimulationError);
  } catch (const std::filesystem::filesystem_error& error) { // a folder that cannot be made
    return report(error.path1().string() + ": " + error.code().message(), kSimulationError);
  } catch (const std::bad_alloc&) {
    return report("out of memory", kSimulationError);
  } catch (const std::exception& error) {
    return report(std::string("internal error: ") + error.what(), kSimulationError);
  }
}

int run_program(int argc, char** argv, int (*dispatch)(int, char**)) {
  open_standard_descriptors();
  handle_interrupts();
  try {
    return dispatch(argc, argv);
  } catch (...) {
    return report_thrown(color_choice(argc, argv));
  }
}

std::string program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

// Next to the program first, so that an installed or moved build finds its own data.
std::string find_data_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const fs::path folder = program_folder(); !folder.empty()) {
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
    line.append(" ").append(base::quoted_word(argv[i]));
  }
  return line;
}

} // namespace stepsim::cli
