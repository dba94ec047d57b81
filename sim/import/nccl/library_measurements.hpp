#pragma once
// Reads measured times of collectives of one system, on several shapes (nodes x GPUs per node), for
// a fit of the library model (CLU 8.1). Files are logs of nccl-tests or rccl-tests, files of kind
// samples, records of `stepsim-calibrate cuda --backend nccl`, and CSV tables with the columns
//
//     system,op,nodes,gpus_per_node,bytes,time_us        further columns are ignored
//
// A log names its own operation and lists its devices, which give the shape. All times of one
// operation, shape and size, from whatever files, become one point with their median.
#include <functional>

#include "nccl/library_fit.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

struct MeasurementOptions {
  std::optional<std::string> system; // reads only this system's rows of tables; empty = all
  // Reads only this operation, which is also used for logs that do not name one; empty = all.
  std::optional<nccl::Operation> operation;
  std::optional<nccl::Shape> shape; // for logs that do not list their devices
  bool several_devices = false;     // accepts files of different systems or kinds of GPU
  std::string importer;             // program and version, for the `source` of the samples
  // Reader of one more format, tried on every file that is not a CSV table: returns the samples in
  // `text`, the contents of `file`, or nothing if `text` has another format.
  std::function<std::optional<Samples>(const std::string& text, const std::string& file)> other{};
};

struct LibraryMeasurements {
  std::string first_file;                  // named in errors
  std::vector<nccl::MeasuredPoint> points; // sorted
  std::set<std::string> sources;           // systems and devices
  // Number of rows left out: those without a usable operation, shape, size or time, and all-gathers
  // and reduce-scatters of less than 4 bytes per rank.
  std::size_t skipped{};
  std::vector<std::string> warnings;
};

// Reads the files of `paths`, and all files below its folders in the order of their paths. Throws
// InputError if a file named in `paths` cannot be read, or if one table has rows of several systems
// and `system` is not given (even with `several_devices`); a file of a folder with such a fault is
// skipped. Throws InputError, too, if no row is usable (the message says what each file lacked),
// and for several systems or kinds of GPU without `several_devices`.
[[nodiscard]] LibraryMeasurements read_measurements(const std::vector<std::string>& paths,
                                                    const MeasurementOptions& options);

// A fit, and the calibration file that it becomes.
struct FittedMeasurements {
  nccl::LibraryFit fit;
  nccl::Calibration calibration;
  LibraryFile file;
};
// Fits all points to a node type. Throws InputError for fewer than six points, and for a shape that
// the node type cannot have.
[[nodiscard]] FittedMeasurements fit_measurements(const LibraryMeasurements& measured,
                                                  const NodePreset& preset, const std::string& name,
                                                  nccl::Version version = nccl::kPublishedVersion);

} // namespace stepsim::io
