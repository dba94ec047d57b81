#include "calibrate/mpi/prediction.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stepsim::calibrate::mpi {

namespace {

using coll::AlgorithmId;
using coll::Op;

// `blocks` is no whole number where the last one is short.
double pipeline(Op op, double ranks, double bytes, double segment, const StepCosts& costs) {
  const double block = std::min(segment, bytes);
  const double blocks = bytes / block;
  const double tau = costs.block_s * block / costs.block_bytes;
  const double hop = interpolated(costs.pingpong, block);
  const double adding = (ranks - 1) * block * costs.gamma;
  if (op == Op::allreduce) {
    return ranks * hop + (std::max(blocks, ranks) + blocks - 2) * tau + adding;
  }
  return (ranks - 1) * hop + (blocks - 1) * tau + (op == Op::reduce ? adding : 0);
}

struct Role { // of a rank in one step
  std::uint32_t to{}, from{};
  bool sends = false, receives = false;
};

// A rank that only sends or only receives has the link for itself; one that does both shares its
// host.
double message_seconds(const Role& role, double bytes, const StepCosts& costs) {
  if (!role.sends || !role.receives) {
    return interpolated(costs.pingpong, bytes);
  }
  return interpolated(role.to == role.from ? costs.exchange : costs.shift, bytes);
}

// The messages of one step, from the times at which the ranks are ready for it.
void advance(std::span<const Message> step, bool sparse, const StepCosts& costs,
             std::vector<double>& ready) {
  std::vector<Role> roles(ready.size());
  for (const Message& message : step) {
    roles[message.src].sends = roles[message.dst].receives = true;
    roles[message.src].to = message.dst;
    roles[message.dst].from = message.src;
  }
  const std::vector<double> before = ready;
  std::vector<double> added(ready.size());
  for (const Message& message : step) {
    const auto bytes = static_cast<double>(message.count * kElement);
    const double end = std::max(before[message.src], before[message.dst]) +
                       std::max(message_seconds(roles[message.src], bytes, costs),
                                message_seconds(roles[message.dst], bytes, costs));
    const double acknowledged = message.acknowledged ? interpolated(costs.pingpong, 0) : 0;
    ready[message.src] = std::max(ready[message.src], end + acknowledged);
    ready[message.dst] = std::max(ready[message.dst], end);
    if (message.reduce) { // after everything that the step brings
      added[message.dst] = sparse ? costs.merge_s : bytes * costs.gamma;
    }
  }
  for (std::size_t rank = 0; rank < ready.size(); ++rank) {
    ready[rank] += added[rank];
  }
}

} // namespace

// Above the last size its slope goes on; below the first the start-up is all.
double interpolated(std::span<const Datum> curve, double bytes) {
  assert(curve.size() >= 2 && "a curve has two points");
  if (bytes <= curve.front().bytes) {
    return curve.front().seconds;
  }
  const auto above = std::ranges::lower_bound(curve, bytes, {}, &Datum::bytes);
  const auto right = above == curve.end() ? curve.end() - 1 : above;
  const auto left = right - 1;
  const double slope = (right->seconds - left->seconds) / (right->bytes - left->bytes);
  return right->seconds + slope * (bytes - right->bytes);
}

// Steps are groups of messages with one number; each starts where the ranks are ready for it.
double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
               const MessageOptions& options, const StepCosts& costs) {
  if (ranks < 2 || bytes == 0) {
    return 0;
  }
  if (kind.algorithm == AlgorithmId::lp) {
    return pipeline(kind.op, ranks, static_cast<double>(bytes),
                    static_cast<double>(options.segment_bytes), costs);
  }
  const std::vector<Message> messages = messages_of(kind, ranks, bytes, options);
  std::vector<double> ready(ranks);
  for (std::size_t begin = 0; begin < messages.size();) {
    std::size_t end = begin;
    while (end < messages.size() && messages[end].step == messages[begin].step) {
      ++end;
    }
    advance(std::span(messages).subspan(begin, end - begin), kind.sparse, costs, ready);
    begin = end;
  }
  return *std::ranges::max_element(ready);
}

// What is left after taking away adding, then bytes: the largest of the three parts.
std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                     const MessageOptions& options, const StepCosts& costs) {
  StepCosts free = costs;
  free.gamma = free.merge_s = 0;
  StepCosts start = free;
  for (std::vector<Datum>* curve : {&start.pingpong, &start.exchange, &start.shift}) {
    const double first = curve->front().seconds;
    std::ranges::for_each(*curve, [&](Datum& datum) { datum.seconds = first; });
  }
  const double beta_end = costs.pingpong.back().seconds / costs.pingpong.back().bytes;
  start.block_s = std::max(0.0, start.block_s - costs.block_bytes * beta_end);
  const double all = predict(kind, ranks, bytes, options, costs);
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
