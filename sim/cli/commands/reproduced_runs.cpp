#include "cli/commands/reproduced_runs.hpp"

#include <cmath>

#include "base/printable.hpp"
#include "cli/commands/commands.hpp"
#include "document/file.hpp"
#include "study/reproduce/scoreboard_tables.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

// The file with the records of a run.
std::string file_of(const reproduce::Run& run, const RunChoice& choice) {
  return choice.folder + "/" + run.id + ".jsonl";
}

// Runs the command of a run with further words, and reads what it wrote to `file`.
void run_command_of(const reproduce::Run& run, const std::vector<std::string>& words,
                    const std::string& file, const Invocation& invocation,
                    const RunChoice& choice) {
  Invocation inner = invocation;
  inner.embedded = true;
  inner.arguments.clear();
  for (std::size_t i = 1; i < run.argv.size(); ++i) {
    const std::string shipped = study::place_in_data_folder(invocation.data_folder, run.argv[i]);
    inner.arguments.push_back(shipped.empty() ? run.argv[i] : shipped);
  }
  inner.arguments.insert(inner.arguments.end(), words.begin(), words.end());
  for (const char* word : {"--quiet", "--progress", "none", "--force", "-o"}) {
    inner.arguments.emplace_back(word);
  }
  inner.arguments.push_back(file);
  if (!choice.jobs.empty() && run.argv.front() == "sweep") {
    inner.arguments.insert(inner.arguments.end(), {"--jobs", choice.jobs});
  }
  try {
    if (const int code = find_command(stepsim_program(), run.argv.front()).run(inner);
        code != kOk) {
      throw SimulationError("exit code " + std::to_string(code));
    }
  } catch (const UsageError& error) {
    throw SimulationError("run " + run.id + ": " + error.what());
  } catch (const SimulationError& error) {
    throw SimulationError("run " + run.id + ": " + error.what());
  }
  if (interrupted()) {
    throw SimulationError("interrupted");
  }
}

reproduce::Records records_of(const reproduce::Run& run, const std::vector<std::string>& words,
                              const Invocation& invocation, const RunChoice& choice) {
  const std::string file = choice.folder + "/" + run.id + (run.rows.empty() ? ".jsonl" : ".json");
  run_command_of(run, words, file, invocation, choice);
  reproduce::Records records = run.rows.empty()
                                   ? reproduce::records_of_lines(io::read_text(file), file)
                                   : reproduce::records_of_tree(io::read_json(file), run.rows);
  return run.columns.empty() ? records : reproduce::with_columns(records, run.columns);
}

// The records of one combination of choices, with their columns in front.
reproduce::Records combined(const reproduce::Run& run,
                            const std::vector<const reproduce::Choice*>& chosen,
                            const Invocation& invocation, const RunChoice& choice) {
  io::Object columns;
  std::vector<std::string> words;
  std::int64_t seeds = run.seeds;
  for (const reproduce::Choice* each : chosen) {
    columns.insert(columns.end(), each->columns.begin(), each->columns.end());
    words.insert(words.end(), each->words.begin(), each->words.end());
    seeds = each->seeds > 0 ? each->seeds : seeds;
  }
  std::vector<reproduce::Records> by_seed;
  for (std::int64_t seed = 1; seed <= std::max<std::int64_t>(seeds, 1); ++seed) {
    std::vector<std::string> with_seed = words;
    if (seeds > 0) {
      with_seed.insert(with_seed.end(), {"--seed", std::to_string(seed)});
    }
    by_seed.push_back(records_of(run, with_seed, invocation, choice));
  }
  reproduce::Records records = reproduce::medians(by_seed);
  if (run.digits > 0) {
    records = reproduce::rounded(std::move(records), static_cast<int>(run.digits));
  }
  for (io::Object& record : records) {
    record.insert(record.begin(), columns.begin(), columns.end());
  }
  return records;
}

// The records of all combinations; the choices of the last list follow one another. Each
// combination is written as soon as it has ended, because some take minutes.
reproduce::Records records_of(const reproduce::Run& run, const Invocation& invocation,
                              const RunChoice& choice) {
  std::size_t combinations = 1;
  for (const std::vector<reproduce::Choice>& list : run.vary) {
    combinations *= list.size();
  }
  reproduce::Records all;
  for (std::size_t number = 0; number < combinations; ++number) {
    std::vector<const reproduce::Choice*> chosen(run.vary.size());
    std::size_t rest = number;
    for (std::size_t i = run.vary.size(); i-- > 0; rest /= run.vary[i].size()) {
      chosen[i] = &run.vary[i][rest % run.vary[i].size()];
    }
    for (io::Object& record : combined(run, chosen, invocation, choice)) {
      all.push_back(std::move(record));
    }
    if (!run.vary.empty()) {
      write_named(file_of(run, choice), reproduce::lines_of_records(all));
    }
  }
  return all;
}

io::Array list_of(const reproduce::Records& records) { return {records.begin(), records.end()}; }

std::string own_speeds_text(const io::Array& groups, const io::Array& conditions,
                            const reproduce::Records& reasons) {
  const std::vector columns{Column{"by", "by", 1, in_full},     Column{"name", "name", 1, in_full},
                            Column{"rows", "rows", 1, in_full}, Column{"median", "median [%]"},
                            Column{"p90", "p90 [%]"},           Column{"worst", "worst [%]"},
                            Column{"shorter", "too short [%]"}};
  std::vector with_interval = columns;
  with_interval.insert(with_interval.begin() + 2, Column{"conditions", "conditions", 1, in_full});
  with_interval.push_back({"coverage", "in interval [%]"});
  with_interval.push_back({"width", "width [%]"});
  std::string text = table_text(table_of(groups, columns)) + "\n" +
                     table_text(table_of(conditions, with_interval));
  for (const io::Object& reason : reasons) {
    text += "not predicted, " +
            base::counted(std::llround(reproduce::row_number(reason, "rows")), "row") + ": " +
            base::printable(reproduce::row_text(reason, "reason")) + "\n";
  }
  return text;
}

} // namespace

reproduce::AllRecords reproduced_records(const reproduce::Reproduction& paper,
                                         const Invocation& invocation, const RunChoice& choice) {
  reproduce::AllRecords all;
  study::Files files(invocation.data_folder);
  for (const reproduce::Table& table : paper.tables) {
    reproduce::Records records = reproduce::records_of_table(table, paper.file);
    if (table.predict) {
      reproduce::PredictedRows predicted =
          reproduce::predicted_rows(records, *table.predict, files, choice.folder);
      all.merge(reproduce::scoreboard_tables(table.id, predicted));
      records = std::move(predicted.rows);
      write_named(choice.folder + "/" + table.id + ".jsonl", reproduce::lines_of_records(records));
    }
    all[table.id] = std::move(records);
  }
  for (const reproduce::Run& run : paper.runs) {
    reproduce::Records records;
    if (run.slow && choice.quick) {
      const std::string stored = io::relative_to(paper.file, run.stored);
      records = reproduce::records_of_lines(io::read_text(stored), stored);
    } else {
      records = records_of(run, invocation, choice);
    }
    if (!run.rows.empty() || !run.vary.empty() || run.slow) { // else the command wrote them itself
      write_named(file_of(run, choice), reproduce::lines_of_records(records));
    }
    all[run.id] = reproduce::pivoted(std::move(records), run.pivot);
  }
  return all;
}

void predict_own_speeds(const OwnSpeeds& own, const Invocation& invocation, const Common& common) {
  const fs::path rules = fs::path(invocation.data_folder) / "reproduce/scoreboard/figures.json";
  reproduce::Reproduction paper = reproduce::parse_reproduction(io::read_json(rules.string()));
  std::erase_if(paper.tables, [](const reproduce::Table& table) { return !table.predict; });
  paper.runs.clear();
  reproduce::Table& table = paper.tables.front();
  table.file = fs::absolute(own.file).string();
  table.predict->rows = own.file;
  fs::create_directories(own.folder);
  const reproduce::AllRecords all = reproduced_records(
      paper, invocation, {.folder = own.folder, .quick = false, .jobs = own.jobs});
  write_named((fs::path(own.folder) / (table.id + ".csv")).string(),
              reproduce::scoreboard_csv(all.at(table.id), all.at(table.id + "_not_predicted")));
  const io::Array groups = list_of(all.at(table.id + "_groups"));
  const io::Array conditions = list_of(all.at(table.id + "_conditions"));
  const reproduce::Records& reasons = all.at(table.id + "_reasons");
  const io::Json tree(io::Object{
      {"groups", groups}, {"conditions", conditions}, {"not_predicted", list_of(reasons)}});
  write_document(common, {.text = [&] { return own_speeds_text(groups, conditions, reasons); },
                          .tree = [&] { return tree; }});
}

} // namespace stepsim::cli
