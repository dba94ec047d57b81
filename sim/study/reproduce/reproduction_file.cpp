// What a formula means is checked where it is evaluated, since only records tell which columns
// there are.
#include "study/reproduce/paper_records.hpp"

#include "study/reproduce/reproduction_keys.hpp"

namespace stepsim::reproduce {

namespace {

using io::Fields;
using io::Json;

Run read_run(Fields& fields) {
  Run run;
  read_bound(keys::kRunRows, fields, run);
  for (const Json& list : fields.list("vary")) {
    std::vector<Choice>& choices = run.vary.emplace_back();
    if (!list.is_array() || list.as_array().empty()) {
      fields.problems().add(list, "must be a list of choices");
      continue;
    }
    for (const Json& json : list.as_array()) {
      Fields choice(json, fields.problems(), keys::kChoice.front());
      read_bound(keys::kChoiceRows, choice, choices.emplace_back());
      choice.no_more();
    }
  }
  if (run.slow && run.stored.empty()) {
    fields.problems().add(fields.json(), "a slow run needs stored");
  }
  return run;
}

// Rows in the file itself become records with the names of `columns`.
Table read_table(Fields& fields) {
  Table table;
  table.place = fields.json().pointer();
  read_bound(keys::kTableRows, fields, table);
  if (table.predict) {
    table.predict->rows = table.file;
  }
  const auto columns = io::checked_texts(fields.list("columns"), fields.problems());
  for (const Json& row : fields.list("rows")) {
    if (!row.is_array() || row.as_array().size() != columns.size()) {
      fields.problems().refuse(row, "must be a list of {} values, one per column", columns.size());
      continue;
    }
    io::Object record;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      record.emplace_back(columns[i], row.as_array()[i]);
    }
    table.records.push_back(std::move(record));
  }
  if (fields.has("file") == fields.has("rows")) {
    fields.problems().add(fields.json(), "give exactly one of file and rows");
  }
  return table;
}

FigureOf read_figure(Fields& fields) {
  FigureOf figure;
  read_bound(keys::kFigureRows, fields, figure);
  if (figure.not_drawn.empty() == figure.panels.empty()) {
    fields.problems().add(fields.json(), "give exactly one of panels and not_drawn");
  }
  return figure;
}

Claim read_claim(Fields& fields) {
  Claim claim;
  read_bound(keys::kClaimRows, fields, claim);
  if (!claim.ours.empty() && claim.comparable && !claim.low && !claim.high) {
    fields.problems().add(fields.json(), "give low or high: what decides whether it is met");
  }
  if ((claim.ours.empty() || !claim.comparable) && claim.reason.empty()) {
    fields.problems().add(fields.json(), "give ours, or the reason why it cannot be compared");
  }
  return claim;
}

// Names are looked up often, so that a wrong one is told at once with the nearest there is.
void check_names(const Json& tree, const Reproduction& paper, io::Problems& problems) {
  std::set<std::string, std::less<>> records, figures;
  const auto unique = [&](std::set<std::string, std::less<>>& names, const std::string& id) {
    if (!names.insert(id).second) {
      problems.add(tree, "the id " + base::shown_value(id) + " appears twice");
    }
  };
  for (const Run& run : paper.runs) {
    unique(records, run.id);
  }
  for (const Table& table : paper.tables) {
    unique(records, table.id);
  }
  for (const FigureOf& figure : paper.figures) {
    unique(figures, figure.id);
    for (const std::string& run : figure.runs) {
      if (!std::ranges::any_of(paper.runs, [&](const Run& each) { return each.id == run; })) {
        problems.add(tree, "figure " + figure.id + ": no run " + base::shown_value(run));
      }
    }
  }
  for (const Claim& claim : paper.claims) {
    if (!figures.contains(claim.figure)) {
      problems.add(tree, "claim " + claim.id + ": no figure " + base::shown_value(claim.figure));
    }
  }
}

} // namespace

void keys::read_at(Fields& fields, const io::Key& key, MarkAt& mark) {
  if (const Json* at = fields.any(key.name); at != nullptr && at->is_object()) {
    Fields cell(*at, fields.problems(), key);
    read_bound(kCellRows, cell, mark.at.emplace<Cell>());
    cell.no_more();
  } else {
    mark.at = fields.number(key.name);
  }
}

Reproduction parse_reproduction(const Json& tree) {
  io::Problems problems;
  Fields fields(tree, problems, keys::kReproduction);
  fields.header("reproduction");
  Reproduction paper;
  paper.file = tree.file();
  paper.name = tree.text("name");
  read_bound(keys::kReproductionRows, fields, paper);
  paper.runs = fields.each("runs", read_run);
  paper.tables = fields.each("tables", read_table);
  paper.figures = fields.each("figures", read_figure);
  paper.claims = fields.each("claims", read_claim);
  fields.no_more();
  if (problems.empty()) {
    check_names(tree, paper, problems);
  }
  problems.throw_if_any();
  return paper;
}

} // namespace stepsim::reproduce
