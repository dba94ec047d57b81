#include "scenario/scenario_schedule.hpp"

#include "buckets/priority.hpp"
#include "document/fields/written.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study {

// Keys that the planner does not have are read as well and keep their values.
buckets::ScheduleOptions read_schedule_options(io::Fields& fields, const buckets::Planner& planner,
                                               std::int64_t bytes_of_element) {
  buckets::ScheduleOptions options = buckets::default_options(planner);
  for (const io::Bound<buckets::ScheduleOptions>& row : keys::kScheduleOptions) {
    if (row.read == nullptr) {
      continue;
    }
    row.read(fields, row.key, options);
    if (row.key.name == "preset") { // before the options that it has values for
      options = buckets::with_preset(options, options.preset, bytes_of_element);
    }
  }
  return options;
}

// The one key that is written by hand; null where no layer has a gradient.
io::Json groups_json(const buckets::ScheduleOptions& options) {
  return options.groups.empty() ? io::Json() : io::list_of(options.groups);
}

// In the order of the rows.
void add_schedule_options(const buckets::Planner& planner, const buckets::ScheduleOptions& options,
                          io::Json& tree) {
  for (const io::Bound<buckets::ScheduleOptions>& row : keys::kScheduleOptions) {
    const bool by_layers = row.key.name == keys::kBucketBytes.name && options.dear_layers;
    if (!planner.has(row.key.name) || by_layers) {
      continue;
    }
    io::Json value = row.written != nullptr ? row.written(row.key, options) : groups_json(options);
    if (!value.is_null()) {
      tree.set(row.key.name, std::move(value));
    }
  }
}

} // namespace stepsim::study
