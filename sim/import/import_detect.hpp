#pragma once
// Detects the format of a file from its first bytes, for `import auto` (IO 1, 10).
#include <string>

#include "base/words.hpp"

namespace stepsim::io {

enum class ImportFormat {
  kineto,
  nccl_tests,
  nccl_inspector,
  osu,
  nccl_topology,
  layer_table,
  caffe_log,
  pytorch_et,
  chakra,
  astra_text,
  hf_config
};

// The names on the command line.
inline constexpr auto kImportFormats = base::words<ImportFormat>({
    {ImportFormat::kineto, "kineto"},
    {ImportFormat::nccl_tests, "nccl-tests"},
    {ImportFormat::nccl_inspector, "nccl-inspector"},
    {ImportFormat::osu, "osu"},
    {ImportFormat::nccl_topology, "nccl-topology"},
    {ImportFormat::layer_table, "layer-table"},
    {ImportFormat::caffe_log, "caffe-log"},
    {ImportFormat::pytorch_et, "pytorch-et"},
    {ImportFormat::chakra, "chakra"},
    {ImportFormat::astra_text, "astra-text"},
    {ImportFormat::hf_config, "hf-config"},
});

struct DetectedFormat {
  std::optional<ImportFormat> format; // empty: unknown, or not supported
  std::string advice; // for a format that is known but not supported: which export to use instead
};
// Detects the format from the beginning of a file, of which a megabyte is enough.
[[nodiscard]] DetectedFormat detect_format(std::string_view head);

// The error message of commands that were given a file which must be imported first: "this is a
// Kineto trace: stepsim import kineto FILE -o T.json".
[[nodiscard]] std::string import_first(ImportFormat format);

// The first bytes of a file (inflated), enough to detect the format; empty for a pipe. Throws
// InputError if the file cannot be read.
[[nodiscard]] std::string head_of(const std::string& path);

// The format of a file. Throws InputError `x.bin: unknown format: ...` or with the advice of
// detect_format(), also for a file that is empty, a pipe or unreadable, and UsageError for standard
// input, which cannot be read twice.
[[nodiscard]] ImportFormat detect_file(const std::string& path);

// A line of a log without what launchers of jobs put in front of it: "[1,0]<stdout>:" of mpirun,
// "0:" of srun, and time stamps.
[[nodiscard]] std::string_view untagged(std::string_view line);

} // namespace stepsim::io
