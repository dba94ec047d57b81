#pragma once
// The output of `fit`: the table of residuals and the parameters of every group, then the link.

#include "calibrate/core/calibration_file.hpp"
#include "import/nccl/import_nccl_tests.hpp"

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

// Reads the files of `fit`: samples (JSON, CSV) and logs of nccl-tests and OSU.

struct InputOptions {
  std::optional<std::string> op;     // reads only this operation; used for logs that name none
  std::optional<std::int64_t> ranks; // number of ranks, used for logs that do not give it
  io::NcclColumn column = io::NcclColumn::out_of_place;
  std::string importer; // program and version, for `source` of the samples
};

// Returns one value per path, in their order; "-" is standard input and must be samples. A log of
// nccl-tests has times out of place and in place: a set of another column than `options.column`
// remains only if its file has no set of that column with the same operation, algorithm and number
// of ranks. Throws InputError for a file that cannot be read or is of another kind, and if no file
// has a set of the operation `op`.
[[nodiscard]] std::vector<io::Samples> read_inputs(const std::vector<std::string>& paths,
                                                   const InputOptions& options);

} // namespace stepsim::calibrate
