#include "run/bucket_cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "run/run.hpp"
#include "run/run_parts.hpp"

namespace stepsim::study {

namespace {

coll::Collective first_of(const Scenario& scenario) {
  coll::Collective collective = exchange_of(scenario);
  collective.op = splits_exchange(scenario) ? coll::Op::reduce_scatter : collective.op;
  return collective;
}

coll::Collective second_of(const Scenario& scenario) {
  coll::Collective collective = exchange_of(scenario);
  collective.op = splits_exchange(scenario) ? coll::Op::allgather : coll::Op::broadcast;
  return collective;
}

// Channel seconds of a compressed exchange, copies and synchronisation included.
struct ChannelTimes {
  double staging_s{}, wire_s{}, merge_s{}, scatter_s{};
};

ChannelTimes channel_times(const Scenario& scenario, const coll::CompressedExchange& exchange,
                           double wire_s, double dense_bytes) {
  const coll::Compression& compression = scenario.communication.compression;
  const auto ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
  const coll::CompressTimes work = coll::compress_times(compression, exchange, ranks);
  const plan::LinearCost extra = extra_cost(scenario);
  return {.staging_s = work.staging_s + extra.per_byte_s * dense_bytes,
          .wire_s = wire_s + (ranks > 1 ? extra.startup_s : 0),
          .merge_s = work.merge_s,
          .scatter_s = work.scatter_s};
}

coll::GradientPart part_of_bytes(double bytes, double bytes_per_value) {
  return {.elements = static_cast<std::int64_t>(std::ceil(bytes / bytes_per_value)),
          .shapes = {},
          .bytes = bytes};
}

// Channel seconds of a bucket of `bytes` dense bytes, by formula where there is one.
double planned_seconds(const Scenario& scenario, const coll::Collective& base, double bytes) {
  const coll::Compression& compression = scenario.communication.compression;
  const coll::CompressedExchange exchange = coll::compressed_exchange(
      compression, part_of_bytes(bytes, scenario.workload.bytes_per_value()), base);
  double wire = 0;
  if (const auto form = coll::closed_form_seconds(exchange)) {
    wire = *form;
  } else {
    const coll::Method method = base.links.fabric ? coll::Method::events : coll::Method::max_plus;
    wire = coll::exchange_time(exchange, compression, method).seconds;
  }
  const ChannelTimes times = channel_times(scenario, exchange, wire, bytes);
  return times.staging_s + times.wire_s + times.merge_s + times.scatter_s;
}

// What a formula takes for bytes, its time without latency at one byte per second.
double formula_bytes(const Scenario& scenario, const plan::Group& group) {
  coll::Collective base = exchange_of(scenario);
  base.links.all = {.latency_s = 0, .block_latency_s = 0, .per_byte_s = 1};
  base.links.two_level.reset();
  base.reduction_s_per_byte = 0;
  const coll::CompressedExchange exchange = coll::compressed_exchange(
      scenario.communication.compression, gradient_part(scenario, group), base);
  return exchange.formula_s.value_or(0);
}

// powersgd sends the factors of whole tensors: the time of all of them, shared by bytes.
plan::Cost low_rank_cost(const Scenario& scenario, const coll::Collective& base) {
  const plan::Group all = all_gradients(scenario);
  const auto seconds = [&](coll::Collective collective) {
    const coll::Compression& compression = scenario.communication.compression;
    const coll::CompressedExchange exchange =
        coll::compressed_exchange(compression, gradient_part(scenario, all), collective);
    if (base.links.fabric) {
      return coll::exchange_time(exchange, compression, coll::Method::events).seconds;
    }
    const std::optional<double> form = coll::closed_form_seconds(exchange);
    return form ? *form
                : coll::exchange_time(exchange, compression, coll::Method::max_plus).seconds;
  };
  coll::Collective latency = base;
  latency.links.all.per_byte_s = 0;
  if (latency.links.two_level) {
    latency.links.two_level->intra.per_byte_s = 0;
  }
  latency.reduction_s_per_byte = 0;
  const double startup = base.links.fabric ? 0 : seconds(latency);
  const auto bytes = static_cast<double>(all.bytes.value);
  return {.base = plan::LinearCost{startup,
                                   bytes > 0 ? std::max(0.0, seconds(base) - startup) / bytes : 0}};
}

// Of the gradients of a group; of all of them where it is a size alone.
double bytes_per_value(const Scenario& scenario, const plan::Group& group) {
  std::int64_t bytes = 0;
  std::int64_t values = 0;
  for (const std::uint32_t item : group.items) {
    if (item < scenario.workload.gradients.size()) { // else one that sends nothing
      bytes += scenario.workload.gradients[item].bytes.value;
      values += scenario.workload.gradients[item].values();
    }
  }
  return values > 0 ? static_cast<double>(bytes) / static_cast<double>(values)
                    : scenario.workload.bytes_per_value();
}

} // namespace

bool exchanges(const Scenario& scenario) {
  const coll::Options& options = scenario.communication.options;
  const bool server = scenario.communication.collective == coll::AlgorithmId::parameter_server &&
                      options.placement == coll::Placement::dedicated;
  return scenario.cluster.ranks() > 1 || server;
}

bool is_compressed(const Scenario& scenario) {
  return scenario.communication.compression.method != coll::CompressionMethod::none;
}

plan::Group all_gradients(const Scenario& scenario) {
  plan::Group all;
  for (std::uint32_t i = 0; i < scenario.workload.gradients.size(); ++i) {
    all.items.push_back(i);
    all.bytes += scenario.workload.gradients[i].bytes;
  }
  return all;
}

CodecTimes codec_times(const Scenario& scenario, double bytes) {
  const coll::Compression& compression = scenario.communication.compression;
  const bool coded = coll::row(compression.method).kind == coll::CompressionKind::codec;
  if (!coded || !exchanges(scenario)) {
    return {};
  }
  const auto seconds = [bytes](double rate) { return rate > 0 ? bytes / rate : 0; };
  return {seconds(compression.encode_Bps), seconds(compression.decode_Bps)};
}

plan::LinearCost extra_cost(const Scenario& scenario) {
  if (!exchanges(scenario)) {
    return {};
  }
  const Training& training = scenario.training;
  const double ratio = std::max(1.0, scenario.communication.compression.ratio);
  return {.startup_s = training.sync.value,
          .per_byte_s = training.host_copy_Bps > 0 ? 2 / (training.host_copy_Bps * ratio) : 0};
}

coll::GradientPart gradient_part(const Scenario& scenario, const plan::Group& group) {
  const coll::Compression& compression = scenario.communication.compression;
  coll::GradientPart part =
      part_of_bytes(static_cast<double>(group.bytes.value), bytes_per_value(scenario, group));
  if (compression.method == coll::CompressionMethod::powersgd) {
    for (const std::uint32_t item : group.items) {
      if (item >= scenario.workload.gradients.size()) {
        continue; // one that sends nothing
      }
      const train::Gradient& gradient = scenario.workload.gradients[item];
      if (gradient.shapes.empty()) {
        part.shapes.push_back({gradient.values(), 1});
      }
      part.shapes.insert(part.shapes.end(), gradient.shapes.begin(), gradient.shapes.end());
    }
  }
  return part;
}

plan::Cost compressed_cost(const Scenario& scenario) {
  const coll::Compression& compression = scenario.communication.compression;
  const coll::Collective base = exchange_of(scenario);
  if (!exchanges(scenario)) {
    return {.base = plan::LinearCost{}};
  }
  if (compression.method == coll::CompressionMethod::powersgd) {
    return low_rank_cost(scenario, base);
  }
  const auto seconds = [scenario, base](double bytes) {
    return bytes > 0 ? planned_seconds(scenario, base, bytes) : 0.0;
  };
  if (base.links.fabric) {
    return train::sampled_cost(seconds);
  }
  const coll::CompressionKind kind = coll::row(compression.method).kind;
  if (kind == coll::CompressionKind::dense || kind == coll::CompressionKind::codec) {
    // a + b m, where two equal steps of the bytes make equal steps of the time.
    constexpr double kStep = 1 << 20;
    const double one = seconds(kStep);
    const double two = seconds(2 * kStep);
    const double three = seconds(3 * kStep);
    if (std::abs(three - two - (two - one)) <= 1e-12 * three) {
      const double per_byte = (three - one) / (2 * kStep);
      return {.base = plan::LinearCost{std::max(0.0, one - per_byte * kStep), per_byte}};
    }
  }
  return {.base = plan::CurveCost{seconds}};
}

BucketCosts::BucketCosts(const Scenario& scenario, const std::optional<plan::Cost>& curve)
    : scenario_(scenario), exchange_(first_of(scenario), scenario.method, curve),
      broadcast_(second_of(scenario), scenario.method, curve) {}

BucketCost BucketCosts::operator()(const plan::Group& group) {
  BucketCost cost = is_compressed(scenario_) ? compressed(group) : dense(group);
  if (has_all_gathers(scenario_) && !splits_exchange(scenario_)) {
    cost.broadcast_s = cost.exchange_s() / 2;
    for (double* part : {&cost.staging_s, &cost.wire_s, &cost.merge_s, &cost.scatter_s}) {
      *part /= 2;
    }
  }
  return cost;
}

coll::Method BucketCosts::method() const {
  return std::max({used_, exchange_.method(), broadcast_.method()});
}

std::uint64_t BucketCosts::events() const {
  return events_ + exchange_.events() + broadcast_.events();
}

BucketCost BucketCosts::dense(const plan::Group& group) {
  const plan::LinearCost extra = extra_cost(scenario_);
  const train::Exchange& message = exchange_(group.bytes);
  BucketCost cost;
  // A curve of the scenario is the whole exchange; what comes on top is added to its planner's form
  // too.
  const bool sends = message.seconds > 0;
  cost.wire_s = message.seconds + (sends ? extra.startup_s : 0);
  cost.staging_s = extra.per_byte_s * static_cast<double>(group.bytes.value);
  cost.bytes_sent = message.max_bytes_sent;
  cost.links = message.links;
  cost.algorithm =
      scenario_.communication.calibrated ? "calibrated" : coll::name(message.algorithm);
  if (scenario_.communication.reduce_broadcast || splits_exchange(scenario_)) {
    const train::Exchange& back = broadcast_(group.bytes);
    cost.broadcast_s = back.seconds;
    cost.bytes_sent += back.max_bytes_sent;
    net::add_uses(back.links, 1, cost.links);
  }
  return cost;
}

BucketCost BucketCosts::compressed(const plan::Group& group) {
  const coll::Compression& compression = scenario_.communication.compression;
  const bool by_shape = compression.method == coll::CompressionMethod::powersgd;
  const coll::GradientPart part = gradient_part(scenario_, group);
  const std::pair key(group.bytes.value, part.elements);
  if (const auto found = known_.find(key); found != known_.end() && !by_shape) {
    return found->second;
  }
  const auto bytes = static_cast<double>(group.bytes.value);
  const auto ranks = static_cast<std::uint32_t>(scenario_.cluster.ranks());
  const coll::CompressedExchange exchange =
      coll::compressed_exchange(compression, part, exchange_of(scenario_));
  const coll::ExchangeTime wire = coll::exchange_time(exchange, compression, scenario_.method);
  used_ = std::max(used_, wire.method);
  events_ += wire.events;
  const coll::CompressTimes work = coll::compress_times(compression, exchange, ranks);
  const ChannelTimes times = channel_times(scenario_, exchange, wire.seconds, bytes);
  BucketCost cost;
  cost.select_s = work.select_s;
  cost.residual_s = work.residual_s;
  const CodecTimes codec = codec_times(scenario_, bytes);
  cost.encode_s = codec.encode_s;
  cost.decode_s = codec.decode_s;
  cost.staging_s = times.staging_s;
  cost.wire_s = times.wire_s;
  cost.merge_s = times.merge_s;
  cost.scatter_s = times.scatter_s;
  cost.bytes_sent = exchange.formula_s ? formula_bytes(scenario_, group) : wire.max_bytes_sent;
  cost.algorithm = coll::row(compression.method).name;
  cost.elements = exchange.elements;
  cost.k = exchange.k;
  cost.links = wire.links;
  return known_[key] = cost;
}

} // namespace stepsim::study
