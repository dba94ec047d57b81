// Collectives as flows on a fabric: where no two transfers share a link it is alpha-beta, where
// they do the hand-computed cases hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/event_run.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"
#include "collectives/on_fabric.hpp"
#include "collectives/point.hpp"
#include "collectives/record.hpp"
#include "collectives/validate.hpp"
#include "links/flow/flow_network.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::hosts_in_order;
using test::on_fabric;
using test::point;
using Id = AlgorithmId;

constexpr double kExact = 1e-9;
constexpr links::LinkSpeed kLink{2.5e-6, 1.25e9};
constexpr double kAlpha = 2 * kLink.latency_s;
constexpr double kBeta = 1 / kLink.bandwidth_Bps;

TEST_CASE("fabric: every collective on a star is alpha-beta and its closed form") {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    for (const AlgorithmRow& row : algorithm_table()) {
      if (is_two_level(row.algorithm) || !takes_ranks(row.algorithm, ranks)) {
        continue;
      }
      for (const double bytes : {1.0, 1e4 + 1, 720720.0 * 100}) {
        CAPTURE(ranks);
        CAPTURE(name(row.op));
        CAPTURE(name(row.algorithm));
        CAPTURE(bytes);
        const double gamma = ranks % 2 == 0 ? 3e-10 : 0;
        Collective flat = point(row.op, row.algorithm, ranks, bytes, {kAlpha, kBeta, gamma});
        flat.options.chunking = bytes > 1e6 ? Chunking::real : Chunking::integer;
        const std::uint32_t hosts = ranks + 1; // one for the parameter server
        const Collective star = on_fabric(flat, links::star(hosts, kLink), hosts_in_order(hosts));
        const Evaluation run = events(star);
        const Evaluation expected = events(flat);
        CHECK(run.seconds == within(expected.seconds, kExact));
        CHECK(run.messages == expected.messages);
        const auto form = closed_form(flat);
        if (form && !form->upper_bound && flat.options.chunking == Chunking::real) {
          CHECK(run.seconds == within(form->seconds, kExact));
        }
      }
    }
  }
}

TEST_CASE("fabric: on leaves of one host with a full uplink each, a message takes two links more") {
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U, 13U, 16U}) {
    for (const Id algorithm : {Id::ring, Id::mst, Id::be, Id::bruck, Id::recursive_doubling, Id::lp,
                               Id::double_binary_tree}) {
      CAPTURE(ranks);
      CAPTURE(name(algorithm));
      const Collective flat =
          point(Op::allreduce, algorithm, ranks, 1e7, {2 * kAlpha, kBeta, 1e-10});
      const Collective spread =
          on_fabric(flat, links::leaf_spine({ranks, 1, 1, kLink, kLink}), hosts_in_order(ranks));
      CHECK(events(spread).seconds == within(events(flat).seconds, kExact));
    }
  }
}

TEST_CASE("fabric: a ring on a ring of hosts takes 2(P-1) (d + n/(P B))") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 7U, 16U}) {
    const double bytes = 1e6 * ranks;
    const Collective ring = on_fabric(point(Op::allreduce, Id::ring, ranks, bytes, {}),
                                      links::ring(ranks, kLink), hosts_in_order(ranks));
    CHECK(events(ring).seconds ==
          within(2 * (ranks - 1.0) * (kLink.latency_s + 1e6 * kBeta), kExact));
  }
}

// Two leaves of four hosts, two uplinks of the rate of a host each: 2:1.
links::Fabric two_to_one() { return links::leaf_spine({2, 4, 2, kLink, kLink}); }

TEST_CASE("fabric: far exchanges of recursive doubling share the uplinks, two to one") {
  const double n = 4e6;
  const Collective flat = point(Op::allreduce, Id::recursive_doubling, 8, n, {});
  SUBCASE("sprayed: four flows on two uplinks") {
    const Collective spread =
        on_fabric(flat, two_to_one(), hosts_in_order(8), {.seed = 1, .spray = true});
    const double near = kAlpha + n * kBeta;
    const double far = 2 * kAlpha + 4.0 / 2 * n * kBeta;
    CHECK(events(spread).seconds == within(2 * near + far, kExact));
  }
  SUBCASE("hashed: as many on one uplink as the hash puts there") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Collective spread =
          on_fabric(flat, two_to_one(), hosts_in_order(8), {.seed = seed, .spray = false});
      // Farthest first: rank r with r xor 4. All cross at once, both ways.
      std::vector<double> flows(spread.links.fabric->fabric().links.size(), 0);
      for (std::uint32_t rank = 0; rank < 8; ++rank) {
        for (const links::LinkId link :
             links::rank_path(*spread.links.fabric, rank, rank ^ 4).links) {
          ++flows[link];
        }
      }
      const double busiest = *std::max_element(flows.begin(), flows.end());
      CAPTURE(seed);
      CHECK(busiest >= 2);
      CHECK(events(spread).seconds ==
            within(2 * (kAlpha + n * kBeta) + 2 * kAlpha + busiest * n * kBeta, kExact));
    }
  }
}

TEST_CASE("fabric: machines of four GPUs behind one cable are the two levels of COL 5.9") {
  for (const std::uint32_t nodes : {1U, 2U, 3U, 4U}) {
    for (const Id algorithm : {Id::hierarchical, Id::hierarchical_leader, Id::ring,
                               Id::recursive_doubling, Id::be, Id::mst}) {
      for (const Id levels : {Id::mst, Id::lp}) {
        CAPTURE(nodes);
        CAPTURE(name(algorithm));
        CAPTURE(name(levels));
        const std::uint32_t ranks = 4 * nodes;
        Collective two_level = point(Op::allreduce, algorithm, ranks, 12e6, {kAlpha, kBeta, 1e-11});
        two_level.links.two_level = TwoLevel{4, 1, {1e-6, 1e-6, 1e-11}};
        two_level.options.intra_algorithm = levels;
        two_level.options.inter_algorithm = levels == Id::lp ? Id::lp : Id::recursive_doubling;
        std::vector<links::NodeId> hosts;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          hosts.push_back(rank / 4);
        }
        const Collective machines = on_fabric(two_level, links::star(nodes + 1, kLink), hosts);
        CHECK(events(machines).seconds == within(events(two_level).seconds, kExact));
      }
    }
  }
}

TEST_CASE("fabric: where every GPU is a host, NVLink of the fabric counts, not the inner link") {
  const links::Fabric gpus = links::gpu_machines({.machines = 2,
                                                  .gpus = 4,
                                                  .nics = 4,
                                                  .nvlink = {1e-6, 1e11},
                                                  .pcie = {1e-6, 2e10},
                                                  .network = {1e-6, 1e10},
                                                  .uplink = {}});
  Collective sums = point(Op::allreduce, Id::hierarchical, 8, 8e6, {});
  sums.links.two_level = TwoLevel{4, 1, {1, 1, 1}}; // would take seconds
  const double inside = 3 * (2e-6 + 2e6 / 1e11);
  const double between = 2 * (6e-6 + 1e6 / 1e10); // gpu, PCIe switch, NIC, switch and back
  CHECK(events(on_fabric(sums, gpus, hosts_in_order(8))).seconds ==
        within(2 * inside + between, kExact));
}

TEST_CASE("fabric: links carry what ranks send, header bytes included") {
  const double wire = 1500.0 / 1460;
  for (const Id algorithm : {Id::ring, Id::mst, Id::be, Id::recursive_doubling}) {
    CAPTURE(name(algorithm));
    const Collective flat =
        point(Op::allreduce, algorithm, 6, 600 * 1460, {0, wire * kBeta, 0}); // whole packets
    const Collective star = on_fabric(flat, links::star(6, {0, kLink.bandwidth_Bps}),
                                      hosts_in_order(6), {}, {1460, 40});
    const Evaluation run = events(star);
    CHECK(run.seconds == within(events(flat).seconds, kExact));
    const auto sent = traffic_by_rank(flat);
    REQUIRE(run.links.size() == 2 * 6);
    for (std::size_t rank = 0; rank < 6; ++rank) {
      CHECK(run.links[2 * rank].bytes == within(wire * sent[rank].bytes, kExact));
      CHECK(run.links[2 * rank].busy_s == within(wire * sent[rank].bytes * kBeta, kExact));
    }
  }
}

TEST_CASE("fabric: the cost of links comes on top, latency after latency, bandwidth as a cap") {
  Collective ring = on_fabric(point(Op::allreduce, Id::ring, 4, 4e6, {}), links::star(4, kLink),
                              hosts_in_order(4));
  ring.links.all.latency_s = 1e-3;
  CHECK(events(ring).seconds == within(6 * (1e-3 + kAlpha + 1e6 * kBeta), kExact));
  ring.links.all.per_byte_s = 3 * kBeta;
  CHECK(events(ring).seconds == within(6 * (1e-3 + kAlpha + 3e6 * kBeta), kExact));
}

TEST_CASE("fabric: parameter servers on hosts of their own or of the workers") {
  for (const Placement placement :
       {Placement::dedicated, Placement::colocated, Placement::sharded}) {
    for (const std::uint32_t servers : {1U, 2U, 3U}) {
      for (const std::uint32_t workers : {1U, 3U, 4U, 8U}) {
        if (placement != Placement::dedicated && servers > workers) {
          continue;
        }
        CAPTURE(int(placement));
        CAPTURE(servers);
        CAPTURE(workers);
        Collective flat =
            point(Op::allreduce, Id::parameter_server, workers, 1e6 + 1, {kAlpha, kBeta, 1e-10});
        flat.options.placement = placement;
        flat.options.servers = servers;
        flat.options.chunking = Chunking::integer;
        for (std::uint32_t worker = 0; worker < workers; ++worker) {
          flat.enter_s.push_back(worker * worker % 5 * 1e-4);
        }
        const std::uint32_t hosts = workers + servers;
        const Collective star = on_fabric(flat, links::star(hosts, kLink), hosts_in_order(hosts));
        const Evaluation run = events(star, true);
        const Evaluation expected = events(flat, true);
        CHECK(run.seconds == within(expected.seconds, kExact));
        CHECK(run.messages == expected.messages);
        REQUIRE(run.links.size() == std::size_t{2} * hosts);
        double sent = 0;
        for (std::uint32_t host = 0; host < hosts; ++host) {
          sent += run.links[2 * host].bytes; // up
        }
        CHECK(sent == within(traffic(flat).total, kExact));
        for (std::uint32_t worker = 0; worker < workers; ++worker) {
          CHECK(run.ranks.finish_s[worker] == within(expected.ranks.finish_s[worker], kExact));
          CHECK(run.ranks.transfer_s[worker] == within(expected.ranks.transfer_s[worker], kExact));
        }
      }
    }
  }
}

TEST_CASE("fabric: two servers behind one uplink push and pull at half of it each") {
  // Four workers on leaf 0, two servers on leaf 1, one spine: 2 n each way through one uplink.
  Collective servers = point(Op::allreduce, Id::parameter_server, 4, 2e6, {});
  servers.options.servers = 2;
  const Collective far =
      on_fabric(servers, links::leaf_spine({2, 4, 1, kLink, kLink}), hosts_in_order(6));
  // Push: 4 workers, n each; pull: the same back.
  CHECK(events(far).seconds == within(2 * (2 * kAlpha + 4 * 2e6 * kBeta), kExact));
}

TEST_CASE("fabric: ranks of one host take the inner link only") {
  Collective pair = on_fabric(point(Op::broadcast, Id::mst, 2, 1e6, {}), links::star(2, kLink),
                              {1, 1}, {}, {1000, 30});
  CHECK(events(pair).seconds == 0);
  pair.links.two_level = TwoLevel{2, 1, {1e-6, 1e-6, 1e-10}};
  CHECK(events(pair).seconds == within(1e-6 + 1e6 * 1e-10, kExact));
  CHECK(lower_bound(pair).seconds() == within(1e6 * 1e-10, kExact));
}

TEST_CASE("fabric: only events knows one") {
  const Collective ring = on_fabric(point(Op::allreduce, Id::ring, 4, 4e6, {}),
                                    links::star(4, kLink), hosts_in_order(4));
  CHECK(!ring.homogeneous());
  CHECK(!max_plus_defined(ring));
  CHECK(automatic_method(ring) == Method::events);
  CHECK_THROWS_WITH_AS((void)max_plus(ring), "max_plus knows no topology; use events",
                       SimulationError);
  CHECK_THROWS_WITH_AS((void)list_transfers(ring, 10), "max_plus knows no topology; use events",
                       SimulationError);
  CHECK_THROWS_WITH_AS((void)seconds(ring, Method::closed_form),
                       "allreduce ring has no closed form here; use events", SimulationError);
  CHECK(seconds(ring, Method::events) == within(6 * (kAlpha + 1e6 * kBeta), kExact));
}

TEST_CASE("fabric: the automatic choice takes the quickest by events") {
  Collective collective = on_fabric(point(Op::allreduce, Id::automatic, 8, 4e6, {}), two_to_one(),
                                    {0, 4, 1, 5, 2, 6, 3, 7});
  const Choice choice = choose_algorithm(collective);
  double least = 1e9;
  for (const Id candidate : default_candidates(collective)) {
    Collective one = collective;
    one.algorithm = candidate;
    least = std::min(least, events(one).seconds);
  }
  CHECK(choice.chosen_s == least);
  Collective chosen = collective;
  chosen.algorithm = choice.chosen;
  CHECK(events(chosen).seconds == least);
}

TEST_CASE("fabric: blocks are the best for the slowest way between neighbours") {
  for (const Id algorithm : {Id::lp, Id::double_binary_tree}) {
    const Collective flat = point(Op::allreduce, algorithm, 8, 1e8, {2 * kAlpha, kBeta, 0});
    const Collective spread = on_fabric(flat, two_to_one(), hosts_in_order(8));
    CHECK(resolve_blocks(spread)->blocks == resolve_blocks(flat)->blocks);
    CHECK(resolve_blocks(spread)->blocks > 8);
  }
}

TEST_CASE("fabric: a chain of 1024 ranks keeps one path per hop") {
  const links::Fabric fabric = links::leaf_spine({32, 32, 8, kLink, kLink});
  Collective chain =
      on_fabric(point(Op::broadcast, Id::lp, 1024, 4096, {}), fabric, hosts_in_order(1024));
  const Schedule schedule = make_schedule(chain);
  const FabricLinks links(chain.links);
  EventRun run(chain, schedule, links, links::FlowNetwork(*chain.links.fabric), false);
  const Evaluation result = run.run();
  CHECK(result.messages == 1023);
  CHECK(run.network().paths() == 1023);
  // 31 of the hops cross to the next leaf.
  CHECK(result.seconds == within(1023 * (kAlpha + 4096 * kBeta) + 31 * kAlpha, kExact));
}

TEST_CASE("fabric: what does not fit one is refused") {
  const Collective good = on_fabric(point(Op::allreduce, Id::ring, 4, 4e6, {}),
                                    links::star(4, kLink), hosts_in_order(4));
  const auto finding = [](const Collective& collective,
                          AskedMethod asked = AskedMethod::automatic) {
    const auto findings = validate(collective, asked);
    REQUIRE(findings.size() == 1);
    return findings.front().what + ": " + findings.front().message;
  };
  CHECK(validate(good).empty());
  CHECK(validate(good, AskedMethod::events).empty());
  CHECK(validate(good, AskedMethod::all).empty()); // those that are defined
  for (const AskedMethod asked : {AskedMethod::closed_form, AskedMethod::max_plus}) {
    CHECK(finding(good, asked) == "method: only events knows a topology; use --method events");
  }
  Collective bad = good;
  bad.ranks = 5;
  CHECK(finding(bad) == "ranks: 5 on 4 hosts of the topology");
  bad = good;
  bad.algorithm = Id::parameter_server;
  CHECK(finding(bad) == "ranks: 5 workers and servers on 4 hosts of the topology");
  bad = good;
  bad.options.cost_form = CostForm::paper;
  CHECK(finding(bad) == "cost_form: must be exact on a topology, which has no formulas");
}

} // namespace
} // namespace stepsim::collectives
