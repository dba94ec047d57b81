// Parameters stand in the file as factors, which people can read, and become coordinates of the fit
// when they are read.
#include "scenario/files/network_files.hpp"

#include <fmt/core.h>

#include <cmath>

#include "document/fields/members.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/library_keys.hpp"

namespace stepsim::io {

using nccl::kParameterCount;
using nccl::MeasuredPoint;
using nccl::Parameter;

namespace {

// A factor of 0 has no logarithm, and factors near it make times that nothing can be told from.
constexpr double kLeastFactor = 1e-4;

void read_parameters(Fields& file, LibraryFile& result) {
  const Json* map = file.any("parameters");
  if (map == nullptr || !map->is_object()) {
    file.problems().add(map == nullptr ? file.json() : *map, "must be an object of parameters");
    return;
  }
  Fields fields(*map, file.problems());
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    const Parameter parameter = nccl::parameter_rows()[i].parameter;
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
  const Parameter parameter = nccl::parameter_rows()[i].parameter;
  const base::Interval interval = parameter_interval(calibration, parameter);
  return Object{{"value", nccl::factor(parameter, file.fitted.parameters[i])},
                {"low", interval.low},
                {"high", interval.high},
                {"from_prior", file.from_prior[i]}};
}

} // namespace

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

base::Interval parameter_interval(const nccl::Calibration& calibration, Parameter parameter) {
  constexpr double kQuantile = 1.96;
  const auto i = static_cast<std::size_t>(parameter);
  const double centre = calibration.fitted.parameters[i];
  const double deviation = std::sqrt(calibration.covariance[i * kParameterCount + i]);
  return {.low = nccl::factor(parameter, centre - kQuantile * deviation),
          .high = nccl::factor(parameter, centre + kQuantile * deviation)};
}

Json to_json(const LibraryFile& file, const nccl::Calibration& calibration) {
  const nccl::FittedLibrary& fitted = file.fitted;
  Json node(Object{{"name", fitted.node.name}});
  write_node_type(fitted.node, node);
  Json parameters{Object{}};
  for (std::size_t i = 0; i < kParameterCount; ++i) {
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
  if (!file.of_nominal.empty()) {
    json.set("of_nominal", nominal_shares_json(file.of_nominal));
  }
  return json;
}

} // namespace stepsim::io
