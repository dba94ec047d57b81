#pragma once
// The timeline of a run that was evaluated as a program (programs/training_program.hpp): one track
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

// Adds an arrow from the end of the last exchange of iteration `gradient` to the start of
// `iteration`, which applies that gradient. Nothing without exchanges.
void draw_gradient(const ProgramRun& run, std::uint32_t node, std::uint32_t rank,
                   std::int64_t gradient, std::int64_t iteration, events::Timeline& timeline);

} // namespace stepsim::study
