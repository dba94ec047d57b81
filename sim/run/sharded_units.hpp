#pragma once
// Fully sharded training of a scenario: layers are grouped into units, whose gathers and reductions
// are timed (TRN 4.5).
#include <cstdint>

#include "program/builders/fsdp_program.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Encoding the shards that a rank has of these units, s; 0 without a codec of parameters.
[[nodiscard]] Seconds encode_seconds(const Scenario& scenario,
                                     const std::vector<ProgramUnit>& units);

// FSDP's rules of the scenario, without its units.
[[nodiscard]] program::FsdpOptions fsdp_options(const Scenario& scenario);
// Every rank of the group has an equal part, so that parameters are padded.
[[nodiscard]] std::int64_t padded(std::int64_t parameters, std::int64_t shards);

// Fills units, method and events of `out`; certified where the wrapping is optimal.
[[nodiscard]] program::Program make_sharded_units(const Scenario& scenario, ScenarioProgram& out);

} // namespace stepsim::study
