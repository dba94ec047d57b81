#pragma once
// What a fit leaves for scenarios: link parameters where the counts of messages are known, and the
// tree of a file of kind network_calibration (CAL 5) that `stepsim run` takes as it is.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/core/group_fit.hpp"
#include "calibrate/core/joint_fit.hpp"
#include "files/samples_file.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate {

struct LinkFit {
  JointFit fit;
  std::vector<std::string> used;    // "allreduce P=8", in the order of the groups
  std::vector<std::string> assumed; // of `used`, those whose algorithm --assume gave
  bool adds = false;                // whether one of the operations used adds
};

// Fits one link to all groups whose algorithm has a linear closed form. `assume` names the
// algorithm that is taken where a library does not tell its own ("" leaves such groups out). Empty
// if no group is left, if the data do not determine the bandwidth, or if the fit holds the time per
// byte at 0.
[[nodiscard]] std::optional<LinkFit> fit_link(std::span<const GroupFit> fits,
                                              const std::string& assume);

struct CalibrationText { // what the numbers do not say
  std::string name;
  std::string importer;               // "stepsim-calibrate 0.1.0"
  std::string assume;                 // the word of --assume; "" = none
  std::string link_class = "network"; // of net::kLinkClasses; same-device: no key `network`
};

// The JSON of a file of kind network_calibration. `files` are the logs that were read and `fits`
// the groups fitted to them, at least one each; the grade of the file is the worst grade of its
// fits. Without `link` the file has neither `network` nor `links`.
[[nodiscard]] io::Json calibration_tree(std::span<const io::Samples> files,
                                        std::span<const GroupFit> fits,
                                        const std::optional<LinkFit>& link,
                                        const CalibrationText& text);

// Parts of that tree, for calibrations made from other measurements: an element of `collectives`,
// and the `segments` or the `points` of one.
[[nodiscard]] io::Json collective_tree(const GroupFit& fit);
[[nodiscard]] io::Array segments_tree(std::span<const net::CurveSegment> curve);
[[nodiscard]] io::Array points_tree(std::span<const net::CurvePoint> points);

// The warnings of files, groups and link, in this order, as key `warnings` of the file holds them.
[[nodiscard]] std::vector<std::string> all_warnings(std::span<const io::Samples> files,
                                                    std::span<const GroupFit> fits,
                                                    const std::optional<LinkFit>& link);

[[nodiscard]] Grade worst_grade(std::span<const GroupFit> fits); // of at least one (asserted)

} // namespace stepsim::calibrate
