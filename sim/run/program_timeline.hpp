#pragma once
// The timeline of a run that is a program: one track per stream of a node, one span per operation.
#include <cstdint>

#include "engine/timeline.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// Draws the iterations first..last (from 0) of rank `rank`, or of all ranks where they are equal,
// as the tracks of `node`.
void draw_program(const ProgramRun& run, std::uint32_t node, std::uint32_t rank, std::int64_t first,
                  std::int64_t last, engine::Timeline& timeline);

} // namespace stepsim::study
