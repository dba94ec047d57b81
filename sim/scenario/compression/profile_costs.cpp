#include "scenario/compression/scenario_compression.hpp"

#include <algorithm>
#include <cassert>

#include "scenario/compression/compression_words.hpp"

namespace stepsim::study {

namespace {

using collectives::CompressCosts;

void apply(const links::CompressionCosts& given, CompressCosts& costs) {
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

collectives::CompressCosts costs_of(const links::NetworkProfile& profile,
                                    collectives::CompressionMethod method) {
  const collectives::CompressionRow& row = collectives::row(method);
  const bool selects = row.kind == collectives::CompressionKind::sparse ||
                       row.kind == collectives::CompressionKind::encoded;
  CompressCosts costs;
  const auto apply_all = [&](std::string_view name) {
    for (const links::CompressionCosts& given : profile.compression_costs) {
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
