// One function per part of the file. What a run does not use is read, too: a wrong type in a
// residual or in the name of a device shows that the file is not what it claims to be.

#include "scenario/files/network_files.hpp"

#include "base/collected.hpp"
#include "collectives/compress/compression.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/profile_keys.hpp"

namespace stepsim::io {

namespace {

using links::NetworkProfile;

// A number, or an interval {value, low, high}.
// Only `value` is used in runs; the interval is the uncertainty of a fit, for readers of the file.
// A bound that is left out equals the value.
std::optional<double> estimate(Fields& parent, std::string_view key) {
  const Json* json = parent.given(key);
  if (json == nullptr || !json->is_object()) {
    return parent.optional_number(key);
  }
  Fields fields(*json, parent.problems(), parent.row(key));
  const double value = fields.number("value");
  const double low = fields.number_or("low", value);
  const double high = fields.number_or("high", value);
  if (low > value || high < value) {
    parent.problems().add(*json, "value must lie between low and high");
  }
  fields.no_more();
  return value;
}

// [lowest, highest], each with the range of the list's elements.
// Empty where the key is absent, which means that the profile makes no claim, and where it is
// wrong, which has been reported then.
template <class Number, class Check>
std::optional<std::pair<Number, Number>> interval(Fields& parent, std::string_view key,
                                                  Check check) {
  const auto list = parent.list(key);
  if (list.empty()) {
    return std::nullopt;
  }
  if (list.size() != 2) {
    parent.problems().add(*parent.any(key), "must be [lowest, highest]");
    return std::nullopt;
  }
  const Range range = parent.row(key).keys.front().range;
  const auto low = check(list[0], range, parent.problems());
  const auto high = check(list[1], range, parent.problems());
  if (!low || !high) {
    return std::nullopt;
  }
  if (*high < *low) {
    parent.problems().add(list[1], "must be >= " + shown(list[0]) + ", got " + shown(list[1]));
    return std::nullopt;
  }
  return std::pair<Number, Number>(*low, *high);
}

// A text or an object; profiles from the literature say for single numbers where each of them comes
// from.
void parse_source(Fields& profile) {
  if (const Json* json = profile.any("source"); json != nullptr && json->is_string()) {
    return;
  }
  profile.object("source", [](Fields& source) {
    (void)read_source(source);
    (void)source.text("date");
    source.object("numbers", [](Fields& by_pointer) { // pointer -> where it comes from
      if (by_pointer.json().is_object()) {
        for (const auto& [key, value] : by_pointer.json().as_object()) {
          (void)by_pointer.string(key);
        }
      }
    });
  });
}

void parse_valid(Fields& fields, NetworkProfile& profile) {
  fields.object("valid", [&](Fields& valid) {
    profile.valid_ranks = interval<std::int64_t>(valid, "ranks", checked_integer);
    profile.valid_bytes = interval<double>(valid, "bytes", checked_number);
    profile.valid_density =
        interval<double>(valid, keys::kValidDensity.front().name, checked_number);
    profile.valid_gpus_per_node = valid.optional_integer("gpus_per_node");
  });
}

void parse_network(Fields& fields, NetworkProfile& profile) {
  fields.object("network", [&](Fields& network) {
    (void)network.word("model");
    profile.carrier = network.optional_word("transport", links::kCarriers);
    profile.bus = network.optional_word("bus", links::kBuses);
    profile.latency_s = estimate(network, "latency_s");
    profile.delay_s = estimate(network, "delay_s").value_or(0);
    profile.bandwidth_Bps = estimate(network, key_of<&NetworkProfile::bandwidth_Bps>());
    (void)network.optional_number("nominal_Bps");
    profile.fitted_rate = network.boolean("fitted");
    profile.reduction_Bps = estimate(network, "reduction_Bps");
    profile.block_latency_s = estimate(network, "block_latency_s");
  });
}

// Names of values that a fit held at 0; for readers of the file.
void skip_at_bound(Fields& fields) {
  for (const Json& name : fields.list("at_bound")) {
    if (!name.is_string()) {
      fields.problems().add(name, "must be the name of a value, got " + shown(name));
    }
  }
}

// Both costs are required of a link class although rows of the table call them optional: a class
// without one of them would be a network that costs nothing.
links::LinkClass parse_link_class(Fields& link) {
  links::LinkClass value;
  value.name = link.word("class");
  value.latency_s = estimate(link, "latency_s").value_or(0);
  value.per_byte_s = estimate(link, "per_byte_s").value_or(0);
  for (const std::string_view cost : {"latency_s", "per_byte_s"}) {
    link.refuse_if(link.json().is_object() && !link.has(cost), cost, "required (a number)");
  }
  value.delay_s = estimate(link, "delay_s").value_or(0);
  value.block_latency_s = estimate(link, "block_latency_s");
  (void)estimate(link, "reduction_Bps");
  link.object("duplex", [&](Fields& duplex) {
    value.duplex_exchange = duplex.optional_number("exchange");
    value.duplex_shift = duplex.optional_number("shift");
  });
  value.reply_s = link.optional_number("reply_s");
  skip_at_bound(link);
  return value;
}

// `after`: where the segment before ends. A segment may leave a gap to it, which the evaluation of
// the curve bridges, but must not reach back into it; without `to_bytes` it has no end.
links::CurveSegment parse_segment(Fields& fields, double after) {
  links::CurveSegment segment;
  segment.from_bytes = fields.number("from_bytes");
  segment.to_bytes = fields.number("to_bytes", at_least(segment.from_bytes),
                                   std::numeric_limits<double>::infinity());
  segment.startup_s = fields.number("startup_s");
  segment.per_byte_s = fields.number("per_byte_s");
  fields.refuse_if(segment.from_bytes < after, "from_bytes",
                   "segments must be ascending and disjoint");
  skip_at_bound(fields);
  return segment;
}

// A time that fell with size would make two messages cheaper than one of their sum.
std::vector<links::CurvePoint> parse_points(Fields& collective) {
  const Json* table = collective.given("points");
  return table == nullptr
             ? std::vector<links::CurvePoint>()
             : base::collected<links::CurvePoint>(
                   parse_cost_table(*table, collective.problems(), false), [](const auto& point) {
                     return links::CurvePoint{point.first, point.second};
                   });
}

// Curves are taken for exactly the ranks that they were measured with, so that a profile may hold
// many curves of one operation.
links::CollectiveCurve parse_curve(Fields& fields) {
  links::CollectiveCurve curve;
  curve.op = fields.word("op");
  curve.algorithm = fields.text("algorithm");
  curve.ranks = fields.integer("ranks");
  curve.start_up = fields.word("start_up", links::kStartUps);
  (void)fields.text("column");
  curve.dtype = fields.text("dtype");
  double after = 0;
  const auto segment_of = [&](Fields& each) {
    const links::CurveSegment segment = parse_segment(each, after);
    after = segment.to_bytes;
    return segment;
  };
  curve.segments = fields.each("segments", segment_of, "segment");
  curve.points = parse_points(fields);
  if (fields.has("segments") == fields.has("points")) {
    fields.problems().add(fields.json(), "give exactly one of segments and points");
  } else if (curve.points.size() > 1) {
    curve.segments = links::curve_through(curve.points);
  }
  for (const Json& row : fields.list("residuals")) {
    if (!row.is_array() || row.as_array().size() != keys::kCurveResidual.front().least) {
      fields.problems().add(row, "must be [bytes, measured, fitted]");
    }
  }
  fields.object("fit", [](Fields& fit) { fit.check_all(); });
  return curve;
}

// Parts of a profile that describe computing beside the network. Costs of compression are kept by
// the name of their row, so that a method with new costs needs no line here.

// Why no costs can be given for this word; empty if they can.
std::string no_costs_for(std::string_view method) {
  const std::vector<std::string_view> known = keys::names_with_costs();
  if (std::ranges::find(known, method) != known.end()) {
    return "";
  }
  return collectives::find_compression(method) == nullptr
             ? collectives::unknown_compression(method)
             : "method " + std::string(method) + " has no costs";
}

// Only the costs that the file gives: a run takes the default of every other one.
links::CompressionCosts parse_costs(Fields& fields, std::string_view method) {
  links::CompressionCosts costs{std::string(method), "", {}};
  costs.form = fields.optional_word(keys::kSelectForm.name).value_or("");
  for (const Key& key : keys::kCompressionCosts) {
    if (const auto value = fields.optional_number(key.name)) {
      costs.values.emplace_back(key.name, *value);
    }
  }
  return costs;
}

// Each function reads one key of the file if it is present, and reports problems through `fields`;
// Factors are one per number of ranks. A list of the wrong kind keeps its length by repeating its
// last rank or a factor of 1, so that a single bad entry is reported once and does not also make
// the lengths differ.
void parse_dense_inflation(Fields& fields, links::NetworkProfile& profile) {
  fields.object("dense_inflation", [&](Fields& inflation) {
    auto& [ranks, factors] = profile.dense_inflation;
    for (const Json& value : inflation.list("ranks")) {
      const Range range = keys::kInflationRanks.front().range;
      const auto number = checked_integer(value, range, inflation.problems());
      if (number && !ranks.empty() && *number <= ranks.back()) {
        inflation.problems().refuse(value, "ranks must be strictly ascending, got {} after {}",
                                    shown(value), ranks.back());
      }
      ranks.push_back(number.value_or(ranks.empty() ? 1 : ranks.back()));
    }
    for (const Json& value : inflation.list("factor")) {
      const Range range = keys::kInflationFactor.front().range;
      const auto number = checked_number(value, {}, inflation.problems());
      if (number && !range.contains(*number)) {
        inflation.problems().add(value, "factor " + range.text() + ", got " + shown(value));
      }
      factors.push_back(number.value_or(1));
    }
    inflation.refuse_if(inflation.has("ranks") && ranks.empty(), "ranks",
                        "needs at least one entry");
    inflation.refuse_if(factors.size() != ranks.size(), "factor",
                        "must have as many entries as ranks");
  });
}

// The keys are names of methods. A name without costs is asked for with `any`, which marks it as
// seen, or it would be reported as an unknown key a second time.
void parse_compression_costs(Fields& fields, links::NetworkProfile& profile) {
  fields.object("compression_costs", [&](Fields& methods) {
    if (!methods.json().is_object()) {
      return;
    }
    for (const auto& member : methods.json().as_object()) {
      const std::string& method = member.first;
      if (const std::string problem = no_costs_for(method); !problem.empty()) {
        methods.problems().add(member.second, problem);
        (void)methods.any(method);
        continue;
      }
      methods.object(method, [&](Fields& costs) {
        profile.compression_costs.push_back(parse_costs(costs, method));
      });
    }
  });
}

} // namespace

// Parts are read in the order of the format's description. A profile with none of network, links
// and collectives describes no network and is refused.
NetworkProfile parse_profile(const Json& json) {
  FileFields fields(json, keys::kProfile);
  NetworkProfile profile;
  profile.name = fields.text("name");
  profile.label = fields.word("label", links::kProfileLabels);
  profile.note = fields.text("note");
  parse_source(fields);
  fields.object("device", [](Fields& device) { device.check_all(); });
  parse_valid(fields, profile);
  parse_network(fields, profile);
  profile.links = fields.each("links", parse_link_class);
  profile.collectives = fields.each("collectives", parse_curve);
  parse_dense_inflation(fields, profile);
  parse_compression_costs(fields, profile);
  profile.copy_bandwidth_Bps = fields.optional_number("copy_bandwidth_Bps");
  fields.check_each("kernels"); // raw data behind the fitted costs
  fields.object("identifiable", [](Fields& flags) { flags.check_all(); });
  profile.grade = fields.optional_word("grade").value_or("");
  profile.warnings = parse_warnings(fields);
  if (json.is_object() && !fields.has("network") && profile.links.empty() &&
      profile.collectives.empty()) {
    fields.problems().add(json, "give at least one of network, links, collectives");
  }
  fields.finish();
  return profile;
}

} // namespace stepsim::io
