#pragma once
// Memory of a rank in training with N shards (TRN 5); P parameters, stored, reduced and kept by the
// optimizer in v_s, v_g and k_o bytes each, computed with in v_p:
//
//     none      v_s P (+ v_p P if they differ)   v_g P                        k_o P
//     zero1     v_p P + v_s P / N                v_g P                        k_o P / N
//     zero2     v_p P + v_s P / N                v_g P / N + largest bucket   k_o P / N
//     units     v_s P / N + live units           v_g P / N + live gradients   k_o P / N
#include "program/operation_times.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Fills memory_* of `summary`. `times` hold all operations of at least one iteration; the last one
// is looked at.
void fill_memory(const Scenario& scenario, const ScenarioProgram& made,
                 const program::OperationTimes& times, Summary& summary);

// A sentence with the excess where the device is too small, else empty.
[[nodiscard]] std::string memory_warning(const Summary& summary);

} // namespace stepsim::study
