#pragma once
// The cost keys of `/communication/compression` with the members that they set, one list for
// reading and writing. The rows with their meaning are in
// scenario/files/keys/compression_cost_keys.hpp.

#include "collectives/compress/compression.hpp"
#include "scenario/files/keys/compression_cost_keys.hpp"

namespace stepsim::study {

struct CostKey {
  std::string_view key;
  double collectives::CompressCosts::*value;
};
inline constexpr std::array kCostKeys{
    CostKey{"select_s", &collectives::CompressCosts::select_s},
    CostKey{"select_s_per_element", &collectives::CompressCosts::select_s_per_element},
    CostKey{"select_s_per_entry", &collectives::CompressCosts::select_s_per_entry},
    CostKey{"select_s_per_element_log2", &collectives::CompressCosts::select_s_per_element_log2},
    CostKey{"residual_s_per_element", &collectives::CompressCosts::residual_s_per_element},
    CostKey{"staging_s_per_element", &collectives::CompressCosts::staging_s_per_element},
    CostKey{"merge_s", &collectives::CompressCosts::merge_s},
    CostKey{"merge_s_per_entry", &collectives::CompressCosts::merge_s_per_entry},
    CostKey{"scatter_s", &collectives::CompressCosts::scatter_s},
    CostKey{"scatter_s_per_entry", &collectives::CompressCosts::scatter_s_per_entry},
};

static_assert(std::ranges::equal(kCostKeys, io::keys::kCompressionCosts, {}, &CostKey::key,
                                 &io::Key::name));

// Whether the cost `key` is used: with `n_log_n`, selecting from n elements takes a time
// proportional to n log n, else to n and to the number of entries. Costs of anything but selecting
// are always used.
[[nodiscard]] inline bool in_form(std::string_view key, bool n_log_n) {
  if (key == "select_s_per_element_log2") {
    return n_log_n;
  }
  return !n_log_n || (key != "select_s_per_element" && key != "select_s_per_entry");
}

} // namespace stepsim::study
