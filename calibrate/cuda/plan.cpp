#include "calibrate/cuda/plan.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "coll/evaluate.hpp"
#include "coll/partition.hpp"
#include "coll/pipelined_rules.hpp"

namespace stepsim::calibrate::gpu {

namespace {

using coll::AlgorithmId;
using coll::Op;

constexpr std::int64_t kElement = 4; // bytes
constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Message { // in elements
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  std::int64_t offset{};
  std::int64_t count{};
  bool reduce{};
};

std::int64_t elements(double bytes) {
  const auto count = static_cast<std::int64_t>(std::llround(bytes)) / kElement;
  assert(static_cast<double>(count * kElement) == bytes && "parts and blocks are whole elements");
  return count;
}

// Parts c = 0 .. P-1 of n / P down the chain 0 -> 1 -> .. -> P-1, the root at its head (broadcast)
// or at its end (reduce, as in `lp`).
std::vector<Message> ring_chain(const PlanRequest& request) {
  const auto ranks = static_cast<coll::Index>(request.ranks);
  const bool reduce = request.op == Op::reduce;
  const coll::Chain chain{ranks, ranks, reduce};
  coll::Options options;
  options.element_bytes = kElement;
  const auto parts =
      coll::Partition::equal(static_cast<double>(request.elements * kElement), ranks, options);
  const auto rank_of = [&](coll::Index local) {
    return static_cast<std::uint32_t>((local + (reduce ? 1 : 0)) % ranks);
  };
  std::vector<Message> messages;
  for (coll::Index step = 0; step < chain.steps(); ++step) {
    for (coll::Index local = 0; local < ranks; ++local) {
      const coll::Send send = chain.send(step, local);
      if (send.peer != coll::kNobody) {
        messages.push_back({step, rank_of(local), rank_of(send.peer),
                            elements(parts.begin(send.first)),
                            elements(parts.bytes(send.first, send.count)), send.reduce});
      }
    }
  }
  return messages;
}

std::vector<Message> messages_of(const PlanRequest& request) {
  if (request.ranks < 2 || request.elements == 0) {
    return {};
  }
  if (request.algorithm == AlgorithmId::ring && request.op != Op::allreduce) {
    return ring_chain(request);
  }
  coll::Collective collective;
  collective.op = request.op;
  collective.algorithm = request.algorithm;
  collective.ranks = request.ranks;
  collective.bytes = static_cast<double>(request.elements * kElement);
  collective.links.all = request.link;
  collective.reduction_s_per_byte = request.reduction_s_per_byte;
  collective.options.element_bytes = kElement;
  if (request.block_elements > 0) {
    collective.options.block = Bytes{request.block_elements * kElement};
  }
  std::vector<Message> messages;
  for (const coll::TransferRecord& transfer :
       list_transfers(collective, std::numeric_limits<std::size_t>::max())) {
    messages.push_back({transfer.step, transfer.src, transfer.dst, elements(transfer.offset),
                        elements(transfer.bytes), transfer.reduce});
    assert(messages.back().offset + messages.back().count <= request.elements &&
           "ranges of these algorithms do not wrap");
  }
  return messages;
}

// Who wrote each piece of one vector last, and who has read it since. Pieces are the ranges between
// all bounds that messages have, so that every message covers whole pieces.
class Accesses {
public:
  Accesses(std::size_t pieces) : pieces_(pieces) {}

  void read(std::size_t begin, std::size_t end, std::uint32_t operation,
            std::vector<std::uint32_t>& waits) {
    for (std::size_t i = begin; i < end; ++i) {
      if (pieces_[i].writer != kNone) {
        waits.push_back(pieces_[i].writer);
      }
      pieces_[i].readers.push_back(operation);
    }
  }
  void write(std::size_t begin, std::size_t end, std::uint32_t operation,
             std::vector<std::uint32_t>& waits) {
    for (std::size_t i = begin; i < end; ++i) {
      if (pieces_[i].writer != kNone) {
        waits.push_back(pieces_[i].writer);
      }
      waits.insert(waits.end(), pieces_[i].readers.begin(), pieces_[i].readers.end());
      pieces_[i] = {operation, {}};
    }
  }

private:
  struct Piece {
    std::uint32_t writer = kNone;
    std::vector<std::uint32_t> readers{};
  };
  std::vector<Piece> pieces_;
};

class PlanBuilder {
public:
  explicit PlanBuilder(const PlanRequest& request, const std::vector<Message>& messages) {
    plan_.ranks = request.ranks;
    plan_.elements = request.elements;
    for (const Message& message : messages) {
      bounds_.push_back(message.offset);
      bounds_.push_back(message.offset + message.count);
    }
    std::ranges::sort(bounds_);
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    x_.assign(request.ranks, Accesses(bounds_.size()));
    temp_ = x_;
  }

  void copy(const Message& message) {
    PlanOperation operation{.kind = PlanOperation::Kind::copy,
                            .to_temp = message.reduce,
                            .src = message.src,
                            .dst = message.dst,
                            .offset = message.offset,
                            .count = message.count,
                            .waits = {}};
    const auto [begin, end] = pieces(message);
    x_[message.src].read(begin, end, next(), operation.waits);
    (message.reduce ? temp_ : x_)[message.dst].write(begin, end, next(), operation.waits);
    push(std::move(operation));
  }

  void add(const Message& message) {
    PlanOperation operation{.kind = PlanOperation::Kind::add,
                            .src = message.dst,
                            .dst = message.dst,
                            .offset = message.offset,
                            .count = message.count,
                            .waits = {}};
    const auto [begin, end] = pieces(message);
    temp_[message.dst].read(begin, end, next(), operation.waits);
    x_[message.dst].write(begin, end, next(), operation.waits);
    push(std::move(operation));
  }

  CollectivePlan finish() { return std::move(plan_); }

private:
  [[nodiscard]] std::uint32_t next() const {
    return static_cast<std::uint32_t>(plan_.operations.size());
  }
  [[nodiscard]] std::pair<std::size_t, std::size_t> pieces(const Message& message) const {
    const auto at = [&](std::int64_t bound) {
      return static_cast<std::size_t>(std::ranges::lower_bound(bounds_, bound) - bounds_.begin());
    };
    return {at(message.offset), at(message.offset + message.count)};
  }
  // Only the last operation of each other stream counts.
  void push(PlanOperation operation) {
    std::ranges::sort(operation.waits, std::greater<>());
    std::vector<std::uint32_t> streams{operation.stream()};
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t wait : operation.waits) {
      const std::uint32_t stream = plan_.operations[wait].stream();
      if (std::ranges::find(streams, stream) == streams.end()) {
        streams.push_back(stream);
        kept.push_back(wait);
        plan_.operations[wait].awaited = true;
      }
    }
    std::ranges::reverse(kept);
    operation.waits = std::move(kept);
    plan_.operations.push_back(std::move(operation));
  }

  CollectivePlan plan_;
  std::vector<std::int64_t> bounds_;
  std::vector<Accesses> x_, temp_;
};

} // namespace

std::span<const PlanKind> plan_kinds() {
  static constexpr std::array kKinds{
      PlanKind{Op::broadcast, AlgorithmId::mst}, PlanKind{Op::broadcast, AlgorithmId::be},
      PlanKind{Op::broadcast, AlgorithmId::lp},  PlanKind{Op::broadcast, AlgorithmId::ring},
      PlanKind{Op::reduce, AlgorithmId::mst},    PlanKind{Op::reduce, AlgorithmId::be},
      PlanKind{Op::reduce, AlgorithmId::lp},     PlanKind{Op::reduce, AlgorithmId::ring},
      PlanKind{Op::allreduce, AlgorithmId::mst}, PlanKind{Op::allreduce, AlgorithmId::be},
      PlanKind{Op::allreduce, AlgorithmId::lp},  PlanKind{Op::allreduce, AlgorithmId::ring}};
  return kKinds;
}

CollectivePlan make_plan(const PlanRequest& request) {
  const std::vector<Message> messages = messages_of(request);
  PlanBuilder builder(request, messages);
  // The sends of a step all start from what was there before it.
  for (auto begin = messages.begin(); begin != messages.end();) {
    const auto end = std::find_if(begin, messages.end(),
                                  [&](const Message& m) { return m.step != begin->step; });
    std::for_each(begin, end, [&](const Message& message) { builder.copy(message); });
    for (auto message = begin; message != end; ++message) {
      if (message->reduce) {
        builder.add(*message);
      }
    }
    begin = end;
  }
  return builder.finish();
}

CollectivePlan ping_pong_plan(std::int64_t elements, std::uint32_t round_trips) {
  CollectivePlan plan{2, elements, {}};
  for (std::uint32_t i = 0; i < 2 * round_trips; ++i) {
    plan.operations.push_back({.kind = PlanOperation::Kind::copy,
                               .awaited = i + 1 < 2 * round_trips,
                               .src = i % 2,
                               .dst = 1 - i % 2,
                               .count = elements,
                               .waits = {}});
    if (i > 0) {
      plan.operations.back().waits.push_back(i - 1);
    }
  }
  return plan;
}

float initial_value(std::uint32_t rank, std::int64_t index) {
  return static_cast<float>((index % 17 + 1) * (static_cast<std::int64_t>(rank) + 1));
}

bool has_result(Op op, std::uint32_t rank) { return op != Op::reduce || rank == 0; }

float expected_value(Op op, std::uint32_t ranks, std::int64_t index) {
  if (op == Op::broadcast) {
    return initial_value(0, index);
  }
  const std::int64_t sum_of_ranks = std::int64_t{ranks} * (std::int64_t{ranks} + 1) / 2;
  return static_cast<float>((index % 17 + 1) * sum_of_ranks);
}

} // namespace stepsim::calibrate::gpu
