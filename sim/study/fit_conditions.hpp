#pragma once
// Fits the factors of conditions to measured steps (CON 5). The factors z, in standard deviations
// from where they start, minimize
//
//     sum over rows of 9 (sqrt(1 + (r / 3)^2) - 1) + sum of z^2 / 2,   r = ln(T / measured) / 0.05
//
// with every z in [-2, 2]: what the rows tell, and what is known of other sites. Rows of which
// communication takes at most 10 % move the losses of computing (l_0, l_1, l_low) alone.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "scenario/conditions.hpp"
#include "scenario/files.hpp"

namespace stepsim::study {

// Standard deviation of the logarithm of a measured step.
inline constexpr double kStepNoise = 0.05;

struct FittedRow {
  double measured_s{};
  double before_s{}, after_s{}; // predicted with the factors where they start, and fitted
};
struct ConditionsFit {
  std::string name, source;
  std::vector<Factor> fitted;     // that the rows can tell something about
  FactorValues before{}, after{}; // with the spread that is left
  std::vector<FittedRow> rows{};
};

// `measured` is a file of kind measured_steps; its scenarios are put under typical conditions, and
// all start from the same factors. Throws InputError.
[[nodiscard]] ConditionsFit fit_conditions(const io::Json& measured, Files& files);

// The file of kind conditions with the fitted factors.
[[nodiscard]] io::Json conditions_tree(const ConditionsFit& fit);

} // namespace stepsim::study
