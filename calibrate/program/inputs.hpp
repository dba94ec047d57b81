#pragma once
// Reads the files of `fit`: samples (JSON, CSV) and logs of nccl-tests and OSU.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/nccl/import_nccl_tests.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::calibrate {

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
