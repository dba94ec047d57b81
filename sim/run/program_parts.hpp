#pragma once
// What builders of programs put together: the layers and buckets of a scenario with their times.
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "run/group_exchange.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// The exchange of a unit in `unit`; the times of its operations, which on a simulated network keep
// what is not on the wire.
[[nodiscard]] program::ExchangeTime taken(const GroupExchange& exchange, bool simulated,
                                          UnitExchange& unit);

struct ProgramParts {
  std::vector<program::LayerTimes> layers; // of one micro-batch
  std::vector<program::BucketTimes> buckets;
  Seconds update; // with decoding, which is done where the update happens
  program::NextForward next_forward{};
};

// Buckets that are all-reduced, or exchanged in two halves (DeAR, reduce and broadcast). Fills
// plan, units, method and events of `out`.
[[nodiscard]] ProgramParts allreduced_parts(const Scenario& scenario, ScenarioProgram& out);

// The same buckets, each reduced by a reduce-scatter and its parameters gathered (ZeRO-1, ZeRO-2).
[[nodiscard]] ProgramParts scattered_parts(const Scenario& scenario, ScenarioProgram& out);

} // namespace stepsim::study
