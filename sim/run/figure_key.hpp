#pragma once
// The key of the step, which records are read and written by; those of other figures are the names
// of their members, too (summary_fields.hpp).

#include "run/summary_fields.hpp"

namespace stepsim::study {

inline constexpr std::string_view kIterationTime = io::member_name<&Summary::iteration_time_s>();

} // namespace stepsim::study
