#pragma once
// The files that `fit` takes: samples (JSON, CSV) and logs of nccl-tests and of OSU.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "files/samples_file.hpp"
#include "import/nccl/import_nccl_tests.hpp"

namespace stepsim::calibrate {

struct InputOptions {
  std::optional<std::string> op;     // only this one; of logs that do not say
  std::optional<std::int64_t> ranks; // of logs that do not say
  io::NcclColumn column = io::NcclColumn::out_of_place;
  std::string importer; // program and version, for the `source` of the samples
};

// One value per path, in the order of the paths; "-" is standard input and must be samples. A log
// has times out of place and in place: the column that was asked for wins, and sets of the other
// column stay where it was not measured. Throws InputError for what cannot be read, for a file of
// another kind, and where no file has a set of the operation `op`.
[[nodiscard]] std::vector<io::Samples> read_inputs(const std::vector<std::string>& paths,
                                                   const InputOptions& options);

} // namespace stepsim::calibrate
