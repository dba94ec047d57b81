// Rows are grouped by the value of `by` when the curves are made; the other members find the row of
// a point again by the curve's label and the point's x.
#include "cli/plot/rows_figure.hpp"

#include "base/statistics.hpp"
#include "cli/shell/unit_text.hpp"
#include "run/summary_fields.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

// The keys of a record that its throughput follows from.
bool is_of_step(std::string_view key) {
  return key == study::kIterationTime || key == "samples_per_s" || key == "speedup" ||
         key == "scaling_efficiency";
}

// "iteration_time_s" and "low": "iteration_time_low_s".
std::string key_of_end(const std::string& key, std::string_view end) {
  const std::size_t unit = std::min(key.rfind('_'), key.size());
  return key.substr(0, unit) + "_" + std::string(end) + key.substr(unit);
}

} // namespace

std::vector<plot::Curve> CurveRows::curves() {
  std::vector<plot::Curve> out;
  for (const PlotRow& row : rows_.rows) {
    const io::Json x = cell_of(row, request_.x);
    const io::Json y = cell_of(row, request_.y);
    if (!matches_all(row, request_.where) || !x.is_number() || !y.is_number()) {
      continue;
    }
    const std::string value = request_.by.empty() ? "" : plain_cell(cell_of(row, request_.by));
    auto curve = std::ranges::find(out, value, &plot::Curve::label);
    if (curve == out.end()) {
      curve = out.insert(out.end(), {.label = value, .rank = out.size()});
    }
    const auto [other, fresh] = at_x_[value].emplace(x.as_double(), &row);
    if (!fresh) {
      refuse_shared(*other->second, row);
    }
    curve->points.push_back({x.as_double(), y.as_double(), row.line});
  }
  for (plot::Curve& curve : out) {
    std::ranges::stable_sort(curve.points, {}, &plot::Point::x);
  }
  return out;
}

plot::Guide CurveRows::ideal(const plot::Curve& curve) const {
  plot::Guide guide{.label = "ideal"};
  const std::string& y = request_.y;
  const bool times = quantity_of(y) == base::QuantityKind::time;
  const plot::Point& first = curve.points.front();
  for (const plot::Point& point : curve.points) {
    const io::Json efficiency = cell_of(row_at(curve, point), "scaling_efficiency");
    const double share = efficiency.is_number() ? efficiency.as_double() : 0;
    const double ideal = y == "scaling_efficiency"    ? 1
                         : is_of_step(y) && share > 0 ? (times ? point.y * share : point.y / share)
                         : times || is_share(y)       ? first.y
                                                      : first.y * point.x / first.x;
    guide.points.push_back({point.x, ideal});
  }
  return guide;
}

plot::Point CurveRows::knee(const plot::Curve& curve) const {
  const std::string& y = request_.y;
  const bool times = quantity_of(y) == base::QuantityKind::time;
  const bool efficiency = y == "scaling_efficiency";
  if (!efficiency && (is_share(y) || quantity_of(y) == base::QuantityKind::size)) {
    throw UsageError("--knee: " + y + " tells no throughput; give --y samples_per_s, speedup, " +
                     "scaling_efficiency or a time");
  }
  std::vector<plot::Point> throughputs = curve.points;
  for (plot::Point& point : throughputs) { // of steps of one length: twice the workers, twice
    point.y = times ? point.x / point.y : efficiency ? point.x * point.y : point.y;
  }
  for (const std::string_view key : {"speedup", "samples_per_s"}) {
    const auto value = [&](const plot::Point& point) { return cell_of(row_at(curve, point), key); };
    if (is_of_step(y) && std::ranges::all_of(curve.points, &io::Json::is_number, value)) {
      std::ranges::transform(curve.points, throughputs.begin(), [&](const plot::Point& point) {
        return plot::Point{point.x, value(point).as_double()};
      });
    }
  }
  const std::optional<plot::Point> found = plot::knee(throughputs);
  if (!found) {
    throw UsageError("--knee: needs the least " + request_.x + " and its double");
  }
  return *std::ranges::find(curve.points, found->x, &plot::Point::x);
}

plot::Band CurveRows::interval(const plot::Curve& curve) const {
  const bool rate = request_.y == "samples_per_s";
  const std::string key(rate ? study::kIterationTime : request_.y);
  const bool of_step = key == study::kIterationTime;
  plot::Band out{.label = request_.band_label.empty() ? "interval" : request_.band_label};
  for (const plot::Point& point : curve.points) {
    const io::Json& record = row_at(curve, point).record;
    const auto low = study::number_in(record, key_of_end(key, "low"));
    const auto high = study::number_in(record, key_of_end(key, "high"));
    if (!low || !high) {
      continue;
    }
    if (const auto level = study::number_in(record, "interval_level");
        of_step && level && request_.band_label.empty()) {
      out.label = base::percent(*level, 2) + " interval";
    }
    const double samples = point.y * study::number_in(record, key).value_or(0);
    out.points.push_back(rate ? plot::Band::At{point.x, samples / *high, samples / *low, point.row}
                              : plot::Band::At{point.x, *low, *high, point.row});
  }
  return out;
}

plot::Band CurveRows::band(const std::string& first) const {
  std::map<double, std::vector<double>> at_x;
  std::vector<KeyValue> others = request_.where; // its own key may have another value in curves
  std::erase_if(others, [&](const KeyValue& each) { return each.first == request_.band->first; });
  for (const PlotRow& row : rows_.rows) {
    const io::Json x = cell_of(row, request_.x);
    const io::Json y = cell_of(row, request_.y);
    const bool of_first = request_.by.empty() || plain_cell(cell_of(row, request_.by)) == first;
    if (of_first && matches(row, *request_.band) && matches_all(row, others) && x.is_number() &&
        y.is_number()) {
      at_x[x.as_double()].push_back(y.as_double());
    }
  }
  constexpr double kLow = 0.05, kHigh = 0.95;
  plot::Band out{.label = request_.band_label};
  for (auto& [x, values] : at_x) {
    std::ranges::sort(values);
    out.points.push_back({x, base::quantile(values, kLow), base::quantile(values, kHigh)});
  }
  if (out.points.empty()) {
    throw UsageError("--band " + request_.band->first + "=" + request_.band->second +
                     ": no record has this value");
  }
  return out;
}

const PlotRow& CurveRows::row_at(const plot::Curve& curve, const plot::Point& point) const {
  return *at_x_.at(curve.label).at(point.x);
}

// Names what tells the two rows apart: an axis of the sweep, else a word.
void CurveRows::refuse_shared(const PlotRow& a, const PlotRow& b) const {
  std::string key;
  for (const auto& [name, value] : b.record.as_object()) {
    const bool axis = std::ranges::find(rows_.varied, name) != rows_.varied.end();
    const bool differs = value != cell_of(a, name) && name != request_.y;
    if (differs && (axis || (key.empty() && value.is_string()))) {
      key = name;
    }
  }
  throw UsageError("--x " + request_.x + ": lines " + std::to_string(a.line) + " and " +
                   std::to_string(b.line) + " have the same value" +
                   (key.empty() ? "; choose records by --where KEY=VALUE"
                                : "; give --by " + key + " or --where " + key + "=VALUE"));
}

} // namespace stepsim::cli
