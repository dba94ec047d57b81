// /communication/compression back to io's tree, and the dense run that it is compared with.
#include "scenario/compression/scenario_compression.hpp"

#include "scenario/compression/compression_words.hpp"
#include "scenario/keys/compression_keys.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study {

io::Json compression_baseline(const io::Json& json) {
  const io::Json* given = json.find("baseline");
  if (given != nullptr && given->is_object()) {
    return *given;
  }
  return io::Object{{"schedule", "ddp"},
                    {std::string(keys::kBucketBytes.name), buckets::kDefaultBucketBytes.value}};
}

// Whether the method reads a key is asked of its row for every key, so that a new method needs no
// line here.
io::Json compression_tree(const collectives::Compression& compression) {
  const collectives::CompressionRow& row = collectives::row(compression.method);
  io::Json tree{io::Object{{"method", row.name}}};
  const auto set = [&](std::string_view key, io::Json value) {
    if (collectives::has_key(row, key)) {
      tree.set(key, std::move(value));
    }
  };
  for (const auto members : {std::span<const io::NamedMember<Compression>>(kExchangeMembers),
                             std::span<const io::NamedMember<Compression>>(kOwnMembers)}) {
    for (const auto& each : members) {
      io::Json value = each.written(*io::find_key(keys::kCompressionObject, each.key), compression);
      if (!value.is_null()) {
        set(each.key, std::move(value));
      }
    }
  }
  set("ratio", compression.ratio);
  if (compression.k) {
    set("k", *compression.k);
  }
  set("value_bytes", compression.value_bytes);
  if (!compression.density_warmup.empty()) {
    io::Array warmup(compression.density_warmup.begin(), compression.density_warmup.end());
    set("density_warmup", std::move(warmup));
    set("iterations_per_epoch", compression.iterations_per_epoch);
  }
  const collectives::CompressCosts& costs = compression.costs;
  io::Json cost_tree{io::Object{{"form", links::kSelectForms[costs.n_log_n ? 1 : 0]}}};
  for (const auto& [key, value] : kCostKeys) {
    if (in_form(key, costs.n_log_n)) {
      cost_tree.set(key, costs.*value);
    }
  }
  set("costs", std::move(cost_tree));
  const collectives::CustomCompressor& custom = compression.custom;
  if (!custom.name.empty()) {
    set("name", custom.name);
  }
  set("exchange", collectives::kCustomExchanges[custom.exchange]);
  for (const auto& [key, formula] : collectives::kCustomFormulas) {
    const base::Formula& value = custom.*formula;
    set(key, value.text().empty() ? io::Json(value.value({})) : io::Json(value.text()));
  }
  return tree;
}

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
    fields.refuse("bytes_per_worker",
                  "required: what a worker sends for n elements, a number or a formula");
  }
  constexpr std::string_view kKey = io::key_of<&Compression::density>();
  bool uses_density = false;
  for (const auto& [key, formula] : collectives::kCustomFormulas) {
    uses_density = uses_density || (custom.*formula).uses(collectives::kDensityVariable);
  }
  if (uses_density && !compression.density) {
    fields.refuse(kKey, "required by the formulas");
  }
  if (fields.has(kKey) && !uses_density) {
    fields.refuse(kKey, "no formula uses density");
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
      fields.refuse(key, error.what());
    }
  }
}

} // namespace stepsim::study
