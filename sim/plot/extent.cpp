#include "plot/frame.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::plot {

namespace {

// Calls visit(of_x, value, row, label) for every value that has a place on an axis of the panel.
template <class Visit> void for_each_value(const Panel& panel, const Visit& visit) {
  const auto points = [&](const auto& list) {
    for (const auto& each : list) {
      for (const Point& point : each.points) {
        visit(true, point.x, point.row, each.label);
        visit(false, point.y, point.row, each.label);
      }
    }
  };
  points(panel.curves);
  points(panel.reported);
  points(panel.guides);
  for (const Band& band : panel.bands) {
    for (const Band::At& at : band.points) {
      visit(true, at.x, at.row, band.label);
      visit(false, at.low, at.row, band.label);
      visit(false, at.high, at.row, band.label);
    }
  }
  for (const Mark& mark : panel.marks) {
    visit(mark.kind == Mark::Kind::vertical, mark.at, 0, mark.text);
  }
  for (const BarGroup& group : panel.bars.groups) {
    for (const Bar& bar : group.bars) {
      visit(false, std::accumulate(bar.values.begin(), bar.values.end(), 0.0), bar.row, group.name);
    }
  }
  for (const Lane& lane : panel.lanes.lanes) {
    for (const Span& span : lane.spans) {
      visit(true, span.start, 0, lane.name);
      visit(true, span.end, 0, lane.name);
    }
  }
}

} // namespace

void Extent::add(double value) {
  least = empty ? value : std::min(least, value);
  greatest = empty ? value : std::max(greatest, value);
  empty = false;
}

void Extents::add(const Panel& panel) {
  for_each_value(panel, [&](bool of_x, double value, std::size_t, const std::string&) {
    (of_x ? x : y).add(value);
  });
}

void require_values(const Figure& figure) {
  for (const Panel& panel : figure.panels) {
    for_each_value(panel, [&](bool of_x, double value, std::size_t row, const std::string& label) {
      const std::optional<Axis>& own = of_x ? panel.x : panel.y;
      const Axis& axis = own ? *own : of_x ? figure.x : figure.y;
      const bool linear = axis.scale == Scale::linear;
      if (!std::isfinite(value) || (!linear && value <= 0)) {
        throw InputError(figure.file, row > 0 ? std::to_string(row) : "",
                         (label.empty() ? "" : label + ": ") + axis.title +
                             (linear ? " must be a finite number, got "
                                     : " must be > 0 on a logarithmic axis, got ") +
                             base::significant(value, 6));
      }
    });
  }
}

} // namespace stepsim::plot
