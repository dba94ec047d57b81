#include "scenario/conditions.hpp"

#include "document/reader.hpp"
#include "scenario/keys/conditions_keys.hpp"

namespace stepsim::study {

namespace keys {
namespace {

constexpr std::array<std::string_view, 1> kConditionsExamples{R"({
  "schema_version": 1, "kind": "conditions", "name": "mine",
  "factors": {}})"};

} // namespace

io::FileKind conditions_file() { return {"conditions", &kConditionsFile, kConditionsExamples}; }

} // namespace keys

FactorValue read_factor(const io::Json& json, Factor factor, io::Problems& problems) {
  const auto check = [&](const io::Json& place, double value) {
    const bool slows = factor == Factor::s_net || factor == Factor::s_bus;
    if (slows && value < 1) {
      problems.add(place, "must be >= 1, got " + base::shortest(value));
    } else if (!is_plain(factor) && !is_cost(factor) && value <= 0) {
      problems.add(place, "must be above 0, got " + base::shortest(value));
    }
  };
  if (!json.is_object()) {
    const FactorValue out{
        .value = io::checked_number(json, keys::kFactorValueForms[0].range, problems).value_or(1),
        .tau = 0};
    check(json, out.value);
    return out;
  }
  io::Fields fields(json, problems, keys::kFactorValueForms[1]);
  std::optional<double> value;
  if (fields.has("value")) {
    value = fields.optional_number("value");
  } else {
    (void)fields.number("value"); // says that it is required
  }
  FactorValue out{.value = value.value_or(1), .tau = 0};
  const auto low = fields.optional_number("low");
  const auto high = fields.optional_number("high");
  const auto tau = fields.optional_number("tau");
  (void)fields.text("evidence");
  fields.no_more();
  if (tau && (low || high)) {
    problems.add(json, "give either tau or low and high");
  } else if (low.has_value() != high.has_value()) {
    problems.add(json, "give both low and high");
  } else if (low && value &&
             (*low > *value || *high < *value || (*low <= 0 && !is_plain(factor)))) {
    problems.add(json, "low, value and high must rise" +
                           std::string(is_plain(factor) ? "" : " and be above 0") + ", got " +
                           base::shortest(*low) + ", " + base::shortest(*value) + " and " +
                           base::shortest(*high));
  } else {
    out.tau = low ? tau_of_range(factor, *low, *high) : tau.value_or(0);
  }
  if (value) {
    check(*json.find("value"), *value);
  }
  return out;
}

FactorValues parse_conditions_file(const io::Json& json) {
  io::FileFields fields(json, keys::kConditionsFile);
  (void)fields.text("note");
  FactorValues values{};
  if (const io::Json* factors = fields.any("factors"); factors != nullptr && factors->is_object()) {
    io::Fields each(*factors, fields.problems());
    std::vector<std::string_view> missing;
    for (std::size_t i = 0; i < kFactorCount; ++i) {
      const auto factor = static_cast<Factor>(i);
      if (const io::Json* value = each.any(kFactors[factor])) {
        values[i] = read_factor(*value, factor, fields.problems());
      } else {
        missing.push_back(kFactors[factor]);
      }
    }
    if (!missing.empty()) {
      fields.problems().add(*factors, "must have all factors; missing: " + base::joined(missing));
    }
    each.no_more();
  } else {
    fields.refuse("factors", "required (an object)");
  }
  fields.finish();
  return values;
}

} // namespace stepsim::study
