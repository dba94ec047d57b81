#include "calibrate/mpi/prediction.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "base/error.hpp"
#include "coll/algorithms.hpp"
#include "coll/evaluate/events.hpp"
#include "coll/evaluate/max_plus.hpp"
#include "files/profile_file.hpp"
#include "files/topology_file.hpp"
#include "net/fabric/placement.hpp"
#include "net/fabric/topology.hpp"
#include "net/profile/profile_curve.hpp"

namespace stepsim::calibrate::mpi {

namespace {

using coll::AlgorithmId;

// The operation as the simulator knows it, in whole elements.
coll::Collective collective_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                               const MessageOptions& options, const Predictor& predictor) {
  coll::Collective collective;
  collective.op = kind.op;
  collective.algorithm = kind.algorithm;
  collective.ranks = ranks;
  collective.bytes = static_cast<double>(bytes);
  collective.links.all = predictor.link;
  collective.enter_s = predictor.enter_s;
  if (predictor.fabric) {
    coll::LinkCost& all = collective.links.all;
    all.per_byte_s = 0;           // bytes take the time of the fabric's links
    all.latency_s += all.delay_s; // on a fabric no latency holds a port
    all.delay_s = 0;
    collective.links.fabric = predictor.fabric;
  } else {
    collective.links.measured = predictor.steps;
  }
  collective.reduction_s_per_byte = predictor.gamma;
  collective.options.element_bytes = kElement;
  if (kind.algorithm == AlgorithmId::lp) {
    collective.options.block = Bytes{std::min(options.segment_bytes, bytes)};
  }
  return collective;
}

// Messages that the simulator has no schedule for.
std::vector<coll::StepMessage> own_messages(const Kind& kind, std::uint32_t ranks,
                                            std::int64_t bytes, const MessageOptions& options,
                                            const Predictor& predictor) {
  std::vector<coll::StepMessage> messages;
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
      ready[child] = ready[rank] + net::curve_seconds(predictor.steps->one_way, sent);
    }
  }
  return *std::ranges::max_element(ready);
}

// A curve that stays at what the smallest message takes.
std::vector<net::CurveSegment> level(const std::vector<net::CurveSegment>& curve) {
  return {{.from_bytes = 0,
           .to_bytes = std::numeric_limits<double>::infinity(),
           .startup_s = net::curve_seconds(curve, std::max(1.0, curve.front().from_bytes)),
           .per_byte_s = 0}};
}

} // namespace

Predictor predictor_of(const io::Json& calibration) {
  const net::NetworkProfile profile = io::parse_profile(calibration);
  Predictor predictor;
  std::optional<coll::MeasuredSteps> steps = coll::measured_steps(profile);
  if (!steps) {
    throw InputError(std::string(calibration.file()), "/links",
                     "needs a link of class network or host with both duplex factors");
  }
  const net::LinkClass* link = coll::link_of_ranks(profile);
  predictor.link = {link->latency_s, steps->block_latency_s, link->per_byte_s, link->delay_s};
  predictor.steps = std::make_shared<const coll::MeasuredSteps>(std::move(*steps));
  const double rate = profile.reduction_Bps.value_or(0);
  predictor.gamma = rate > 0 ? 1 / rate : 0;
  return predictor;
}

std::shared_ptr<const net::RankFabric> fabric_of(const io::Json& topology, std::uint32_t ranks) {
  net::RankFabric fabric;
  fabric.network =
      std::make_shared<const net::RoutedFabric>(net::fabric_of(io::parse_topology(topology)));
  fabric.hosts = net::place_ranks(fabric.fabric(), ranks, 1, net::PlacementRule::packed);
  return std::make_shared<const net::RankFabric>(std::move(fabric));
}

bool simulated(const Kind& kind) {
  return !kind.sparse && coll::find_algorithm(kind.op, kind.algorithm) != nullptr;
}

double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
               const MessageOptions& options, const Predictor& predictor) {
  if (ranks < 2 || bytes == 0) {
    return 0;
  }
  if (predictor.children_at_once && kind.op == coll::Op::broadcast &&
      kind.algorithm == AlgorithmId::mst) {
    return binomial_at_once(ranks, bytes, predictor);
  }
  if (simulated(kind)) {
    const coll::Collective collective = collective_of(kind, ranks, bytes, options, predictor);
    return (predictor.fabric ? coll::events(collective) : coll::max_plus(collective)).seconds;
  }
  assert(!predictor.fabric);
  const std::vector<coll::StepMessage> messages =
      own_messages(kind, ranks, bytes, options, predictor);
  const coll::RankTimes times =
      coll::step_times(messages, *predictor.steps,
                       predictor.enter_s.empty() ? std::vector<double>(ranks) : predictor.enter_s);
  return *std::ranges::max_element(times.finish_s);
}

// What is left after taking away adding, then bytes: the largest of the three parts.
std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                     const MessageOptions& options, const Predictor& predictor) {
  Predictor free = predictor;
  free.gamma = free.merge_s = 0;
  coll::MeasuredSteps first = *predictor.steps;
  for (std::vector<net::CurveSegment>* curve : {&first.one_way, &first.exchange, &first.shift}) {
    *curve = level(*curve);
  }
  first.per_byte_s = 0;
  Predictor start = free;
  start.fabric.reset(); // the steps say what is left of a message without its bytes
  start.steps = std::make_shared<const coll::MeasuredSteps>(std::move(first));
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
