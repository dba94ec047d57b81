// Measured speeds are there to be compared with what a simulation gives; no run reads them. Methods
// must be compression methods of the simulator, so that each row can be held against a run of its
// own.
#include "scenario/files/measured_file.hpp"

#include <algorithm>

#include "document/fields/members.hpp"
#include "scenario/files/keys/measured_keys.hpp"

namespace stepsim::io {

namespace {

// A whole number of at least 1 as a key: "32", not "032" or "+32".
// A number with leading zeros is refused, because "32" and "032" would be two keys for one number
// of ranks.
std::optional<std::int64_t> ranks_of(std::string_view key) {
  const auto ranks = base::parse_number<std::int64_t>(key);
  return ranks && *ranks >= 1 && !key.starts_with('0') ? ranks : std::nullopt;
}

void check_method(const Json& place, std::string_view method, Problems& problems) {
  if (collectives::find_compression(method) == nullptr) {
    problems.add(place, collectives::unknown_compression(method));
  }
}

layers::MeasuredPhases parse_phases(Fields& fields) {
  using Phases = layers::MeasuredPhases;
  constexpr auto kTimes = members<&Phases::compute, &Phases::compress, &Phases::communication>;
  Phases phases;
  phases.ranks = fields.integer("ranks");
  phases.method = fields.text("method");
  if (!phases.method.empty()) {
    check_method(*fields.any("method"), phases.method, fields.problems());
  }
  read_members(kTimes, fields, phases);
  return phases;
}

layers::MeasuredThroughput parse_method(std::string_view method, const Json& json,
                                        Problems& problems) {
  check_method(json, method, problems);
  layers::MeasuredThroughput row{std::string(method), {}};
  if (!json.is_object() || json.as_object().empty()) {
    problems.add(json, "must be an object {\"RANKS\": samples per second and GPU}");
    return row;
  }
  for (const auto& [key, value] : json.as_object()) {
    const auto ranks = ranks_of(key);
    const auto speed = checked_number(value, keys::kMeasuredSpeed.front().range, problems);
    if (!ranks) {
      problems.add(value, "the key must be a number of ranks");
    } else if (speed) {
      row.samples_per_s_per_gpu.emplace_back(*ranks, *speed);
    }
  }
  // Members of a JSON object have no order that means anything; tables list speeds by ranks.
  std::ranges::sort(row.samples_per_s_per_gpu);
  return row;
}

layers::MeasuredModel parse_model_row(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kMeasuredModel.front());
  using Model = layers::MeasuredModel;
  constexpr auto kKeys =
      members<&Model::name, &Model::parameters, &Model::batch_size, &Model::note>;
  Model model = read_members(kKeys, fields);
  fields.object("phases", [&](Fields& phases) { model.phases = parse_phases(phases); });
  // Keys of the inner objects are data (methods and numbers of ranks), so that `Fields`, which
  // knows a fixed set of keys, cannot read them.
  const Json* speeds = fields.any("samples_per_s_per_gpu");
  if (speeds == nullptr || !speeds->is_object()) {
    problems.add(json, "samples_per_s_per_gpu", "required ({METHOD: {\"RANKS\": number}})");
  } else {
    for (const auto& [method, by_ranks] : speeds->as_object()) {
      model.throughput.push_back(parse_method(method, by_ranks, problems));
    }
  }
  fields.no_more();
  return model;
}

} // namespace

layers::MeasuredTraining parse_measured(const Json& json) {
  FileFields fields(json, keys::kMeasured);
  layers::MeasuredTraining measured;
  measured.name = fields.text("name");
  measured.source = fields.text("source");
  measured.note = fields.text("note");
  for (const Json& row : fields.list("models", "model")) {
    layers::MeasuredModel model = parse_model_row(row, fields.problems());
    if (std::ranges::find(measured.models, model.name, &layers::MeasuredModel::name) !=
        measured.models.end()) {
      fields.problems().add(row, "name", "model " + model.name + " appears twice");
    }
    measured.models.push_back(std::move(model));
  }
  fields.finish();
  return measured;
}

} // namespace stepsim::io
