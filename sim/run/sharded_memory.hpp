#pragma once
// Memory of a rank in bytes, in training with N shards (TRN 5). Each of P parameters takes v_s
// bytes as stored, v_p as computed with, v_g for its gradient and k_o in the optimizer; the largest
// bucket has B parameters:
//
//     strategy  parameters                           gradients          optimizer
//     none      v_s P (+ v_p P if v_p is not v_s)    v_g P              k_o P
//     zero1     v_p P + v_s P / N                    v_g P              k_o P / N
//     zero2     v_p P + v_s P / N                    v_g (P / N + B)    k_o P / N
//     others    v_s P / N                            v_g P / N          k_o P / N
//
// The others (full_shard, shard_grad_op, hybrid_shard) also hold whole units for a time: their
// memory_live_bytes are the peak of gathered parameters and unreduced gradients. Activations are
// added to the total of every strategy.
#include "programs/operation_times.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Fills memory_* of `summary`. `times` must have been recorded with Record::all for at least one
// iteration; memory_live_bytes are those of the last iteration.
void fill_memory(const Scenario& scenario, const ScenarioProgram& made,
                 const programs::OperationTimes& times, Summary& summary);

// The warning that a rank needs more than memory_bytes, and how much more; empty if it does not, or
// if no memory_bytes are given.
[[nodiscard]] std::string memory_warning(const Summary& summary);

} // namespace stepsim::study
