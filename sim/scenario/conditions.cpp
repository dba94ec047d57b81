#include "scenario/conditions.hpp"

#include "document/reader.hpp"
#include "scenario/keys/conditions_keys.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::study {

namespace {

constexpr std::array<std::string_view, kFactorCount> kMeanings{
    "share of its rate that PCIe reaches in a ring",
    "share of its rate that NVLink reaches in a ring",
    "share of its rate that xGMI reaches in a ring",
    "share of the rate of TCP's payload on one's own switch",
    "rate of TCP over one connection per ring, bytes/s",
    "rate of TCP between rented machines, bytes/s",
    "share of a card's rate that RDMA reaches from GPUs on PCIe",
    "share of a machine's network that RDMA reaches, up to 100 Gbit/s",
    "share of a machine's network that RDMA reaches, above 100 Gbit/s",
    "share of the network's rate that parameter servers reach",
    "share of the rate that remains where the host's processor adds",
    "share of the rate that remains with ByteScheduler",
    "start of a message by NCCL, s",
    "start of a message by Horovod, s",
    "start of a push and its pull, s",
    "start of a message by ByteScheduler, s",
    "latency of a hop by TCP, s",
    "latency of a hop by RDMA, s",
    "slowdown of computing beside an exchange over PCIe or the network",
    "slowdown of computing beside an exchange over NVLink or xGMI",
    "loss of computing by having more than one worker",
    "loss of computing per doubling of the workers",
    "loss of computing by having more than one worker, added in reduced precision",
    "exponent of the micro-batches that share a loss"};

} // namespace

std::string_view meaning(Factor factor) { return kMeanings[static_cast<std::size_t>(factor)]; }

double moved(Factor factor, const FactorValue& value, double deviations) {
  if (is_plain(factor)) {
    return std::max(0.0, value.value + deviations * value.tau);
  }
  const double other = value.value * std::exp(deviations * value.tau);
  const bool slowdown = factor == Factor::s_net || factor == Factor::s_bus;
  return slowdown ? std::max(1.0, other) : other;
}

double value_without_loss(Factor factor) {
  constexpr double kNoCap = 1e300; // bytes/s
  const bool is_cap = factor == Factor::c_tcp || factor == Factor::c_cloud;
  return is_plain(factor) || is_cost(factor) ? 0 : is_cap ? kNoCap : 1;
}

double tau_of_range(Factor factor, double low, double high) {
  return (is_plain(factor) ? high - low : std::log(high / low)) / (2 * kDeviationsOf80);
}

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
