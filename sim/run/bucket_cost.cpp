// Dense buckets are timed by the evaluators of collectives, compressed ones by the stages that
// their exchange consists of. Either way the result is split by where the time is spent, because
// computing threads and the channel run at the same time.

#include "run/bucket_cost.hpp"

#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

// What a message is when its exchange has two halves: DeAR's reduce-scatter and all-gather, or a
// reduce and a broadcast.
collectives::Collective first_of(const Scenario& scenario, bool splits) {
  collectives::Collective collective = exchange_of(scenario);
  collective.op = splits ? collectives::Op::reduce_scatter : collective.op;
  return collective;
}

collectives::Collective second_of(const Scenario& scenario, bool splits) {
  collectives::Collective collective = exchange_of(scenario);
  collective.op = splits ? collectives::Op::allgather : collectives::Op::broadcast;
  return collective;
}

collectives::Collective sent(collectives::Collective collective, const programs::Exchange& message,
                             double bytes) {
  collective.algorithm = message.algorithm;
  collective.bytes = bytes;
  return collective;
}

// Bytes implied by a formula-only method: its time at zero latency and 1 byte/s.
double formula_bytes(const Scenario& scenario, const buckets::Group& group) {
  collectives::Collective base = exchange_of(scenario);
  base.links.all = {.latency_s = 0, .block_latency_s = 0, .per_byte_s = 1};
  base.links.two_level.reset();
  base.reduction_s_per_byte = 0;
  const collectives::CompressedExchange exchange = collectives::compressed_exchange(
      scenario.communication.compression, gradient_part(scenario, group), base);
  return exchange.formula_s.value_or(0);
}

} // namespace

BucketCosts::BucketCosts(const Scenario& scenario, const std::optional<buckets::Cost>& curve)
    : scenario_(scenario), splits_(splits_exchange(scenario)),
      halves_(!splits_ && has_all_gathers(scenario)), extra_(extra_cost(scenario)),
      exchange_(first_of(scenario, splits_), scenario.method, curve) {
  if (has_second_half()) {
    broadcast_.emplace(second_of(scenario, splits_), scenario.method, curve);
  }
}

// An exchange that cannot be split into its own phases counts as two equal halves: DeAR then
// behaves as with an all-reduce cut in the middle, and bytes and the sum of times stay those of the
// whole.
void BucketCosts::halve(ChannelSeconds& times) const {
  if (halves_) {
    times.broadcast_s = times.exchange_s() / 2;
    for (double* part :
         {&times.staging_s, &times.wire_s, &times.merge_s, &times.scatter_s, &times.on_wire_s}) {
      *part /= 2;
    }
    times.back_on_wire_s = times.on_wire_s;
  }
}

bool BucketCosts::has_second_half() const {
  return scenario_.communication.reduce_broadcast || splits_;
}

BucketCost BucketCosts::operator()(const buckets::Group& group, BucketCost before) {
  if (!is_compressed(scenario_)) {
    return dense(group);
  }
  BucketCost cost = compressed(group, std::move(before));
  halve(cost);
  return cost;
}

void BucketCosts::share(collectives::SentBytes& sent) {
  sent_ = &sent;
  exchange_.share(sent);
  if (broadcast_) {
    broadcast_->share(sent);
  }
}

collectives::Method BucketCosts::method() const {
  return std::max({used_, exchange_.method(),
                   broadcast_ ? broadcast_->method() : collectives::Method::closed_form});
}

std::uint64_t BucketCosts::events() const {
  return events_ + exchange_.events() + (broadcast_ ? broadcast_->events() : 0);
}

// A curve of the scenario is the whole exchange; what comes on top is added to its planner's form
// too. An exchange without time is one of a single worker or of no bytes, which has no start-up
// either.
ChannelSeconds BucketCosts::times(Bytes bytes, double wire_s, double back_s) const {
  ChannelSeconds times;
  times.on_wire_s = wire_s;
  times.wire_s = times.on_wire_s + (times.on_wire_s > 0 ? extra_.startup_s : 0);
  times.staging_s = extra_.per_byte_s * static_cast<double>(bytes.value);
  times.broadcast_s = times.back_on_wire_s = back_s;
  halve(times);
  return times;
}

ChannelSeconds BucketCosts::times(Bytes bytes) {
  return times(bytes, exchange_.seconds(bytes), broadcast_ ? broadcast_->seconds(bytes) : 0);
}

std::pair<double, double> BucketCosts::startups(Bytes bytes) {
  if (!parts_) {
    parts_.emplace(first_of(scenario_, splits_), scenario_.method);
    back_parts_.emplace(second_of(scenario_, splits_), scenario_.method);
  }
  const auto of = [&](programs::ExchangeTimes& times, programs::ExchangeSplits& parts) {
    return parts.of(times(bytes).algorithm).startup(bytes);
  };
  const double first = of(exchange_, *parts_);
  const double half = halves_ ? (first + extra_.startup_s) / 2 : 0;
  return {halves_ ? half : first + extra_.startup_s,
          broadcast_ ? of(*broadcast_, *back_parts_) : half};
}

std::optional<collectives::Line> BucketCosts::line() {
  const std::optional<collectives::Line> wire = exchange_.line();
  return wire ? std::optional(*wire + collectives::Line{extra_.startup_s, extra_.per_byte_s})
              : std::nullopt;
}

BucketCost BucketCosts::dense(const buckets::Group& group) {
  const auto bytes = static_cast<double>(group.bytes.value);
  const programs::Exchange message = exchange_(group.bytes);
  const programs::Exchange back = broadcast_ ? (*broadcast_)(group.bytes) : programs::Exchange{};
  BucketCost cost;
  static_cast<ChannelSeconds&>(cost) = times(group.bytes, message.seconds, back.seconds);
  if (is_simulated(scenario_)) {
    cost.stages = {sent(first_of(scenario_, splits_), message, bytes)};
  }
  cost.bytes_sent = message.max_bytes_sent;
  cost.links = message.links;
  cost.algorithm =
      scenario_.communication.question     ? library_pair(*scenario_.communication.question, bytes)
      : scenario_.communication.calibrated ? std::string(keys::kCalibrated)
                                           : std::string(collectives::name(message.algorithm));
  if (broadcast_) {
    if (is_simulated(scenario_)) {
      cost.back_stages = {sent(second_of(scenario_, splits_), back, bytes)};
    }
    cost.bytes_sent += back.max_bytes_sent;
    links::add_uses(back.links, 1, cost.links);
  }
  return cost;
}

// Whether buckets of all sizes are one all-reduce of parts of any size, with the same algorithm.
bool BucketCosts::is_coded(const collectives::CompressedExchange& exchange) const {
  const Communication& communication = scenario_.communication;
  const auto kind = collectives::row(communication.compression.method).kind;
  return (kind == collectives::CompressionKind::dense ||
          kind == collectives::CompressionKind::codec) &&
         exchange.stages.size() == 1 && !scenario_.cluster.network.curve &&
         !is_simulated(scenario_) && collectives::SentBytes::keeps(exchange_of(scenario_)) &&
         !halves_ && communication.options.chunking == collectives::Chunking::real;
}

void BucketCosts::code(const collectives::CompressedExchange& exchange) {
  coded_.emplace(exchange.stages.front().collective, scenario_.method, std::nullopt);
}

BucketCost BucketCosts::compressed(const buckets::Group& group, BucketCost before) {
  const auto ranks = static_cast<std::uint32_t>(scenario_.cluster.exchange_ranks());
  const collectives::Compression& compression = scenario_.communication.compression;
  const auto bytes = static_cast<double>(group.bytes.value);
  if (before.coded_ranks == ranks) {
    if (!coded_) {
      const collectives::GradientPart part{
          .elements = before.elements, .shapes = {}, .bytes = bytes};
      code(collectives::compressed_exchange(compression, part, exchange_of(scenario_)));
    }
    if (const auto seconds = coded_->by_formula(before.coded_bytes)) {
      before.staging_s = extra_.per_byte_s * bytes;
      before.on_wire_s = *seconds;
      before.wire_s = *seconds + extra_.startup_s;
      return before;
    }
  }
  // Low-rank factors depend on the shapes of the matrices in a bucket; buckets of equal bytes may
  // then cost differently, and the cache would mix them up.
  const bool by_shape = compression.method == collectives::CompressionMethod::powersgd;
  const collectives::GradientPart part =
      by_shape || before.elements == 0
          ? gradient_part(scenario_, group)
          : collectives::GradientPart{.elements = before.elements, .bytes = bytes};
  const std::pair key(group.bytes.value, part.elements);
  if (const auto found = known_.find(key); found != known_.end() && !by_shape) {
    return found->second;
  }
  const collectives::CompressedExchange exchange =
      collectives::compressed_exchange(compression, part, exchange_of(scenario_));
  std::optional<double> known = measured_seconds(scenario_, exchange);
  double coded_bytes = 0;
  if (is_coded(exchange)) {
    if (!coded_) {
      code(exchange);
    }
    coded_bytes = exchange.stages.front().collective.bytes;
    known = coded_->by_formula(coded_bytes);
  }
  const collectives::ExchangeTime wire =
      known ? collectives::ExchangeTime{.seconds = *known}
            : collectives::exchange_time(exchange, compression, scenario_.method);
  // Methods are ordered from the closed form to events, so that the largest is the most faithful
  // one.
  used_ = std::max(used_, wire.method);
  events_ += wire.events;
  const collectives::CompressTimes work = collectives::compress_times(compression, exchange, ranks);
  BucketCost cost;
  static_cast<ChannelTimes&>(cost) = channel_times(scenario_, exchange, wire.seconds, bytes);
  static_cast<CodecTimes&>(cost) = codec_times(scenario_, bytes);
  cost.select_s = work.select_s;
  cost.residual_s = work.residual_s;
  cost.on_wire_s = wire.seconds - exchange.fixed_s;
  if (is_simulated(scenario_)) {
    for (const collectives::ExchangeStage& stage : exchange.stages) {
      cost.stages.push_back(collectives::with_chosen_algorithm(stage.collective));
    }
  }
  // Methods that only have a formula have no schedule whose bytes could be counted.
  collectives::SentBytes fresh;
  cost.bytes_sent = exchange.formula_s
                        ? formula_bytes(scenario_, group)
                        : collectives::most_sent(exchange, sent_ != nullptr ? *sent_ : fresh);
  cost.algorithm = collectives::row(compression.method).name;
  cost.elements = exchange.elements;
  cost.k = exchange.k;
  cost.links = wire.links;
  cost.coded_bytes = coded_bytes;
  cost.coded_ranks = coded_bytes > 0 && known ? ranks : 0;
  return known_[key] = cost;
}

// With one worker the curve stays a curve, but of zero cost, so that the rest of the run goes the
// same way as with several.
std::optional<buckets::Cost> measured_curve(const Scenario& scenario) {
  const auto& curve = scenario.cluster.network.curve;
  if (!curve) {
    return std::nullopt;
  }
  const bool alone = !exchanges(scenario);
  return buckets::Cost{.base = alone ? decltype(curve->base){buckets::LinearCost{}} : curve->base};
}

} // namespace stepsim::study
