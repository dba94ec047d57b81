// The cluster is read as that of a scenario with one layer, so that its keys, defaults and errors
// are the same.
#include "scenario/program_file.hpp"

#include "collectives/validate.hpp"
#include "programs/step/exchange_times.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

// Needs no network of its own: the layer has no bytes.
io::Json scenario_around(const io::Json& cluster, const io::Json& root) {
  const io::Json layer(io::Object{{"name", "layer"},
                                  {"forward_s", 1.0},
                                  {"backward_s", 1.0},
                                  {"gradient_bytes", 4},
                                  {"dtype", "float32"}});
  io::Json tree(io::Object{});
  tree.set("workload", io::Object{{"layers", io::Array{layer}}});
  tree.set("cluster", cluster);
  if (const io::Json* unusual = root.find("allow_unusual")) {
    tree.set("allow_unusual", *unusual);
  }
  tree.set_origin(root.file_pointer(), "", root.line());
  return tree;
}

collectives::Op op_of(programs::Kind kind) {
  return *collectives::parse_op(programs::kKinds[kind]);
}

std::uint32_t whole(std::int64_t count) { return static_cast<std::uint32_t>(count); }

// Bytes cost nothing and adding is free: what is left are start-ups.
collectives::Collective without_bytes(collectives::Collective collective) {
  const auto drop = [](collectives::LinkCost& cost) { cost.per_byte_s = 0; };
  drop(collective.links.all);
  if (collective.links.two_level) {
    drop(collective.links.two_level->intra);
  }
  collective.reduction_s_per_byte = 0;
  return collective;
}

} // namespace

ProgramLinks::ProgramLinks(const io::Json& cluster, const io::Json& root, Files& files)
    : scenario_(parse_scenario(scenario_around(cluster, root), files)) {}

std::uint32_t ProgramLinks::ranks() const { return whole(scenario_.cluster.ranks()); }
std::uint32_t ProgramLinks::nodes() const { return whole(joined_nodes(scenario_.cluster).nodes); }
std::uint32_t ProgramLinks::gpus_per_node() const {
  return whole(joined_nodes(scenario_.cluster).gpus);
}

programs::LinkConstants ProgramLinks::constants() const {
  const Network& network = scenario_.cluster.network;
  if (network.curve || scenario_.cluster.fabric || !scenario_.cluster.has_network) {
    return {};
  }
  const collectives::LinkCost link = exchange_of(scenario_).links.all;
  return {.latency_s = link.startup_s(), .seconds_per_byte = link.per_byte_s};
}

CollectiveTime ProgramLinks::time(programs::Kind kind, collectives::AlgorithmId algorithm,
                                  double bytes, ProgramSpan span, const io::Json& place,
                                  io::Problems& problems) const {
  const Cluster& cluster = scenario_.cluster;
  collectives::Collective collective = exchange_of(scenario_);
  collective.op = op_of(kind);
  collective.algorithm = algorithm;
  if (span != ProgramSpan::all) {
    if (cluster.fabric || cluster.network.curve || !cluster.intra) {
      problems.add(place, "group",
                   "the groups node and replica need a cluster of latencies and bandwidths, with "
                   "an intra_network");
      return {};
    }
    if (!cluster.equal_nodes()) {
      require_equal_nodes(cluster, "a group", place, problems);
      return {};
    }
    collective.links.two_level.reset();
    collective.ranks = span == ProgramSpan::node ? gpus_per_node() : nodes();
    if (span == ProgramSpan::node) {
      collective.links.all = *cluster.intra;
    } else {
      bytes *= static_cast<double>(joined_nodes(cluster).gpus_per_nic());
    }
  }
  collective.bytes = bytes;
  if (collective.ranks < 2) {
    return {};
  }
  const std::vector<collectives::Finding> findings = collectives::validate(collective);
  if (!findings.empty()) {
    problems.add(place, "algorithm", findings.front().message);
    return {};
  }
  const std::optional<buckets::Cost>& curve = cluster.network.curve;
  const Bytes size{static_cast<std::int64_t>(bytes)};
  programs::ExchangeTimes all(collective, scenario_.method, curve);
  const double seconds = all(size).seconds;
  if (curve || cluster.fabric) { // whose start-up is not a number
    return {.startup_s = 0, .data_s = seconds};
  }
  programs::ExchangeTimes startups(without_bytes(collective), scenario_.method, {});
  const double startup = std::min(seconds, startups(size).seconds);
  return {.startup_s = startup, .data_s = seconds - startup};
}

} // namespace stepsim::study
