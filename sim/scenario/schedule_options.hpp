#pragma once
// Reads and writes the options of a schedule by the rows of keys/schedule_keys.hpp.
#include <cstdint>

#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "document/reader.hpp"

namespace stepsim::study {

// Reads all options; options that are not given have their defaults. `bytes_of_element` is the
// bytes per parameter, because the presets of schedule `priority` have sizes in parameters.
[[nodiscard]] buckets::ScheduleOptions read_schedule_options(io::Fields& fields,
                                                             std::int64_t bytes_of_element);

// Sets the keys of the planner to their values; an option without a value is left out, and so is
// bucket_bytes if dear_layers has one.
void add_schedule_options(const buckets::Planner& planner, const buckets::ScheduleOptions& options,
                          io::Json& tree);

} // namespace stepsim::study
