#pragma once
// The timeline of a run that was evaluated as a program (program/training_program.hpp): one track
// per stream, one span per operation.
#include <cstdint>

#include "events/timeline.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// Adds the iterations first..last of rank `rank` (numbered from 0, both included) as tracks of node
// `node`. If all ranks are equal, the run holds the times of rank 0 only, which are taken for every
// `rank`. Operations of length 0 are left out.
void draw_program(const ProgramRun& run, std::uint32_t node, std::uint32_t rank, std::int64_t first,
                  std::int64_t last, events::Timeline& timeline);

} // namespace stepsim::study
