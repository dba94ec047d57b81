#include "calibrate/mpi/messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "coll/evaluate.hpp"
#include "coll/partition.hpp"
#include "coll/pipelined_rules.hpp"

namespace stepsim::calibrate::mpi {

namespace {

using coll::AlgorithmId;
using coll::Op;

std::int64_t elements(double bytes) {
  const auto count = static_cast<std::int64_t>(std::llround(bytes)) / kElement;
  assert(static_cast<double>(count * kElement) == bytes && "parts and blocks are whole elements");
  return count;
}

// Parts 0 .. P-1 of n / P down the chain 0 -> 1 -> .. -> P-1, the root at its head (broadcast) or
// at its end (reduce, as in `lp`).
std::vector<Message> ring_chain(Op op, std::uint32_t size, double bytes) {
  const auto ranks = static_cast<coll::Index>(size);
  const bool reduce = op == Op::reduce;
  const coll::Chain chain{ranks, ranks, reduce};
  coll::Options options;
  options.element_bytes = kElement;
  const auto parts = coll::Partition::equal(bytes, ranks, options);
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
                            elements(parts.bytes(send.first, send.count)), send.reduce, false});
      }
    }
  }
  return messages;
}

// Trees that spread: all of mst that is not added, the scatter of be broadcast.
bool acknowledged(const Kind& kind, std::uint32_t ranks, const coll::TransferRecord& transfer) {
  if (kind.algorithm == AlgorithmId::mst) {
    return !transfer.reduce;
  }
  return kind.algorithm == AlgorithmId::be && kind.op == Op::broadcast &&
         transfer.step < std::bit_width(ranks - 1);
}

} // namespace

std::string_view algorithm_name(const Kind& kind) {
  return kind.sparse ? "gtopk_tree" : coll::name(kind.algorithm);
}

std::string name(const Kind& kind) {
  return std::string(algorithm_name(kind)) + " " + std::string(coll::name(kind.op));
}

std::span<const Kind> kinds() {
  static constexpr std::array kAll{Kind{Op::broadcast, AlgorithmId::mst},
                                   Kind{Op::broadcast, AlgorithmId::be},
                                   Kind{Op::broadcast, AlgorithmId::lp},
                                   Kind{Op::broadcast, AlgorithmId::ring},
                                   Kind{Op::reduce, AlgorithmId::mst},
                                   Kind{Op::reduce, AlgorithmId::be},
                                   Kind{Op::reduce, AlgorithmId::lp},
                                   Kind{Op::reduce, AlgorithmId::ring},
                                   Kind{Op::allreduce, AlgorithmId::mst},
                                   Kind{Op::allreduce, AlgorithmId::be},
                                   Kind{Op::allreduce, AlgorithmId::lp},
                                   Kind{Op::allreduce, AlgorithmId::ring},
                                   Kind{Op::allreduce, AlgorithmId::recursive_doubling},
                                   Kind{Op::allreduce, AlgorithmId::mst, true}};
  return kAll;
}

std::vector<Message> messages_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                 const MessageOptions& options) {
  assert(bytes % kElement == 0 && "whole elements");
  if (ranks < 2 || bytes == 0) {
    return {};
  }
  if (kind.algorithm == AlgorithmId::ring && kind.op != Op::allreduce) {
    return ring_chain(kind.op, ranks, static_cast<double>(bytes));
  }
  coll::Collective collective;
  collective.op = kind.op;
  collective.algorithm = kind.algorithm;
  collective.ranks = ranks;
  collective.bytes = static_cast<double>(bytes);
  collective.options.element_bytes = kElement;
  if (kind.algorithm == AlgorithmId::lp) {
    collective.options.block = Bytes{std::min(options.segment_bytes, bytes)};
  }
  if (kind.sparse) {
    collective.options.tree = coll::TreeShape::near_first; // the order of merges (SPA 4)
  }
  std::vector<Message> messages;
  for (const coll::TransferRecord& transfer :
       list_transfers(collective, std::numeric_limits<std::size_t>::max())) {
    messages.push_back({transfer.step, transfer.src, transfer.dst, elements(transfer.offset),
                        elements(transfer.bytes), transfer.reduce,
                        options.acknowledge && acknowledged(kind, ranks, transfer)});
    assert(messages.back().offset + messages.back().count <= bytes / kElement &&
           "ranges of these algorithms do not wrap");
  }
  return messages;
}

Program program_of(const Kind& kind, std::uint32_t ranks, std::uint32_t rank, std::int64_t bytes,
                   const MessageOptions& options) {
  Program program{kind, bytes, {}};
  for (const Message& message : messages_of(kind, ranks, bytes, options)) {
    if (message.src != rank && message.dst != rank) {
      continue;
    }
    if (program.steps.empty() || program.steps.back().number != message.step) {
      program.steps.push_back({message.step, std::nullopt, std::nullopt});
    }
    (message.src == rank ? program.steps.back().send : program.steps.back().receive) = message;
  }
  return program;
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

} // namespace stepsim::calibrate::mpi
