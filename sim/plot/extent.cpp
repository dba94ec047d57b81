#include "plot/extent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/number_text.hpp"

namespace stepsim::plot {

namespace {

struct Checked {
  const Figure& figure;
  const Axis& x;
  const Axis& y;

  void axis_value(const Axis& axis, double value, std::size_t row, const std::string& label) const {
    const bool shown = std::isfinite(value) && (axis.scale == Scale::linear || value > 0);
    if (!shown) {
      throw InputError(figure.file, row > 0 ? std::to_string(row) : "",
                       (label.empty() ? "" : label + ": ") + axis.title +
                           (axis.scale == Scale::linear
                                ? " must be a finite number, got "
                                : " must be > 0 on a logarithmic axis, got ") +
                           base::significant(value, 6));
    }
  }
  void point(double at_x, double at_y, std::size_t row, const std::string& label) const {
    axis_value(x, at_x, row, label);
    axis_value(y, at_y, row, label);
  }
  void panel(const Panel& each) const {
    for (const Curve& curve : each.curves) {
      for (const Point& p : curve.points) {
        point(p.x, p.y, p.row, curve.label);
      }
    }
    for (const Reported& reported : each.reported) {
      for (const Point& p : reported.points) {
        point(p.x, p.y, p.row, reported.label);
      }
    }
    for (const Guide& guide : each.guides) {
      for (const Point& p : guide.points) {
        point(p.x, p.y, p.row, guide.label);
      }
    }
    for (const Band& band : each.bands) {
      for (const Band::At& at : band.points) {
        point(at.x, at.low, at.row, band.label);
        axis_value(y, at.high, at.row, band.label);
      }
    }
    for (const Mark& mark : each.marks) {
      axis_value(mark.kind == Mark::Kind::vertical ? x : y, mark.at, 0, mark.text);
    }
    for (const BarGroup& group : each.bars.groups) {
      for (const Bar& bar : group.bars) {
        axis_value(y, std::accumulate(bar.values.begin(), bar.values.end(), 0.0), bar.row,
                   group.name);
      }
    }
    for (const Lane& lane : each.lanes.lanes) {
      for (const Span& span : lane.spans) {
        axis_value(x, span.start, 0, lane.name);
        axis_value(x, span.end, 0, lane.name);
      }
    }
  }
};

} // namespace

void Extent::add(double value) {
  least = empty ? value : std::min(least, value);
  greatest = empty ? value : std::max(greatest, value);
  empty = false;
}

void Extents::add(const Panel& panel) {
  const auto add_points = [&](const std::vector<Point>& points) {
    for (const Point& point : points) {
      x.add(point.x);
      y.add(point.y);
    }
  };
  for (const Curve& curve : panel.curves) {
    add_points(curve.points);
  }
  for (const Reported& reported : panel.reported) {
    add_points(reported.points);
  }
  for (const Guide& guide : panel.guides) {
    add_points(guide.points);
  }
  for (const Band& band : panel.bands) {
    for (const Band::At& at : band.points) {
      x.add(at.x);
      y.add(at.low);
      y.add(at.high);
    }
  }
  for (const Mark& mark : panel.marks) {
    (mark.kind == Mark::Kind::vertical ? x : y).add(mark.at);
  }
  for (const BarGroup& group : panel.bars.groups) {
    for (const Bar& bar : group.bars) {
      y.add(std::accumulate(bar.values.begin(), bar.values.end(), 0.0));
    }
  }
  for (const Lane& lane : panel.lanes.lanes) {
    for (const Span& span : lane.spans) {
      x.add(span.start);
      x.add(span.end);
    }
  }
}

void require_values(const Figure& figure) {
  for (const Panel& panel : figure.panels) {
    Checked{figure, panel.x ? *panel.x : figure.x, panel.y ? *panel.y : figure.y}.panel(panel);
  }
}

} // namespace stepsim::plot
