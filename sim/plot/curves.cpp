// Bands lie below guides, curves above them, reported points on top, the text of a mark where it
// covers the fewest points. Markers of a dense curve stand on some of its points only.
#include "plot/frame.hpp"

#include "base/collected.hpp"
#include "plot/colours.hpp"

namespace stepsim::plot {

namespace {

constexpr double kMarkerDistance = 16; // px between markers of one curve, at least

std::string point_text(const Frame& frame, double x, double y) {
  return pixels(frame.x_of(x)) + " " + pixels(frame.y_of(y));
}

std::string line_data(const Frame& frame, const std::vector<Point>& points) {
  std::string data;
  for (const Point& point : points) {
    data += (data.empty() ? "M" : "L") + point_text(frame, point.x, point.y);
  }
  return data;
}

void draw_band(Canvas& canvas, const Band& band, const Frame& frame) {
  if (band.points.size() == 1) { // an area without width: a thick line
    const Band::At& at = band.points.front();
    canvas.path("M" + point_text(frame, at.x, at.low) + "L" + point_text(frame, at.x, at.high),
                stroke_of("band") + R"( stroke-width="12")");
    return;
  }
  std::vector<Point> low;
  std::vector<Point> high;
  for (const Band::At& at : band.points) {
    low.push_back({at.x, at.low});
    high.push_back({at.x, at.high});
  }
  low = thinned(low);
  std::ranges::reverse(low);
  std::string data = line_data(frame, thinned(high));
  for (const Point& point : low) {
    data += "L" + point_text(frame, point.x, point.y);
  }
  canvas.path(data + "Z", fill_of("band"));
}

// The points that are far enough from each other for markers.
std::vector<Point> marked(const std::vector<Point>& points, const Frame& frame) {
  std::vector<Point> out;
  for (const Point& point : points) {
    if (out.empty() || frame.x_of(point.x) - frame.x_of(out.back().x) >= kMarkerDistance) {
      out.push_back(point);
    }
  }
  const std::size_t few = static_cast<std::size_t>(frame.width() / kMarkerDistance);
  return points.size() <= few ? points : out;
}

void draw_curve(Canvas& canvas, const Curve& curve, const Frame& frame, std::string_view id) {
  if (!curve.line) {
    canvas.path(line_data(frame, curve.points),
                "fill=\"none\"" + marker_attributes(id, curve.rank, false));
    return;
  }
  const std::vector<Point> points = thinned(curve.points);
  const std::vector<Point> with_marker = curve.markers ? marked(points, frame) : points;
  const bool together = curve.markers && with_marker.size() == points.size();
  canvas.path(line_data(frame, points),
              stroke_attributes(curve.rank, curve.bold) +
                  (together ? marker_attributes(id, curve.rank, false) : ""));
  if (curve.markers && !together) {
    canvas.path(line_data(frame, with_marker),
                "fill=\"none\"" + marker_attributes(id, curve.rank, false));
  }
}

struct Box {
  double left{}, top{}, right{}, bottom{};
  [[nodiscard]] bool holds(double x, double y) const {
    return x > left && x < right && y > top && y < bottom;
  }
  [[nodiscard]] bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// Places texts of marks: the candidate that meets no other text and hides the fewest points.
class MarkTexts {
public:
  MarkTexts(const Panel& panel, const Frame& frame) : panel_(panel), frame_(frame) {}

  void draw(Canvas& canvas, const Mark& mark) {
    const double width = text_width(mark.text) + 4;
    Box best;
    std::size_t least = 0;
    for (const Box& box : candidates(mark, width)) {
      const std::size_t cost = cost_of(box);
      if (best.right == 0 || cost < least) {
        best = box;
        least = cost;
      }
    }
    placed_.push_back(best);
    canvas.text(best.left + 2, best.bottom - 4, mark.text, {.halo = true});
  }

private:
  // Beside a vertical line from the top down, over or under a horizontal one from the right.
  [[nodiscard]] std::vector<Box> candidates(const Mark& mark, double width) const {
    std::vector<Box> out;
    const auto add = [&](double left, double top) {
      left = std::clamp(left, frame_.left + 2, std::max(frame_.left + 2, frame_.right - width - 2));
      out.push_back({left, top, left + width, top + kLineHeight});
    };
    constexpr int kTries = 8;
    for (int i = 0; i < kTries; ++i) {
      const double part = static_cast<double>(i) / kTries;
      if (mark.kind == Mark::Kind::vertical) {
        const double x = frame_.x_of(mark.at);
        const double top = frame_.top + 3 + part * (frame_.height() - kLineHeight - 6);
        add(x + 4, top);
        add(x - width - 4, top);
      } else {
        const double y = frame_.y_of(mark.at);
        const double left = frame_.right - width - 4 - part * (frame_.width() - width - 8);
        add(left, std::max(frame_.top + 1, y - kLineHeight - 2));
        add(left, std::min(frame_.bottom - kLineHeight - 1, y + 2));
      }
    }
    return out;
  }

  [[nodiscard]] std::size_t cost_of(const Box& box) const {
    constexpr std::size_t kText = 1'000'000;
    std::size_t cost = base::sum_of<std::size_t>(
        placed_, [&](const Box& other) { return box.meets(other) ? kText : 0; });
    for (const Curve& curve : panel_.curves) {
      cost += hidden(box, curve.points);
    }
    for (const Guide& guide : panel_.guides) {
      cost += hidden(box, guide.points);
    }
    for (const Reported& reported : panel_.reported) {
      for (const Point& point : reported.points) {
        cost += box.holds(frame_.x_of(point.x), frame_.y_of(point.y)) ? 1U : 0U;
      }
    }
    return cost;
  }

  // Places along a line that the box hides: ten between two points.
  [[nodiscard]] std::size_t hidden(const Box& box, const std::vector<Point>& points) const {
    constexpr int kPlaces = 10;
    std::size_t count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point& a = points[i];
      const Point& b = points[std::min(i + 1, points.size() - 1)];
      for (int place = 0; place < kPlaces; ++place) {
        const double part = static_cast<double>(place) / kPlaces;
        const double x = std::lerp(frame_.x_of(a.x), frame_.x_of(b.x), part);
        const double y = std::lerp(frame_.y_of(a.y), frame_.y_of(b.y), part);
        count += box.holds(x, y) ? 1U : 0U;
      }
    }
    return count;
  }

  const Panel& panel_;
  const Frame& frame_;
  std::vector<Box> placed_;
};

void draw_marks(Canvas& canvas, const Panel& panel, const Frame& frame) {
  const std::string look = stroke_of("mark") + R"( stroke-dasharray="3 3")";
  for (const Mark& mark : panel.marks) {
    if (mark.kind == Mark::Kind::vertical) {
      canvas.line(frame.x_of(mark.at), frame.top, frame.x_of(mark.at), frame.bottom, look);
    } else {
      canvas.line(frame.left, frame.y_of(mark.at), frame.right, frame.y_of(mark.at), look);
    }
  }
  MarkTexts texts(panel, frame);
  for (const Mark& mark : panel.marks) {
    texts.draw(canvas, mark);
  }
}

} // namespace

std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostPoints) {
    return points;
  }
  constexpr std::size_t kRuns = kMostPoints / 2 - 1; // two of each, the first and the last
  std::vector<Point> out{points.front()};
  const std::size_t inner = points.size() - 2;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const auto from = points.begin() + 1 + static_cast<std::ptrdiff_t>(run * inner / kRuns);
    const auto to = points.begin() + 1 + static_cast<std::ptrdiff_t>((run + 1) * inner / kRuns);
    auto [low, high] =
        std::minmax_element(from, to, [](const Point& a, const Point& b) { return a.y < b.y; });
    if (high < low) {
      std::swap(low, high);
    }
    out.push_back(*low);
    if (high != low) {
      out.push_back(*high);
    }
  }
  out.push_back(points.back());
  return out;
}

std::string stroke_attributes(std::size_t rank, bool bold) {
  const RankLook& look = rank_look(rank);
  std::string out = "fill=\"none\" stroke-linejoin=\"round\" stroke=\"";
  out.append(look.color).append(bold ? "\" stroke-width=\"3\"" : "\" stroke-width=\"1.6\"");
  if (!look.dash.empty()) {
    out.append(" stroke-dasharray=\"").append(look.dash).append("\"");
  }
  return out;
}

void draw_curves(Canvas& canvas, const Panel& panel, const Frame& frame, std::string_view id) {
  for (const Band& band : panel.bands) {
    draw_band(canvas, band, frame);
  }
  for (const Guide& guide : panel.guides) {
    canvas.path(line_data(frame, thinned(guide.points)), R"(fill="none" )" + stroke_of("guide"));
  }
  for (const Curve& curve : panel.curves) {
    if (!curve.points.empty()) {
      draw_curve(canvas, curve, frame, id);
    }
  }
  for (const Reported& reported : panel.reported) {
    if (!reported.points.empty()) {
      canvas.path(line_data(frame, reported.points),
                  "fill=\"none\"" + marker_attributes(id, reported.rank, true));
    }
  }
  draw_marks(canvas, panel, frame);
}

} // namespace stepsim::plot
