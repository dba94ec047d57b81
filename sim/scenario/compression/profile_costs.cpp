#include "scenario/compression/profile_costs.hpp"

#include <algorithm>
#include <cassert>

#include "scenario/compression/compression_words.hpp"

namespace stepsim::study {

namespace {

using coll::CompressCosts;

void apply(const net::CompressionCosts& given, CompressCosts& costs) {
  if (!given.form.empty()) {
    costs.n_log_n = given.form == "n_log_n";
  }
  for (const auto& [key, value] : given.values) {
    const auto* const known = std::ranges::find(kCostKeys, key, &CostKey::key);
    assert(known != kCostKeys.end() && "a profile holds known costs only");
    costs.*known->value = value;
  }
}

} // namespace

coll::CompressCosts costs_of(const net::NetworkProfile& profile, coll::CompressionMethod method) {
  const coll::CompressionRow& row = coll::row(method);
  const bool selects =
      row.kind == coll::CompressionKind::sparse || row.kind == coll::CompressionKind::encoded;
  CompressCosts costs;
  const auto apply_all = [&](std::string_view name) {
    for (const net::CompressionCosts& given : profile.compression_costs) {
      if (given.method == name) {
        apply(given, costs);
      }
    }
  };
  if (selects) {
    apply_all("any");
  }
  apply_all(row.name);
  return costs;
}

} // namespace stepsim::study
