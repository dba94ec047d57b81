#pragma once
// Writes a scenario as a tree, which a result contains and a sweep hashes.

#include "scenario/scenario.hpp"

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

} // namespace stepsim::study
