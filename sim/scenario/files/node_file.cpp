// Parameters stand in the file as factors, which people can read, and become coordinates of the fit
// when they are read.
#include "scenario/files/network_files.hpp"

#include <filesystem>

#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "scenario/conditions.hpp"
#include "scenario/file_names.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/node_keys.hpp"

namespace stepsim::io {

using nccl::MeasuredPoint;

namespace {

using nccl::NodeType;

// Keys that are read and written as they are.
constexpr auto kNodeMembers =
    members<&NodeType::link, &NodeType::generation, &NodeType::host, &NodeType::in_switch_reduction,
            &NodeType::ll128, &NodeType::approximate>;

// A number, or an object with its value, label and source. Empty after a problem, and where the key
// is absent, which is a problem where its row says "required".
std::optional<double> sourced(Fields& parent, std::string_view key,
                              std::vector<SourcedNumber>& numbers) {
  const Json* json = parent.given(key);
  const Key& row = parent.row(key);
  if (json == nullptr) {
    parent.refuse_if(row.is_required, key, "required");
    return std::nullopt;
  }
  const Key& plain = row.keys.front();
  SourcedNumber number;
  number.key = key;
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  if (json->is_object()) {
    Fields fields(*json, parent.problems(), row);
    value = plain.kind == KeyKind::integer ? static_cast<double>(fields.integer("value"))
                                           : fields.number("value");
    if (plain.kind == KeyKind::number) {
      low = fields.optional_number("low");
      high = fields.optional_number("high");
      if (low.value_or(*value) > *value || high.value_or(*value) < *value) {
        fields.problems().add(*json, "value must lie between low and high");
      }
    }
    number.label = fields.word("label");
    number.source = fields.text("source");
    fields.no_more();
  } else if (plain.kind == KeyKind::integer) {
    const auto whole = checked_integer(*json, plain.range, parent.problems());
    value = whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
  } else {
    value = checked_number(*json, plain.range, parent.problems());
  }
  number.value = value.value_or(0);
  number.low = low.value_or(number.value);
  number.high = high.value_or(number.value);
  numbers.push_back(std::move(number));
  return value;
}

std::uint32_t counted_number(Fields& fields, std::string_view key,
                             std::vector<SourcedNumber>& numbers) {
  return static_cast<std::uint32_t>(sourced(fields, key, numbers).value_or(1));
}

// The number, with its interval and source where it has them.
Json sourced_json(const SourcedNumber& number, double factor) {
  if (number.label.empty()) {
    return number.value * factor;
  }
  return Object{{"value", number.value * factor},
                {"low", number.low * factor},
                {"high", number.high * factor},
                {"label", number.label},
                {"source", number.source}};
}

// The shares of a file of kind library_calibration.
std::vector<SourcedNumber> shares_of_file(const std::string& path, const Json& name,
                                          Problems& problems) {
  const Json tree = read_json(path);
  Fields file(tree, problems, keys::kLibraryCalibration);
  file.header(keys::kLibraryCalibration.name);
  std::vector<SourcedNumber> shares = read_nominal_shares(file);
  if (problems.empty() && shares.empty()) {
    problems.add(name, path + " has no of_nominal: `stepsim-calibrate fit-library` writes it where "
                              "the node type has nominal rates");
  }
  return shares;
}

std::vector<SourcedNumber> shares_of(const Json& preset, Problems& problems) {
  const Json* value = preset.find("of_nominal");
  if (value == nullptr || value->is_null()) {
    return {};
  }
  if (const std::string path = file_of_shares(preset); !path.empty()) {
    return shares_of_file(path, *value, problems);
  }
  Fields fields(preset, problems, keys::kNodePreset);
  return read_nominal_shares(fields);
}

nccl::RateOrigin origin_of(const std::vector<SourcedNumber>& numbers, std::string_view key) {
  const auto number = std::ranges::find(numbers, key, &SourcedNumber::key);
  if (number == numbers.end()) {
    return {};
  }
  const bool ranges = number->low > 0 && number->low < number->high; // 80 % lie within
  return {.of_sheet = number->label == "sheet",
          .fitted = number->label == "fitted",
          .deviation =
              ranges ? std::log(number->high / number->low) / (2 * study::kDeviationsOf80) : 0};
}

// A factor of 0 has no logarithm, and factors near it make times that nothing can be told from.
constexpr double kLeastFactor = 1e-4;

void read_parameters(Fields& file, LibraryFile& result) {
  const Json* map = file.any("parameters");
  if (map == nullptr || !map->is_object()) {
    file.problems().add(map == nullptr ? file.json() : *map, "must be an object of parameters");
    return;
  }
  Fields fields(*map, file.problems());
  for (std::size_t i = 0; i < nccl::kParameterCount; ++i) {
    const nccl::Parameter parameter = nccl::parameter_rows()[i].parameter;
    const Json* json = fields.any(nccl::kParameters[parameter]);
    if (json == nullptr) {
      continue;
    }
    Fields entry(*json, file.problems(), keys::kLibraryParameters.front());
    const double value = entry.number("value");
    (void)entry.optional_number("low");
    (void)entry.optional_number("high");
    result.from_prior[i] = entry.boolean("from_prior");
    entry.no_more();
    const bool plain = nccl::row_of(parameter).plain;
    if (!plain && value < kLeastFactor) {
      file.problems().add(*json, "value", "must be >= 1e-4, got " + shown(Json(value)));
      continue;
    }
    result.fitted.parameters[i] = plain ? value : std::log(value);
  }
  fields.no_more();
}

void read_points(Fields& file, LibraryFile& result) {
  const auto point_of = [&](Fields& fields) {
    MeasuredPoint point;
    point.operation = fields.word("op", nccl::kOperations);
    point.shape.nodes = static_cast<std::uint32_t>(fields.integer("nodes"));
    point.shape.gpus = static_cast<std::uint32_t>(fields.integer("gpus_per_node"));
    point.bytes = fields.number("bytes");
    point.measured_s = fields.number("measured_s");
    point.count = static_cast<std::size_t>(fields.integer("count"));
    fields.no_more();
    if (file.problems().empty()) {
      try {
        (void)nccl::layout_of(result.fitted.node, point.shape);
      } catch (const UsageError& error) {
        file.problems().add(fields.json(), error.what());
      }
    }
    return point;
  };
  result.fitted.points = file.each("points", point_of, "measured time");
}

void read_version(Fields& file, LibraryFile& result) {
  const std::string version = file.text("version");
  try {
    result.fitted.version = nccl::parse_version(version);
  } catch (const UsageError& error) {
    file.refuse("version", error.what());
  }
}

Json parameter_json(const LibraryFile& file, const nccl::Calibration& calibration, std::size_t i) {
  const nccl::Parameter parameter = nccl::parameter_rows()[i].parameter;
  const base::Interval interval = parameter_interval(calibration, parameter);
  return Object{{"value", nccl::factor(parameter, file.fitted.parameters[i])},
                {"low", interval.low},
                {"high", interval.high},
                {"from_prior", file.from_prior[i]}};
}

// The object; null if there are no shares.
Json nominal_shares_json(const std::vector<SourcedNumber>& shares) {
  Json object;
  for (const SourcedNumber& share : shares) {
    object.set(share.key, sourced_json(share, 1));
  }
  return object;
}

// Reads the keys of the library model, all but the name, from a preset or from `node` of a
// calibration. Appends sourced numbers to `numbers`.
nccl::NodeType read_node_type(Fields& fields, std::vector<SourcedNumber>& numbers) {
  nccl::NodeType node = read_members(kNodeMembers, fields);
  node.gpus = counted_number(fields, "gpus_per_node", numbers);
  node.ring_Bps = sourced(fields, "ring_Bps", numbers).value_or(1);
  node.nics = counted_number(fields, "nics_per_node", numbers);
  node.nic_Bps = sourced(fields, "nic_Bps", numbers).value_or(1);
  node.domain_nodes = counted_number(fields, "nvlink_domain_nodes", numbers);
  node.ring_origin = origin_of(numbers, "ring_Bps");
  node.nic_origin = origin_of(numbers, "nic_Bps");
  return node;
}

// Adds the same keys to `object`, with plain numbers; read_node_type() of them gives an equal
// value.
void write_node_type(const nccl::NodeType& node, Json& object) {
  add(object, write_members(kNodeMembers, keys::kNodePreset, node));
  set_members<&NodeType::ring_Bps, &NodeType::nic_Bps>(node, object);
  object.set("gpus_per_node", node.gpus);
  object.set("nics_per_node", node.nics);
  object.set("nvlink_domain_nodes", node.domain_nodes);
}

} // namespace

std::string file_of_shares(const Json& preset) {
  namespace fs = std::filesystem;
  const Json* name = preset.find("of_nominal");
  return name == nullptr || !name->is_string()
             ? ""
             : (fs::path(name->file()).parent_path() / name->as_string()).string();
}

std::vector<SourcedNumber> read_nominal_shares(Fields& parent) {
  std::vector<SourcedNumber> shares;
  parent.object("of_nominal", [&](Fields& fields) {
    for (const keys::NominalRate& each : keys::kNominalRates) {
      (void)sourced(fields, each.share, shares);
    }
  });
  return shares;
}

Json with_rates_of_nominal(const Json& preset, Problems& problems) {
  Json filled = preset;
  for (const SourcedNumber& share : shares_of(preset, problems)) {
    const keys::NominalRate& each =
        *std::ranges::find(keys::kNominalRates, share.key, &keys::NominalRate::share);
    const Json* nominal = preset.find(each.nominal);
    if (nominal != nullptr && nominal->is_object()) {
      nominal = nominal->find("value");
    }
    if (preset.find(each.rate) != nullptr) {
      problems.add(preset, "of_nominal", "give either {} or of_nominal/{}", each.rate, share.key);
    } else if (nominal == nullptr || !nominal->is_number()) {
      problems.add(preset, "of_nominal", "{} is a share of {}, which must be given as a number",
                   share.key, each.nominal);
    } else {
      filled.set(each.rate, sourced_json(share, nominal->as_double()));
    }
  }
  return filled;
}

NodePreset read_node_preset(const std::string& data_folder, const std::string& name) {
  return parse_node_preset(read_json(
      study::is_shipped_name(name) ? study::shipped_file(data_folder, study::kShippedNodes, name)
                                   : name));
}

NodePreset parse_node_preset(const Json& given) {
  Problems problems;
  const Json json = with_rates_of_nominal(given, problems);
  problems.throw_if_any();
  Fields fields(json, problems, keys::kNodePreset);
  fields.header(keys::kNodePreset.name);
  NodePreset preset;
  preset.node = read_node_type(fields, preset.numbers);
  for (const keys::NominalRate& each : keys::kNominalRates) {
    if (json.is_object() && json.find(each.rate) == nullptr) {
      problems.add(json, each.rate, "required, or its share of {} in of_nominal", each.nominal);
    }
  }
  (void)fields.any("of_nominal");
  preset.node.name = fields.text("name");
  preset.label = fields.word("label");
  preset.note = fields.text("note");
  preset.gpu = fields.text("gpu");
  preset.link_nominal_Bps = sourced(fields, "link_nominal_Bps", preset.numbers);
  preset.nic_nominal_Bps = sourced(fields, "nic_nominal_Bps", preset.numbers);
  preset.node.ring_origin.nominal_Bps = preset.link_nominal_Bps.value_or(0);
  preset.node.nic_origin.nominal_Bps = preset.nic_nominal_Bps.value_or(0);
  (void)sourced(fields, "gpu_memory_bytes", preset.numbers);
  (void)sourced(fields, "price_per_gpu_hour", preset.numbers);
  fields.no_more();
  problems.throw_if_any();
  return preset;
}

links::NetworkProfile profile_of_node(const NodePreset& preset) {
  const nccl::NodeLinks links = nccl::node_links(preset.node);
  links::NetworkProfile profile;
  profile.name = preset.node.name;
  profile.note = preset.note;
  profile.latency_s = links.network_latency_s;
  profile.bandwidth_Bps = links.network_Bps;
  links::LinkClass& inner = profile.links.emplace_back();
  inner.name = nccl::kInnerLinks[preset.node.link];
  inner.latency_s = links.inner_latency_s;
  inner.per_byte_s = 1 / links.inner_Bps;
  return profile;
}

LibraryFile parse_library_calibration(const Json& json) {
  FileFields fields(json, keys::kLibraryCalibration);
  LibraryFile result;
  result.fitted.name = fields.text("name");
  (void)fields.word("library");
  read_version(fields, result);
  result.fitted.choice = fields.word("choice", nccl::kChoices);
  if (const Json* node = fields.any("node"); node != nullptr) {
    Fields keys(*node, fields.problems(), fields.row("node"));
    std::vector<SourcedNumber> numbers;
    result.fitted.node = read_node_type(keys, numbers);
    result.fitted.node.name = keys.text("name");
    keys.no_more();
  } else if (json.is_object()) {
    fields.refuse("node", "required");
  }
  read_parameters(fields, result);
  read_points(fields, result);
  result.of_nominal = read_nominal_shares(fields);
  result.sources = checked_texts(fields.list("sources"), fields.problems());
  result.warnings = parse_warnings(fields);
  fields.finish();
  return result;
}

base::Interval parameter_interval(const nccl::Calibration& calibration, nccl::Parameter parameter) {
  constexpr double kQuantile = 1.96;
  const auto i = static_cast<std::size_t>(parameter);
  const double centre = calibration.fitted.parameters[i];
  const double deviation = std::sqrt(calibration.covariance[i * nccl::kParameterCount + i]);
  return {.low = nccl::factor(parameter, centre - kQuantile * deviation),
          .high = nccl::factor(parameter, centre + kQuantile * deviation)};
}

Json to_json(const LibraryFile& file, const nccl::Calibration& calibration) {
  const nccl::FittedLibrary& fitted = file.fitted;
  Json node(Object{{"name", fitted.node.name}});
  write_node_type(fitted.node, node);
  Json parameters{Object{}};
  for (std::size_t i = 0; i < nccl::kParameterCount; ++i) {
    parameters.set(nccl::kParameters[nccl::parameter_rows()[i].parameter],
                   parameter_json(file, calibration, i));
  }
  Array points = write_each(fitted.points, [](const MeasuredPoint& point) {
    Json tree =
        tree_of<&MeasuredPoint::bytes, &MeasuredPoint::measured_s, &MeasuredPoint::count>(point);
    tree.set("op", nccl::kOperations[point.operation]);
    tree.set("nodes", point.shape.nodes);
    tree.set("gpus_per_node", point.shape.gpus);
    return tree;
  });
  Json json = file_json(keys::kLibraryCalibration);
  json.set("name", fitted.name);
  json.set("library", keys::kLibraryNames.front());
  json.set("version", fmt::format("{}.{}", fitted.version.major, fitted.version.minor));
  json.set("choice", nccl::kChoices[fitted.choice]);
  json.set("node", std::move(node));
  json.set("parameters", std::move(parameters));
  json.set("points", std::move(points));
  set_members<&LibraryFile::sources, &LibraryFile::warnings>(file, json);
  set_if(!file.of_nominal.empty(), json, "of_nominal", nominal_shares_json(file.of_nominal));
  return json;
}

} // namespace stepsim::io
