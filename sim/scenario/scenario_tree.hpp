#pragma once
// Writes a scenario as a tree, which a result contains and a sweep hashes.

#include "document/json.hpp"
#include "scenario/scenario.hpp"

#include <optional>

namespace stepsim::study {

// The tree of all keys with their resolved values. Keys without a meaning are left out, so that
// parse_scenario() accepts the tree and reads the same scenario. One key with a meaning is left
// out, too: `baseline` of a compression.
// With `left_out`, the list /workload/layers of a single workload is empty; InlineLayers makes its
// elements.
enum class LayerList { written, left_out };
[[nodiscard]] io::Json scenario_tree(const Scenario& scenario,
                                     LayerList layers = LayerList::written);

// The elements of /workload/layers, made one by one for a writer of large results. `workload` must
// outlive the object.
class InlineLayers {
public:
  explicit InlineLayers(const layers::Workload& workload) : workload_(workload) {}
  [[nodiscard]] std::size_t size() const { return workload_.layers.size(); }
  [[nodiscard]] io::Json operator()(std::size_t layer) const;

private:
  const layers::Workload& workload_;
};

// Expands words that stand for an object with one key:
//     "compression": "topk"   ->   "compression": {"method": "topk"}

// The only key of the object that a word at `pointer` stands for: "method" for
// "/communication/compression"; empty if `pointer` has no short form.
[[nodiscard]] std::optional<std::string_view> short_form_key(std::string_view pointer);

// Whether a value at `pointer` has a short form, or may contain a value that has one.
[[nodiscard]] bool may_hold_short_form(std::string_view pointer);

// The scenario with its short forms expanded, so that pointers reach every key.
[[nodiscard]] io::Json with_short_forms_expanded(io::Json scenario);

// The defaults that have an effect on the times of a scenario: every key of the resolved scenario
// that is not in the file and whose value matters here, with the reason for the value. They are
// shown, so that no comparison depends on a default that its reader does not see.
//
//     {"pointer": "/communication/schedule", "value": "trace", "reason": "5 measured buckets"}

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
