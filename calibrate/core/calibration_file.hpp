#pragma once
// Turns the fits of all groups into what a scenario uses: the parameters of one link, fitted to the
// groups whose algorithm has a linear closed form, and the JSON of a file of kind
// network_calibration (CAL 5), which `stepsim run` reads.

#include "calibrate/core/group_fit.hpp"

namespace stepsim::calibrate {

struct LinkFit {
  JointFit fit;
  std::vector<std::string> used;    // labels of the groups fitted, "allreduce P=8", in their order
  std::vector<std::string> assumed; // labels in `used` whose algorithm came from --assume
  bool adds = false;                // whether an operation in `used` adds vectors
};

// Fits one link to all groups whose algorithm has a linear closed form. `assume` is the algorithm
// of groups that do not name a known one; "" leaves such groups out. Returns nothing if no group is
// left, if the data do not determine the bandwidth, or if the fitted time per byte is 0.
[[nodiscard]] std::optional<LinkFit> fit_link(std::span<const GroupFit> fits,
                                              const std::string& assume);

struct CalibrationText { // texts of the file that do not come from a fit
  std::string name;
  std::string importer; // "stepsim-calibrate 0.1.0"
  std::string assume;   // the value of --assume; "" = not given
  // One of links::kLinkClasses. With "same-device" the file has no key `network`.
  std::string link_class = "network";
};

// Parts that every file of kind network_calibration has: its first keys, with label measured and
// without costs and kernels; its last keys; the network that a scenario takes; a link of a class,
// of which each number is a value or {value, low, high}. What is not known is null.
[[nodiscard]] io::Json calibration_head(const std::string& name, const std::string& note,
                                        io::Json source, io::Json device, io::Json valid);
void set_end(io::Json& tree, const std::array<bool, 3>& identifiable, Grade grade,
             const std::vector<std::string>& warnings);
[[nodiscard]] io::Json device_tree(const std::string& name, io::Json count,
                                   const std::string& driver = "",
                                   std::optional<double> sm_clock_hz = {}, io::Json p2p = {});
[[nodiscard]] io::Json network_tree(double latency_s, double bandwidth_Bps, double reduction_Bps);
[[nodiscard]] io::Json link_tree(std::string_view link_class, io::Json latency_s,
                                 io::Json per_byte_s, const std::optional<double>& exchange = {},
                                 const std::optional<double>& shift = {});

// Returns the JSON of a file of kind network_calibration. `files` are the logs that were read and
// `fits` the groups fitted to them, at least one each; the grade of the file is the worst grade of
// the fits. Without `link` the file has neither `network` nor `links`.
[[nodiscard]] io::Json calibration_tree(std::span<const io::Samples> files,
                                        std::span<const GroupFit> fits,
                                        const std::optional<LinkFit>& link,
                                        const CalibrationText& text);

// Parts of calibration_tree(), for calibrations made from other measurements: one element of
// `collectives`, the `points` of a curve, and the range of sizes that any fit covers.
[[nodiscard]] io::Json collective_tree(const GroupFit& fit);
[[nodiscard]] io::Array points_tree(std::span<const links::CurvePoint> points);
[[nodiscard]] io::Array bytes_tree(std::span<const GroupFit> fits); // at least one fit

// The warnings of files, groups and link, in this order: the key `warnings` of the file.
[[nodiscard]] std::vector<std::string> all_warnings(std::span<const io::Samples> files,
                                                    std::span<const GroupFit> fits,
                                                    const std::optional<LinkFit>& link);

} // namespace stepsim::calibrate
