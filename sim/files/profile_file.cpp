#include "files/profile_file.hpp"

#include <array>
#include <limits>

#include "files/profile_parts.hpp"
#include "files/samples_file.hpp"
#include "files/source_json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::string_view, 3> kGrades{"ok", "warn", "fail"};
constexpr std::array<std::string_view, 5> kClasses{"network", "nvlink", "pcie", "host",
                                                   "same-device"};
constexpr std::array<std::string_view, 3> kModels{"alpha_beta", "flow", "packet"};

// A number, or an interval {value, low, high}.
std::optional<double> estimate(Fields& parent, std::string_view key, Range range) {
  const Json* json = parent.any(key);
  if (json == nullptr || json->is_null()) {
    return std::nullopt;
  }
  if (!json->is_object()) {
    return checked_number(*json, range, parent.problems());
  }
  Fields fields(*json, parent.problems());
  const double value = fields.number("value", range);
  const double low = fields.number("low", {}, value);
  const double high = fields.number("high", {}, value);
  if (low > value || high < value) {
    parent.problems().add(*json, "value must lie between low and high");
  }
  fields.no_more();
  return value;
}

template <class Number, class Check>
std::optional<std::pair<Number, Number>> interval(Fields& parent, std::string_view key,
                                                  Check check) {
  const auto list = parent.array(key, false);
  if (list.empty()) {
    return std::nullopt;
  }
  if (list.size() != 2) {
    parent.problems().add(*parent.any(key), "must be [lowest, highest]");
    return std::nullopt;
  }
  const auto low = check(list[0]);
  const auto high = check(list[1]);
  if (!low || !high) {
    return std::nullopt;
  }
  if (*high < *low) {
    parent.problems().add(list[1], "must be >= " + shown(list[0]) + ", got " + shown(list[1]));
    return std::nullopt;
  }
  return std::pair<Number, Number>(*low, *high);
}

void parse_source(Fields& profile) {
  if (const Json* json = profile.any("source"); json != nullptr && json->is_string()) {
    return;
  }
  object(profile, "source", [](Fields& source) {
    (void)source.string("format", "");
    for (const Json& entry : source.array("files", false)) {
      Fields file(entry, source.problems());
      (void)file.string("name");
      (void)file.string("sha256", "");
      (void)file.integer("bytes", at_least(0), 0);
      file.no_more();
    }
    for (const std::string_view key : {"importer", "date", "attribution", "licence"}) {
      (void)source.string(key, "");
    }
    (void)source.any("options");
    object(source, "numbers", [](Fields& by_pointer) { // pointer -> where it comes from
      if (by_pointer.json().is_object()) {
        for (const auto& [key, value] : by_pointer.json().as_object()) {
          (void)by_pointer.string(key);
        }
      }
    });
  });
}

void parse_device(Fields& profile) {
  object(profile, "device", [](Fields& device) {
    (void)device.string("name", "");
    (void)device.optional_integer("count", at_least(1));
    (void)device.string("driver", "");
    (void)device.optional_number("sm_clock_Hz", above(0));
    (void)device.any("p2p");
  });
}

void parse_valid(Fields& fields, net::NetworkProfile& profile) {
  object(fields, "valid", [&](Fields& valid) {
    profile.valid_ranks = interval<std::int64_t>(valid, "ranks", [&](const Json& value) {
      return checked_integer(value, at_least(1), valid.problems());
    });
    const auto checked = [&](const Json& value) {
      return checked_number(value, at_least(0), valid.problems());
    };
    profile.valid_bytes = interval<double>(valid, "bytes", checked);
    profile.valid_density = interval<double>(valid, "density", checked);
    profile.valid_gpus_per_node = valid.optional_integer("gpus_per_node", at_least(1));
  });
}

void parse_network(Fields& fields, net::NetworkProfile& profile) {
  object(fields, "network", [&](Fields& network) {
    (void)network.word("model", kModels, 0);
    profile.latency_s = estimate(network, "latency_s", at_least(0));
    profile.bandwidth_Bps = estimate(network, "bandwidth_Bps", at_least(1));
    profile.reduction_Bps = estimate(network, "reduction_Bps", at_least(0));
    (void)estimate(network, "block_latency_s", at_least(0));
  });
}

// Names of values that a fit held at 0; for readers of the file.
void skip_at_bound(Fields& fields) {
  for (const Json& name : fields.array("at_bound", false)) {
    if (!name.is_string()) {
      fields.problems().add(name, "must be the name of a value, got " + shown(name));
    }
  }
}

void parse_links(Fields& fields, net::NetworkProfile& profile) {
  for (const Json& json : fields.array("links", false)) {
    Fields link(json, fields.problems());
    net::LinkClass& value = profile.links.emplace_back();
    value.name = kClasses[link.word("class", kClasses, std::nullopt)];
    const auto latency = estimate(link, "latency_s", at_least(0));
    const auto per_byte = estimate(link, "per_byte_s", above(0));
    if (json.is_object() && !link.has("latency_s")) {
      fields.problems().add(json, "latency_s", "required (a number)");
    }
    if (json.is_object() && !link.has("per_byte_s")) {
      fields.problems().add(json, "per_byte_s", "required (a number)");
    }
    value.latency_s = latency.value_or(0);
    value.per_byte_s = per_byte.value_or(0);
    (void)estimate(link, "block_latency_s", at_least(0));
    (void)estimate(link, "reduction_Bps", at_least(0));
    object(link, "duplex", [](Fields& duplex) {
      (void)duplex.optional_number("exchange", above(0));
      (void)duplex.optional_number("shift", above(0));
    });
    skip_at_bound(link);
    link.no_more();
  }
}

net::CurveSegment parse_segment(const Json& json, double after, Problems& problems) {
  Fields fields(json, problems);
  net::CurveSegment segment;
  segment.from_bytes = fields.number("from_bytes", at_least(0), 0);
  segment.to_bytes = fields.number("to_bytes", at_least(segment.from_bytes),
                                   std::numeric_limits<double>::infinity());
  segment.startup_s = fields.number("startup_s", at_least(0));
  segment.per_byte_s = fields.number("per_byte_s", at_least(0));
  if (segment.from_bytes < after) {
    problems.add(json, "from_bytes", "segments must be ascending and disjoint");
  }
  skip_at_bound(fields);
  fields.no_more();
  return segment;
}

void parse_collectives(Fields& fields, net::NetworkProfile& profile) {
  for (const Json& json : fields.array("collectives", false)) {
    Fields collective(json, fields.problems());
    net::CollectiveCurve& curve = profile.collectives.emplace_back();
    curve.op = kSampleOps[collective.word("op", kSampleOps, std::nullopt)];
    curve.algorithm = collective.string("algorithm");
    curve.ranks = collective.integer("ranks", at_least(1));
    (void)collective.string("column", "");
    (void)collective.string("dtype", "");
    double after = 0;
    for (const Json& segment : collective.array("segments", true)) {
      curve.segments.push_back(parse_segment(segment, after, fields.problems()));
      after = curve.segments.back().to_bytes;
    }
    if (const Json* list = json.find("segments");
        list != nullptr && list->is_array() && curve.segments.empty()) {
      fields.problems().add(*list, "needs at least one segment");
    }
    for (const Json& row : collective.array("residuals", false)) {
      if (!row.is_array() || row.as_array().size() != 3) {
        fields.problems().add(row, "must be [bytes, measured, fitted]");
      }
    }
    object(collective, "fit", [](Fields& fit) {
      numbers(fit, "bic", {});
      (void)fit.optional_number("median_relative_error", at_least(0));
      (void)fit.optional_number("max_relative_error", at_least(0));
      (void)fit.optional_integer("points", at_least(0));
    });
    collective.no_more();
  }
}

} // namespace

net::NetworkProfile parse_profile(const Json& json) {
  Problems problems;
  Fields fields(json, problems);
  fields.header("network_calibration", true);
  net::NetworkProfile profile;
  profile.name = fields.string("name");
  profile.label = fields.word("label", net::kProfileLabels, std::nullopt);
  profile.note = fields.string("note", "");
  parse_source(fields);
  parse_device(fields);
  parse_valid(fields, profile);
  parse_network(fields, profile);
  parse_links(fields, profile);
  parse_collectives(fields, profile);
  parse_dense_inflation(fields, profile);
  parse_compression_costs(fields, profile);
  check_kernels(fields);
  object(fields, "identifiable", [](Fields& flags) {
    for (const std::string_view key : {"latency", "bandwidth", "reduction"}) {
      (void)flags.boolean(key, false);
    }
  });
  if (fields.has("grade")) {
    profile.grade = kGrades[fields.word("grade", kGrades, std::nullopt)];
  }
  (void)fields.any("grade");
  profile.warnings = parse_warnings(fields);
  if (json.is_object() && !fields.has("network") && profile.links.empty() &&
      profile.collectives.empty()) {
    problems.add(json, "give at least one of network, links, collectives");
  }
  fields.no_more();
  problems.throw_if_any();
  return profile;
}

} // namespace stepsim::io
