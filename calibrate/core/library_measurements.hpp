#pragma once
// Measured times of collectives of one system, of several shapes, for a fit of the library model
// (CLU 8.1): logs of nccl-tests or rccl-tests, samples, records of `stepsim-calibrate cuda
// --backend nccl`, and a table in CSV with the columns
//
//     system,op,nodes,gpus_per_node,bytes,time_us        further columns are not read
//
// Operation and shape are what a log says of itself. Equal operation, shape and size in several
// files become one point, the median.
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "files/samples_file.hpp"
#include "library/fit_terms.hpp"

namespace stepsim::calibrate {

struct MeasurementOptions {
  std::optional<std::string> system;           // of a table with several
  std::optional<library::Operation> operation; // only this one; of logs that do not say
  std::optional<library::Shape> shape;         // of logs that do not list their devices
  bool several_devices = false;                // logs of different GPUs are taken together
  std::string importer; // program and version, for the `source` of the samples
  // Reads a kind of file that this room does not know: the samples of a text from the file of this
  // name, or nothing where it is of another kind.
  std::function<std::optional<io::Samples>(const std::string& text, const std::string& file)>
      other{};
};

struct LibraryMeasurements {
  std::vector<library::MeasuredPoint> points; // sorted
  std::set<std::string> sources;              // systems and devices
  // Rows without a usable operation, shape, size or time; all-gathers and reduce-scatters below 4
  // bytes per rank.
  std::size_t skipped{};
  std::vector<std::string> warnings;
};

// Reads files, and the files of folders with those below them, by path. Throws InputError: a file
// named by itself that cannot be read, no usable row at all (the message lists what each file of a
// folder lacked), several systems in a table without `system`, logs of two kinds of GPU.
[[nodiscard]] LibraryMeasurements read_measurements(const std::vector<std::string>& paths,
                                                    const MeasurementOptions& options);

} // namespace stepsim::calibrate
