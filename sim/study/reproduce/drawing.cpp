#include "study/reproduce/paper_page.hpp"

#include "base/error.hpp"
#include "study/reproduce/series.hpp"

namespace stepsim::reproduce {

namespace {

const Table* table_of(const Reproduction& paper, const std::string& run) {
  const auto found = std::ranges::find(paper.tables, run, &Table::id);
  return found == paper.tables.end() ? nullptr : &*found;
}

// "marked at {}" with the value in place of the braces.
std::string filled(std::string text, double value) {
  if (const std::size_t place = text.find("{}"); place != std::string::npos) {
    text.replace(place, 2, shown_number(value));
  }
  return text;
}

// By ascending x.
std::vector<plot::Point> points_of(const Curve& curve, const AllRecords& all,
                                   const std::string& file) {
  std::vector<plot::Point> points;
  for (const Joined& each : select(curve.series, all, file)) {
    plot::Point point;
    point.x = evaluate(curve.x, each, curve.series, file);
    point.y = evaluate(curve.y, each, curve.series, file);
    points.push_back(point);
  }
  std::ranges::stable_sort(points, {}, &plot::Point::x);
  return points;
}

plot::Bars bars_of(const BarsOf& bars, const Reproduction& paper, const AllRecords& all) {
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
      const Joined joined = select(bar.series, all, paper.file).front();
      plot::Bar& drawn = group.bars.emplace_back();
      drawn.name = bar.name;
      const std::string label = evidence(paper, bar.series.run);
      drawn.reported = !label.empty();
      if (drawn.reported) {
        out.reported_label = label;
      }
      drawn.values.assign(bar.first, 0.0);
      for (const std::string& formula : bar.values) {
        drawn.values.push_back(std::max(0.0, evaluate(formula, joined, bar.series, paper.file)));
      }
    }
  }
  return out;
}

plot::Panel panel_of(const PanelOf& panel, const Reproduction& paper, const AllRecords& all) {
  plot::Panel out;
  out.title = panel.title;
  out.x = panel.x;
  out.y = panel.y;
  for (const Curve& curve : panel.curves) {
    plot::Curve& drawn = out.curves.emplace_back();
    drawn.label = curve.label;
    drawn.points = points_of(curve, all, paper.file);
    drawn.rank = curve.rank;
    drawn.bold = curve.bold;
    drawn.markers = curve.markers;
  }
  for (const Curve& curve : panel.reported) {
    if (may_be_drawn(paper, curve.series.run)) {
      plot::Reported& drawn = out.reported.emplace_back();
      drawn.label = curve.label + ", " + evidence(paper, curve.series.run);
      drawn.points = points_of(curve, all, paper.file);
      drawn.rank = curve.rank;
    }
  }
  for (const Curve& curve : panel.guides) {
    plot::Guide& drawn = out.guides.emplace_back();
    drawn.label = curve.label;
    drawn.points = points_of(curve, all, paper.file);
  }
  for (const BandOf& band : panel.bands) {
    plot::Band& drawn = out.bands.emplace_back();
    drawn.label = band.label;
    for (const Joined& each : select(band.series, all, paper.file)) {
      plot::Band::At at;
      at.x = evaluate(band.x, each, band.series, paper.file);
      at.low = evaluate(band.low, each, band.series, paper.file);
      at.high = evaluate(band.high, each, band.series, paper.file);
      drawn.points.push_back(at);
    }
    std::ranges::sort(drawn.points, {}, &plot::Band::At::x);
  }
  for (const MarkAt& mark : panel.marks) {
    plot::Mark& drawn = out.marks.emplace_back();
    drawn.kind = mark.kind;
    const auto* cell = std::get_if<Cell>(&mark.at);
    drawn.at = cell != nullptr ? evaluate(*cell, all, paper.file) : std::get<double>(mark.at);
    drawn.text = filled(mark.text, drawn.at);
  }
  out.bars = bars_of(panel.bars, paper, all);
  out.lanes.parts = panel.lane_parts;
  for (const LaneOf& lane : panel.lanes) {
    plot::Lane& drawn = out.lanes.lanes.emplace_back();
    drawn.name = lane.name;
    for (const Joined& each : select(lane.series, all, paper.file)) {
      plot::Span& span = drawn.spans.emplace_back();
      span.start = evaluate(lane.start, each, lane.series, paper.file);
      span.end = evaluate(lane.end, each, lane.series, paper.file);
    }
  }
  return out;
}

} // namespace

std::string evidence(const Reproduction& paper, const std::string& run) {
  const Table* table = table_of(paper, run);
  return table == nullptr || !table->label
             ? std::string()
             : "reported (" + std::string(kLabels[*table->label]) + ")";
}

bool may_be_drawn(const Reproduction& paper, const std::string& run) {
  const Table* table = table_of(paper, run);
  return table == nullptr || !table->label || counts(*table->label);
}

plot::Figure drawing(const FigureOf& figure, const Reproduction& paper, const AllRecords& all,
                     const std::vector<Decided>& decided) {
  plot::Figure out;
  out.title = figure.question;
  out.setting = figure.setting;
  out.x = figure.x;
  out.y = figure.y;
  out.file = paper.file;
  for (const PanelOf& panel : figure.panels) {
    out.panels.push_back(panel_of(panel, paper, all));
  }
  const auto missed = std::ranges::find_if(decided, [&](const Decided& each) {
    return each.claim->figure == figure.id && each.verdict == Verdict::not_met;
  });
  if (missed != decided.end()) {
    out.box = reason_text(*missed);
  }
  return out;
}

} // namespace stepsim::reproduce
