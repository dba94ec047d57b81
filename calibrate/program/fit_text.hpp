#pragma once
// What `fit` prints: per group the residual table and the numbers of the fit, then the link.
#include <optional>
#include <span>
#include <string>

#include "calibrate/core/calibration_file.hpp"

namespace stepsim::calibrate {

// `ordinary`: also what plain least squares would say.
[[nodiscard]] std::string fit_text(const GroupFit& fit, bool ordinary);
[[nodiscard]] std::string link_text(const LinkFit& link, const std::string& assume);

} // namespace stepsim::calibrate
