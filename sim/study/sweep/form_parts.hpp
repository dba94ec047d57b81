#pragma once
// Takes a closed form a + b n apart into latency, bandwidth and reduction, as run/largest_part.cpp
// does, for many networks in a row.
#include <cstdint>

#include "collectives/collective.hpp"
#include "collectives/formula/closed_form.hpp"

namespace stepsim::study {

// The exchange of n bytes takes latency + (bandwidth + reduction) n. Seconds; seconds per byte.
struct FormParts {
  double latency_s{}, bandwidth_s_per_byte{}, reduction_s_per_byte{};
};

// Not thread-safe.
class PartsOfForms {
public:
  // `whole` is the closed form of `probe`, has a startup and a cost per byte, and is no upper
  // bound. All calls must have the same algorithm, options and reduction rate. The costs of `probe`
  // may be overwritten and are not restored.
  [[nodiscard]] FormParts operator()(collectives::Collective& probe,
                                     const collectives::ClosedForm& whole);

private:
  std::uint32_t ranks_{}; // of the last call; 0: there was none
  collectives::LinkCost link_;
  FormParts parts_;
};

} // namespace stepsim::study
