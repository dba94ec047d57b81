#pragma once
// Fits the measurements of a GPU for a calibration file (CAL 5, 7.3; SPA 8.2, 8.3):
//
//   collectives   one curve per operation, algorithm, variant, way of launching and ranks
//   link          t = latency + per_byte n, a message of n bytes between two ranks
//   kernels       t = c0 + c1 n + c2 k, a call on n elements and k requested entries; least sum of
//                 squared relative errors, no constant below 0
//
// Ranks that share a device give a link of class same-device, which no scenario accepts as its
// network. The warnings name curves of grade fail.

#include "calibrate/core/group_fit.hpp"
#include "calibrate/cuda/records.hpp"

namespace stepsim::calibrate::gpu {

// Reads the records that gpu_bench wrote (records.hpp); no GPU is needed. A last line that was cut
// off by an interruption is left out with a warning. Any other fault throws InputError with file
// and line.

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

// Adds the times of a record to the samples of its operation and number of ranks.
void add_times(const GpuSamples& samples, const CollectiveRecord& record, io::SampleSet& set);

// The times of NCCL as samples for a fit of the library model: one set per operation, with the
// number of GPUs per host if all hosts have the same number. No sets if NCCL was not measured.
[[nodiscard]] io::Samples nccl_samples(const GpuSamples& samples);

// The links between devices, found from the times of messages between every two devices. Pairs are
// sorted by bandwidth; a new class begins where a byte takes more than 1.25 times as long as in the
// pair before. CUDA does not say what connects two devices, so that the name of a class follows
// from its bandwidth:
//
//   above 80 GB/s                        nvlink   (16 lanes of PCIe 5 carry 63 GB/s each way)
//   else, the only class below that      pcie
//   else, the fastest class below that   pcie, below one switch
//   else                                 pcie, across switches or sockets
//
// Pairs of devices on different hosts form separate classes, called network at any bandwidth.
//
// NVLink below 80 GB/s, as between many V100, is called pcie; only the name is then wrong.

inline constexpr double kSlowestNvlink = 80e9; // bytes/s

// One class of links; times are medians over its pairs.
struct DeviceLinks {
  std::string link_class; // one of links::kLinkClasses
  std::string words;      // name for people: "pcie, below one switch"
  double latency_s{};     // time of the smallest ping-pong message that was measured, 4 bytes
  double per_byte_s{};    // seconds per byte in the slower direction, the other one idle
  // Time per byte divided by per_byte_s: while both directions are used (exchange), and while every
  // device sends to the next device (shift). Empty if not measured.
  std::optional<double> exchange, shift;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs; // src < dst, ascending
};

// The classes of links, fastest first. Pairs without a measured latency or bandwidth are left out.
// Only the slowest class has `shift`, because it limits the time. `hosts` [rank] is the number of
// the host of every rank; empty if all ranks are on one host.
[[nodiscard]] std::vector<DeviceLinks> device_links(const std::vector<PairRecord>& records,
                                                    const std::vector<std::uint32_t>& hosts = {});

// "nvlink: 6 pairs, 2.10 us, 300 GB/s, both ways 1.05, shift 1.10 (0-1 0-2 ..)"
[[nodiscard]] std::string text_of(const DeviceLinks& links);

// Times [s] of a kernel on n elements: k entries were requested, achieved_k were selected.
struct KernelPoint {
  std::int64_t n{};
  std::int64_t k{};
  std::int64_t achieved_k{};
  double median_s{}, p10_s{}, p90_s{};
};

struct KernelFit {
  std::string kernel, distribution; // distribution of the values; "any" if it has no effect
  std::vector<KernelPoint> points;  // sorted by (n, k)
  double c0_s{}, c1_s_per_element{}, c2_s_per_entry{}; // 0 if the time does not depend on n or k
  double max_relative_error{};                         // at the points of the fit
  Grade grade = Grade::ok;                             // from max_relative_error
};

// The result of all fits. The grade is the worst grade of the curves. Kernels do not lower it,
// because they are not part of the network; the warnings name kernels of grade fail.
struct GpuFit {
  std::vector<GroupFit> curves;
  // [curve measured with plain launches and as a CUDA graph] one line of text: how much longer a
  // plain launch takes at the smallest size.
  std::vector<std::string> launches;
  // Time of a message between two ranks by the copy engine: launched as a CUDA graph if that was
  // measured, else with plain launches; empty if neither was measured.
  std::optional<Line> message;
  std::vector<DeviceLinks> links; // links between the devices, fastest first; empty for one device
  // Time of a copy to or from page-locked host memory, the direction with more seconds per byte;
  // empty if no direction has a time that grows with size.
  std::optional<Line> host;
  std::vector<KernelFit> kernels;
  Grade grade = Grade::ok;
  std::vector<std::string> warnings;
  [[nodiscard]] bool empty() const { return curves.empty() && kernels.empty(); }
  // The fit of this kernel and distribution, null if there is none. A fit of distribution "any" is
  // found only as "any".
  [[nodiscard]] const KernelFit* find(std::string_view kernel, std::string_view distribution) const;
};

// Fits every curve and kernel with at least two measured sizes. The warnings name other curves;
// other kernels are left out.
[[nodiscard]] GpuFit fit_gpu(const GpuSamples& samples, const FitOptions& options);

// The name of a curve in tables and warnings: "allreduce ring copy_engine plain P=8".
[[nodiscard]] std::string text_of(const Group& group);

} // namespace stepsim::calibrate::gpu
