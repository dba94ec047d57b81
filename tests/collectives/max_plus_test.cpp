#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/method.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/double_tree.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::point;
using Id = AlgorithmId;
using Times = std::vector<double>;

constexpr double kExact = 1e-9;

Collective in_blocks(Op op, Id algorithm, std::uint32_t ranks, double bytes, std::int64_t block,
                     const test::Rates& rates) {
  Collective collective = point(op, algorithm, ranks, bytes, rates);
  collective.options.block = Bytes{block};
  return collective;
}

void check_times(const Times& times, const Times& expected) {
  REQUIRE(times.size() == expected.size());
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    CAPTURE(rank);
    CHECK(times[rank] == within(expected[rank], kExact));
  }
}

TEST_CASE("max_plus: the slowest hop of a chain sets the rate, sum of hops + (m-1) slowest") {
  Collective collective = in_blocks(Op::broadcast, Id::lp, 4, 10, 1, {0, 1, 0});
  collective.links.pairs = {{1, 2, {0, 0, 3}}};
  CHECK(max_plus(collective).seconds == (1 + 3 + 1) + (10 - 1) * 3);
}

TEST_CASE("max_plus: double binary tree in unit steps, m blocks per tree = 1, 2, 8") {
  const std::vector<std::array<double, 4>> rows{{2, 2, 4, 16},   {3, 4, 8, 32},  {4, 6, 10, 34},
                                                {5, 8, 12, 36},  {6, 8, 11, 35}, {8, 10, 13, 37},
                                                {16, 15, 18, 42}};
  for (const auto& row : rows) {
    const auto P = static_cast<std::uint32_t>(row[0]);
    CAPTURE(P);
    const std::array<double, 3> blocks{1, 2, 8};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      CHECK(
          max_plus(in_blocks(Op::allreduce, Id::double_binary_tree, P, 2 * blocks[i], 1, {0, 1, 0}))
              .seconds == row[i + 1]);
    }
  }
  Collective adding = in_blocks(Op::allreduce, Id::double_binary_tree, 4, 16, 1, {0, 1, 0.1});
  CHECK(max_plus(adding).seconds == within(34.2, kExact));
  adding.options.reduction_mode = ReductionMode::serial;
  CHECK(max_plus(adding).seconds == within(35.7, kExact));
}

// alpha = 0, beta = 1 s/B; finish per rank.
TEST_CASE("max_plus: late ranks, slow links, folded ranks") {
  const auto finish = [](const Collective& collective) {
    return max_plus(collective).ranks.finish_s;
  };
  Collective ring = point(Op::allreduce, Id::ring, 4, 4, {0, 1, 0});
  ring.enter_s = {0, 0, 3, 0};
  check_times(finish(ring), {9, 9, 9, 9});
  ring.enter_s = {0, 0, 10, 0};
  check_times(finish(ring), {16, 16, 16, 16});
  ring.enter_s.clear();
  ring.links.pairs = {{1, 2, {0, 0, 3}}};
  check_times(finish(ring), {14, 18, 18, 16});
  ring.reduction_s_per_byte = 0.5;
  ring.options.reduction_mode = ReductionMode::serial;
  check_times(finish(ring), {15.5, 19.5, 19.5, 17.5});

  Collective be = point(Op::allreduce, Id::be, 4, 4, {0, 1, 0});
  be.enter_s = {0, 0, 3, 0};
  check_times(finish(be), {9, 9, 9, 9});
  be = point(Op::allreduce, Id::be, 6, 8, {0, 1, 0});
  check_times(finish(be), {28, 28, 20, 20, 28, 28});
  CHECK(traffic(be).max_per_rank == 20);
  CHECK(traffic(be).min_per_rank == 8);
  CHECK(traffic(be).total == 20 + 20 + 12 + 12 + 8 + 8);
  const Collective doubling = point(Op::allreduce, Id::recursive_doubling, 6, 8, {0, 1, 0});
  check_times(finish(doubling), {32, 32, 24, 24, 32, 32});

  for (const auto& [P, overlapped, serial] : {std::tuple(6U, 4.0, 4.5), std::tuple(5U, 3.5, 4.5)}) {
    Collective mst = point(Op::reduce, Id::mst, P, 1, {0, 1, 0.5});
    CHECK(max_plus(mst).seconds == overlapped);
    mst.options.reduction_mode = ReductionMode::serial;
    CHECK(max_plus(mst).seconds == serial);
  }

  Collective lp = in_blocks(Op::broadcast, Id::lp, 4, 5, 1, {0, 1, 0});
  lp.enter_s = {0, 0, 4, 0};
  check_times(finish(lp), {5, 9, 10, 10});
  lp = in_blocks(Op::allreduce, Id::lp, 3, 4, 1, {0, 1, 0});
  check_times(finish(lp), {8, 9, 9});
  lp.enter_s = {0, 2, 0};
  check_times(finish(lp), {10, 11, 11});

  Collective integer = point(Op::allreduce, Id::ring, 3, 10, {7, 1, 0.5});
  integer.options.chunking = Chunking::integer;
  CHECK(max_plus(integer).seconds == 4 * (7 + 4) + 2 * 4 * 0.5);
  Collective gather = point(Op::allgatherv, Id::ring, 3, 7, {3, 1, 0});
  gather.sizes = {5, 0, 2};
  CHECK(max_plus(gather).seconds == 2 * (3 + 5));
  gather.options.exchange_sizes = true;
  CHECK(max_plus(gather).seconds == 2 * (3 + 8) + 2 * (3 + 5));
}

// Links with costs drawn at random for every pair; reduction rates and entry times likewise.
void roughen(Collective& collective, base::RandomStream& random) {
  for (std::uint32_t src = 0; src < collective.ranks; ++src) {
    collective.enter_s.push_back(random.uniform(0, 20));
    collective.reduction_s_per_byte_rank.push_back(random.uniform(0, 2));
    for (std::uint32_t dst = 0; dst < collective.ranks; ++dst) {
      if (src != dst) {
        const double latency = random.uniform(0, 3);
        collective.links.pairs.push_back(
            {src, dst, {latency, latency * random.uniform(), random.uniform(0.5, 2)}});
      }
    }
  }
  collective.options.reduction_mode =
      random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
}

// COL 3 word by word, one operation at a time, everything kept: the oracle of the pipelined rules.
class Recurrence {
public:
  explicit Recurrence(const Collective& collective)
      : collective_(collective), tx_(collective.enter_s), rx_(collective.enter_s),
        reduced_(collective.enter_s) {}

  // Time at which the data is ready at dst.
  double operation(std::uint32_t src, std::uint32_t dst, double bytes, double data, bool reduce,
                   bool follow_up) {
    const auto pair = std::find_if(
        collective_.links.pairs.begin(), collective_.links.pairs.end(),
        [&](const PairCost& listed) { return listed.src == src && listed.dst == dst; });
    const LinkCost& cost = pair->cost;
    const double start = std::max({tx_[src], rx_[dst], data});
    const double end =
        start + (follow_up ? cost.block_latency_s : cost.latency_s) + bytes * cost.per_byte_s;
    tx_[src] = end;
    rx_[dst] = end;
    if (!reduce) {
      return end;
    }
    const double addition = bytes * collective_.reduction_s_per_byte_rank[dst];
    if (collective_.options.reduction_mode == ReductionMode::serial) {
      return rx_[dst] = end + addition;
    }
    return reduced_[dst] = std::max(reduced_[dst], end) + addition;
  }
  [[nodiscard]] Times finish() const {
    Times result;
    for (std::size_t rank = 0; rank < tx_.size(); ++rank) {
      result.push_back(std::max({tx_[rank], rx_[rank], reduced_[rank]}));
    }
    return result;
  }

private:
  const Collective& collective_;
  Times tx_, rx_, reduced_;
};

TEST_CASE("max_plus: the pipeline all-reduce agrees with its program order, block by block") {
  constexpr std::uint64_t kSeed = 56;
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 400; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const auto P = static_cast<std::uint32_t>(random.integer(2, 9));
    const std::int64_t block = random.integer(1, 4);
    const std::int64_t bytes = random.integer(1, 40);
    Collective collective =
        in_blocks(Op::allreduce, Id::lp, P, static_cast<double>(bytes), block, {1, 1, 0});
    collective.options.lp_last_hop = random.integer(0, 1) == 0;
    roughen(collective, random);

    const std::int64_t b = std::min(block, bytes);
    const std::int64_t m = (bytes + b - 1) / b;
    const auto size = [&](std::int64_t i) {
      return static_cast<double>(i + 1 < m ? b : bytes - (m - 1) * b);
    };
    Recurrence run(collective);
    Times summed; // at the tail
    for (std::int64_t i = 0; i < m; ++i) {
      double data = collective.enter_s[0];
      for (std::uint32_t h = 0; h + 1 < P; ++h) {
        data = run.operation(h, h + 1, size(i), std::max(data, collective.enter_s[h]), true, i > 0);
      }
      summed.push_back(data);
    }
    for (std::int64_t i = 0; i < m; ++i) {
      double data =
          run.operation(P - 1, 0, size(i), summed[static_cast<std::size_t>(i)], false, i > 0);
      const std::uint32_t hops = collective.options.lp_last_hop ? P - 1 : P - 2;
      for (std::uint32_t h = 0; h < hops; ++h) {
        data = run.operation(h, h + 1, size(i), data, false, true);
      }
    }
    check_times(max_plus(collective).ranks.finish_s, run.finish());
  }
}

TEST_CASE("max_plus: the double binary tree agrees with its program order, slot by slot") {
  constexpr std::uint64_t kSeed = 57;
  base::RandomStream random({.seed = kSeed});
  struct Listed { // one block of one edge
    std::int64_t slot;
    DoubleTreeEdge edge;
    std::int64_t block;
  };
  for (int round = 0; round < 400; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const auto P = static_cast<std::uint32_t>(random.integer(2, 17));
    const std::int64_t block = random.integer(1, 4);
    const std::int64_t bytes = random.integer(1, 50);
    Collective collective = in_blocks(Op::allreduce, Id::double_binary_tree, P,
                                      static_cast<double>(bytes), block, {1, 1, 0});
    collective.options.chunking = Chunking::integer;
    roughen(collective, random);

    const std::array<std::int64_t, 2> half{bytes - bytes / 2, bytes / 2};
    const std::int64_t b = std::min(block, half[0]);
    const auto count = [&](std::uint32_t tree) { return (half[tree] + b - 1) / b; };
    const auto size = [&](std::uint32_t tree, std::int64_t i) {
      return static_cast<double>(std::min(b, half[tree] - i * b));
    };
    // Sum (then result) of every block at every rank.
    std::array<std::vector<Times>, 2> ready;
    for (const std::uint32_t tree : {0U, 1U}) {
      for (std::uint32_t rank = 0; rank < P; ++rank) {
        ready[tree].emplace_back(static_cast<std::size_t>(count(tree)), collective.enter_s[rank]);
      }
    }
    Recurrence run(collective);
    for (const bool reduce : {true, false}) {
      std::vector<Listed> operations;
      for (const DoubleTreeEdge& edge : double_tree(P).edges) {
        for (std::int64_t i = 0; i < count(edge.tree); ++i) {
          operations.push_back(
              {2 * i + (reduce ? edge.reduce_offset : edge.broadcast_offset), edge, i});
        }
      }
      std::stable_sort(operations.begin(), operations.end(), [](const Listed& a, const Listed& c) {
        return std::tuple(a.slot, a.edge.tree, a.edge.child) <
               std::tuple(c.slot, c.edge.tree, c.edge.child);
      });
      for (const Listed& listed : operations) {
        const auto i = static_cast<std::size_t>(listed.block);
        const auto [tree, child, parent] =
            std::tuple(listed.edge.tree, listed.edge.child, listed.edge.parent);
        const std::uint32_t src = reduce ? child : parent;
        const std::uint32_t dst = reduce ? parent : child;
        const double end = run.operation(src, dst, size(tree, listed.block), ready[tree][src][i],
                                         reduce, listed.block > 0);
        ready[tree][dst][i] = reduce ? std::max(ready[tree][dst][i], end) : end;
      }
    }
    check_times(max_plus(collective).ranks.finish_s, run.finish());
  }
}

TEST_CASE("max_plus: the fast path of rings agrees with the sweep, transfer by transfer") {
  constexpr std::uint64_t kSeed = 58;
  base::RandomStream random({.seed = kSeed});
  int folded = 0;
  for (int round = 0; round < 600; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const auto P = static_cast<std::uint32_t>(random.integer(2, 20));
    const Op op = std::array{Op::allreduce, Op::reduce_scatter, Op::allgather,
                             Op::broadcast}[static_cast<std::size_t>(random.integer(0, 3))];
    Collective collective = point(op, op == Op::broadcast ? Id::be : Id::ring, P,
                                  static_cast<double>(random.integer(1, 100)), {1, 1, 0});
    collective.options.chunking = random.integer(0, 1) == 0 ? Chunking::integer : Chunking::real;
    roughen(collective, random);
    if (round % 3 == 0) { // some additions free, some not
      for (double& gamma : collective.reduction_s_per_byte_rank) {
        gamma = gamma < 1 ? 0 : gamma;
      }
    }
    const auto part = static_cast<std::uint32_t>(random.integer(1, P));
    const auto to_next = [&](std::size_t rank) -> LinkCost& {
      return collective.links.pairs[rank * (P - 1) + rank % (P - 1)].cost;
    };
    for (std::size_t rank = part; rank < P; ++rank) { // the first ranks repeat, wholly or in part
      to_next(rank) = to_next(rank - part);
      for (Times* each : {&collective.enter_s, &collective.reduction_s_per_byte_rank}) {
        (*each)[rank] = (*each)[rank - part];
      }
    }
    folded += part < P && P % part == 0 ? 1 : 0;
    const Evaluation fast = max_plus(collective);
    const Evaluation watched = max_plus(collective, true);
    CHECK(fast.messages == watched.messages);
    check_times(fast.ranks.finish_s, watched.ranks.finish_s);
    double last = 0;
    for (const TransferRecord& transfer : list_transfers(collective, 1'000'000)) {
      last = std::max(last, transfer.end_s);
    }
    CHECK(fast.seconds >= last * (1 - kExact));
  }
  CHECK(folded > 100);
}

TEST_CASE("max_plus: a missing link is named") {
  const auto error = [](Id algorithm, std::uint32_t ranks, std::vector<PairCost> pairs) {
    Collective collective = point(Op::allreduce, algorithm, ranks, 100, {1, 1, 0});
    collective.links.pairs_only = true;
    collective.links.pairs = std::move(pairs);
    collective.options.block = Bytes{10};
    std::string text;
    try {
      (void)max_plus(collective);
    } catch (const SimulationError& thrown) {
      text = thrown.what();
    }
    CHECK_THROWS_WITH_AS((void)events(collective), text.c_str(), SimulationError);
    return text;
  };
  const LinkCost cost{1, 1, 1};
  CHECK(error(Id::lp, 4, {{0, 1, cost}, {1, 2, cost}, {2, 3, cost}}) == "no link 3 -> 0");
  CHECK(error(Id::ring, 3, {{0, 1, cost}, {2, 0, cost}}) == "no link 1 -> 2");
}

TEST_CASE("max_plus: transfers come in program order, with times, up to the limit") {
  Collective collective = point(Op::allreduce, Id::ring, 3, 9, {1, 1, 0});
  const auto all = list_transfers(collective, 100);
  CHECK(all.size() == 2 * (3 - 1) * 3);
  for (const TransferRecord& transfer : all) {
    CHECK(transfer.dst == (transfer.src + 1) % 3);
    CHECK(transfer.bytes == 9.0 / 3);
    CHECK(transfer.reduce == (transfer.step < 3 - 1));
    CHECK(transfer.start_s == static_cast<double>(transfer.step) * (1 + 3));
    CHECK(transfer.end_s == transfer.start_s + 1 + 3);
  }
  CHECK(list_transfers(collective, 5).size() == 5);
  CHECK(list_transfers(point(Op::allreduce, Id::ring, 1, 9, {1, 1, 0}), 5).empty());
}

TEST_CASE("max_plus: transfer time counts sending, receiving and adding at once only once") {
  // P = 2 exchange: both ports busy 0 to 4, then 2 s of additions.
  Collective collective = point(Op::allreduce, Id::recursive_doubling, 2, 4, {0, 1, 0.5});
  collective.enter_s = {0, 1};
  const Evaluation result = max_plus(collective, true);
  check_times(result.ranks.finish_s, {1 + 4 + 2, 1 + 4 + 2});
  check_times(result.ranks.transfer_s, {4 + 2, 4 + 2}); // rank 0 waits 1 s first
  // Root of a broadcast tree sends twice, the last leaf receives once.
  const Evaluation tree = max_plus(point(Op::broadcast, Id::mst, 4, 4, {0, 1, 0}), true);
  check_times(tree.ranks.transfer_s, {8, 8, 4, 4});
}

TEST_CASE(
    "max_plus: two levels share interfaces, c = ceil(G / NICs) at a time, and a flat ring none") {
  Collective collective = point(Op::allreduce, Id::hierarchical, 8, 8, {0, 1, 0});
  collective.links.two_level = TwoLevel{4, 1, {0, 0, 0}};
  // Inside nodes free; shards of 2 B exchanged between 2 nodes: 2 (N-1)/N * 2 B at a quarter rate.
  CHECK(max_plus(collective).seconds == 2 * 0.5 * 2 * 4);
  collective.links.two_level->nics_per_node = 2;
  CHECK(max_plus(collective).seconds == 2 * 0.5 * 2 * 2);
  collective.links.two_level->nics_per_node = 3;
  CHECK(max_plus(collective).seconds == 2 * 0.5 * 2 * 2); // ceil(4 / 3) flows at the busiest
  // The flat ring crosses an interface once per direction in every step.
  collective.algorithm = Id::ring;
  collective.links.two_level->nics_per_node = 1;
  CHECK(max_plus(collective).seconds == 2 * (8 - 1) * (8.0 / 8));
  // Recursive doubling over 8: the last exchange leaves the node, 4 at a time.
  collective.algorithm = Id::recursive_doubling;
  CHECK(max_plus(collective).seconds == 8 * 4);
  collective.links.two_level->nics_per_node = 3; // 4 flows: two of them share one
  CHECK(max_plus(collective).seconds == 8 * 2);
}

TEST_CASE("max_plus: an estimate of shared interfaces is no less than what they carry") {
  // Both trees leave a node at different times, so that each step alone looks uncontended.
  Collective collective =
      point(Op::allreduce, Id::double_binary_tree, 24, 1020264, {2.04e-6, 1 / 9.82e8, 0});
  collective.links.two_level = TwoLevel{8, 1, {1e-6, 1e-6, 1 / 2.97e10}};
  const double carried = 2 * (3 - 1) / 3.0 * 1020264 / 9.82e8; // each of 3 nodes, each way
  const Evaluation result = max_plus(collective);
  CHECK(result.seconds >= carried);
  CHECK(result.seconds == *std::ranges::max_element(result.ranks.finish_s));
  CHECK(seconds(collective, Method::max_plus) == result.seconds);
  CHECK(events(collective).seconds >= carried);
  collective.links.two_level->nics_per_node = 8; // nothing is shared
  const double unshared = events(collective).seconds;
  CHECK(max_plus(collective).seconds == within(unshared, kExact));
  // Interfaces that no rank uses take neither time nor memory.
  collective.links.two_level->nics_per_node = std::numeric_limits<std::uint32_t>::max();
  CHECK(events(collective).seconds == unshared);
  CHECK(max_plus(collective).seconds == within(unshared, kExact));
}

TEST_CASE(
    "max_plus: on two levels a listed pair has a link of its own, not through the interface") {
  // Four ranks on two nodes; 1 -> 3 leaves the node beside 0 -> 2.
  Collective collective = point(Op::broadcast, Id::mst, 4, 4, {0, 1, 0});
  collective.links.two_level = TwoLevel{2, 1, {0, 0, 1}};
  CHECK(max_plus(collective).seconds == 4 + 2 * 4);
  collective.links.pairs = {{1, 3, {0, 0, 0.5}}};
  CHECK(max_plus(collective).ranks.finish_s[2] == 4 + 4);
  CHECK(max_plus(collective).ranks.finish_s[3] == 4 + 4 * 0.5);
  CHECK(events(collective).seconds == within(4 + 4, kExact));
  collective.links.pairs_only = true; // the nodes keep their inner links
  CHECK_THROWS_WITH_AS((void)max_plus(collective), "no link 0 -> 2", SimulationError);
}

TEST_CASE("two levels: a listed pair shares no wire, inside a node and between nodes") {
  Links links{.all = {0, 0, 1}};
  links.two_level = TwoLevel{2, 1, {0, 0, 1}};
  links.pairs = {{0, 1, {0, 0, 0.5}}, {1, 3, {0, 0, 0.5}}};
  const TwoLevelLinks two(links, 4); // ranks 0 and 1 are one node
  constexpr std::uint32_t kNic = 3;
  constexpr std::uint32_t kInner = 5;
  CHECK(two.static_share(0, 1, kNic, kInner) == 1);
  CHECK(two.static_share(1, 0, kNic, kInner) == kInner);
  CHECK(two.static_share(1, 3, kNic, kInner) == 1);
  CHECK(two.static_share(0, 2, kNic, kInner) == kNic);
}

TEST_CASE("bruck: rounds are blocking, so a slow pair of links is waited for in every round") {
  // Three ranks, one byte each, links 0 -> 1 and 1 -> 0 ten times slower. Each of the four rounds
  // takes as long as its slow link, because the next one starts when this one has ended: rank 0
  // waits for 1 -> 0 in the first round before it sends over 0 -> 1 in the second, and so on. By
  // data alone the second round could start at once, as rank 0 passes nothing on: 2 slow
  // transfers each way and 2 fast ones.
  constexpr double kFast = 1;  // s/byte
  constexpr double kSlow = 10; // s/byte
  Collective collective;
  collective.op = Op::allreduce;
  collective.algorithm = AlgorithmId::bruck;
  collective.ranks = 3;
  collective.bytes = 3;
  collective.links.all = {0, 0, kFast};
  collective.links.pairs = {{0, 1, {0, 0, kSlow}}, {1, 0, {0, 0, kSlow}}};
  const double blocking = 4 * kSlow;
  const double by_data = 2 * kSlow + 2 * kFast;
  CHECK(max_plus(collective).seconds == within(blocking, 1e-12));
  CHECK(events(collective).seconds == within(blocking, 1e-12));
  CHECK(by_data < blocking);
}

TEST_CASE("lp by measured steps sends the messages of its schedule") {
  Collective collective = test::point(Op::allreduce, AlgorithmId::lp, 5, 1e6, {1e-5, 1e-9, 0});
  collective.options.block = Bytes{65536};
  const std::uint64_t messages = max_plus(collective).messages;
  const std::vector<links::CurveSegment> line{
      {.from_bytes = 0, .to_bytes = 1e9, .startup_s = 1e-5, .per_byte_s = 1e-9}};
  collective.links.measured = std::make_shared<const MeasuredSteps>(
      MeasuredSteps{.one_way = line, .exchange = line, .shift = line, .reply_s = {}});
  CHECK(messages > 0);
  CHECK(max_plus(collective).messages == messages);
}

} // namespace
} // namespace stepsim::collectives
