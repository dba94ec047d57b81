#include "cli/entry.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <new>

#include "base/error.hpp"
#include "cli/app.hpp"
#include "cli/interrupt.hpp"

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

} // namespace

int run_program(int argc, char** argv, int (*dispatch)(int, char**)) {
  open_standard_descriptors();
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
    line.append(" ").append(quoted_word(argv[i]));
  }
  return line;
}

} // namespace stepsim::cli
