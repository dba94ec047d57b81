// One function per object of the file, in the order of the keys. What a formula means is checked
// where it is evaluated, since only records tell which columns there are.
#include "study/reproduce/reproduction_file.hpp"

#include <set>

#include "study/reproduce/reproduction_keys.hpp"

namespace stepsim::reproduce {

namespace {

using io::Fields;
using io::Json;
using io::Problems;

std::vector<std::string> texts(Fields& fields, std::string_view key) {
  std::vector<std::string> out;
  for (const Json& value : fields.list(key)) {
    if (!value.is_string()) {
      fields.problems().add(value, "must be a text");
      continue;
    }
    out.push_back(value.as_string());
  }
  return out;
}

Pivot read_pivot(Fields& fields) {
  Pivot out;
  fields.object("pivot", [&](Fields& pivot) {
    out = {.column = pivot.text("column"),
           .value = pivot.text("value"),
           .names = text_members(pivot, "names")};
  });
  return out;
}

Run read_run(Fields& fields) {
  Run run{.id = fields.text("id"),
          .argv = texts(fields, "argv"),
          .rows = fields.text("rows"),
          .vary = {},
          .seeds = fields.integer_or("seeds", 0),
          .digits = fields.integer_or("digits", 0),
          .columns = texts(fields, "columns"),
          .pivot = read_pivot(fields),
          .slow = fields.boolean("slow"),
          .stored = fields.text("stored")};
  for (const Json& list : fields.list("vary")) {
    std::vector<Choice>& choices = run.vary.emplace_back();
    if (!list.is_array() || list.as_array().empty()) {
      fields.problems().add(list, "must be a list of choices");
      continue;
    }
    for (const Json& json : list.as_array()) {
      Fields choice(json, fields.problems(), keys::kChoice.front());
      choices.push_back({.columns = members_of(choice, "columns"),
                         .words = texts(choice, "words"),
                         .seeds = choice.integer_or("seeds", 0)});
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
  Table table{.id = fields.text("id"),
              .file = fields.text("file"),
              .rows = fields.text("pointer"),
              .source = fields.text("source"),
              .label = fields.optional_word("label", kLabels),
              .records = {},
              .pivot = read_pivot(fields),
              .predict = {},
              .place = fields.json().pointer()};
  fields.object("predict", [&](Fields& rules) {
    table.predict = read_scoreboard(rules);
    table.predict->rows = table.file;
  });
  const std::vector<std::string> columns = texts(fields, "columns");
  for (const Json& row : fields.list("rows")) {
    if (!row.is_array() || row.as_array().size() != columns.size()) {
      fields.problems().add(row, "must be a list of " + std::to_string(columns.size()) +
                                     " values, one per column");
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

Series read_series(Fields& fields) {
  Series series{.run = fields.text("run"),
                .where = members_of(fields, "where"),
                .when = fields.text("when"),
                .other = {},
                .place = fields.json().pointer()};
  fields.object("other", [&](Fields& other) {
    series.other = Other{.run = other.text("run"),
                         .where = members_of(other, "where"),
                         .match = text_members(other, "match")};
  });
  return series;
}

Cell read_cell(Fields& fields) {
  return {.series = read_series(fields),
          .value = fields.text("value"),
          .reduce = fields.word("reduce", kReduces),
          .group = texts(fields, "group"),
          .with = fields.text("with")};
}

Curve read_curve(Fields& fields) {
  return {.label = fields.text("label"),
          .series = read_series(fields),
          .x = fields.text("x"),
          .y = fields.text("y"),
          .rank = static_cast<std::size_t>(fields.integer("rank")),
          .bold = fields.boolean("bold"),
          .markers = fields.boolean("markers")};
}

BandOf read_band(Fields& fields) {
  return {.label = fields.text("label"),
          .series = read_series(fields),
          .x = fields.text("x"),
          .low = fields.text("low"),
          .high = fields.text("high")};
}

MarkAt read_mark(Fields& fields) {
  MarkAt mark;
  mark.kind = fields.word("kind") == keys::kMarkKinds[0] ? plot::Mark::Kind::vertical
                                                         : plot::Mark::Kind::horizontal;
  mark.text = fields.text("text");
  const Json* at = fields.any("at");
  if (at != nullptr && at->is_object()) {
    Fields cell(*at, fields.problems(), keys::kMarkAt[1]);
    mark.at = read_cell(cell);
    cell.no_more();
  } else {
    mark.at = fields.number("at");
  }
  return mark;
}

BarsOf read_bars(Fields& fields) {
  BarsOf bars;
  bars.parts = texts(fields, "parts");
  bars.groups = fields.each("groups", [](Fields& group) {
    return std::pair(group.text("name"), group.each("bars", [](Fields& bar) {
      return BarOf{.name = bar.text("name"),
                   .series = read_series(bar),
                   .first = static_cast<std::size_t>(bar.integer("first")),
                   .values = texts(bar, "values")};
    }));
  });
  return bars;
}

plot::Axis read_axis(Fields& fields) {
  plot::Axis axis;
  axis.title = fields.text("title");
  axis.unit = fields.text("unit");
  axis.scale = fields.word("scale", plot::kScales);
  axis.ticks = fields.numbers("ticks");
  axis.low = fields.optional_number("low");
  axis.high = fields.optional_number("high");
  return axis;
}

std::optional<plot::Axis> axis_at(Fields& fields, std::string_view key) {
  std::optional<plot::Axis> axis;
  fields.object(key, [&](Fields& part) { axis = read_axis(part); });
  return axis;
}

PanelOf read_panel(Fields& fields) {
  PanelOf panel;
  panel.title = fields.text("title");
  panel.curves = fields.each("curves", read_curve);
  panel.reported = fields.each("reported", read_curve);
  panel.guides = fields.each("guides", read_curve);
  panel.bands = fields.each("bands", read_band);
  panel.marks = fields.each("marks", read_mark);
  fields.object("bars", [&](Fields& bars) { panel.bars = read_bars(bars); });
  panel.lane_parts = texts(fields, "lane_parts");
  panel.lanes = fields.each("lanes", [](Fields& lane) {
    return LaneOf{.name = lane.text("name"),
                  .series = read_series(lane),
                  .start = lane.text("start"),
                  .end = lane.text("end")};
  });
  panel.x = axis_at(fields, "x");
  panel.y = axis_at(fields, "y");
  return panel;
}

FigureOf read_figure(Fields& fields) {
  FigureOf figure;
  figure.id = fields.text("id");
  figure.question = fields.text("question");
  figure.setting = fields.text("setting");
  figure.note = fields.text("note");
  figure.not_drawn = fields.text("not_drawn");
  figure.x = axis_at(fields, "x").value_or(plot::Axis{});
  figure.y = axis_at(fields, "y").value_or(plot::Axis{});
  figure.panels = fields.each("panels", read_panel);
  figure.comparisons = fields.each("comparisons", [](Fields& row) {
    return Comparison{.label = row.text("label"),
                      .names = texts(row, "names"),
                      .series = read_series(row),
                      .ours = row.text("ours"),
                      .low = row.text("low"),
                      .high = row.text("high"),
                      .theirs = row.text("theirs"),
                      .unit = row.text("unit"),
                      .limit = row.optional_number("limit")};
  });
  figure.tables = fields.each("tables", [](Fields& table) {
    return RecordTable{.series = read_series(table), .columns = text_members(table, "columns")};
  });
  figure.runs = texts(fields, "runs");
  if (figure.not_drawn.empty() == figure.panels.empty()) {
    fields.problems().add(fields.json(), "give exactly one of panels and not_drawn");
  }
  return figure;
}

Claim read_claim(Fields& fields) {
  Claim claim;
  claim.id = fields.text("id");
  claim.figure = fields.text("figure");
  claim.text = fields.text("text");
  claim.label = fields.word("label", kLabels);
  claim.source = fields.text("source");
  claim.reported = fields.numbers("reported");
  claim.theirs = fields.text("theirs");
  claim.unit = fields.text("unit");
  claim.free = fields.text("free");
  claim.ours = fields.each("ours", read_cell);
  claim.low = fields.optional_number("low");
  claim.high = fields.optional_number("high");
  claim.comparable = fields.boolean("comparable");
  claim.reason = fields.text("reason");
  if (!claim.ours.empty() && claim.comparable && !claim.low && !claim.high) {
    fields.problems().add(fields.json(), "give low or high: what decides whether it is met");
  }
  if ((claim.ours.empty() || !claim.comparable) && claim.reason.empty()) {
    fields.problems().add(fields.json(), "give ours, or the reason why it cannot be compared");
  }
  return claim;
}

// Names are looked up often, so that a wrong one is told at once with the nearest there is.
void check_names(const Json& tree, const Reproduction& paper, Problems& problems) {
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

io::Object members_of(Fields& fields, std::string_view key) {
  const Json* value = fields.any(key);
  if (value == nullptr || value->is_null()) {
    return {};
  }
  if (!value->is_object()) {
    fields.problems().add(*value, "must be an object");
    return {};
  }
  return value->as_object();
}

Names text_members(Fields& fields, std::string_view key) {
  Names out;
  for (const auto& [name, value] : members_of(fields, key)) {
    out.emplace_back(name, value.is_string() ? value.as_string() : std::string());
  }
  return out;
}

Reproduction parse_reproduction(const Json& tree) {
  Problems problems;
  Fields fields(tree, problems, keys::kReproduction);
  fields.header("reproduction");
  Reproduction paper;
  paper.file = tree.file();
  paper.name = tree.text("name");
  paper.title = fields.text("title");
  paper.citation = fields.text("citation");
  paper.first = texts(fields, "first");
  paper.words = text_members(fields, "words");
  paper.runs = fields.each("runs", read_run);
  paper.tables = fields.each("tables", read_table);
  paper.figures = fields.each("figures", read_figure);
  paper.claims = fields.each("claims", read_claim);
  paper.assumed = texts(fields, "assumed");
  paper.unreadable = texts(fields, "unreadable");
  paper.successors = texts(fields, "successors");
  fields.no_more();
  if (problems.empty()) {
    check_names(tree, paper, problems);
  }
  problems.throw_if_any();
  return paper;
}

} // namespace stepsim::reproduce
