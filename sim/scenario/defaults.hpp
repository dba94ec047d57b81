#pragma once
// The defaults that have an effect on the times of a scenario: every key of the resolved scenario
// that is not in the file and whose value matters here, with the reason for the value. They are
// shown, so that no comparison depends on a default that its reader does not see.
//
//     {"pointer": "/communication/schedule", "value": "trace", "reason": "5 measured buckets"}

#include "scenario/scenario.hpp"

namespace stepsim::study {

struct DefaultValue {
  std::string pointer; // JSON pointer into the resolved scenario, or of a key that it leaves out
  io::Json value;
  std::string reason;
  bool decisive = false;  // `stepsim run` prints it after "assumed:"
  bool from_node = false; // the value comes from the node type that the scenario names
};

// Whether the default of this key is decisive wherever it stands; for lists that do not say it.
[[nodiscard]] bool always_decisive(std::string_view pointer);

// The decisive defaults as text: "schedule trace (5 measured buckets), reduction_Bps 0"; empty if
// there are none.
[[nodiscard]] std::string defaults_text(const std::vector<DefaultValue>& defaults);

// The defaults of `scenario`, which was parsed from the tree `written`: the schedule first, then
// the order of the resolved scenario. Then comes /cluster/network, if its bandwidth per interface
// is that of a node type, as an object. Last come, with the value null,
// /communication/copy_bandwidth_Bps and /training/overlap, which a resolved scenario does not hold
// if they are not given.
[[nodiscard]] std::vector<DefaultValue> defaults_that_decide(const io::Json& written,
                                                             const Scenario& scenario);

// Sanity bounds of network speeds and latencies. A bandwidth below 1 kB/s or above 1e14 B/s
// (800 Tb/s) and a latency of 10 s or more are refused, because such a number most likely lacks its
// unit; so are buckets below 256 bytes for gradients of 1 MB or more. A file with "allow_unusual":
// true among its top-level keys may have such values.

// The error message for an unusual value of a key that ends in bandwidth_Bps, latency_s or
// bucket_bytes, or is delay_s:
//     25 bytes/s: did you mean "25Gbps"? Below 1 kB/s needs "allow_unusual": true
// Empty for a usual value, for a bandwidth of 0, and for every other key.
[[nodiscard]] std::optional<std::string> unusual(std::string_view key, double value);

// Adds a problem for every unusual value in `tree`, at any depth; adds none if `allowed`.
void refuse_unusual(const io::Json& tree, bool allowed, io::Problems& problems);

} // namespace stepsim::study
