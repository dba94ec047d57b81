#include "cli/text/nominal_share.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "base/percent.hpp"
#include "json/json_pointer.hpp"

namespace stepsim::cli {

namespace {

struct Place {
  std::string_view of, rate, nominal; // pointers
};
constexpr std::array kNominalPlaces{
    Place{"network", "/network/bandwidth_Bps", "/network/nominal_Bps"},
    Place{"inside", "/ring_Bps", "/link_nominal_Bps"},
    Place{"card", "/nic_Bps", "/nic_nominal_Bps"},
};

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
  for (const Place& place : kNominalPlaces) {
    const io::Json* rate = io::resolve(tree, place.rate);
    const auto nominal = number_at(io::resolve(tree, place.nominal), "value");
    const auto value = number_at(rate, "value");
    if (nominal && value && *nominal > 0) {
      shares.push_back({.of = std::string(place.of),
                        .value = *value / *nominal,
                        .low = number_at(rate, "low").value_or(*value) / *nominal,
                        .high = number_at(rate, "high").value_or(*value) / *nominal});
    }
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
