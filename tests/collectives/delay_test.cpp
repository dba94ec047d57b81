// Delays (LogGP's L): data is there a while after its ports are free. A recurrence written for this
// test alone judges the sweep and the events; the sweep judges the closed forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <queue>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::fitting;
using test::point;
using Id = AlgorithmId;

constexpr double kExact = 1e-9;
constexpr auto kTested = // allgatherv needs sizes
    std::array{Op::broadcast,      Op::reduce,    Op::allreduce,
               Op::reduce_scatter, Op::allgather, Op::alltoall};

const LinkCost& cost_of(const Collective& c, std::uint32_t src, std::uint32_t dst) {
  const auto pair = std::ranges::find_if(
      c.links.pairs, [&](const PairCost& each) { return each.src == src && each.dst == dst; });
  return pair == c.links.pairs.end() ? c.links.all : pair->cost;
}

// The recurrence: what one step sends is timed on the state before it.
struct Message {
  std::uint32_t src{}, dst{};
  double bytes{};
  bool reduce{};
};

class Oracle {
public:
  explicit Oracle(const Collective& c)
      : c_(c), send_(c.enter_s), receive_(c.enter_s), add_(c.enter_s), data_(c.enter_s) {}

  void step(const std::vector<Message>& messages) {
    const Oracle before = *this;
    for (const Message& m : messages) {
      const LinkCost& link = cost_of(c_, m.src, m.dst);
      const double start =
          std::max({before.send_[m.src], before.receive_[m.dst], before.data_[m.src]});
      const double end = start + link.latency_s + m.bytes * link.per_byte_s;
      const double gamma = m.reduce ? c_.reduction_s_per_byte_rank[m.dst] : 0;
      const bool serial = c_.options.reduction_mode == ReductionMode::serial;
      double ready = end + link.delay_s;
      if (m.reduce) {
        ready = add_[m.dst] = std::max(before.add_[m.dst], ready) + m.bytes * gamma;
      }
      send_[m.src] = end;
      receive_[m.dst] = end + (serial ? m.bytes * gamma : 0);
      data_[m.dst] = std::max(data_[m.dst], ready);
    }
  }
  [[nodiscard]] double end() const {
    double last = 0;
    for (const auto* times : {&send_, &receive_, &add_, &data_}) {
      last = std::max(last, *std::ranges::max_element(*times));
    }
    return last;
  }

private:
  const Collective& c_;
  std::vector<double> send_, receive_, add_, data_;
};

double ring_by_hand(const Collective& c) {
  Oracle oracle(c);
  for (std::uint32_t step = 0; step < 2 * (c.ranks - 1); ++step) {
    std::vector<Message> messages;
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      messages.push_back({r, (r + 1) % c.ranks, c.bytes / c.ranks, step < c.ranks - 1});
    }
    oracle.step(messages);
  }
  return oracle.end();
}

double recursive_doubling_by_hand(const Collective& c) { // 2^K ranks
  Oracle oracle(c);
  for (std::uint32_t distance = 1; distance < c.ranks; distance *= 2) {
    std::vector<Message> messages;
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      messages.push_back({r, r ^ distance, c.bytes, true});
    }
    oracle.step(messages);
  }
  return oracle.end();
}

double tree_by_hand(const Collective& c) { // to rank 0 and back
  Oracle oracle(c);
  std::vector<std::vector<Message>> down;
  for (std::uint32_t half = 1; half < c.ranks; half *= 2) {
    auto& messages = down.emplace_back();
    for (std::uint32_t r = 0; r < half && r + half < c.ranks; ++r) {
      messages.push_back({r, r + half, c.bytes, false});
    }
  }
  for (auto step = down.rbegin(); step != down.rend(); ++step) {
    std::vector<Message> up;
    for (const Message& m : *step) {
      up.push_back({m.dst, m.src, m.bytes, true});
    }
    oracle.step(up);
  }
  for (const auto& step : down) {
    oracle.step(step);
  }
  return oracle.end();
}

double some(base::RandomStream& random, double most) {
  return random.integer(0, 2) == 0 ? 0 : random.uniform(0, most);
}

LinkCost random_link(base::RandomStream& random) {
  const double latency = random.uniform(0, 1e-4);
  return {.latency_s = latency,
          .block_latency_s = latency * random.uniform(),
          .per_byte_s = random.uniform(1e-9, 1e-6),
          .delay_s = some(random, 1e-3)};
}

// Every pair has a link of its own, every rank its speed of adding and its time of entry.
Collective unlike(Op op, Id algorithm, std::uint32_t ranks, base::RandomStream& random) {
  Collective c = point(op, algorithm, ranks, 840, {});
  c.links.all = random_link(random);
  c.options.block = Bytes{random.integer(40, 400)};
  c.options.reduction_mode =
      random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
  for (std::uint32_t src = 0; src < ranks; ++src) {
    c.enter_s.push_back(some(random, 1e-3));
    c.reduction_s_per_byte_rank.push_back(some(random, 1e-6));
    for (std::uint32_t dst = 0; dst < ranks; ++dst) {
      if (src != dst) {
        c.links.pairs.push_back({src, dst, random_link(random)});
      }
    }
  }
  return c;
}

bool is_flat(Id id) { return !is_two_level(id) && id != Id::parameter_server; }

void check_agreement(const Collective& c) {
  CAPTURE(name(c.op));
  CAPTURE(name(c.algorithm));
  CAPTURE(c.ranks);
  const Evaluation swept = max_plus(c);
  const Evaluation watched = max_plus(c, true);
  const Evaluation simulated = events(c, true);
  CHECK(simulated.seconds == within(swept.seconds, kExact));
  CHECK(watched.seconds == within(swept.seconds, kExact));
  for (std::size_t rank = 0; rank < c.ranks; ++rank) {
    CHECK(simulated.ranks.finish_s[rank] == within(swept.ranks.finish_s[rank], kExact));
    CHECK(simulated.ranks.transfer_s[rank] == within(watched.ranks.transfer_s[rank], kExact));
  }
  CHECK(swept.seconds >= lower_bound(c).seconds() * (1 - kExact));
}

TEST_CASE("delay: the sweep and the events give what a recurrence of their own gives") {
  base::RandomStream random({.seed = 20261121});
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 8));
    const auto check = [&](Id algorithm, std::uint32_t count, auto by_hand) {
      const Collective c = unlike(Op::allreduce, algorithm, count, random);
      check_agreement(c);
      CHECK(max_plus(c).seconds == within(by_hand(c), kExact));
    };
    check(Id::ring, ranks, ring_by_hand);
    check(Id::mst, ranks, tree_by_hand);
    check(Id::recursive_doubling, std::bit_ceil(ranks), recursive_doubling_by_hand);
  }
}

TEST_CASE("delay: sweep and events agree for every algorithm on links that differ") {
  base::RandomStream random({.seed = 20261122});
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    for (const Op op : kTested) {
      for (const Id algorithm : valid_algorithms(op)) {
        if (is_flat(algorithm)) {
          const auto ranks = static_cast<std::uint32_t>(random.integer(2, 8));
          check_agreement(unlike(op, algorithm, fitting(algorithm, ranks), random));
        }
      }
    }
  }
}

TEST_CASE("delay: a closed form is the sweep or there is none") {
  base::RandomStream random({.seed = 20261123});
  int forms = 0;
  for (const Op op : kTested) {
    for (const Id algorithm : valid_algorithms(op)) {
      for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
        if (!takes_ranks(algorithm, ranks) ||
            stepsim::collectives::algorithm(algorithm).in_switch) {
          continue;
        }
        for (const double gamma : {0.0, 2e-9, 2e-6}) {
          Collective c = point(op, algorithm, ranks, 5040, {});
          c.links.all = random_link(random);
          c.links.all.delay_s = random.uniform(1e-6, 1e-3);
          c.options.block = Bytes{random.integer(100, 5040)};
          c.options.reduction_mode =
              random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
          c.reduction_s_per_byte = gamma;
          if (is_two_level(algorithm)) {
            if (ranks % 2 != 0) {
              continue;
            }
            c.links.two_level = TwoLevel{2, 2, random_link(random)};
          }
          CAPTURE(name(op));
          CAPTURE(name(algorithm));
          CAPTURE(ranks);
          CAPTURE(gamma);
          const auto form = closed_form(c);
          const Method method = automatic_method(c);
          CHECK(seconds(c, method) ==
                within(max_plus_defined(c) ? max_plus(c).seconds : events(c).seconds, kExact));
          if (!form) {
            CHECK(method != Method::closed_form);
            continue;
          }
          ++forms;
          const double swept = max_plus_defined(c) ? max_plus(c).seconds : events(c).seconds;
          CHECK(swept <= form->seconds * (1 + kExact));
          CHECK((form->upper_bound || swept == within(form->seconds, kExact)));
        }
      }
    }
  }
  CHECK(forms > 400);
}

TEST_CASE("delay: a ring of equal hops takes S (h + d)") {
  Collective c = point(Op::allreduce, Id::ring, 8, 8e6, {1e-5, 1e-9, 0});
  c.links.all.delay_s = 3e-5;
  const double hop = 1e-5 + 1e6 * 1e-9;
  CHECK(automatic_method(c) == Method::closed_form);
  CHECK(seconds(c, Method::closed_form) == within(14 * (hop + 3e-5), 1e-12));
  c.options.cost_form = CostForm::paper; // papers have one latency
  Collective without = c;
  without.links.all.delay_s = 0;
  c.algorithm = without.algorithm = Id::be;
  CHECK(closed_form(c)->seconds == closed_form(without)->seconds);
}

// Any 14 hops in a row leave a node four times at most.
TEST_CASE("delay: two nodes of four ranks wait four times for the link between them") {
  Collective c = point(Op::allreduce, Id::ring, 8, 8, {0, 1e-12, 0});
  c.links.two_level = TwoLevel{4, 1, {1e-6, 1e-6, 1e-12}};
  c.links.all.delay_s = 1e-3;
  const double hops = 10 * 1e-6 + 14 * 1e-12 + 4 * 1e-3;
  CHECK(max_plus(c).seconds == within(hops, 1e-12));
  CHECK(events(c).seconds == within(hops, 1e-12));
  c.links.all = {1e-3, 1e-3, 1e-12};
  CHECK(max_plus(c).seconds == within(14 * (1e-3 + 1e-12), 1e-12)); // a latency holds the port
}

TEST_CASE("delay: ranks behind one interface share it while data is under way") {
  base::RandomStream random({.seed = 20261124});
  for (int round = 0; round < 20; ++round) {
    Collective c = point(Op::allreduce, round % 2 == 0 ? Id::hierarchical : Id::ring, 8, 8e4, {});
    c.links.all = random_link(random);
    c.links.two_level = TwoLevel{4, 1, random_link(random)};
    c.reduction_s_per_byte = some(random, 1e-7);
    CHECK(events(c).seconds == within(max_plus(c).seconds, kExact));
    CHECK(events(c).seconds >= lower_bound(c).seconds() * (1 - kExact));
  }
}

TEST_CASE("delay: a parameter server waits for it once each way") {
  for (const Placement placement :
       {Placement::dedicated, Placement::colocated, Placement::sharded}) {
    Collective c = point(Op::allreduce, Id::parameter_server, 6, 6e6, {1e-5, 1e-9, 1e-10});
    c.options.placement = placement;
    const double before = events(c).seconds;
    c.links.all.delay_s = 7e-4;
    CHECK(events(c).seconds == within(before + 2 * 7e-4, kExact));
    CHECK(closed_form(c)->seconds == within(before + 2 * 7e-4, kExact));
    if (max_plus_defined(c)) {
      c.enter_s = {0, 1e-3, 2e-3, 0, 5e-4, 1e-4};
      CHECK(max_plus(c).seconds == within(events(c).seconds, kExact));
    }
  }
}

TEST_CASE("delay: no time falls when a delay grows, and all times scale together") {
  base::RandomStream random({.seed = 20261125});
  for (int round = 0; round < 6; ++round) {
    for (const Op op : kTested) {
      for (const Id algorithm : valid_algorithms(op)) {
        if (!is_flat(algorithm)) {
          continue;
        }
        CAPTURE(name(op));
        CAPTURE(name(algorithm));
        const Collective c = unlike(op, algorithm, fitting(algorithm, 7), random);
        Collective slower = c;
        slower.links.pairs[static_cast<std::size_t>(random.integer(0, 20))].cost.delay_s += 2e-3;
        const double time = max_plus(c).seconds;
        CHECK(max_plus(slower).seconds >= time * (1 - kExact));
        Collective longer = c;
        for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
          longer.enter_s[rank] *= 4;
          longer.reduction_s_per_byte_rank[rank] *= 4;
        }
        for (PairCost& pair : longer.links.pairs) {
          for (double* each : {&pair.cost.latency_s, &pair.cost.block_latency_s,
                               &pair.cost.per_byte_s, &pair.cost.delay_s}) {
            *each *= 4;
          }
        }
        CHECK(max_plus(longer).seconds == within(4 * time, kExact));
      }
    }
  }
}

// Greedy: who knows the value sends it on at once, and again each time its port is free.
double spread_by_hand(std::uint32_t ranks, double latency, double startup) {
  std::priority_queue<double, std::vector<double>, std::greater<>> arrivals;
  double last = 0;
  for (std::uint32_t known = 1; known < ranks; ++known) {
    if (known == 1) {
      arrivals.push(startup);
    }
    last = arrivals.top();
    arrivals.pop();
    arrivals.push(last + latency); // the sender's next
    arrivals.push(last + startup); // the receiver's first
  }
  return last;
}

TEST_CASE("delay: the latency of the lower bound is that of the fastest broadcast") {
  base::RandomStream random({.seed = 20261126});
  for (int round = 0; round < 400; ++round) {
    const auto ranks = static_cast<std::uint32_t>(random.integer(1, 300));
    const double latency = random.uniform(1e-6, 1e-4);
    const double startup = latency + some(random, latency * std::exp2(random.uniform(-3, 8)));
    CAPTURE(ranks);
    CAPTURE(latency);
    CAPTURE(startup);
    CHECK(spread_seconds(ranks, latency, startup) ==
          within(spread_by_hand(ranks, latency, startup), kExact));
  }
  CHECK(spread_seconds(5, 1, 1) == 3); // ceil(log2 P) without a delay
  CHECK(spread_seconds(8, 1e-6, 1.001e-3) == within(1.007e-3, 1e-12)); // one after the other
  CHECK(spread_seconds(1000, 0, 1e-3) == 1e-3);                        // all at once
}

TEST_CASE("delay: auto chooses the cheapest and says its time") {
  for (const std::uint32_t ranks : {6U, 8U}) {
    Collective c = point(Op::allreduce, Id::automatic, ranks, 48000, {1e-5, 1e-9, 0});
    c.links.all.delay_s = 1e-3;
    const Choice choice = choose_algorithm(c);
    for (const Id candidate : candidates_of(c)) {
      Collective other = c;
      other.algorithm = candidate;
      CHECK(max_plus(other).seconds >= choice.chosen_s * (1 - kExact));
    }
    CHECK(seconds(c, automatic_method(c)) == within(choice.chosen_s, kExact));
  }
}

} // namespace
} // namespace stepsim::collectives
