#include "scenario/compression/profile_costs.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace stepsim::study {

namespace {

using coll::CompressCosts;

// In the order of net::kCompressionCosts.
constexpr std::array kMembers{
    &CompressCosts::select_s,
    &CompressCosts::select_s_per_element,
    &CompressCosts::select_s_per_entry,
    &CompressCosts::select_s_per_element_log2,
    &CompressCosts::residual_s_per_element,
    &CompressCosts::staging_s_per_element,
    &CompressCosts::merge_s,
    &CompressCosts::merge_s_per_entry,
    &CompressCosts::scatter_s,
    &CompressCosts::scatter_s_per_entry,
};
static_assert(kMembers.size() == net::kCompressionCosts.size());

void apply(const net::CompressionCosts& given, CompressCosts& costs) {
  if (!given.form.empty()) {
    costs.n_log_n = given.form == "n_log_n";
  }
  for (const auto& [key, value] : given.values) {
    const auto* const known = std::ranges::find(net::kCompressionCosts, key);
    assert(known != net::kCompressionCosts.end() && "a profile holds known costs only");
    costs.*kMembers[static_cast<std::size_t>(known - net::kCompressionCosts.begin())] = value;
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
