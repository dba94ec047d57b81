// Rows are filtered, grouped into curves in the order in which the values of `by` appear, and
// sorted by x. Times and rates get the unit that fits their greatest value.
#include "cli/plot/rows_figure.hpp"

#include <cmath>

#include "cli/shell/unit_text.hpp"
#include "document/json_text.hpp"
#include "plot/ticks.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kMostPanels = 12;

void require_key(const PlotRows& rows, std::string_view flag, const std::string& key) {
  std::vector<std::string_view> known;
  for (const io::Json& row : rows.rows) {
    for (const auto& [name, value] : row.as_object()) {
      if (name == key) {
        return;
      }
      if (&row == &rows.rows.front() && !value.is_null()) {
        known.push_back(name);
      }
    }
  }
  const std::string near = base::did_you_mean(key, known);
  throw UsageError(std::string(flag) + " " + base::shown_value(key) + ": no record has this key" +
                   (near.empty() ? "; one of " + base::joined(known) : near));
}

std::string label_of(const PlotRequest& request, const std::string& value) {
  if (const auto* label = base::found(request.labels, value, &KeyValue::first)) {
    return label->second;
  }
  const auto number = base::parse_quantity(value, base::QuantityKind::ratio, base::BareNumber::si);
  const double* parsed = std::get_if<double>(&number);
  return parsed != nullptr ? with_unit(request.by, *parsed) : value;
}

// A label that names no curve is a slip of the pen, and would otherwise be lost without a word.
void require_labels(const PlotRequest& request, std::span<const std::string> known) {
  for (const auto& [value, label] : request.labels) {
    if (std::ranges::find(known, value) == known.end()) {
      const std::vector<std::string_view> words(known.begin(), known.end());
      throw UsageError("--label " + base::shown_value(value + "=" + label) + ": " +
                       (request.by.empty() ? "needs --by KEY, whose values it names"
                                           : "no curve has this " + request.by + "; there are " +
                                                 base::joined(words, " and ")));
    }
  }
}

std::string shown_number(double value) {
  return plot::tick_text({}, base::rounded_to(value, value >= 1000 ? 5 : 3), 0);
}

// `whose` names the curve where there are several; the share is of the pace of one worker.
plot::Mark knee_mark(const PlotRequest& request, const plot::Guide& ideal, const plot::Point& knee,
                     const std::string& whose, const plot::Axis& x) {
  const bool times = quantity_of(request.y) == base::QuantityKind::time;
  const double best = std::ranges::find(ideal.points, knee.x, &plot::Point::x)->y;
  const double efficiency = times ? best / knee.y : knee.y / best;
  return {plot::Mark::Kind::vertical, knee.x,
          "knee" + (whose.empty() ? "" : " of " + whose) + ": " + shown_number(knee.x) + " " +
              x.title + ", " + shown_number(100 * efficiency) + " %"};
}

// Bars for an x of words: a group per value of x, a bar per curve.
plot::Panel bars_panel(const PlotRows& rows, const PlotRequest& request, double factor) {
  plot::Panel panel;
  std::vector<std::string> parts;
  for (const io::Json& row : rows.rows) {
    const io::Json y = cell_of(row, request.y);
    if (!matches_all(row, request.where) || !y.is_number()) {
      continue;
    }
    const std::string by = request.by.empty() ? "" : plain_cell(cell_of(row, request.by));
    if (std::ranges::find(parts, by) == parts.end()) {
      parts.push_back(by);
    }
    const std::string name = plain_cell(cell_of(row, request.x));
    auto group = std::ranges::find(panel.bars.groups, name, &plot::BarGroup::name);
    if (group == panel.bars.groups.end()) {
      group = panel.bars.groups.insert(group, {name, {}});
    }
    const auto part = static_cast<std::size_t>(std::ranges::find(parts, by) - parts.begin());
    std::vector<double> values(part + 1, 0);
    values.back() = y.as_double() * factor;
    group->bars.push_back(
        {.values = std::move(values), .row = static_cast<std::size_t>(row.line())});
  }
  if (parts.size() > plot::kRanks) {
    throw UsageError("--by " + request.by + ": " + std::to_string(parts.size()) +
                     " values; bars show at most 5: choose records by --where KEY=VALUE");
  }
  for (plot::BarGroup& group : panel.bars.groups) {
    if (group.bars.size() > parts.size()) {
      throw UsageError("--x " + request.x + ": several records have the value " +
                       base::shown_value(group.name) + "; choose by --by KEY or --where KEY=VALUE");
    }
  }
  require_labels(request, parts);
  panel.bars.parts = base::collected<std::string>(
      parts, [&](const std::string& part) { return label_of(request, part); });
  return panel;
}

double greatest_of(const PlotRows& rows, const std::string& key) {
  double greatest = 0;
  for (const io::Json& row : rows.rows) {
    const io::Json value = cell_of(row, key);
    greatest = value.is_number() ? std::max(greatest, std::abs(value.as_double())) : greatest;
  }
  return greatest;
}

void choose_scales(RowsFigure& out, const PlotRequest& request,
                   const std::vector<plot::Curve>& curves) {
  std::set<double> xs;
  std::set<double> ys;
  for (const plot::Curve& curve : curves) {
    for (const plot::Point& point : curve.points) {
      xs.insert(point.x);
      ys.insert(point.y);
    }
  }
  out.figure.x.scale = request.x_scale.value_or(scale_for(xs, true));
  out.figure.y.scale = request.y_scale.value_or(scale_for(ys, false));
  constexpr std::size_t kMostTicks = 12;
  if (out.figure.x.scale == plot::Scale::log2 && xs.size() <= kMostTicks) {
    out.figure.x.ticks.assign(xs.begin(), xs.end());
  }
}

// One panel for up to five curves, else one each.
void add_panels(plot::Figure& figure, std::vector<plot::Curve> curves, const std::string& by) {
  if (curves.size() <= plot::kRanks) {
    figure.panels.push_back({.curves = std::move(curves)});
    return;
  }
  if (curves.size() > kMostPanels) {
    throw UsageError("--by " + by + ": " + std::to_string(curves.size()) +
                     " values; a figure shows at most 12: choose records by --where KEY=VALUE");
  }
  for (plot::Curve& curve : curves) {
    const std::string title = curve.label;
    curve.label.clear();
    curve.rank = 0;
    figure.panels.push_back({.title = title, .curves = {std::move(curve)}});
  }
}

} // namespace

RowsFigure rows_figure(const PlotRows& rows, const PlotRequest& request, const std::string& file) {
  if (rows.rows.empty()) {
    throw InputError(file, "", "no records to draw");
  }
  require_key(rows, "--x", request.x);
  require_key(rows, "--y", request.y);
  if (!request.by.empty()) {
    require_key(rows, "--by", request.by);
  }
  for (const KeyValue& where : request.where) {
    require_key(rows, "--where", where.first);
  }
  const KeyAxis x = key_axis(request.x, greatest_of(rows, request.x));
  const KeyAxis y = key_axis(request.y, greatest_of(rows, request.y));
  RowsFigure out;
  out.figure.file = file;
  out.figure.x = x.axis;
  out.figure.y = y.axis;
  if (!request.x_title.empty()) {
    out.figure.x.title = request.x_title;
  }
  if (!request.y_title.empty()) {
    out.figure.y.title = request.y_title;
  }
  const std::string filters = base::listed(request.where, [&](const KeyValue& each) {
    const auto row = std::ranges::find_if(
        rows.rows, [&](const io::Json& record) { return matches(record, each); });
    const io::Json value = row == rows.rows.end() ? io::Json() : cell_of(*row, each.first);
    const double number = value.is_number() ? value.as_double() : 0;
    const plot::Axis axis = key_axis(each.first, number).axis;
    return axis.title + " = " +
           (value.is_number() && !axis.unit.empty() ? with_unit(each.first, number) : each.second);
  });
  out.figure.setting = !request.setting.empty()               ? request.setting
                       : rows.name.empty() || filters.empty() ? rows.name + filters
                                                              : rows.name + "; " + filters;
  out.figure.title = request.title.empty() ? "How does " + out.figure.y.title + " depend on " +
                                                 out.figure.x.title + "?"
                                           : request.title;
  if (std::ranges::any_of(rows.rows,
                          [&](const auto& row) { return cell_of(row, request.x).is_string(); })) {
    if (request.ideal || request.knee || request.band) {
      throw UsageError("--ideal, --knee and --band need numbers on x; " + request.x +
                       " holds words");
    }
    out.figure.panels.push_back(bars_panel(rows, request, y.factor));
    out.figure.y.scale = request.y_scale.value_or(plot::Scale::linear);
    return out;
  }
  CurveRows curve_rows(rows, request);
  std::vector<plot::Curve> curves = curve_rows.curves();
  if (curves.empty()) {
    throw InputError(file, "",
                     "no record has numbers for " + request.x + " and " + request.y +
                         (request.where.empty() ? "" : " where --where says"));
  }
  const auto values = base::collected<std::string>(curves, &plot::Curve::label);
  require_labels(request, values);
  choose_looks(curves);
  const auto scale = [&](plot::Point& point) {
    point.x *= x.factor;
    point.y *= y.factor;
  };
  std::vector<plot::Guide> ideals;
  std::vector<plot::Band> bands; // of each curve
  for (plot::Curve& curve : curves) {
    std::ranges::for_each(ideals.emplace_back(curve_rows.ideal(curve)).points, scale);
    bands.push_back(!request.band   ? curve_rows.interval(curve)
                    : bands.empty() ? curve_rows.band(curve.label)
                                    : plot::Band());
    for (plot::Band::At& at : bands.back().points) {
      at = {at.x * x.factor, at.low * y.factor, at.high * y.factor, at.row};
    }
    std::optional<plot::Point>& knee = out.knees.emplace_back();
    if (request.knee) {
      scale(knee.emplace(curve_rows.knee(curve)));
    }
    curve.label = label_of(request, curve.label);
    std::ranges::for_each(curve.points, scale);
  }
  choose_scales(out, request, curves);
  curves.front().bold = curves.size() > 1 && curves.size() <= plot::kRanks;
  add_panels(out.figure, std::move(curves), request.by);
  std::size_t i = 0;
  for (plot::Panel& panel : out.figure.panels) {
    for (const plot::Curve& curve : panel.curves) {
      if (request.ideal) {
        add_guide(panel.guides, ideals[i]);
      }
      if (request.knee && panel.marks.empty()) {
        panel.marks.push_back(knee_mark(request, ideals[i], *out.knees[i],
                                        panel.curves.size() > 1 ? curve.label : std::string(),
                                        out.figure.x));
      }
      const bool shown = request.band ? i == 0 : panel.curves.size() == 1;
      if (shown && !bands[i].points.empty()) {
        panel.bands.push_back(std::move(bands[i]));
      }
      ++i;
    }
  }
  return out;
}

} // namespace stepsim::cli
