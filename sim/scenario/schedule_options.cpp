// One overload per type of option reads it, one writes it; the rows say which member each key
// fills. A type without an overload does not compile.
#include "scenario/schedule_options.hpp"

#include <algorithm>
#include <utility>

#include "buckets/planner_options.hpp"
#include "buckets/priority.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study {

namespace {

// Options whose default depends on others have none in their row.
bool has_default(const io::Key& key) {
  return !std::holds_alternative<std::monostate>(key.fallback);
}

// Without a default in its row a value stays as it is: empty, or that of a preset.
void read(io::Fields& fields, const io::Key& key, Bytes& value) {
  value = {has_default(key) ? fields.integer(key.name) : fields.integer_or(key.name, value.value)};
}
void read(io::Fields& fields, const io::Key& key, std::optional<Bytes>& value) {
  if (const auto given = fields.optional_integer(key.name)) {
    value = Bytes{*given};
  }
}
void read(io::Fields& fields, const io::Key& key, Seconds& value) {
  value = {fields.number(key.name)};
}
void read(io::Fields& fields, const io::Key& key, bool& value) { value = fields.boolean(key.name); }
void read(io::Fields& fields, const io::Key& key, double& value) {
  value = has_default(key) ? fields.number(key.name) : fields.number_or(key.name, value);
}
void read(io::Fields& fields, const io::Key& key, std::int64_t& value) {
  value = fields.integer(key.name);
}
void read(io::Fields& fields, const io::Key& key, std::optional<std::int64_t>& value) {
  value = fields.optional_integer(key.name);
}
void read(io::Fields& fields, const io::Key& key, buckets::DdpMode& value) {
  value = fields.word(key.name, buckets::kDdpModes);
}
void read(io::Fields& fields, const io::Key& key, buckets::PriorityPreset& value) {
  value = fields.word(key.name, buckets::kPriorityPresets);
}
void read(io::Fields& fields, const io::Key& key, buckets::Prefetch& value) {
  value = fields.word(key.name, buckets::kPrefetches);
}

io::Json written(Bytes value) { return value.value; }
io::Json written(const std::optional<Bytes>& value) {
  return value ? io::Json(value->value) : io::Json();
}
io::Json written(Seconds value) { return value.value; }
io::Json written(bool value) { return value; }
io::Json written(double value) { return value; }
io::Json written(std::int64_t value) { return value; }
io::Json written(const std::optional<std::int64_t>& value) {
  return value ? io::Json(*value) : io::Json();
}
io::Json written(buckets::DdpMode value) { return buckets::kDdpModes[value]; }
io::Json written(buckets::PriorityPreset value) { return buckets::kPriorityPresets[value]; }
io::Json written(buckets::Prefetch value) { return buckets::kPrefetches[value]; }

} // namespace

// Keys that the planner does not have are read as well and keep their values.
buckets::ScheduleOptions read_schedule_options(io::Fields& fields, std::int64_t bytes_of_element) {
  buckets::ScheduleOptions options;
  for (const keys::ScheduleOption& row : keys::kScheduleOptions) {
    std::visit([&](auto member) { read(fields, row.key, options.*member); }, row.member);
    if (row.key.name == "preset") { // before the options that it has values for
      options = buckets::with_preset(options, options.preset, bytes_of_element);
    }
  }
  return options;
}

// In the order of the rows.
void add_schedule_options(const buckets::Planner& planner, const buckets::ScheduleOptions& options,
                          io::Json& tree) {
  for (const keys::ScheduleOption& row : keys::kScheduleOptions) {
    const bool by_layers = row.key.name == "bucket_bytes" && options.dear_layers;
    if (!planner.has(row.key.name) || by_layers) {
      continue;
    }
    io::Json value = std::visit([&](auto member) { return written(options.*member); }, row.member);
    if (!value.is_null()) {
      tree.set(row.key.name, std::move(value));
    }
  }
}

} // namespace stepsim::study
