#include "cli/text/topology_text.hpp"

#include "scenario/files/keys/node_keys.hpp"

namespace stepsim::cli {

namespace {

// A plain number, or the member of an object with a value.
std::optional<double> number_at(const io::Json* json, std::string_view member) {
  if (json != nullptr && json->is_object()) {
    json = json->find(member);
  } else if (member != "value") {
    return std::nullopt;
  }
  return json != nullptr && json->is_number() ? std::optional(json->as_double()) : std::nullopt;
}

} // namespace

std::vector<NominalShare> nominal_shares(const io::Json& tree) {
  std::vector<NominalShare> shares;
  const auto add = [&](const io::Json& parent, std::string_view of, std::string_view rate_key,
                       std::string_view nominal_key) {
    const io::Json* rate = parent.find(rate_key);
    const auto nominal = number_at(parent.find(nominal_key), "value");
    const auto value = number_at(rate, "value");
    if (nominal && value && *nominal > 0) {
      shares.push_back({.of = std::string(of),
                        .value = *value / *nominal,
                        .low = number_at(rate, "low").value_or(*value) / *nominal,
                        .high = number_at(rate, "high").value_or(*value) / *nominal});
    }
  };
  if (const io::Json* network = tree.find("network")) {
    add(*network, "network", io::key_of<&links::NetworkProfile::bandwidth_Bps>(), "nominal_Bps");
  }
  io::Problems problems; // of a file that is not valid, which is listed without its shares
  const io::Json node = io::with_rates_of_nominal(tree, problems);
  for (const io::keys::NominalRate& each : io::keys::kNominalRates) {
    add(node, each.part, each.rate, each.nominal);
  }
  return shares;
}

std::string share_text(const std::vector<NominalShare>& shares) {
  std::string text;
  for (const NominalShare& share : shares) {
    text += (text.empty() ? "" : ", ") + (shares.size() > 1 ? share.of + " " : "") +
            base::percent(share.value, 2);
    if (share.low < share.high) {
      text += " (" + base::percent_number(share.low, 2) + " to " +
              base::percent_number(share.high, 2) + ")";
    }
  }
  return text;
}

io::Json share_tree(const std::vector<NominalShare>& shares) {
  io::Json tree;
  for (const NominalShare& share : shares) {
    if (tree.is_null()) {
      tree = io::Json(io::Object{});
    }
    tree.set(share.of,
             io::Object{{"value", share.value}, {"low", share.low}, {"high", share.high}});
  }
  return tree;
}

} // namespace stepsim::cli
