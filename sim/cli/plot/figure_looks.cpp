#include "cli/plot/rows_figure.hpp"

#include <algorithm>
#include <cmath>

#include "plot/colours.hpp"

namespace stepsim::cli {

plot::Scale scale_for(std::vector<double> values, bool of_x) {
  std::ranges::sort(values);
  const auto [first, last] = std::ranges::unique(values);
  values.erase(first, last);
  constexpr double kWide = 50;
  if (values.empty() || values.front() <= 0) {
    return plot::Scale::linear;
  }
  const bool doubled = std::ranges::all_of(values, [&](double value) {
    const double power = std::log2(value);
    return std::abs(power - std::round(power)) < 1e-9;
  });
  if (of_x && doubled && values.size() > 2) {
    return plot::Scale::log2;
  }
  return values.back() >= kWide * values.front() ? plot::Scale::log10 : plot::Scale::linear;
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

} // namespace stepsim::cli
