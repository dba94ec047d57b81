#include "cli/commands/reproduced_runs.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/shell/interrupts.hpp"
#include "cli/shell/output.hpp"
#include "json/file.hpp"
#include "json/json_parse.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

// Users copy a command and run it in the folder that has the shipped data; here that may be
// another folder.
std::string found_word(const std::string& word, const std::string& data_folder) {
  std::error_code error;
  const fs::path shipped = fs::path(data_folder) / word;
  const bool is_path = word.find('/') != std::string::npos && word.front() != '/';
  return is_path && fs::is_regular_file(shipped, error) ? shipped.string() : word;
}

const Command& command_of(const reproduce::Run& run) {
  const auto found = std::ranges::find(commands(), run.argv.front(), &Command::name);
  if (found == commands().end()) {
    throw UsageError("run " + run.id + ": " + base::shown_value(run.argv.front()) +
                     ": unknown command");
  }
  return *found;
}

reproduce::Records records_of(const reproduce::Run& run, const Invocation& invocation,
                              const RunChoice& choice) {
  const std::string lines = choice.folder + "/" + run.id + ".jsonl";
  const std::string output = run.rows.empty() ? lines : choice.folder + "/" + run.id + ".json";
  Invocation inner = invocation;
  inner.embedded = true;
  inner.arguments.clear();
  for (std::size_t i = 1; i < run.argv.size(); ++i) {
    inner.arguments.push_back(found_word(run.argv[i], invocation.data_folder));
  }
  for (const char* word : {"--quiet", "--progress", "none", "--force", "-o"}) {
    inner.arguments.emplace_back(word);
  }
  inner.arguments.push_back(output);
  if (!choice.jobs.empty() && run.argv.front() == "sweep") {
    inner.arguments.insert(inner.arguments.end(), {"--jobs", choice.jobs});
  }
  try {
    if (const int code = command_of(run).run(inner); code != kOk) {
      throw SimulationError("exit code " + std::to_string(code));
    }
  } catch (const UsageError& error) {
    throw SimulationError("run " + run.id + ": " + error.what());
  } catch (const SimulationError& error) {
    throw SimulationError("run " + run.id + ": " + error.what());
  }
  if (run.rows.empty()) {
    return reproduce::records_of_lines(io::read_text(lines), lines);
  }
  reproduce::Records records = reproduce::records_of_tree(io::read_json(output), run.rows);
  write_named(lines, reproduce::lines_of_records(records));
  return records;
}

} // namespace

reproduce::AllRecords reproduced_records(const reproduce::Reproduction& paper,
                                         const Invocation& invocation, const RunChoice& choice) {
  reproduce::AllRecords all;
  for (const reproduce::Table& table : paper.tables) {
    all[table.id] = reproduce::records_of_table(table, paper.file);
  }
  for (const reproduce::Run& run : paper.runs) {
    if (run.slow && choice.quick) {
      const std::string stored = io::relative_to(paper.file, run.stored);
      all[run.id] = reproduce::records_of_lines(io::read_text(stored), stored);
    } else {
      all[run.id] = records_of(run, invocation, choice);
    }
    if (interrupted()) {
      throw SimulationError("interrupted");
    }
  }
  return all;
}

} // namespace stepsim::cli
