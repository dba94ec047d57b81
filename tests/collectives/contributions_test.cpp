// Every schedule moves the right data: bytes carry how often each rank contributed to them, and the
// transfers are replayed step by step (what a step sends is what ranks had before it).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/nodes.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {
namespace {

using Contributions = std::vector<std::uint8_t>; // by rank
using Buffer = std::vector<Contributions>;       // by byte

constexpr std::size_t kAll = 1'000'000'000;

// First byte of part `part` of `count`, the first bytes % count of which have one byte more.
std::size_t part_begin(const Collective& collective, std::size_t part) {
  if (collective.op == Op::allgatherv) {
    double begin = 0;
    for (std::size_t rank = 0; rank < part; ++rank) {
      begin += collective.sizes[rank];
    }
    return static_cast<std::size_t>(begin);
  }
  const auto bytes = static_cast<std::size_t>(collective.bytes);
  const std::size_t ranks = collective.ranks;
  return part * (bytes / ranks) + std::min(part, bytes % ranks);
}

Contributions only(std::size_t rank, std::size_t ranks) {
  Contributions result(ranks, 0);
  result[rank] = 1;
  return result;
}

// What rank has before and must have after, for byte `byte`; empty = anything.
struct Expectation {
  Contributions before;
  Contributions after;
};
Expectation expectation(const Collective& collective, std::size_t rank, std::size_t byte) {
  const std::size_t ranks = collective.ranks;
  std::size_t owner = 0; // of the byte's part
  while (part_begin(collective, owner + 1) <= byte) {
    ++owner;
  }
  const Contributions nothing(ranks, 0);
  const Contributions all(ranks, 1);
  const Contributions own = only(rank, ranks);
  switch (collective.op) {
  case Op::broadcast: {
    const Contributions root = only(collective.root, ranks);
    return {rank == collective.root ? root : nothing, root};
  }
  case Op::reduce:
    return {own, rank == collective.root ? all : Contributions{}};
  case Op::allreduce:
    return {own, all};
  case Op::reduce_scatter:
    return {own, owner == rank ? all : Contributions{}};
  case Op::allgather:
  case Op::allgatherv:
    return {owner == rank ? own : nothing, only(owner, ranks)};
  case Op::alltoall:
    break; // nothing is shared: alltoall_test.cpp
  }
  return {};
}

std::vector<TransferRecord> by_step(const Collective& collective) {
  std::vector<TransferRecord> transfers = list_transfers(collective, kAll);
  std::stable_sort(
      transfers.begin(), transfers.end(),
      [](const TransferRecord& a, const TransferRecord& b) { return a.step < b.step; });
  return transfers;
}

// The range of a transfer wraps at the end of what is split: the buffer, or between nodes the shard
// of that local index.
template <class Visit>
void each_byte(const Collective& collective, const TransferRecord& transfer, std::size_t bytes,
               Visit visit) {
  std::size_t begin = 0;
  std::size_t size = bytes;
  if (collective.algorithm == AlgorithmId::hierarchical) {
    const std::size_t per_node = collective.links.two_level->gpus_per_node;
    if (transfer.src / per_node != transfer.dst / per_node) {
      const std::size_t local = transfer.src % per_node;
      begin = local * (bytes / per_node) + std::min(local, bytes % per_node);
      size = bytes / per_node + (local < bytes % per_node ? 1 : 0);
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(transfer.bytes); ++i) {
    visit(i, begin + (static_cast<std::size_t>(transfer.offset) - begin + i) % size);
  }
}

// Empty if all is right.
std::string wrong(const Collective& collective) {
  const std::size_t ranks = collective.ranks;
  const std::size_t bytes = collective.op == Op::allgatherv
                                ? part_begin(collective, ranks)
                                : static_cast<std::size_t>(collective.bytes);
  std::vector<Buffer> state(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      state[rank].push_back(expectation(collective, rank, byte).before);
    }
  }
  const std::vector<TransferRecord> transfers = by_step(collective);
  for (std::size_t begin = 0, end = 0; begin < transfers.size(); begin = end) {
    std::vector<Buffer> payloads;
    std::vector<char> sends(ranks, 0);
    std::vector<char> receives(ranks, 0);
    for (; end < transfers.size() && transfers[end].step == transfers[begin].step; ++end) {
      const TransferRecord& transfer = transfers[end];
      const bool busy = sends[transfer.src]++ > 0 || receives[transfer.dst]++ > 0;
      if (transfer.src == transfer.dst || (busy && collective.algorithm != kRingRails)) {
        return "a port serves two transfers in step " + std::to_string(transfer.step);
      }
      payloads.emplace_back();
      each_byte(collective, transfer, bytes, [&](std::size_t, std::size_t byte) {
        payloads.back().push_back(state[transfer.src][byte]);
      });
    }
    for (std::size_t at = begin; at < end; ++at) {
      const TransferRecord& transfer = transfers[at];
      each_byte(collective, transfer, bytes, [&](std::size_t i, std::size_t byte) {
        Contributions& here = state[transfer.dst][byte];
        const Contributions& sent = payloads[at - begin][i];
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          here[rank] = static_cast<std::uint8_t>((transfer.reduce ? here[rank] : 0) + sent[rank]);
        }
      });
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      const Contributions after = expectation(collective, rank, byte).after;
      if (!after.empty() && state[rank][byte] != after) {
        return "rank " + std::to_string(rank) + ", byte " + std::to_string(byte);
      }
    }
  }
  return "";
}

void check(const Collective& collective) {
  const std::string text = wrong(collective);
  CHECK_MESSAGE(text.empty(), name(collective.op) << " " << name(collective.algorithm) << " P="
                                                  << collective.ranks << " n=" << collective.bytes
                                                  << " root=" << collective.root << ": " << text);
}

bool flat(AlgorithmId algorithm) {
  return !is_two_level(algorithm) && algorithm != AlgorithmId::parameter_server;
}

TEST_CASE("contributions: every algorithm sums and spreads every byte once, 1 to 33 ranks") {
  constexpr std::uint64_t kSeed = 11;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce, Op::reduce_scatter, Op::allgather,
                      Op::allgatherv}) {
    for (const AlgorithmId algorithm : valid_algorithms(op)) {
      if (!flat(algorithm)) {
        continue;
      }
      for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
        if (!takes_ranks(algorithm, ranks)) {
          continue;
        }
        for (const double bytes : {0.0, 1.0, ranks - 1.0, 1.0 * ranks, 61.0}) {
          Collective collective;
          collective.op = op;
          collective.algorithm = algorithm;
          collective.ranks = ranks;
          collective.bytes = bytes;
          collective.root = static_cast<std::uint32_t>(random.integer(0, ranks - 1));
          collective.options.block = Bytes{random.integer(1, 20)};
          collective.options.lp_last_hop = random.integer(0, 1) == 0;
          for (std::uint32_t rank = 0; rank < ranks && op == Op::allgatherv; ++rank) {
            collective.sizes.push_back(static_cast<double>(random.integer(0, 4)));
          }
          check(collective);
        }
      }
    }
  }
}

TEST_CASE("contributions: trees of every shape, 1 to 33 ranks") {
  for (const Op op :
       {Op::broadcast, Op::reduce, Op::allreduce, Op::reduce_scatter, Op::allgather}) {
    for (const TreeShape shape : {TreeShape::near_first, TreeShape::flat}) {
      for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
        Collective collective;
        collective.op = op;
        collective.algorithm = AlgorithmId::mst;
        collective.ranks = ranks;
        collective.bytes = 37;
        collective.root = op == Op::broadcast || op == Op::reduce ? ranks / 3 : 0;
        collective.options.tree = shape;
        CAPTURE(static_cast<int>(shape));
        check(collective);
      }
    }
  }
}

TEST_CASE("contributions: a pipeline follows the order of its chain") {
  constexpr std::uint64_t kSeed = 12;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce}) {
    for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
      Collective collective;
      collective.op = op;
      collective.algorithm = AlgorithmId::lp;
      collective.ranks = ranks;
      collective.bytes = 23;
      collective.options.block = Bytes{4};
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        collective.chain.push_back(rank);
      }
      for (std::uint32_t rank = ranks - 1; rank > 0; --rank) {
        std::swap(collective.chain[rank],
                  collective.chain[static_cast<std::size_t>(random.integer(0, rank))]);
      }
      collective.root = op == Op::reduce ? collective.chain.back() : collective.chain.front();
      check(collective);
      const auto first = list_transfers(collective, 1);
      REQUIRE(first.size() == 1);
      CHECK(first[0].src == collective.chain[0]);
      CHECK(first[0].dst == collective.chain[1]);
    }
  }
}

TEST_CASE("contributions: two levels of any shape, inner and outer algorithms") {
  const std::array inter{AlgorithmId::ring,
                         AlgorithmId::be,
                         AlgorithmId::mst,
                         AlgorithmId::bruck,
                         AlgorithmId::lp,
                         AlgorithmId::recursive_doubling,
                         AlgorithmId::double_binary_tree};
  const std::array intra{AlgorithmId::mst, AlgorithmId::be, AlgorithmId::lp};
  std::size_t turn = 0;
  for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
    for (std::uint32_t per_node = 1; per_node <= ranks + 1; ++per_node) {
      for (const double bytes : {1.0, 37.0}) {
        Collective collective;
        collective.algorithm = AlgorithmId::hierarchical_leader;
        collective.ranks = ranks;
        collective.bytes = bytes;
        collective.links.two_level = TwoLevel{per_node, 1, {}};
        collective.options.block = Bytes{3};
        collective.options.inter_algorithm = inter[turn % inter.size()];
        collective.options.intra_algorithm = intra[turn % intra.size()];
        ++turn;
        CAPTURE(per_node);
        check(collective);
        if (ranks % per_node == 0) {
          collective.algorithm = AlgorithmId::hierarchical;
          check(collective);
        }
      }
    }
  }
}

TEST_CASE("contributions: hierarchical_leader on nodes of different sizes") {
  constexpr std::uint64_t kSeed = 12;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  const std::array inter{AlgorithmId::ring, AlgorithmId::be, AlgorithmId::lp,
                         AlgorithmId::recursive_doubling, AlgorithmId::double_binary_tree};
  const std::array intra{AlgorithmId::mst, AlgorithmId::be, AlgorithmId::lp};
  for (std::size_t turn = 0; turn < 60; ++turn) {
    Collective collective;
    collective.algorithm = AlgorithmId::hierarchical_leader;
    collective.bytes = 37;
    collective.ranks = 0;
    TwoLevel& levels = collective.links.two_level.emplace();
    for (std::int64_t node = random.integer(2, 6); node > 0; --node) {
      levels.ranks_per_node.push_back(static_cast<std::uint32_t>(random.integer(1, 5)));
      levels.gpus_per_node = std::max(levels.gpus_per_node, levels.ranks_per_node.back());
      collective.ranks += levels.ranks_per_node.back();
    }
    collective.options.block = Bytes{3};
    collective.options.inter_algorithm = inter[turn % inter.size()];
    collective.options.intra_algorithm = intra[turn % intra.size()];
    CAPTURE(turn);
    check(collective);
  }
}

// Parts of a reduce-scatter or all-gather belong to places in a ring, not to ranks of the same
// number; an all-reduce is one after the other.
TEST_CASE("contributions: ring_rails and two_level, in chunks and from any root") {
  using test::Shape;
  for (const Shape& shape : {Shape{1, 4, 2}, Shape{3, 1, 1}, Shape{2, 4, 4}, Shape{3, 4, 2},
                             Shape{5, 2, 2}, Shape{4, 3, 1}}) {
    for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce}) {
      for (const AlgorithmId algorithm : {kRingRails, kTwoLevel}) {
        for (const double bytes : {1.0, shape.ranks() - 1.0, 1.0 * shape.ranks(), 61.0}) {
          Collective collective = test::on_nodes(op, algorithm, shape, bytes);
          collective.options.chunking = Chunking::integer;
          collective.options.block = Bytes{3};
          if (algorithm == kTwoLevel && op == Op::allreduce) {
            collective.options.pipeline_chunks = 3;
          }
          for (std::uint32_t root = 0; root < shape.ranks(); root += op == Op::allreduce ? 99 : 1) {
            collective.root = root;
            CAPTURE(name(op));
            CAPTURE(name(algorithm));
            CAPTURE(shape.nodes);
            CAPTURE(shape.gpus);
            CAPTURE(bytes);
            CAPTURE(root);
            CHECK(wrong(collective) == "");
          }
        }
      }
    }
  }
}

} // namespace
} // namespace stepsim::collectives
