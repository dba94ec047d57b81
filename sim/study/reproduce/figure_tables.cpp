#include "study/reproduce/paper_page.hpp"

#include "base/collected.hpp"

#include <cmath>
#include <numeric>
#include <ranges>

namespace stepsim::reproduce {

namespace {

// A cell of a Markdown table.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  }
  return out;
}

std::string titled(const plot::Axis& axis) {
  return axis.unit.empty() ? axis.title : axis.title + " [" + axis.unit + "]";
}

// The x values of a table: all of them, or those of the ticks where there are many.
std::vector<double> rows_at(const std::set<double>& all, const plot::Axis& axis) {
  constexpr std::size_t kMost = 24;
  std::vector<double> rows(all.begin(), all.end());
  if (rows.size() > kMost) {
    const std::vector<double> some = base::collected_n<double>(
        kMost, [&](std::size_t i) { return rows[i * (rows.size() - 1) / (kMost - 1)]; });
    std::vector<double> ticks;
    std::ranges::copy_if(axis.ticks, std::back_inserter(ticks),
                         [&](double tick) { return all.contains(tick); });
    return ticks.size() > 2 ? ticks : some;
  }
  return rows;
}

std::string named(const Reproduction& paper, const io::Json& value) {
  const std::string text = value.is_string()   ? value.as_string()
                           : value.is_number() ? shown_number(value.as_double())
                                               : std::string("-");
  const auto found =
      std::ranges::find(paper.words, text, &std::pair<std::string, std::string>::first);
  return found == paper.words.end() ? text : found->second;
}

const Table* table_of(const Reproduction& paper, const std::string& run) {
  return base::found(paper.tables, run, &Table::id);
}

// "marked at {}" with the value in place of the braces.
std::string filled(std::string text, double value) {
  if (const std::size_t place = text.find("{}"); place != std::string::npos) {
    text.replace(place, 2, shown_number(value));
  }
  return text;
}

// What the formulas make of every record of a series.
template <class Element, class... Formulas>
std::vector<Element> elements_of(const Series& series, const Reproduced& all,
                                 const Formulas&... formulas) {
  return base::collected<Element>(select(series, all), [&](const Joined& each) {
    return Element{evaluate(formulas, each)...};
  });
}

// By ascending x.
std::vector<plot::Point> points_of(const Curve& curve, const Reproduced& all) {
  auto points = elements_of<plot::Point>(curve.series, all, curve.x, curve.y);
  std::ranges::stable_sort(points, {}, &plot::Point::x);
  return points;
}

// Whether the numbers of this run or table may be drawn: all but those of tables whose label is
// `recalled` or `unreadable`.
bool may_be_drawn(const Reproduction& paper, const std::string& run) {
  const Table* table = table_of(paper, run);
  return table == nullptr || !table->label || counts(*table->label);
}

plot::Bars bars_of(const BarsOf& bars, const Reproduced& all) {
  const Reproduction& paper = all.paper;
  plot::Bars out;
  out.parts = bars.parts;
  for (const auto& [name, members] : bars.groups) {
    plot::BarGroup& group = out.groups.emplace_back();
    group.name = name;
    for (const BarOf& bar : members) {
      if (!may_be_drawn(paper, bar.series.run)) {
        continue;
      }
      if (bar.first + bar.values.size() > bars.parts.size()) {
        throw InputError(paper.file, bar.series.place,
                         "values up to part " + std::to_string(bar.first + bar.values.size()) +
                             ", but there are " + std::to_string(bars.parts.size()));
      }
      const Joined joined = select(bar.series, all).front();
      plot::Bar& drawn = group.bars.emplace_back();
      drawn.name = bar.name;
      const std::string label = evidence(paper, bar.series.run);
      drawn.reported = !label.empty();
      if (drawn.reported) {
        out.reported_label = label;
      }
      drawn.values.assign(bar.first, 0.0);
      for (const std::string& formula : bar.values) {
        drawn.values.push_back(std::max(0.0, evaluate(formula, joined)));
      }
    }
  }
  return out;
}

plot::Panel panel_of(const PanelOf& panel, const Reproduced& all) {
  plot::Panel out;
  out.title = panel.title;
  out.x = panel.x;
  out.y = panel.y;
  for (const Curve& curve : panel.curves) {
    out.curves.push_back({.label = curve.label,
                          .points = points_of(curve, all),
                          .rank = curve.rank,
                          .bold = curve.bold,
                          .markers = curve.markers});
  }
  for (const Curve& curve : panel.reported) {
    if (may_be_drawn(all.paper, curve.series.run)) {
      out.reported.push_back({.label = curve.label + ", " + evidence(all.paper, curve.series.run),
                              .points = points_of(curve, all),
                              .rank = curve.rank});
    }
  }
  for (const Curve& curve : panel.guides) {
    out.guides.push_back({curve.label, points_of(curve, all)});
  }
  for (const BandOf& band : panel.bands) {
    auto points = elements_of<plot::Band::At>(band.series, all, band.x, band.low, band.high);
    std::ranges::sort(points, {}, &plot::Band::At::x);
    out.bands.push_back({band.label, std::move(points)});
  }
  for (const MarkAt& mark : panel.marks) {
    const auto* cell = std::get_if<Cell>(&mark.at);
    const double at = cell != nullptr ? evaluate(*cell, all) : std::get<double>(mark.at);
    out.marks.push_back({mark.kind, at, filled(mark.text, at)});
  }
  out.bars = bars_of(panel.bars, all);
  out.lanes.parts = panel.lane_parts;
  for (const LaneOf& lane : panel.lanes) {
    out.lanes.lanes.push_back(
        {lane.name, elements_of<plot::Span>(lane.series, all, lane.start, lane.end)});
  }
  return out;
}

// The line above a table: what its numbers are, and the panel that they are of.
std::string above(const plot::Panel& panel, const FigureOf& figure) {
  return titled(panel.y.value_or(figure.y)) + (panel.title.empty() ? "" : ", " + panel.title) +
         ":\n\n";
}

} // namespace

std::string markdown_table(const Row& heading, const std::vector<Row>& rows) {
  const auto line = [](const Row& row) {
    const auto cell = [](const std::string& text) { return " " + escaped(text) + " |"; };
    return "|" + base::listed(row, cell, "") + "\n";
  };
  const auto rule = [](const std::string&) { return "---|"; };
  return line(heading) + "|" + base::listed(heading, rule, "") + "\n" +
         base::listed(rows, line, "") + "\n";
}

std::string curve_table(const plot::Panel& panel, const FigureOf& figure) {
  std::set<double> places;
  Row heading{titled(panel.x.value_or(figure.x))};
  std::vector<std::map<double, double>> columns;
  const auto add = [&](const auto& curve) {
    heading.push_back(curve.label);
    std::map<double, double>& column = columns.emplace_back();
    for (const plot::Point& point : curve.points) {
      places.insert(point.x);
      column.emplace(point.x, point.y);
    }
  };
  std::ranges::for_each(panel.curves, add);
  std::ranges::for_each(panel.reported, add);
  std::vector<Row> rows;
  for (const double x : rows_at(places, panel.x.value_or(figure.x))) {
    Row& row = rows.emplace_back(Row{shown_number(x)});
    for (const std::map<double, double>& column : columns) {
      const auto found = column.find(x);
      row.push_back(found == column.end() ? "" : base::significant(found->second));
    }
  }
  return above(panel, figure) + markdown_table(heading, rows);
}

// Bars without names that show different parts of one group share its row. A part that is lost in
// the rounding of the whole bar is 0.
std::string bar_table(const PanelOf& panel, const plot::Panel& drawn, const FigureOf& figure,
                      const Reproduction& paper) {
  constexpr double kRounding = 1e-6;
  const std::vector<std::string>& parts = drawn.bars.parts;
  bool any_named = false;
  std::vector<Row> rows; // group, name of the bar, parts
  for (std::size_t i = 0; i < drawn.bars.groups.size(); ++i) {
    const plot::BarGroup& group = drawn.bars.groups[i];
    auto of = panel.bars.groups[i].second.begin();
    std::vector<double> shown; // of the last row
    for (const plot::Bar& bar : group.bars) {
      while (!may_be_drawn(paper, of->series.run)) {
        ++of;
      }
      const std::size_t first = (of++)->first;
      const std::string name =
          bar.name + (bar.reported ? (bar.name.empty() ? "" : ", ") + drawn.bars.reported_label
                                   : std::string());
      any_named = any_named || !name.empty();
      const double whole = std::accumulate(bar.values.begin(), bar.values.end(), 0.0);
      std::vector<double> values(parts.size(), -1); // -1: the bar does not have the part
      for (std::size_t part = first; part < std::min(parts.size(), bar.values.size()); ++part) {
        values[part] = bar.values[part] < kRounding * whole ? 0 : bar.values[part];
      }
      const auto both = [](double a, double b) { return a > 0 && b > 0; };
      if (shown.empty() || !name.empty() ||
          std::inner_product(shown.begin(), shown.end(), values.begin(), false, std::logical_or<>(),
                             both)) {
        Row& row = rows.emplace_back(Row{group.name, name});
        row.resize(row.size() + parts.size());
        shown.assign(parts.size(), -1);
      }
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (values[part] > shown[part]) {
          shown[part] = values[part];
          rows.back()[part + 2] = base::significant(values[part]);
        }
      }
    }
  }
  Row heading{"group", "bar"};
  heading.insert(heading.end(), parts.begin(), parts.end());
  if (!any_named) {
    heading.erase(heading.begin() + 1);
    std::ranges::for_each(rows, [](Row& row) { row.erase(row.begin() + 1); });
  }
  return above(drawn, figure) + markdown_table(heading, rows);
}

std::string lane_table(const plot::Panel& drawn) {
  std::vector<Row> rows;
  for (const plot::Lane& lane : drawn.lanes.lanes) {
    for (const plot::Span& span : lane.spans) {
      rows.push_back({lane.name, base::significant(span.start), base::significant(span.end)});
    }
  }
  return markdown_table({"lane", "start", "end"}, rows);
}

std::string record_table(const RecordTable& table, const Reproduced& all) {
  std::vector<Row> rows;
  for (const Joined& each : select(table.series, all)) {
    Row& row = rows.emplace_back();
    for (const auto& [title, name] : table.columns) {
      const io::Json* value = column(*each.record, name);
      row.push_back(value == nullptr      ? std::string()
                    : value->is_integer() ? std::to_string(value->as_integer())
                    : value->is_number()  ? base::significant(value->as_double())
                                          : named(all.paper, *value));
    }
  }
  return markdown_table(base::collected<std::string>(std::views::keys(table.columns)), rows);
}

std::string comparison_table(const Comparison& comparison, const Reproduced& all) {
  const std::string unit = comparison.unit.empty() ? "" : " [" + comparison.unit + "]";
  std::vector<Row> rows;
  const std::string& theirs_run =
      comparison.series.other ? comparison.series.other->run : comparison.series.run;
  const bool interval = !comparison.low.empty() && !comparison.high.empty();
  for (const Joined& each : select(comparison.series, all)) {
    const std::string name = base::listed(comparison.names, [&](const std::string& key) {
      const io::Json* value = column(*each.record, key);
      return value == nullptr ? "-" : named(all.paper, *value);
    });
    const double ours = evaluate(comparison.ours, each);
    const double theirs = evaluate(comparison.theirs, each);
    const double error = ours / theirs - 1;
    Row row{name, base::significant(ours)};
    if (interval) {
      row.push_back(base::significant(evaluate(comparison.low, each)) + " to " +
                    base::significant(evaluate(comparison.high, each)));
    }
    row.insert(row.end(), {base::significant(theirs),
                           comparison.label.empty()
                               ? evidence(all.paper, theirs_run)
                               : "reported (" + row_text(*each.record, comparison.label) + ")",
                           base::percent(error)});
    if (comparison.limit) {
      row.emplace_back(std::abs(error) <= *comparison.limit ? "met" : "not met");
    }
    rows.push_back(std::move(row));
  }
  Row heading{"", "ours" + unit};
  if (interval) {
    heading.emplace_back("interval");
  }
  heading.insert(heading.end(), {"theirs" + unit, "label", "difference"});
  if (comparison.limit) {
    heading.push_back("within " + base::percent(*comparison.limit));
  }
  return markdown_table(heading, rows);
}

std::string evidence(const Reproduction& paper, const std::string& run) {
  const Table* table = table_of(paper, run);
  return table == nullptr || !table->label
             ? std::string()
             : "reported (" + std::string(kLabels[*table->label]) + ")";
}

plot::Figure drawing(const FigureOf& figure, const Reproduced& all) {
  plot::Figure out;
  out.title = figure.question;
  out.setting = figure.setting;
  out.x = figure.x;
  out.y = figure.y;
  out.file = all.paper.file;
  out.panels = base::collected<plot::Panel>(
      figure.panels, [&](const PanelOf& panel) { return panel_of(panel, all); });
  const auto missed = std::ranges::find_if(all.decided, [&](const Decided& each) {
    return each.claim->figure == figure.id && each.verdict == Verdict::not_met;
  });
  if (missed != all.decided.end()) {
    out.box = reason_text(*missed);
  }
  return out;
}

} // namespace stepsim::reproduce
