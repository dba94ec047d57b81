#pragma once
// What the key of a record says of an axis: iteration_time_s is "iteration time" in the unit of
// time that fits, busbw_Bps "busbw" in GB/s, scaling_efficiency in percent.
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

// The axis of a key: title in words, unit, and what a value in the file is multiplied with.
struct KeyAxis {
  plot::Axis axis;
  double factor = 1;
};
// `greatest`: of the values, by which times choose between s, ms and us.
[[nodiscard]] KeyAxis key_axis(std::string_view key, double greatest);

// A share of 1, shown in percent.
[[nodiscard]] bool is_share(std::string_view key);
// None for a throughput such as samples_per_s, whose key ends like that of a time.
[[nodiscard]] std::optional<base::QuantityKind> quantity_of(std::string_view key);

} // namespace stepsim::cli
