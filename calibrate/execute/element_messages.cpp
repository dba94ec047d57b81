#include "calibrate/execute/element_messages.hpp"

#include <bit>
#include <cassert>
#include <cmath>

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/schedule/partition.hpp"
#include "collectives/schedule/pipelined_rules.hpp"

namespace stepsim::calibrate {

namespace {

using collectives::Op;

std::int64_t elements(double bytes) {
  const auto count = static_cast<std::int64_t>(std::llround(bytes)) / kElement;
  assert(static_cast<double>(count * kElement) == bytes && "parts and blocks are whole elements");
  return count;
}

// Parts 0 .. P-1 of n / P down the chain 0 -> 1 -> .. -> P-1, the root at its head (broadcast) or
// at its end (reduce, as in `lp`).
std::vector<ElementMessage> ring_chain(const collectives::Collective& collective) {
  const auto ranks = static_cast<collectives::Index>(collective.ranks);
  const bool reduce = collective.op == Op::reduce;
  const collectives::Chain chain{ranks, ranks, reduce};
  const auto parts = collectives::Partition::equal(collective.bytes, ranks, collective.options);
  const auto rank_of = [&](collectives::Index local) {
    return static_cast<std::uint32_t>((local + (reduce ? 1 : 0)) % ranks);
  };
  std::vector<ElementMessage> messages;
  for (collectives::Index step = 0; step < chain.steps(); ++step) {
    for (collectives::Index local = 0; local < ranks; ++local) {
      const collectives::Send send = chain.send(step, local);
      if (send.peer != collectives::kNobody) {
        messages.push_back({step, rank_of(local), rank_of(send.peer),
                            elements(parts.begin(send.first)),
                            elements(parts.bytes(send.first, send.count)), send.reduce});
      }
    }
  }
  return messages;
}

} // namespace

collectives::Collective collective_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes) {
  collectives::Collective collective;
  collective.op = kind.op;
  collective.algorithm = kind.algorithm;
  collective.ranks = ranks;
  collective.bytes = static_cast<double>(bytes);
  collective.options.element_bytes = kElement;
  return collective;
}

std::vector<ElementMessage> element_messages(collectives::Collective collective) {
  if (collective.ranks < 2 || collective.bytes == 0) {
    return {};
  }
  collective.options.element_bytes = kElement;
  if (collective.algorithm == collectives::AlgorithmId::ring && collective.op != Op::allreduce) {
    return ring_chain(collective);
  }
  std::vector<ElementMessage> messages;
  for (const collectives::TransferRecord& transfer :
       list_transfers(collective, std::numeric_limits<std::size_t>::max())) {
    messages.push_back({transfer.step, transfer.src, transfer.dst, elements(transfer.offset),
                        elements(transfer.bytes), transfer.reduce});
    assert(messages.back().offset + messages.back().count <= elements(collective.bytes) &&
           "ranges of these algorithms do not wrap");
  }
  return messages;
}

std::span<const Kind> dense_kinds() {
  using collectives::AlgorithmId;
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> all;
    for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce}) {
      for (const auto algorithm :
           {AlgorithmId::mst, AlgorithmId::be, AlgorithmId::lp, AlgorithmId::ring}) {
        all.push_back({op, algorithm});
      }
    }
    return all;
  }();
  return kinds;
}

std::vector<float> initial_vector(std::uint32_t rank, std::int64_t elements) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < elements; ++i) {
    values.push_back(static_cast<float>((i % 17 + 1) * (std::int64_t{rank} + 1)));
  }
  return values;
}

bool has_result(Op op, std::uint32_t rank) { return op != Op::reduce || rank == 0; }

// A sum over ranks is that of a rank with the sum of their factors.
std::vector<float> expected_vector(Op op, std::uint32_t ranks, std::int64_t elements) {
  return initial_vector(op == Op::broadcast ? 0 : ranks * (ranks + 1) / 2 - 1, elements);
}

std::string first_difference(std::span<const float> got, std::span<const float> expected) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const auto [right, wrong] =
      std::ranges::mismatch(expected, got, std::ranges::equal_to{}, bits, bits);
  return right == expected.end()
             ? ""
             : " index=" + std::to_string(right - expected.begin()) + ": got " +
                   std::to_string(*wrong) + ", expected " + std::to_string(*right);
}

} // namespace stepsim::calibrate
