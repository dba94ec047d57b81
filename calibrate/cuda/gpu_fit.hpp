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
#include <optional>
#include <string>
#include <vector>

#include "calibrate/core/group_fit.hpp"
#include "calibrate/core/joint_fit.hpp"
#include "calibrate/cuda/gpu_links.hpp"
#include "calibrate/cuda/gpu_samples.hpp"

namespace stepsim::calibrate::gpu {

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
