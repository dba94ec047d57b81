#pragma once
// Calibrations of the library model (kind library_calibration, CLU 8): read into what
// library::calibration_of completes, and written from a completed one.
#include <array>
#include <string>
#include <vector>

#include "base/mean_interval.hpp"
#include "library/calibration.hpp"
#include "json/json.hpp"

namespace stepsim::io {

struct LibraryFile {
  library::FittedLibrary fitted;
  // [library::Parameter] The measurements say next to nothing about the parameter.
  std::array<bool, library::kParameterCount> from_prior{};
  std::vector<std::string> sources, warnings;
};

// Throws InputError with all problems found; also for points that the node type cannot have.
[[nodiscard]] LibraryFile parse_library_calibration(const Json& json);

// The whole file. The intervals of the parameters come from the covariance of `calibration`, which
// is that of file.fitted.
[[nodiscard]] Json to_json(const LibraryFile& file, const library::Calibration& calibration);

// Lower and upper end of the 95 % interval of a parameter, as a factor or a plain number >= 0.
[[nodiscard]] base::Interval parameter_interval(const library::Calibration& calibration,
                                                library::Parameter parameter);

} // namespace stepsim::io
