#include "cli/plot/rows_figure.hpp"

#include "document/fields/written.hpp"

namespace stepsim::cli {

namespace {

using namespace io::rows;
using io::Json;
using io::Key;
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
constexpr Key kPlotResult =
    object("plot_result", io::kKeysOf<kFacts>, "What stepsim plot --json writes.");

constexpr std::array<std::string_view, 1> kPlotExamples{
    R"({"bars":[],"curves":[{"knee":null,"label":"ddp","points":[[1,20],[2,38]]}],"title":"How does throughput depend on nodes?","x":{"scale":"linear","title":"nodes","unit":""},"y":{"scale":"linear","title":"throughput","unit":"samples/s"}})"};

} // namespace

io::Json plot_facts(const RowsFigure& drawn) { return io::write(kFacts, drawn); }

io::FileKind plot_result_kind() { return {kPlotResult.name, &kPlotResult, kPlotExamples, false}; }

} // namespace stepsim::cli
