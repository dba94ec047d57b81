// An axis given by hand can hold a value that no scenario takes. Such an error is found when a
// point is parsed, far from the flag; it is turned back into one of the flag here.
#include "cli/commands/over_flags.hpp"
#include "study/sweep/grid_text.hpp"

#include <CLI/CLI.hpp>

namespace stepsim::cli {

CLI::Option* add_over_flag(CLI::App& app, std::vector<std::string>& over) {
  return app
      .add_option(
          "--over", over,
          "values to vary, e.g. /cluster/nodes=4,8,16 or 4:64:x2; numbers may carry units, "
          "bare ones are in the SI unit of the key; repeatable, all combinations, the first "
          "varies slowest")
      ->type_name("POINTER=VALUES")
      ->allow_extra_args(false);
}

// In the order typed, which is the order in which axes vary.
std::vector<study::Axis> parse_over_flags(const std::vector<std::string>& over) {
  std::vector<study::Axis> axes;
  for (const std::string& text : over) {
    try {
      axes.push_back(study::parse_over(text));
    } catch (const UsageError& error) {
      throw UsageError(std::string("--over ") + error.what());
    }
  }
  return axes;
}

// The first problem decides. It is the flag's if it lies at or below the pointer of an axis, in the
// scenario itself: a file that the scenario names has pointers of its own.
void rethrow_for_flags(const InputError& error, const io::Json& scenario,
                       const std::vector<std::string>& over) {
  const base::Problem& problem = error.problems().front();
  for (const std::string& text : over) {
    const std::string pointer = text.substr(0, text.find('='));
    const bool is_at = problem.where == pointer || problem.where.starts_with(pointer + "/");
    if (is_at && (problem.file == scenario.file() || problem.file.empty())) {
      throw UsageError("--over " + base::shown_value(text, 80) + ": " + problem.message);
    }
  }
  throw InputError(error);
}

} // namespace stepsim::cli
