#pragma once
// Reads what gpu_bench wrote (records.hpp): needs no GPU. A last line that was cut off by an
// interruption is left out with a warning; anything else that is wrong is an InputError with its
// line.
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/cuda/records.hpp"
#include "files/samples_file.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::gpu {

struct GpuSamples {
  std::string file; // for messages
  train::Source source;
  std::string device; // name of the first device; "" = unknown
  std::string driver; // "" = unknown
  std::int64_t devices = 1;
  std::int64_t ranks = 1;
  bool same_device = false;
  std::vector<std::uint32_t> hosts;  // [rank], of a job of several processes; else empty
  io::Json peer_access;              // [from][to]; null = unknown
  std::optional<double> sm_clock_hz; // of the first device, before the measurement
  std::vector<CollectiveRecord> collectives;
  std::vector<KernelRecord> kernels;
  std::vector<PairRecord> pairs;
  std::vector<std::string> warnings;
};

// Whether the first line of a text is the header of such a file; only that line is looked at.
[[nodiscard]] bool looks_like_gpu_samples(std::string_view text);
// The samples of a text; `file` names it in errors, which give line and key. The source is left to
// the caller, as a text in memory has no file.
[[nodiscard]] GpuSamples parse_gpu_samples(std::string_view text, const std::string& file);
// The samples of a file of at most 1 GiB, with its name and hash as the source.
[[nodiscard]] GpuSamples read_gpu_samples(const std::string& path, const std::string& importer);

// The times of the library NCCL as samples that a fit of the library model takes: one set per
// operation, with the number of GPUs per host where it is the same for all. Empty where NCCL was
// not measured.
[[nodiscard]] io::Samples nccl_samples(const GpuSamples& samples);

} // namespace stepsim::calibrate::gpu
