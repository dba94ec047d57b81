#pragma once
// What `fit` prints: per group the residual table and the numbers of the fit, then the link.
#include <optional>
#include <span>
#include <string>

#include "calibrate/core/calibration_file.hpp"

namespace stepsim::calibrate {

// The table of one group: a row per size with the measured median, the fitted time [us], its
// relative error, and the error when the size is left out of the fit; then the errors in all and
// the grade, the single line with its 95 % intervals, and the curve where it is the points or more
// than one segment. With `ordinary` one more line says what ordinary least squares gives for the
// same points.
[[nodiscard]] std::string fit_text(const GroupFit& fit, bool ordinary);
// One line with latency, bandwidth and speed of adding of the link. `assume` is the word of
// --assume; it is named if a group of the fit rests on it.
[[nodiscard]] std::string link_text(const LinkFit& link, const std::string& assume);

} // namespace stepsim::calibrate
