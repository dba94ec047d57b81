// Planners ask for the cost of many sizes: a formula where there is one, else one evaluation per
// size.

#include "scenario/compression/scenario_compression.hpp"

#include "collectives/evaluate/server_flows.hpp"
#include "collectives/method.hpp"
#include "programs/step/exchange_times.hpp"
#include "scenario/compression/compression_words.hpp"
#include "scenario/keys/compression_keys.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study {

namespace {

// Seconds on the wire, by formula where there is one, else by the cheapest evaluator that has all
// stages: max_plus has no fabrics and, of servers, only single ones.
double wire_seconds(const Scenario& scenario, const collectives::CompressedExchange& exchange) {
  if (const auto measured = measured_seconds(scenario, exchange)) {
    return *measured;
  }
  if (const auto form = collectives::closed_form_seconds(exchange)) {
    return *form;
  }
  const bool defined = std::ranges::all_of(exchange.stages, collectives::max_plus_defined,
                                           &collectives::ExchangeStage::collective);
  const collectives::Method method =
      defined ? collectives::Method::max_plus : collectives::Method::events;
  return collectives::exchange_time(exchange, scenario.communication.compression, method).seconds;
}

// Channel seconds of a bucket of `bytes` dense bytes, of which a value has `value_bytes`.
double planned_seconds(const Scenario& scenario, const collectives::Collective& base,
                       double value_bytes, double bytes) {
  const collectives::CompressedExchange exchange = collectives::compressed_exchange(
      scenario.communication.compression, part_of_bytes(bytes, value_bytes), base);
  return channel_times(scenario, exchange, wire_seconds(scenario, exchange), bytes).exchange_s();
}

// The line of a code whose exchange of any size is one all-reduce of as many parts of its bytes.
std::optional<buckets::LinearCost> coded_line(const Scenario& scenario,
                                              const collectives::Collective& base,
                                              double value_bytes, double bytes) {
  const collectives::Compression& compression = scenario.communication.compression;
  const collectives::GradientPart part = part_of_bytes(bytes, value_bytes);
  if (scenario.cluster.network.curve || base.options.chunking != collectives::Chunking::real ||
      !collectives::SentBytes::keeps(base) ||
      static_cast<double>(part.elements) * value_bytes != bytes) {
    return std::nullopt;
  }
  const collectives::CompressedExchange exchange =
      collectives::compressed_exchange(compression, part, base);
  if (exchange.stages.size() != 1 || !exchange.stages.front().collective.homogeneous()) {
    return std::nullopt;
  }
  const collectives::Collective& sent = exchange.stages.front().collective;
  const auto form = collectives::closed_form(sent);
  if (!form || !form->startup_s || !form->per_byte_s) {
    return std::nullopt;
  }
  const buckets::LinearCost extra = extra_cost(scenario);
  return buckets::LinearCost{*form->startup_s + extra.startup_s,
                             *form->per_byte_s * (sent.bytes / bytes) + extra.per_byte_s};
}

// powersgd sends the factors of whole tensors: the time of all of them, shared by bytes. What has
// no bytes is the start-up: on a fabric, where times of two sizes are not told apart, that of
// synchronizing alone.
buckets::Cost low_rank_cost(const Scenario& scenario, const collectives::Collective& base) {
  const buckets::Group all = all_gradients(scenario);
  const auto exchange = [&](const collectives::Collective& collective) {
    return collectives::compressed_exchange(scenario.communication.compression,
                                            gradient_part(scenario, all), collective);
  };
  collectives::Collective latency = base;
  latency.links.all.per_byte_s = 0;
  if (latency.links.two_level) {
    latency.links.two_level->intra.per_byte_s = 0;
  }
  latency.reduction_s_per_byte = 0;
  const double startup = (base.links.fabric ? 0 : wire_seconds(scenario, exchange(latency))) +
                         extra_cost(scenario).startup_s;
  const auto bytes = static_cast<double>(all.bytes.value);
  const double seconds =
      channel_times(scenario, exchange(base), wire_seconds(scenario, exchange(base)), bytes)
          .exchange_s();
  return {.base = buckets::LinearCost{startup,
                                      bytes > 0 ? std::max(0.0, seconds - startup) / bytes : 0}};
}

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

// The row of a name that says which part it is; null for others.
const layers::Gpu* gpu_of(std::string_view name) {
  const auto all = layers::gpus();
  const auto found = std::ranges::find_if(
      all, [&](const layers::Gpu& gpu) { return layers::may_be_same_gpu(gpu.name, name); });
  return found == all.end() || layers::part_name(name).part.empty() ? nullptr : &*found;
}

const layers::Gpu* gpu_of(const Scenario& scenario) {
  if (const auto& estimate = scenario.workload_source.profile.estimate) {
    return estimate->gpu;
  }
  const layers::Gpu* timed = gpu_of(scenario.workload.device);
  return timed == nullptr && scenario.cluster.node ? gpu_of(scenario.cluster.node->gpu) : timed;
}

// Seconds and bytes have units, which a formula has not: "1MB" is no formula.
base::QuantityKind quantity_of(std::string_view key) {
  return base::kind_of_key(key).value_or(base::QuantityKind::size);
}

} // namespace

std::optional<double> measured_seconds(const Scenario& scenario,
                                       const collectives::CompressedExchange& exchange) {
  const auto& curve = scenario.cluster.network.curve;
  if (!curve) {
    return std::nullopt;
  }
  return base::sum_of<double>(exchange.stages, [&](const collectives::ExchangeStage& stage) {
    return curve->seconds(stage.collective.bytes, 1);
  });
}

ChannelTimes channel_times(const Scenario& scenario,
                           const collectives::CompressedExchange& exchange, double wire_s,
                           double dense_bytes) {
  const collectives::Compression& compression = scenario.communication.compression;
  const auto ranks = static_cast<std::uint32_t>(scenario.cluster.exchange_ranks());
  const collectives::CompressTimes work = collectives::compress_times(compression, exchange, ranks);
  const buckets::LinearCost extra = extra_cost(scenario);
  return {.staging_s = work.staging_s + extra.per_byte_s * dense_bytes,
          .wire_s = wire_s + extra.startup_s,
          .merge_s = work.merge_s,
          .scatter_s = work.scatter_s};
}

buckets::Cost compressed_cost(const Scenario& scenario) {
  return compressed_cost(scenario, exchange_of(scenario), scenario.workload.bytes_per_value());
}

buckets::Cost compressed_cost(const Scenario& scenario, const collectives::Collective& base,
                              double value_bytes) {
  const collectives::Compression& compression = scenario.communication.compression;
  if (!exchanges(scenario)) {
    return {.base = buckets::LinearCost{}};
  }
  if (compression.method == collectives::CompressionMethod::powersgd) {
    return low_rank_cost(scenario, base);
  }
  const collectives::CompressionKind kind = collectives::row(compression.method).kind;
  const bool known = !base.links.fabric;
  if (known && (kind == collectives::CompressionKind::dense ||
                kind == collectives::CompressionKind::codec)) {
    const auto seconds = [&](double bytes) {
      return planned_seconds(scenario, base, value_bytes, bytes);
    };
    // a + b m, where two equal steps of the bytes make equal steps of the time.
    constexpr double kStep = 1 << 20;
    if (const auto line = coded_line(scenario, base, value_bytes, kStep)) {
      return {.base = *line};
    }
    const double one = seconds(kStep);
    const double two = seconds(2 * kStep);
    const double three = seconds(3 * kStep);
    if (std::abs(three - two - (two - one)) <= 1e-12 * three) {
      const double per_byte = (three - one) / (2 * kStep);
      return {.base = buckets::LinearCost{std::max(0.0, one - per_byte * kStep), per_byte}};
    }
  }
  const auto seconds = [scenario, base, value_bytes](double bytes) {
    return bytes > 0 ? planned_seconds(scenario, base, value_bytes, bytes) : 0.0;
  };
  return known ? buckets::Cost{.base = buckets::CurveCost{seconds}}
               : programs::sampled_cost(seconds);
}

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

CompressCosts low_rank_costs(const Scenario& scenario, std::int64_t rank) {
  const layers::Gpu* gpu = gpu_of(scenario);
  const auto values = static_cast<double>(scenario.workload.values());
  if (gpu == nullptr || rank < 1 || values == 0) {
    return {};
  }
  collectives::Compression compression;
  compression.rank = rank;
  collectives::GradientPart part{.elements = scenario.workload.values(),
                                 .bytes = static_cast<double>(scenario.workload.bytes().value)};
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    part.shapes.insert(part.shapes.end(), gradient.shapes.begin(), gradient.shapes.end());
  }
  const double narrow = scenario.workload.bytes_per_value() > 2 ? 0.5 : 1;
  const double products = narrow * gpu->matrix_fraction * gpu->peak.value;
  const double memory = layers::kMemoryFraction * gpu->memory.value;
  const auto per_value = [&](const collectives::Work& work) {
    return std::max(work.flops / products, work.bytes / memory) / values;
  };
  const collectives::LowRankWork work = collectives::low_rank_work(compression, part);
  CompressCosts costs;
  costs.select_s_per_element = per_value(work.encode);
  costs.residual_s_per_element = per_value(work.feedback);
  costs.scatter_s_per_entry = per_value(work.decode);
  return costs;
}

bool assumes_low_rank_costs(const Scenario& scenario) {
  const collectives::Compression& compression = scenario.communication.compression;
  return compression.method == collectives::CompressionMethod::powersgd &&
         compression.costs != CompressCosts{} &&
         compression.costs == low_rank_costs(scenario, compression.rank);
}

// /communication/compression back to io's tree, and the dense run that it is compared with.

io::Json compression_baseline(const io::Json& json) {
  if (const io::Json* given = json.find("baseline"); given != nullptr && given->is_object()) {
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
    io::set_if(collectives::has_key(row, key), tree, key, std::move(value));
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
    io::set_if(in_form(key, costs.n_log_n), cost_tree, key, costs.*value);
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
  fields.refuse_if(!fields.has("bytes_per_worker"), "bytes_per_worker",
                   "required: what a worker sends for n elements, a number or a formula");
  constexpr std::string_view kKey = io::key_of<&Compression::density>();
  bool uses_density = false;
  for (const auto& [key, formula] : collectives::kCustomFormulas) {
    uses_density = uses_density || (custom.*formula).uses(collectives::kDensityVariable);
  }
  fields.refuse_if(uses_density && !compression.density, kKey, "required by the formulas");
  fields.refuse_if(fields.has(kKey) && !uses_density, kKey, "no formula uses density");
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
