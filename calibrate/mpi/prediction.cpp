#include "calibrate/mpi/link_estimate.hpp"

#include "collectives/algorithms.hpp"
#include "links/fabric/topology.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/files/network_files.hpp"

namespace stepsim::calibrate::mpi {

namespace {

using collectives::AlgorithmId;

// The operation as the simulator knows it, in whole elements.
collectives::Collective predicted_as(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                     const MessageOptions& options, const Predictor& predictor) {
  collectives::Collective collective = collective_of(kind, ranks, bytes);
  collective.links.all = predictor.link;
  collective.enter_s = predictor.enter_s;
  if (predictor.fabric) {
    collectives::LinkCost& all = collective.links.all;
    all.per_byte_s = 0;           // bytes take the time of the fabric's links
    all.latency_s += all.delay_s; // on a fabric no latency holds a port
    all.delay_s = 0;
    collective.links.fabric = predictor.fabric;
  } else {
    collective.links.measured = predictor.steps;
  }
  collective.reduction_s_per_byte = predictor.gamma;
  if (kind.algorithm == AlgorithmId::lp) {
    collective.options.block = Bytes{std::min(options.segment_bytes, bytes)};
  }
  return collective;
}

// Messages that the simulator has no schedule for.
std::vector<collectives::StepMessage> own_messages(const Kind& kind, std::uint32_t ranks,
                                                   std::int64_t bytes,
                                                   const MessageOptions& options,
                                                   const Predictor& predictor) {
  std::vector<collectives::StepMessage> messages;
  for (const Message& message : messages_of(kind, ranks, bytes, options)) {
    const auto size = static_cast<double>(message.count * kElement);
    const double added = kind.sparse ? predictor.merge_s : size * predictor.gamma;
    messages.push_back({.step = message.step,
                        .src = message.src,
                        .dst = message.dst,
                        .bytes = size,
                        .added_s = message.reduce ? added : 0,
                        .answered = message.acknowledged});
  }
  return messages;
}

// Rank r of a binomial tree sends to r + 2^j for all 2^j > r. Messages to several children share
// the port and end together; a rank has its own before its children, which have higher numbers.
double binomial_at_once(std::uint32_t ranks, std::int64_t bytes, const Predictor& predictor) {
  std::vector<double> ready(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint32_t> children;
    for (std::uint32_t bit = std::bit_ceil(rank + 1); rank + bit < ranks; bit *= 2) {
      children.push_back(rank + bit);
    }
    const double sent = static_cast<double>(bytes) * static_cast<double>(children.size());
    for (const std::uint32_t child : children) {
      ready[child] = ready[rank] + links::curve_seconds(predictor.steps->one_way, sent);
    }
  }
  return *std::ranges::max_element(ready);
}

// A curve that stays at what the smallest message takes.
std::vector<links::CurveSegment> level(const std::vector<links::CurveSegment>& curve) {
  return {{.from_bytes = 0,
           .to_bytes = std::numeric_limits<double>::infinity(),
           .startup_s = links::curve_seconds(curve, std::max(1.0, curve.front().from_bytes)),
           .per_byte_s = 0}};
}

} // namespace

Predictor predictor_of(const io::Json& calibration) {
  const links::NetworkProfile profile = io::parse_profile(calibration);
  Predictor predictor;
  std::optional<collectives::MeasuredSteps> steps = collectives::measured_steps(profile);
  if (!steps) {
    throw InputError(std::string(calibration.file()), "/links",
                     "needs a link of class network or host with both duplex factors");
  }
  const links::LinkClass* link = collectives::link_of_ranks(profile);
  predictor.link = {link->latency_s, steps->block_latency_s, link->per_byte_s, link->delay_s};
  predictor.steps = std::make_shared<const collectives::MeasuredSteps>(std::move(*steps));
  const double rate = profile.reduction_Bps.value_or(0);
  predictor.gamma = rate > 0 ? 1 / rate : 0;
  return predictor;
}

std::shared_ptr<const links::RankFabric> fabric_of(const io::Json& topology, std::uint32_t ranks) {
  links::RankFabric fabric;
  fabric.network =
      std::make_shared<const links::RoutedFabric>(links::fabric_of(io::parse_topology(topology)));
  fabric.hosts = links::place_ranks(fabric.fabric(), ranks, 1, links::PlacementRule::packed);
  return std::make_shared<const links::RankFabric>(std::move(fabric));
}

bool simulated(const Kind& kind) {
  return !kind.sparse && collectives::find_algorithm(kind.op, kind.algorithm) != nullptr;
}

double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
               const MessageOptions& options, const Predictor& predictor) {
  if (ranks < 2 || bytes == 0) {
    return 0;
  }
  if (predictor.children_at_once && kind.op == collectives::Op::broadcast &&
      kind.algorithm == AlgorithmId::mst) {
    return binomial_at_once(ranks, bytes, predictor);
  }
  if (simulated(kind)) {
    const collectives::Collective collective = predicted_as(kind, ranks, bytes, options, predictor);
    return (predictor.fabric ? collectives::events(collective) : collectives::max_plus(collective))
        .seconds;
  }
  assert(!predictor.fabric);
  const std::vector<collectives::StepMessage> messages =
      own_messages(kind, ranks, bytes, options, predictor);
  const collectives::RankTimes times = collectives::step_times(
      messages, *predictor.steps,
      predictor.enter_s.empty() ? std::vector<double>(ranks) : predictor.enter_s);
  return *std::ranges::max_element(times.finish_s);
}

// What is left after taking away adding, then bytes: the largest of the three parts.
std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                     const MessageOptions& options, const Predictor& predictor) {
  Predictor free = predictor;
  free.gamma = free.merge_s = 0;
  collectives::MeasuredSteps first = *predictor.steps;
  for (std::vector<links::CurveSegment>* curve : {&first.one_way, &first.exchange, &first.shift}) {
    *curve = level(*curve);
  }
  first.per_byte_s = 0;
  Predictor start = free;
  start.fabric.reset(); // the steps say what is left of a message without its bytes
  start.steps = std::make_shared<const collectives::MeasuredSteps>(std::move(first));
  const double all = predict(kind, ranks, bytes, options, predictor);
  const double moved = predict(kind, ranks, bytes, options, free);
  const double started = predict(kind, ranks, bytes, options, start);
  const double reduction = all - moved;
  const double bandwidth = moved - started;
  if (reduction > std::max(bandwidth, started)) {
    return "reduction";
  }
  return bandwidth >= started ? "bandwidth" : "latency";
}

} // namespace stepsim::calibrate::mpi
