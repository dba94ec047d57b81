#pragma once
// The keys of compression costs (SPA 8.2), one row per cost. A scenario has them in
// /communication/compression/costs, a calibration in /compression_costs for each method. A cost is
// in seconds, either fixed, per element of the gradient, or per selected entry.

#include "document/fields/key.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::io::keys {

using namespace rows;

[[nodiscard]] constexpr Key compression_cost(std::string_view name, std::string_view sentence) {
  return number(name, sentence, at_least(0)).example("1e-9");
}

inline constexpr std::array kCompressionCosts{
    compression_cost("select_s", "Fixed time of a selection, s."),
    compression_cost("select_s_per_element", "Time of a selection per element, s."),
    compression_cost("select_s_per_entry", "Time of a selection per selected entry, s."),
    compression_cost("select_s_per_element_log2",
                     "Time of a selection per element and per log2 of the number of elements, s."),
    compression_cost("residual_s_per_element", "Time to update the residual per element, s."),
    compression_cost("staging_s_per_element",
                     "Time of copies between device and host per element, s."),
    compression_cost("merge_s", "Fixed time to merge two lists, s."),
    compression_cost("merge_s_per_entry", "Time to merge two lists, s per entry of one list."),
    compression_cost("scatter_s", "Fixed time to scatter entries into the dense update, s."),
    compression_cost("scatter_s_per_entry",
                     "Time to scatter entries into the dense update per entry, s.")};

inline constexpr Key kSelectForm =
    word("form", links::kSelectForms, "How the time of a selection grows with the elements.")
        .by_default("linear");

} // namespace stepsim::io::keys
