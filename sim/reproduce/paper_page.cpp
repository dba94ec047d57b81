// Tables of a figure are made of its curves and bars, so that a page cannot say other numbers than
// the picture beside it.
#include "reproduce/paper_page.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/number_text.hpp"
#include "base/shell_word.hpp"
#include "reproduce/drawing.hpp"
#include "reproduce/series.hpp"

namespace stepsim::reproduce {

namespace {

using Row = std::vector<std::string>;

// A cell of a Markdown table.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  }
  return out;
}

std::string table_of(const Row& heading, const std::vector<Row>& rows) {
  const auto line = [](const Row& row) {
    std::string text = "|";
    for (const std::string& cell : row) {
      text += " " + escaped(cell) + " |";
    }
    return text + "\n";
  };
  std::string text = line(heading) + "|";
  for (std::size_t i = 0; i < heading.size(); ++i) {
    text += "---|";
  }
  text += "\n";
  for (const Row& row : rows) {
    text += line(row);
  }
  return text + "\n";
}

std::string titled(const plot::Axis& axis) {
  return axis.unit.empty() ? axis.title : axis.title + " [" + axis.unit + "]";
}

// The x values of a table: all of them, or those of the ticks where there are many.
std::vector<double> rows_at(const std::set<double>& all, const plot::Axis& axis) {
  constexpr std::size_t kMost = 24;
  std::vector<double> rows(all.begin(), all.end());
  if (rows.size() > kMost) {
    std::vector<double> some;
    for (std::size_t i = 0; i < kMost; ++i) {
      some.push_back(rows[i * (rows.size() - 1) / (kMost - 1)]);
    }
    std::vector<double> ticks;
    std::ranges::copy_if(axis.ticks, std::back_inserter(ticks),
                         [&](double tick) { return all.contains(tick); });
    return ticks.size() > 2 ? ticks : some;
  }
  return rows;
}

// Lines as columns over x, reported ones among them with their label.
std::string curve_table(const PanelOf& panel, const FigureOf& figure, const Reproduction& paper,
                        const AllRecords& all) {
  std::set<double> places;
  Row heading{titled(panel.x.value_or(figure.x))};
  std::vector<std::map<double, double>> columns;
  const auto add = [&](const Curve& curve, const std::string& label) {
    heading.push_back(label);
    std::map<double, double>& column = columns.emplace_back();
    for (const plot::Point& point : points_of(curve, all, paper.file)) {
      places.insert(point.x);
      column.emplace(point.x, point.y);
    }
  };
  for (const Curve& curve : panel.curves) {
    add(curve, curve.label);
  }
  for (const Curve& curve : panel.reported) {
    if (may_be_drawn(paper, curve.series.run)) {
      add(curve, curve.label + ", " + evidence(paper, curve.series.run));
    }
  }
  std::vector<Row> rows;
  for (const double x : rows_at(places, panel.x.value_or(figure.x))) {
    Row& row = rows.emplace_back(Row{shown_number(x)});
    for (const std::map<double, double>& column : columns) {
      const auto found = column.find(x);
      row.push_back(found == column.end() ? "" : base::significant(found->second));
    }
  }
  return titled(panel.y.value_or(figure.y)) + (panel.title.empty() ? "" : ", " + panel.title) +
         ":\n\n" + table_of(heading, rows);
}

// A part that a bar does not have is an empty cell.
std::string bar_table(const PanelOf& panel, const plot::Panel& drawn, const Reproduction& paper) {
  Row heading{"group", "bar"};
  heading.insert(heading.end(), drawn.bars.parts.begin(), drawn.bars.parts.end());
  std::vector<Row> rows;
  for (std::size_t i = 0; i < drawn.bars.groups.size(); ++i) {
    const plot::BarGroup& group = drawn.bars.groups[i];
    auto of = panel.bars.groups[i].second.begin();
    for (const plot::Bar& bar : group.bars) {
      while (!may_be_drawn(paper, of->series.run)) {
        ++of;
      }
      const std::size_t first = (of++)->first;
      Row& row = rows.emplace_back(
          Row{group.name,
              bar.name + (bar.reported ? (bar.name.empty() ? "" : ", ") + drawn.bars.reported_label
                                       : std::string())});
      for (std::size_t part = 0; part < drawn.bars.parts.size(); ++part) {
        const bool there = part >= first && part < bar.values.size();
        row.push_back(there ? base::significant(bar.values[part]) : std::string());
      }
    }
  }
  return table_of(heading, rows);
}

std::string lane_table(const plot::Panel& drawn) {
  std::vector<Row> rows;
  for (const plot::Lane& lane : drawn.lanes.lanes) {
    for (const plot::Span& span : lane.spans) {
      rows.push_back({lane.name, base::significant(span.start), base::significant(span.end)});
    }
  }
  return table_of({"lane", "start", "end"}, rows);
}

std::string named(const Reproduction& paper, const io::Json& value) {
  const std::string text = value.is_string()   ? value.as_string()
                           : value.is_number() ? shown_number(value.as_double())
                                               : std::string("-");
  const auto found =
      std::ranges::find(paper.words, text, &std::pair<std::string, std::string>::first);
  return found == paper.words.end() ? text : found->second;
}

std::string comparison_table(const Comparison& comparison, const Reproduction& paper,
                             const AllRecords& all) {
  const std::string unit = comparison.unit.empty() ? "" : " [" + comparison.unit + "]";
  std::vector<Row> rows;
  const std::string& theirs_run =
      comparison.series.other ? comparison.series.other->run : comparison.series.run;
  const bool interval = !comparison.low.empty() && !comparison.high.empty();
  for (const Joined& each : select(comparison.series, all, paper.file)) {
    std::string name;
    for (const std::string& column_name : comparison.names) {
      const io::Json* value = column(*each.record, column_name);
      name += (name.empty() ? "" : ", ") + (value == nullptr ? "-" : named(paper, *value));
    }
    const double ours = evaluate(comparison.ours, each, comparison.series, paper.file);
    const double theirs = evaluate(comparison.theirs, each, comparison.series, paper.file);
    const double error = ours / theirs - 1;
    Row row{name, base::significant(ours)};
    if (interval) {
      row.push_back(
          base::significant(evaluate(comparison.low, each, comparison.series, paper.file)) +
          " to " +
          base::significant(evaluate(comparison.high, each, comparison.series, paper.file)));
    }
    row.insert(row.end(), {base::significant(theirs), evidence(paper, theirs_run),
                           base::significant(100 * error, 3) + " %"});
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
    heading.push_back("within " + base::significant(100 * *comparison.limit, 3) + " %");
  }
  return table_of(heading, rows);
}

std::string command_line(const std::vector<std::string>& words) {
  std::string text = "stepsim";
  for (const std::string& word : words) {
    text += " " + base::quoted_word(word);
  }
  return text + "\n";
}

// The command, or of several the first, with a remark how the others differ from it.
std::string command_of(const Run& run) {
  std::vector<std::string> words = run.argv;
  std::size_t combinations = 1;
  std::string varied;
  for (const std::vector<Choice>& list : run.vary) {
    words.insert(words.end(), list.front().words.begin(), list.front().words.end());
    combinations *= list.size();
    for (const auto& [name, value] : list.front().columns) {
      varied += (varied.empty() ? "" : ", ") + name;
    }
  }
  if (run.seeds > 0) {
    words.insert(words.end(), {"--seed", "1"});
  }
  std::string text = command_line(words);
  if (combinations > 1) {
    text += "# the first of " + std::to_string(combinations) + " that differ in " + varied + "\n";
  }
  if (run.seeds > 0) {
    text += "# each with several seeds; numbers are medians over them\n";
  }
  return text;
}

std::string commands_of(const FigureOf& figure, const Reproduction& paper) {
  std::string text;
  std::string slow;
  for (const std::string& id : figure.runs) {
    const auto run = std::ranges::find(paper.runs, id, &Run::id);
    text += command_of(*run);
    if (run->slow) {
      slow += (slow.empty() ? "" : " and ") + ("`" + run->stored + "`");
    }
  }
  if (!slow.empty()) {
    slow = "These commands take minutes; with `--quick` their records come from " + slow +
           ", which a run without it wrote.\n\n";
  }
  return text.empty() ? "" : "```\n" + text + "```\n\n" + slow;
}

std::string section(std::string_view title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) {
    return "";
  }
  std::string text = "## " + std::string(title) + "\n\n";
  for (const std::string& sentence : sentences) {
    text += "- " + sentence + "\n";
  }
  return text + "\n";
}

Row claim_row(const Decided& each) {
  const Claim& claim = *each.claim;
  return {claim.text,
          ours_text(each),
          theirs_text(claim),
          std::string(kLabels[claim.label]),
          limits_text(claim),
          "**" + verdict_text(each) + "**" +
              (claim.reason.empty() ? "" : ": " + reason_text(each))};
}

const Row kClaimHeading{"claim", "ours", "theirs", "label", "met where", "verdict"};

// Points alone have a table where they are few; rows of their own say more of many.
bool few_reported(const PanelOf& panel, const AllRecords& all, const Reproduction& paper) {
  constexpr std::size_t kFew = 12;
  std::size_t points = 0;
  for (const Curve& curve : panel.reported) {
    points += select(curve.series, all, paper.file).size();
  }
  return points > 0 && points <= kFew;
}

std::string figure_text(const FigureOf& figure, const Reproduction& paper, const AllRecords& all,
                        const std::vector<Decided>& decided, std::string_view images) {
  std::string text = "## " + figure.id + ": " + figure.question + "\n\n";
  if (!figure.not_drawn.empty()) {
    text += figure.not_drawn + "\n\n";
  } else {
    text += "![" + figure.question + "](" + std::string(images) + figure.id + ".svg)\n\n";
    const plot::Figure drawn = drawing(figure, paper, all, decided);
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
      const PanelOf& panel = figure.panels[i];
      if (!panel.curves.empty() || few_reported(panel, all, paper)) {
        text += curve_table(panel, figure, paper, all);
      } else if (!drawn.panels[i].title.empty() && panel.reported.empty()) {
        text += drawn.panels[i].title + ":\n\n";
      }
      if (!drawn.panels[i].bars.groups.empty()) {
        text += bar_table(panel, drawn.panels[i], paper);
      }
      if (!drawn.panels[i].lanes.lanes.empty()) {
        text += lane_table(drawn.panels[i]);
      }
    }
  }
  for (const Comparison& comparison : figure.comparisons) {
    text += comparison_table(comparison, paper, all);
  }
  text += commands_of(figure, paper);
  std::vector<Row> rows;
  for (const Decided& each : decided) {
    if (each.claim->figure == figure.id) {
      rows.push_back(claim_row(each));
    }
  }
  if (!rows.empty()) {
    text += table_of(kClaimHeading, rows);
  }
  return text + (figure.note.empty() ? "" : figure.note + "\n\n");
}

std::string sources_of(const Reproduction& paper) {
  std::vector<Row> rows;
  for (const Table& table : paper.tables) {
    rows.push_back(
        {table.id, table.label ? std::string(kLabels[*table.label]) : "our own", table.source});
  }
  for (const Claim& claim : paper.claims) {
    rows.push_back({claim.id, std::string(kLabels[claim.label]), claim.source});
  }
  return rows.empty() ? ""
                      : "## Sources\n\n" + table_of({"numbers or claim", "label", "source"}, rows);
}

} // namespace

std::string paper_page(const Reproduction& paper, const AllRecords& all,
                       const std::vector<Decided>& decided, std::string_view images) {
  std::string text = "# " + paper.title + "\n\n" + paper.citation + "\n\n";
  for (const std::string& sentence : paper.first) {
    text += sentence + "\n";
  }
  text += "\nThis page is written by `stepsim reproduce " + paper.name +
          "`: " + counts_text(counts_of(paper, decided)) + ".\n\n";
  for (const FigureOf& figure : paper.figures) {
    text += figure_text(figure, paper, all, decided, images);
  }
  text += section("What is assumed", paper.assumed);
  text += section("What we could not read", paper.unreadable);
  text += section("Later papers", paper.successors);
  text += sources_of(paper);
  while (text.ends_with("\n\n")) {
    text.pop_back();
  }
  return text;
}

Counts counts_of(const Reproduction& paper, const std::vector<Decided>& decided) {
  Counts counts;
  for (const FigureOf& figure : paper.figures) {
    counts.figures += figure.not_drawn.empty() ? 1 : 0;
  }
  for (const Decided& each : decided) {
    ++counts.claims[static_cast<std::size_t>(each.verdict)];
  }
  return counts;
}

Counts& Counts::operator+=(const Counts& more) {
  figures += more.figures;
  std::ranges::transform(claims, more.claims, claims.begin(), std::plus());
  return *this;
}

std::string counts_text(const Counts& counts) {
  std::size_t claims = 0;
  std::string text;
  for (std::size_t i = 0; i < counts.claims.size(); ++i) {
    claims += counts.claims[i];
    text += (i == 0 ? " claims: " : ", ") + std::to_string(counts.claims[i]) + " " +
            std::string(kVerdicts.all()[i]);
  }
  return std::to_string(counts.figures) + " figures, " + std::to_string(claims) + text;
}

std::vector<std::vector<std::string>> claim_rows(const std::vector<Decided>& decided) {
  std::vector<Row> rows;
  for (const Decided& each : decided) {
    rows.push_back({each.claim->figure, verdict_text(each), ours_text(each),
                    theirs_text(*each.claim), std::string(kLabels[each.claim->label]),
                    each.claim->text});
  }
  return rows;
}

std::string claims_page(const std::vector<PaperClaims>& papers) {
  std::string text =
      "# Claims of the papers\n\n"
      "Every claim that stepsim was held against, as `stepsim reproduce all` decides "
      "it. A claim is bracketed where it holds only\nbecause an input that the paper does not give "
      "may take any value, and not comparable where an input of theirs is unknown\nor where "
      "stepsim does not compute what it speaks of. How a number got its label is\n"
      "explained in [the README of these pages](../../reproduce/README.md).\n\n";
  Counts sum;
  for (const PaperClaims& each : papers) {
    const Counts counts = counts_of(*each.paper, *each.decided);
    sum += counts;
    text += "## [" + each.paper->title + "](" + each.paper->name + ".md)\n\n" +
            counts_text(counts) + ".\n\n";
    Row heading = kClaimHeading;
    heading.insert(heading.begin(), "figure");
    std::vector<Row> rows;
    for (const Decided& decided : *each.decided) {
      Row& row = rows.emplace_back(claim_row(decided));
      row.insert(row.begin(), decided.claim->figure);
    }
    text += table_of(heading, rows);
  }
  return text + "Together: " + counts_text(sum) + ".\n";
}

} // namespace stepsim::reproduce
