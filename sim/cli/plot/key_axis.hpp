#pragma once
// The axis for a key of a record: iteration_time_s becomes "iteration time" in a suitable unit of
// time, busbw_Bps "busbw" in GB/s, scaling_efficiency a percentage.
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

// Title and unit of the axis, and the factor from a value in the file to the unit of the axis.
struct KeyAxis {
  plot::Axis axis;
  double factor = 1;
};
// `greatest`: the largest value to show; a time is shown in s, ms or us depending on it.
[[nodiscard]] KeyAxis key_axis(std::string_view key, double greatest);

// Whether the key is a fraction, shown in percent.
[[nodiscard]] bool is_share(std::string_view key);
// The quantity that a key measures by its ending; empty for a key without a unit, and for a
// throughput such as samples_per_s, which ends like a time.
[[nodiscard]] std::optional<base::QuantityKind> quantity_of(std::string_view key);

} // namespace stepsim::cli
