#pragma once
// Files of kind library_calibration (CLU 8): the calibration of the library model. The result of
// the reader is completed by nccl::calibration_of(); the writer needs a completed calibration.

#include "nccl/calibration.hpp"
#include "scenario/files/node_file.hpp"

namespace stepsim::io {

struct LibraryFile {
  nccl::FittedLibrary fitted;
  // [nccl::Parameter] whether the measurements hardly determine the parameter
  std::array<bool, nccl::kParameterCount> from_prior{};
  std::vector<SourcedNumber> of_nominal; // shares of nominal rates, keys::kNominalRates
  std::vector<std::string> sources, warnings;
};

// Parameters that the file does not have keep the means of their priors. Throws InputError with all
// problems, also for points that the node type cannot have.
[[nodiscard]] LibraryFile parse_library_calibration(const Json& json);

// The whole file. `calibration` must be the one completed from file.fitted; the intervals of the
// parameters come from its covariance.
[[nodiscard]] Json to_json(const LibraryFile& file, const nccl::Calibration& calibration);

// The 95 % interval of a parameter: a factor, or the number itself if it is not a factor; >= 0.
[[nodiscard]] base::Interval parameter_interval(const nccl::Calibration& calibration,
                                                nccl::Parameter parameter);

} // namespace stepsim::io
