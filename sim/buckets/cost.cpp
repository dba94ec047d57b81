#include "buckets/cost.hpp"

#include <algorithm>

#include "base/statistics.hpp"

namespace stepsim::buckets {

namespace {

double seconds_of(const LinearCost& cost, double bytes) {
  return cost.startup_s + cost.per_byte_s * bytes;
}

double seconds_of(const TableCost& cost, double bytes) {
  const auto above = std::lower_bound(cost.bytes.begin(), cost.bytes.end(), bytes);
  if (above == cost.bytes.begin()) {
    return cost.seconds.front();
  }
  if (above == cost.bytes.end()) {
    return cost.seconds.back() + cost.slope_s_per_byte * (bytes - cost.bytes.back());
  }
  const auto right = static_cast<std::size_t>(above - cost.bytes.begin());
  const std::size_t left = right - 1;
  const double share = (bytes - cost.bytes[left]) / (cost.bytes[right] - cost.bytes[left]);
  return cost.seconds[left] + share * (cost.seconds[right] - cost.seconds[left]);
}

double seconds_of(const CurveCost& cost, double bytes) { return cost.seconds(bytes); }

// Slope beyond the last point: least squares over the points with at least half its bytes; with
// only one of them, the slope of the last two points.
double tail_slope(std::span<const double> bytes, std::span<const double> seconds) {
  const auto half = std::lower_bound(bytes.begin(), bytes.end(), bytes.back() / 2);
  const auto first = std::min(static_cast<std::size_t>(half - bytes.begin()), bytes.size() - 2);
  return std::max(0.0, base::fit_line(bytes.subspan(first), seconds.subspan(first)).slope);
}

// g(x, y) = T(x) + T(y) - T(x + y) is linear between the lines x = k, y = k and x + y = k (k a byte
// count of the table), so it is least where two of them meet, or on the border x + y = limit.
bool subadditive(const TableCost& cost, double limit) {
  std::vector<double> corners = cost.bytes;
  corners.push_back(limit);
  const auto holds = [&](double x, double y) {
    const double merged = seconds_of(cost, x + y);
    return seconds_of(cost, x) + seconds_of(cost, y) >= merged * (1 - 1e-12);
  };
  for (const double x : corners) {
    for (const double corner : corners) {
      if (x + corner <= limit && !holds(x, corner)) {
        return false;
      }
      if (corner > x && corner <= limit && !holds(x, corner - x)) {
        return false;
      }
    }
  }
  return true;
}

} // namespace

double Cost::any_seconds(double bytes, std::size_t items) const {
  double total = std::visit([bytes](const auto& cost) { return seconds_of(cost, bytes); }, base);
  if (items >= 2 && copy_bandwidth_Bps > 0) {
    total += 4 * bytes / copy_bandwidth_Bps;
  }
  return total;
}

std::pair<TableCost, TableReport>
make_table_cost(std::span<const std::pair<double, double>> points) {
  assert(points.size() >= 2 && "a cost table needs at least two points");
  TableCost table;
  std::vector<double> measured;
  for (const auto& [bytes, seconds] : points) {
    assert(bytes > (table.bytes.empty() ? 0 : table.bytes.back()) && "bytes strictly ascending");
    table.bytes.push_back(bytes);
    measured.push_back(seconds);
  }
  base::IsotonicFit fit = base::isotonic_fit(measured);
  table.seconds = std::move(fit.values);
  table.slope_s_per_byte = tail_slope(table.bytes, table.seconds);
  return {table, {fit.points_changed, fit.largest_change}};
}

bool known_subadditive(const Cost& cost, double up_to_bytes) {
  if (const auto* table = std::get_if<TableCost>(&cost.base)) {
    return subadditive(*table, up_to_bytes);
  }
  return std::holds_alternative<LinearCost>(cost.base);
}

} // namespace stepsim::buckets
