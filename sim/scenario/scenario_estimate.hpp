#pragma once
// Reads the keys of a workload that estimate compute times for a named GPU (INP 3): gpu, dtype,
// recompute, accept_estimate and measured_step.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the keys. Empty without the key `gpu`, and after a problem with one of the keys.
[[nodiscard]] std::optional<layers::GpuEstimate> parse_estimate(io::Fields& fields,
                                                                const ParseContext& context);

// Reports a problem for a network without attention if the estimate is not accepted, and for a
// measured step at a sequence length that the table does not allow.
void check_estimate(io::Fields& fields, const ParseContext& context,
                    const layers::ModelTable& table, const layers::GpuEstimate& estimate);

// Writes the keys as they are read.
void set_estimate(io::Json& workload, const layers::GpuEstimate& estimate);

// Reports a problem for a sequence length that the table does not allow.
void check_sequence_length(const io::Json& place, const ParseContext& context,
                           const layers::ModelTable& table, std::optional<std::int64_t> length);

} // namespace stepsim::study
