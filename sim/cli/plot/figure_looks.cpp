#include "cli/plot/rows_figure.hpp"

#include "cli/shell/unit_text.hpp"
#include "document/fields/written.hpp"
#include "plot/colours.hpp"

#include <cmath>

namespace stepsim::cli {

plot::Scale scale_for(const std::set<double>& values, bool of_x) {
  constexpr double kWide = 50;
  if (values.empty() || *values.begin() <= 0) {
    return plot::Scale::linear;
  }
  const bool doubled = std::ranges::all_of(values, [&](double value) {
    const double power = std::log2(value);
    return std::abs(power - std::round(power)) < 1e-9;
  });
  if (of_x && doubled && values.size() > 2) {
    return plot::Scale::log2;
  }
  return *values.rbegin() >= kWide * *values.begin() ? plot::Scale::log10 : plot::Scale::linear;
}

void add_guide(std::vector<plot::Guide>& guides, plot::Guide guide) {
  const auto same = [](const plot::Point& a, const plot::Point& b) {
    constexpr double kNear = 1e-9;
    return a.x == b.x && std::abs(a.y - b.y) <= kNear * std::abs(b.y);
  };
  const bool there = std::ranges::any_of(guides, [&](const plot::Guide& each) {
    return std::ranges::equal(each.points, guide.points, same);
  });
  if (!there) {
    guides.push_back(std::move(guide));
  }
}

void choose_looks(std::vector<plot::Curve>& curves) {
  std::array<bool, plot::kRanks> taken{};
  std::vector<plot::Curve*> others;
  for (plot::Curve& curve : curves) {
    curve.rank = plot::rank_of(curve.label);
    if (curve.rank >= plot::kRanks) {
      others.push_back(&curve);
    } else {
      taken[curve.rank] = true;
    }
  }
  for (plot::Curve* curve : others) {
    const auto left = std::ranges::find(taken, false);
    curve->rank = left == taken.end() ? 0 : static_cast<std::size_t>(left - taken.begin());
    taken[curve->rank] = true;
  }
}

namespace {

// "exposed communication" of exposed_communication_s.
std::string title_of_key(std::string_view key, std::string_view suffix) {
  std::string words(key.substr(0, key.size() - (key.ends_with(suffix) ? suffix.size() : 0)));
  std::ranges::replace(words, '_', ' ');
  return words;
}

using namespace io::rows;
using io::Json;
using io::Written;

constexpr auto kAxis = std::to_array<Written<plot::Axis>>({
    io::row<&plot::Axis::title>("Title of the axis."),
    io::row<&plot::Axis::unit>("Unit of its numbers; empty where they have none."),
    {word("scale", plot::kScales, "Scale of the axis.").required(),
     [](const plot::Axis& axis) { return Json(plot::kScales[axis.scale]); }},
});

constexpr std::array kCoordinate{number("points", "A value on x, then one on y.").plain()};
constexpr std::array kPoint{list("points", kCoordinate, "A point.").sizes(2, 2)};

constexpr auto kKnee = std::to_array<Written<plot::Point>>({
    io::row<&plot::Point::x>("Where it is."),
    io::row<&plot::Point::y>("Value of the curve there."),
});

struct PlottedCurve {
  const plot::Panel& panel;
  const plot::Curve& curve;
  const std::optional<plot::Point>& knee;
};
constexpr auto kCurve = std::to_array<Written<PlottedCurve>>({
    {text("label", "Value of --by, or the label given for it.").required(),
     [](const PlottedCurve& each) {
       return Json(each.panel.title.empty() ? each.curve.label : each.panel.title);
     }},
    {list("points", kPoint, "Its points by ascending x.").required(),
     [](const PlottedCurve& each) {
       return Json(io::write_each(each.curve.points, [](const plot::Point& point) {
         return io::Array{point.x, point.y};
       }));
     }},
    {object("knee", io::kKeysOf<kKnee>, "The knee of the curve; null without --knee.")
         .nullable()
         .required(),
     [](const PlottedCurve& each) { return io::write(kKnee, each.knee); }},
});
constexpr std::array kCurveObject{object("curves", io::kKeysOf<kCurve>, "One curve.")};

struct PlottedBar {
  const plot::Panel& panel;
  const plot::BarGroup& group;
  const plot::Bar& bar;
};
constexpr auto kBarRows = std::to_array<Written<PlottedBar>>({
    {text("group", "Word on the x axis.").required(),
     [](const PlottedBar& each) { return Json(each.group.name); }},
    {text("label", "Value of --by, or the label given for it.").required(),
     [](const PlottedBar& each) {
       return Json(each.panel.bars.parts[each.bar.values.size() - 1]);
     }},
    {number("value", "Height of the bar.").required(),
     [](const PlottedBar& each) { return Json(each.bar.values.back()); }},
});
constexpr std::array kBarObject{object("bars", io::kKeysOf<kBarRows>, "One bar.")};

constexpr auto kFacts = std::to_array<Written<RowsFigure>>({
    {text("title", "Title of the picture.").required(),
     [](const RowsFigure& drawn) { return Json(drawn.figure.title); }},
    {object("x", io::kKeysOf<kAxis>, "The horizontal axis.").required(),
     [](const RowsFigure& drawn) { return io::write(kAxis, drawn.figure.x); }},
    {object("y", io::kKeysOf<kAxis>, "The vertical axis.").required(),
     [](const RowsFigure& drawn) { return io::write(kAxis, drawn.figure.y); }},
    {list("curves", kCurveObject, "Curves; none where --x holds words.").required(),
     [](const RowsFigure& drawn) {
       io::Array curves;
       auto knee = drawn.knees.begin();
       for (const plot::Panel& panel : drawn.figure.panels) {
         for (const plot::Curve& curve : panel.curves) {
           curves.push_back(io::write(kCurve, PlottedCurve{panel, curve, *knee++}));
         }
       }
       return Json(std::move(curves));
     }},
    {list("bars", kBarObject, "Bars; none where --x holds numbers.").required(),
     [](const RowsFigure& drawn) {
       io::Array bars;
       for (const plot::Panel& panel : drawn.figure.panels) {
         for (const plot::BarGroup& group : panel.bars.groups) {
           for (const plot::Bar& bar : group.bars) {
             bars.push_back(io::write(kBarRows, PlottedBar{panel, group, bar}));
           }
         }
       }
       return Json(std::move(bars));
     }},
});
constexpr io::Key kPlotResult =
    object("plot_result", io::kKeysOf<kFacts>, "What stepsim plot --json writes.");

constexpr std::array<std::string_view, 1> kPlotExamples{
    R"({"bars":[],"curves":[{"knee":null,"label":"ddp","points":[[1,20],[2,38]]}],"title":"How does throughput depend on nodes?","x":{"scale":"linear","title":"nodes","unit":""},"y":{"scale":"linear","title":"throughput","unit":"samples/s"}})"};

} // namespace

bool is_share(std::string_view key) {
  return key.ends_with("efficiency") || key.ends_with("fraction") || key == "utilization";
}

KeyAxis key_axis(std::string_view key, double greatest) {
  const auto axis = [&](std::string_view suffix, std::string unit, double factor) {
    return KeyAxis{{.title = title_of_key(key, suffix), .unit = std::move(unit)}, factor};
  };
  if (is_share(key)) {
    return axis("", "%", 100);
  }
  if (key.ends_with("_per_s")) {
    return {{.title = "throughput", .unit = title_of_key(key, "_per_s") + "/s"}, 1};
  }
  switch (quantity_of(key).value_or(base::QuantityKind::count)) {
  case base::QuantityKind::time:
    return greatest >= 1e3    ? axis("_s", "s", 1) // tables show milliseconds up to there, too
           : greatest >= 1e-3 ? axis("_s", "ms", 1e3)
                              : axis("_s", "us", 1e6);
  case base::QuantityKind::rate: // bandwidths of collectives are told in bytes, those of links in
                                 // bits
    return key.find("busbw") != std::string_view::npos ||
                   key.find("algbw") != std::string_view::npos
               ? axis("_Bps", "GB/s", 1e-9)
               : axis("_Bps", "Gb/s", 8e-9);
  case base::QuantityKind::size:
    return axis("_bytes", "bytes", 1);
  case base::QuantityKind::flops:
  case base::QuantityKind::ratio:
  case base::QuantityKind::count:
  case base::QuantityKind::amount:
    break;
  }
  return axis("", "", 1);
}

std::string with_unit(std::string_view key, double value) {
  const KeyAxis of = key_axis(key, value);
  const std::string text = plain_cell(base::rounded_to(value * of.factor, 6));
  return of.axis.unit.empty() ? of.axis.title + " " + text : text + " " + of.axis.unit;
}

io::Json plot_facts(const RowsFigure& drawn) { return io::write(kFacts, drawn); }

io::FileKind plot_result_kind() { return {kPlotResult.name, &kPlotResult, kPlotExamples, false}; }

} // namespace stepsim::cli
