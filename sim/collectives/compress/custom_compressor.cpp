#include "collectives/compress/custom_compressor.hpp"

#include <bit>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::collectives {

double custom_value(const CustomCompressor& compressor, base::Formula CustomCompressor::*formula,
                    std::int64_t elements, std::uint32_t ranks, double density) {
  const std::array<double, kCustomVariables.size()> values{static_cast<double>(elements),
                                                           static_cast<double>(ranks), density};
  const double value = (compressor.*formula).value(values);
  if (std::isfinite(value) && value >= 0) {
    return value;
  }
  const auto* row = std::ranges::find(kCustomFormulas, formula, &CustomKey::formula);
  throw SimulationError("custom: " + std::string(row->key) + " is " +
                        (std::isfinite(value) ? base::shortest(value) : "not a finite number") +
                        " with n = " + std::to_string(elements) + ", P = " + std::to_string(ranks));
}

double custom_merges(CustomExchange exchange, std::uint32_t ranks) {
  const double p = ranks;
  switch (exchange) {
  case CustomExchange::ring:
    return (p - 1) / p;
  case CustomExchange::allgather:
  case CustomExchange::server:
    return p - 1;
  case CustomExchange::tree:
    return std::bit_width(ranks - 1); // ceil(log2 P)
  }
  return 0;
}

} // namespace stepsim::collectives
