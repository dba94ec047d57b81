#pragma once
// The output of `fit`: the table of residuals and the parameters of every group, then the link.
#include <optional>
#include <span>
#include <string>

#include "calibrate/core/calibration_file.hpp"

namespace stepsim::calibrate {

// The table of one group has a row per size: the measured median, the fitted time [us], its
// relative error, and the error if the size is left out of the fit. Below are the errors over all
// sizes and the grade, the single line with its 95 % intervals, and the curve if it is made of
// points or of more than one segment. With `ordinary`, one more line has the ordinary least squares
// fit of the same points.
[[nodiscard]] std::string fit_text(const GroupFit& fit, bool ordinary);
// One line with latency, bandwidth and adding speed of the link. `assume` is the value of --assume,
// which is named if it was used for a group of the fit.
[[nodiscard]] std::string link_text(const LinkFit& link, const std::string& assume);

} // namespace stepsim::calibrate
