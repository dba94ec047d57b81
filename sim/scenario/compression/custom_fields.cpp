#include "scenario/compression/scenario_compression.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::study {

namespace {

// Seconds and bytes have units, which a formula has not: "1MB" is no formula.
base::QuantityKind quantity_of(std::string_view key) {
  return base::kind_of_key(key).value_or(base::QuantityKind::size);
}

} // namespace

base::Formula read_formula(io::Fields& fields, std::string_view key) {
  const io::Json* value = fields.any(key);
  if (value == nullptr || value->is_null()) {
    return {};
  }
  if (!value->is_string()) {
    return base::Formula(
        io::checked_number(*value, io::at_least(0), fields.problems()).value_or(0));
  }
  const auto quantity = base::parse_quantity(value->as_string(), quantity_of(key));
  if (const double* number = std::get_if<double>(&quantity)) {
    return base::Formula(*number);
  }
  auto parsed = base::Formula::parse(value->as_string(), collectives::kCustomVariables);
  if (const std::string* message = std::get_if<std::string>(&parsed)) {
    fields.problems().add(*value, *message);
    return {};
  }
  return std::get<base::Formula>(std::move(parsed));
}

void check_custom(io::Fields& fields, const collectives::Compression& compression,
                  std::optional<std::int64_t> elements, std::optional<std::int64_t> ranks) {
  const collectives::CustomCompressor& custom = compression.custom;
  if (!fields.has("bytes_per_worker")) {
    fields.problems().add(fields.json(), "bytes_per_worker",
                          "required: what a worker sends for n elements, a number or a formula");
  }
  bool uses_density = false;
  for (const auto& [key, formula] : collectives::kCustomFormulas) {
    uses_density = uses_density || (custom.*formula).uses(collectives::kDensityVariable);
  }
  if (uses_density && !compression.density) {
    fields.problems().add(fields.json(), "density", "required by the formulas");
  }
  if (fields.has("density") && !uses_density) {
    fields.problems().add(fields.json(), "density", "no formula uses density");
  }
  if (!elements || !ranks) {
    return;
  }
  for (const auto& [key, formula] : collectives::kCustomFormulas) {
    try {
      (void)collectives::custom_value(custom, formula, *elements,
                                      static_cast<std::uint32_t>(*ranks),
                                      compression.density.value_or(1));
    } catch (const SimulationError& error) {
      fields.problems().add(fields.json(), key, error.what());
    }
  }
}

} // namespace stepsim::study
