#pragma once
// Reads the records that gpu_bench wrote (records.hpp); no GPU is needed. A last line that was cut
// off by an interruption is left out with a warning. Any other fault throws InputError with file
// and line.

#include "calibrate/cuda/records.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::calibrate::gpu {

struct GpuSamples {
  std::string file; // for messages
  layers::Source source;
  std::string device; // name of the first device; "" = unknown
  std::string driver; // "" = unknown
  std::int64_t devices = 1;
  std::int64_t ranks = 1;
  bool same_device = false;
  std::vector<std::uint32_t> hosts;  // [rank] number of its host; empty for a single process
  io::Json peer_access;              // [from][to] whether memory is accessible; null = unknown
  std::optional<double> sm_clock_hz; // SM clock of the first device before the measurement [Hz]
  std::vector<CollectiveRecord> collectives;
  std::vector<KernelRecord> kernels;
  std::vector<PairRecord> pairs;
  std::vector<OverlapRecord> overlaps;
  std::vector<std::string> warnings;
};

// Whether `text` looks like records of gpu_bench. Only the first line is examined: a JSON object
// with the text "gpu_samples".
[[nodiscard]] bool looks_like_gpu_samples(std::string_view text);
// Parses `text`; errors name `file`, the line and the key. GpuSamples::source stays empty.
[[nodiscard]] GpuSamples parse_gpu_samples(std::string_view text, const std::string& file);
// Reads a file of at most 1 GiB; the source has its name and hash, and `importer`.
[[nodiscard]] GpuSamples read_gpu_samples(const std::string& path, const std::string& importer);

// The times of NCCL as samples for a fit of the library model: one set per operation, with the
// number of GPUs per host if all hosts have the same number. No sets if NCCL was not measured.
[[nodiscard]] io::Samples nccl_samples(const GpuSamples& samples);

} // namespace stepsim::calibrate::gpu
