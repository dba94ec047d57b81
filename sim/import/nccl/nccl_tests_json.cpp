// The JSON form, written with -J (IO 6.2). Operation from the program in `args`, ranks by the list
// of devices; numbers may be the text "nan", truth values are texts. `env` is not looked at.
#include "import/nccl/import_nccl_tests.hpp"

#include "document/json_text.hpp"

namespace stepsim::io {

namespace {

std::optional<double> number_of(const Json& tree, std::string_view key) {
  const Json* value = tree.find(key);
  if (value == nullptr || !value->is_number()) {
    return std::nullopt;
  }
  return value->as_double();
}

// Seconds of a time that the log gives in microseconds.
// Times that no program can have measured are errors, as in every file of samples.
double measured_seconds(const Json& place, std::optional<double> microseconds) {
  const double seconds = microseconds.value_or(0) * 1e-6;
  if (!measured_times().contains(seconds)) {
    throw InputError(std::string(place.file()), place.pointer(),
                     "time " + measured_times().text() + " s");
  }
  return seconds;
}

// Out-of-place or in-place, which some programs do not have.
NcclHalf read_half(const Json& row, std::string_view key) {
  NcclHalf half;
  const Json* json = row.find(key);
  if (json == nullptr || !json->is_object()) {
    return half;
  }
  half.present = true;
  half.wrong = number_of(*json, "nwrong").value_or(0);
  const Json* per_iteration = row.find(std::string(key) + "_per_iter");
  const Json* times = per_iteration != nullptr && per_iteration->is_object()
                          ? per_iteration->find("times_us")
                          : nullptr;
  if (times != nullptr && times->is_array() && !times->as_array().empty()) {
    for (const Json& time : times->as_array()) {
      half.times_s.push_back(measured_seconds(
          time, time.is_number() ? std::optional(time.as_double()) : std::nullopt));
    }
    return half;
  }
  const auto time =
      json->find("time") != nullptr ? number_of(*json, "time") : number_of(*json, "cpu_time");
  half.times_s.push_back(measured_seconds(*json, time));
  return half;
}

// One entry per rank.
void read_devices(const Json& tree, NcclTable& table) {
  const Json* config = tree.find("config");
  const Json* devices = config != nullptr ? config->find("devices") : nullptr;
  devices = devices != nullptr ? devices : tree.find("devices");
  if (devices == nullptr || !devices->is_array()) {
    return;
  }
  for (const Json& device : devices->as_array()) {
    ++table.ranks;
    ++table.hosts[device.text("hostname")];
    if (const std::string kind = device.text("device_info"); !kind.empty()) {
      table.devices.insert(kind);
    }
  }
}

} // namespace

std::vector<NcclTable> read_nccl_json(std::string_view text, const std::string& file) {
  const Json tree = parse_json(text, file);
  NcclTable table;
  // The name of the program is the last part of its path.
  if (const Json* arguments = tree.find("args"); arguments != nullptr && arguments->is_array() &&
                                                 !arguments->as_array().empty() &&
                                                 arguments->as_array().front().is_string()) {
    const std::string& program = arguments->as_array().front().as_string();
    table.title = program.substr(program.find_last_of('/') + 1);
  }
  if (const Json* version = tree.find("version");
      version != nullptr && *version != Json(2) && *version != Json(3)) {
    table.warning = "version " + compact(*version) + " of the log is unknown: it is read as 3";
  }
  read_devices(tree, table);
  if (const Json* average = tree.find("average_bus_bandwidth"); average != nullptr) {
    if (const auto value = number_of(*average, "bandwidth")) {
      table.logged_busbw = *value * 1e9;
    }
  }
  Problems problems;
  Fields fields(tree, problems);
  for (const Json& json : fields.array("results", true)) {
    NcclRow row;
    Fields result(json, problems);
    row.bytes = result.integer("size", between(0, static_cast<double>(base::kMaxExactBytes)));
    row.halves = {read_half(json, "out_of_place"), read_half(json, "in_place")};
    if (table.dtype.empty()) {
      table.dtype = json.text("type");
    }
    table.rows.push_back(std::move(row));
  }
  problems.throw_if_any();
  return {std::move(table)};
}

} // namespace stepsim::io
