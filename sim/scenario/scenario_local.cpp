#include "scenario/scenario_exchange.hpp"

#include "collectives/algorithms.hpp"
#include "scenario/keys/training_parts_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

std::optional<OuterNetwork> parse_outer_network(io::Fields& fields, const Scenario& scenario) {
  std::optional<OuterNetwork> network;
  fields.object("outer_network", [&](io::Fields& part) {
    network.emplace();
    io::read_bound(keys::kOuterNetworkRows, part, *network);
    part.no_more();
    const std::int64_t most = std::max<std::int64_t>(1, scenario.cluster.ranks());
    if (network->ranks.value_or(1) > most) {
      part.refuse("ranks", "must be in [1, {}], got {}", most, *network->ranks);
    }
  });
  return network;
}

// Operations of a round, for the limit of program_draft.hpp. The count is an estimate, because no
// buckets are planned yet.
double operations_of(const LocalTraining& local, std::size_t layers) {
  const bool layered =
      local.inner == InnerTraining::sync_sgd || local.outer_gate == programs::OuterGate::layer;
  const double step = layered ? 2 * static_cast<double>(layers) : 1;
  return static_cast<double>(local.local_steps) * step + 2 * static_cast<double>(local.fragments);
}

void check_counts(io::Fields& fields, const LocalTraining& local, std::size_t layers) {
  const std::string steps = std::to_string(local.local_steps);
  const std::string fragments = std::to_string(local.fragments);
  if (local.fragments > local.local_steps) {
    fields.refuse("fragments", fragments + " fragments need at least " + fragments +
                                   " local_steps, got " + steps);
  } else if (local.fragments > static_cast<std::int64_t>(layers)) {
    fields.refuse("fragments", fragments + " fragments need at least " + fragments +
                                   " layers, got " + std::to_string(layers));
  }
  fields.refuse_if(local.overlap_steps >= local.local_steps, "overlap_steps",
                   "must be less than local_steps ({}), got {}", steps, local.overlap_steps);
  if (const double count = operations_of(local, layers);
      count > static_cast<double>(programs::kMaxOperations)) {
    fields.refuse("local_steps",
                  "the program has {} operations per iteration; at most {}. Lower local_steps or "
                  "use outer_gate step",
                  static_cast<std::int64_t>(count), programs::kMaxOperations);
  }
}

// The cluster gets `ranks` nodes of one GPU, and no links inside a node.
void make_flat(Cluster& cluster, std::int64_t ranks) {
  cluster.nodes = ranks;
  cluster.gpus_per_node = 1;
  cluster.nics_per_node = 1;
  cluster.nvlink_domain_nodes = 1;
  cluster.intra.reset();
  cluster.nvls.reset();
  cluster.switch_latency_s.reset();
}

// Exchanges are timed by latency and bandwidth instead of a curve, a topology or a library.
void use_links(Scenario& scenario) {
  scenario.cluster.network.curve.reset();
  scenario.cluster.network.steps.reset();
  scenario.cluster.network.model = NetworkModel::alpha_beta;
  scenario.cluster.fabric.reset();
  scenario.communication.question.reset();
  scenario.communication.library = scenario.communication.calibrated = false;
}

// A ring replaces algorithms that need two levels of links or another number of ranks.
void fit_collective(Scenario& scenario) {
  Communication& communication = scenario.communication;
  const collectives::AlgorithmId id = communication.collective;
  const auto ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
  if (id == collectives::AlgorithmId::automatic) {
    std::erase_if(communication.options.candidates, collectives::is_two_level);
  } else if (collectives::is_two_level(id) || !collectives::takes_ranks(id, ranks)) {
    communication.collective = collectives::AlgorithmId::ring;
  }
}

// Whether all ranks of a node are on the same host of the topology.
bool nodes_are_hosts(const Cluster& cluster) {
  if (!cluster.fabric || !cluster.equal_nodes()) {
    return !cluster.fabric; // nodes that differ are refused elsewhere
  }
  const std::vector<links::NodeId>& hosts = cluster.fabric->hosts;
  const auto gpus = static_cast<std::size_t>(cluster.gpus_per_node);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(cluster.ranks()); ++rank) {
    if (hosts[rank] != hosts[rank - rank % gpus]) {
      return false;
    }
  }
  return true;
}

// A collective library answers for the nodes and GPUs of `shape`.
void ask_library(Scenario& scenario, nccl::Shape shape) {
  auto& question = scenario.communication.question;
  auto& curve = scenario.cluster.network.curve;
  if (question && scenario.cluster.ranks() == 1) { // sends nothing
    question.reset();
    curve.reset();
  } else if (question) {
    question->shape = shape;
    const auto cost = std::make_shared<const nccl::LibraryCost>(*question);
    curve = buckets::Cost{
        .base = buckets::CurveCost{[cost](double bytes) { return cost->seconds(bytes); }}};
  }
}

} // namespace

bool trains_in_rounds(const Training& training) {
  return training.algorithm == TrainingAlgorithm::local_sgd ||
         training.algorithm == TrainingAlgorithm::diloco ||
         training.algorithm == TrainingAlgorithm::easgd;
}

bool has_islands(const Training& training) {
  return trains_in_rounds(training) && training.local.inner == InnerTraining::sync_sgd;
}

bool has_replicas(const Training& training) {
  const auto& network = training.local.outer_network;
  return has_islands(training) && !(network && network->has_link());
}

bool has_buckets(const Training& training) {
  return trains_in_rounds(training) ? has_islands(training)
                                    : !has_units(training.sharding) && !training.async();
}

void parse_local(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  LocalTraining local;
  io::read_bound(keys::kLocalTrainingRows, fields, local);
  local.outer_compression =
      parse_value_codec(fields, "outer_compression", context, local.outer_value_bytes);
  local.outer_network = parse_outer_network(fields, scenario);
  if (!trains_in_rounds(scenario.training)) {
    return;
  }
  check_counts(fields, local, scenario.workload.layers.size());
  if (scenario.training.algorithm != TrainingAlgorithm::diloco) { // averages parameters
    local.outer_update = {};
    local.outer_compression = {};
  }
  if (local.inner == InnerTraining::sync_sgd) { // the rules refuse both keys in a file
    scenario.training.exchange.reset();
    if (local.outer_network) {
      local.outer_network->ranks.reset();
    }
  }
  scenario.training.local = std::move(local);
}

void add_local(const Scenario& scenario, io::Json& tree) {
  const LocalTraining& local = scenario.training.local;
  io::write_bound(keys::kLocalTrainingRows, local, tree);
  io::set_if(local.outer_compression.method != CodecMethod::none, tree, "outer_compression",
             value_codec_tree(local.outer_compression));
  if (const auto& network = local.outer_network) {
    io::Json part{io::Object{}};
    io::write_bound(keys::kOuterNetworkRows, *network, part);
    if (scenario.cluster.network.curve && network->has_link() && !network->latency_s) {
      // That of the network, which a resolved scenario leaves out beside a curve.
      part.set("latency_s", scenario.cluster.network.latency_s);
    }
    tree.set("outer_network", std::move(part));
  }
}

void check_local(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  const Training& training = scenario.training;
  if (!trains_in_rounds(training)) {
    return;
  }
  const io::Json& place = *tree.find("training");
  const auto report = [&](std::string_view key, const std::string& message) {
    problems.add(place, key, message);
  };
  const std::string what(kTrainingAlgorithms[training.algorithm]);
  const Cluster& cluster = scenario.cluster;
  if (scenario.communication.has_servers() && !needs_servers(training.algorithm)) {
    report("algorithm", what + " is not defined for collective parameter_server");
  }
  const auto& network = training.local.outer_network;
  const bool measured = has_curve(scenario) && !scenario.communication.question;
  const bool no_link = measured || cluster.fabric || !cluster.has_network;
  if (network && !training.exchange && no_link && !(network->latency_s && network->bandwidth_Bps)) {
    report("outer_network", "needs latency_s and bandwidth_Bps: the network of the cluster has no "
                            "single latency and bandwidth");
  }
  if (!has_islands(training)) {
    return;
  }
  const buckets::Planner& planner = buckets::planner(scenario.communication.schedule);
  if (!planner.one_channel(scenario.communication.schedule_options) || planner.gathers_back()) {
    report("inner", "sync_sgd is not defined for schedule " + std::string(planner.name));
  }
  if (cluster.nodes < 2 || cluster.gpus_per_node < 2) {
    report("inner", "sync_sgd needs at least 2 nodes and 2 ranks in each");
  } else if (!cluster.equal_nodes()) {
    require_equal_nodes(cluster, "inner sync_sgd", place, problems);
  } else if (is_simulated(scenario) && !nodes_are_hosts(cluster)) {
    report("inner", "sync_sgd needs all ranks of a node on one host");
  } else if (!cluster.intra) {
    report("inner", "sync_sgd needs /cluster/intra_network");
  } else if (cluster.nvlink_domain_nodes > 1) {
    report("inner", "sync_sgd is not defined for nvlink_domain_nodes above 1");
  }
}

Scenario island_of(const Scenario& scenario) {
  Scenario island = scenario;
  island.training.algorithm = TrainingAlgorithm::sync_sgd;
  island.training.local = {};
  island.cluster.nodes = 1;
  if (island.communication.question) {
    ask_library(island, {1, static_cast<std::uint32_t>(scenario.cluster.gpus_per_node)});
  } else {
    use_links(island);
  }
  fit_collective(island);
  return island;
}

Scenario outer_cluster_of(const Scenario& scenario) {
  Scenario outer = scenario;
  const auto& given = scenario.training.local.outer_network;
  if (scenario.training.exchange || !given) {
    return outer;
  }
  const Cluster& cluster = scenario.cluster;
  const std::int64_t ranks =
      has_islands(scenario.training) ? cluster.nodes : given->ranks.value_or(cluster.ranks());
  if (given->has_link()) {
    make_flat(outer.cluster, ranks);
    Network& network = outer.cluster.network;
    network.latency_s = given->latency_s.value_or(network.latency_s);
    network.delay_s = given->latency_s ? 0 : network.delay_s;
    network.block_latency_s = given->latency_s ? network.latency_s : network.block_latency_s;
    network.efficiency = given->bandwidth_Bps ? 1 : network.efficiency;
    network.bandwidth_Bps = given->bandwidth_Bps.value_or(network.bandwidth_Bps);
    network.profile.reset();
    outer.cluster.has_network = true;
    use_links(outer);
  } else if (given->ranks) {
    make_flat(outer.cluster, ranks);
    ask_library(outer, {static_cast<std::uint32_t>(ranks), 1});
  }
  fit_collective(outer);
  return outer;
}

} // namespace stepsim::study
