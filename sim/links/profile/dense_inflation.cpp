#include "links/profile/dense_inflation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/number_text.hpp"

namespace stepsim::links {

namespace {

// "icdcs19: ranks=64 outside the calibrated 4..32"; empty inside.
std::optional<std::string> outside(const NetworkProfile& profile, const std::string& what,
                                   double value, std::pair<double, double> range) {
  if (value >= range.first && value <= range.second) {
    return std::nullopt;
  }
  std::string text =
      profile.name + ": " + what + "=" + base::shortest(value) + " outside the " +
      std::string(profile.label == ProfileLabel::measured ? "measured " : "calibrated ") +
      base::shortest(range.first);
  return range.first == range.second ? text : text + ".." + base::shortest(range.second);
}

} // namespace

double dense_inflation(const NetworkProfile& profile, std::int64_t ranks) {
  assert(ranks >= 1 && "dense inflation: at least one rank");
  const auto& [known, factor] = profile.dense_inflation;
  if (ranks == 1 || known.empty()) {
    return 1;
  }
  const auto above = std::ranges::lower_bound(known, ranks);
  if (above == known.begin()) {
    return factor.front();
  }
  if (above == known.end()) {
    return factor.back();
  }
  const auto i = static_cast<std::size_t>(above - known.begin());
  const auto log2_of = [](std::int64_t n) { return std::log2(static_cast<double>(n)); };
  const double share =
      (log2_of(ranks) - log2_of(known[i - 1])) / (log2_of(known[i]) - log2_of(known[i - 1]));
  return std::lerp(factor[i - 1], factor[i], share);
}

std::optional<std::string> dense_inflation_warning(const NetworkProfile& profile,
                                                   std::int64_t ranks) {
  const std::vector<std::int64_t>& known = profile.dense_inflation.ranks;
  if (ranks == 1 || known.empty()) {
    return std::nullopt;
  }
  auto text = outside(profile, "ranks", static_cast<double>(ranks),
                      {static_cast<double>(known.front()), static_cast<double>(known.back())});
  if (text) {
    *text += ", gamma held at " + base::shortest(dense_inflation(profile, ranks));
  }
  return text;
}

std::vector<std::string> outside_warnings(const NetworkProfile& profile, std::int64_t ranks,
                                          std::int64_t gpus_per_node,
                                          std::optional<double> density) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& what, double value, std::pair<double, double> range) {
    if (auto text = outside(profile, what, value, range)) {
      all.push_back(std::move(*text));
    }
  };
  if (profile.valid_ranks && ranks > 1) {
    add("ranks", static_cast<double>(ranks),
        {static_cast<double>(profile.valid_ranks->first),
         static_cast<double>(profile.valid_ranks->second)});
  }
  if (profile.valid_gpus_per_node) {
    const auto only = static_cast<double>(*profile.valid_gpus_per_node);
    add("gpus_per_node", static_cast<double>(gpus_per_node), {only, only});
  }
  if (profile.valid_density && density) {
    add("density", *density, *profile.valid_density);
  }
  return all;
}

std::optional<std::string> grade_warning(const NetworkProfile& profile) {
  if (profile.grade != kGrades[Grade::fail]) {
    return std::nullopt;
  }
  return "CALIBRATION FAILED: " + profile.name +
         " is graded fail, its own predictions are off by 25 % or more; measure it again before "
         "you rely on these times";
}

} // namespace stepsim::links
