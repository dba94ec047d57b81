#pragma once
// Makes the program of fully sharded training: layers are grouped into units, and the gathers and
// reductions of the units are timed (TRN 4.5).
#include <cstdint>

#include "programs/builders/fsdp_program.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// The time to encode a rank's shards of these units; 0 if parameters are not encoded.
[[nodiscard]] Seconds encode_seconds(const Scenario& scenario,
                                     const std::vector<ProgramUnit>& units);

// The options of the FSDP program that follow from the scenario.
[[nodiscard]] programs::FsdpOptions fsdp_options(const Scenario& scenario);
// `parameters` rounded up to a multiple of `shards`, because all ranks have shards of equal size.
[[nodiscard]] std::int64_t padded(std::int64_t parameters, std::int64_t shards);

// The program. Sets units, method and events of `out`, and `certified` if the wrapping is optimal.
[[nodiscard]] programs::Program make_sharded_units(const Scenario& scenario, ScenarioProgram& out);

} // namespace stepsim::study
