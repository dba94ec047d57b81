#pragma once
// The keys of a workload that estimate computing times for a named GPU (INP 3): gpu, dtype,
// recompute, accept_estimate and measured_step.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Empty without a GPU, and after a problem with one of the keys.
[[nodiscard]] std::optional<train::GpuEstimate> parse_estimate(io::Fields& fields,
                                                               const ParseContext& context);

// A problem for a network without attention that is not accepted, and for a measured step at a
// sequence length that the table does not have.
void check_estimate(io::Fields& fields, const ParseContext& context, const train::ModelTable& table,
                    const train::GpuEstimate& estimate);

// The keys as they are read.
void set_estimate(io::Json& workload, const train::GpuEstimate& estimate);

// A problem for a sequence length that the table cannot have.
void check_sequence_length(const io::Json& place, const ParseContext& context,
                           const train::ModelTable& table, std::optional<std::int64_t> length);

} // namespace stepsim::study
