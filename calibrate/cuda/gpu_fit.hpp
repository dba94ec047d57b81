#pragma once
// From the measurements of a GPU to a calibration file (CAL 5, 7.3; SPA 8.2, 8.3):
//
//   collectives   one curve per operation, algorithm, variant, way of launching and ranks
//   link          t = latency + per_byte n of a message between two ranks
//   kernels       t = c0 + c1 n + c2 k, equal relative errors, nothing below 0
//   costs         those constants under the names of `compression.costs`
//
// Ranks that share a device give a link of class same-device, which no scenario takes as its
// network. Curves of grade fail are named in the warnings.
#include <optional>
#include <string>
#include <vector>

#include "calibrate/core/group_fit.hpp"
#include "calibrate/core/joint_fit.hpp"
#include "calibrate/cuda/gpu_links.hpp"
#include "calibrate/cuda/gpu_samples.hpp"

namespace stepsim::calibrate::gpu {

// Times [s] of one size: n elements, of which k entries were asked for and achieved_k selected.
struct KernelPoint {
  std::int64_t n{};
  std::int64_t k{};
  std::int64_t achieved_k{};
  double median_s{}, p10_s{}, p90_s{};
};

struct KernelFit {
  std::string kernel, distribution; // of the values: "any" where it does not matter
  std::vector<KernelPoint> points;  // by (n, k)
  double c0_s{}, c1_s_per_element{}, c2_s_per_entry{}; // 0 where the kernel does not depend on it
  double max_relative_error{};                         // on the points of the fit
  Grade grade = Grade::ok;                             // by max_relative_error
};

// Everything that was fitted. The grade is the worst grade of the curves. A kernel that does not
// fit is named in the warnings and does not lower the grade, because kernels are no part of the
// network.
struct GpuFit {
  std::vector<GroupFit> curves;
  // One line of text per curve that was measured with plain launches and as a CUDA graph: what
  // plain launches add to the time of its smallest size.
  std::vector<std::string> launches;
  // Between two ranks, by copy engine, as graphs where they were measured, else as plain launches;
  // empty where neither was fitted.
  std::optional<Line> message;
  std::vector<DeviceLinks> links; // between the devices, fastest first; empty on one device
  // To page-locked host memory or back, whichever has more s per byte; empty where neither was
  // fitted with a time that grows.
  std::optional<Line> host;
  std::vector<KernelFit> kernels;
  Grade grade = Grade::ok;
  std::vector<std::string> warnings;
  [[nodiscard]] bool empty() const { return curves.empty() && kernels.empty(); }
  // Null where there is none.
  [[nodiscard]] const KernelFit* find(std::string_view kernel, std::string_view distribution) const;
};

// Fits every curve and kernel for which two sizes were measured. Other curves are named in the
// warnings, other kernels are left out.
[[nodiscard]] GpuFit fit_gpu(const GpuSamples& samples, const FitOptions& options);

// Names a curve in lines and warnings: "allreduce ring copy_engine plain P=8".
[[nodiscard]] std::string text_of(const Group& group);

} // namespace stepsim::calibrate::gpu
