#include "cli/commands/own_speeds.hpp"

#include <cmath>
#include <filesystem>
#include <vector>

#include "base/number_text.hpp"
#include "base/printable.hpp"
#include "cli/commands/reproduced_runs.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/table.hpp"
#include "document/json_parse.hpp"
#include "study/reproduce/reproduction_file.hpp"
#include "study/reproduce/scoreboard_tables.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

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
  write_document(common, {.text = [&] { return own_speeds_text(groups, conditions, reasons); },
                          .tree =
                              [&] {
                                return io::Object{{"groups", groups},
                                                  {"conditions", conditions},
                                                  {"not_predicted", list_of(reasons)}};
                              }});
}

} // namespace stepsim::cli
