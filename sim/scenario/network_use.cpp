#include "scenario/scenario_fabric.hpp"

#include "collectives/algorithms.hpp"
#include "document/json_text.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

void refuse_at(std::string_view pointer, const io::Json& tree, const ParseContext& context,
               const std::string& what) {
  const io::Json* place = io::resolve(tree, pointer);
  context.problems.add(place != nullptr ? *place : tree, what);
}

// Servers send what one synchronous step sums, as one exchange of every bucket.
void check_servers(const io::Json& tree, const ParseContext& context, const Scenario& scenario) {
  const auto refuse = [&](std::string_view pointer, const std::string& what) {
    refuse_at(pointer, tree, context,
              what + " is not defined for servers on a simulated network; use model alpha_beta");
  };
  const Communication& communication = scenario.communication;
  const collectives::CompressionRow& method = collectives::row(communication.compression.method);
  if (method.kind != collectives::CompressionKind::codec &&
      method.kind != collectives::CompressionKind::dense) {
    refuse("/communication/compression/method", "compression " + std::string(method.name));
  }
  if (communication.compression.scale_agreement) {
    refuse("/communication/compression/scale_agreement", "scale_agreement");
  }
  if (is_compressed(scenario) && communication.compression.count_scale_bytes) {
    refuse("/communication/compression/count_scale_bytes", "count_scale_bytes");
  }
  if (communication.reduce_broadcast) {
    refuse("/communication/exchange", "reduce_broadcast");
  }
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  if (!planner.fits_networks()) {
    refuse("/communication/schedule", "schedule " + std::string(planner.name));
  }
  const TrainingAlgorithm algorithm = scenario.training.algorithm;
  if (algorithm != TrainingAlgorithm::sync_sgd && !needs_servers(algorithm)) {
    refuse("/communication/collective", "algorithm " + std::string(kTrainingAlgorithms[algorithm]));
  }
  if (scenario.training.sharding.strategy != ShardingStrategy::none) {
    refuse("/training/sharding", "sharding");
  }
}

} // namespace

// Each line refuses one thing that the simulated networks do not model, at the key that asks for
// it. What follows `simulates_messages` holds where every message is a flow of a job: there
// exchanges have no times of their own.
void check_network_use(const io::Json& tree, const ParseContext& context,
                       const Scenario& scenario) {
  const std::string on = " needs network model alpha_beta";
  const auto refuse = [&](std::string_view pointer, const std::string& what) {
    refuse_at(pointer, tree, context, what);
  };
  const Training& training = scenario.training;
  const Communication& communication = scenario.communication;
  if (scenario.method && *scenario.method != collectives::Method::events) {
    refuse("/method", "method " + std::string(collectives::name(*scenario.method)) + on);
  }
  const bool async = training.algorithm == TrainingAlgorithm::parameter_server && training.async();
  if (async && training.serial_server) {
    refuse("/training/server_mode", "a serial server" + on + ": the ports of a server are links");
  }
  if (async && !scenario.other_jobs.empty()) {
    refuse("/training/mode", "mode async is not defined for several jobs");
  }
  if (training.exchange) {
    refuse("/training/exchange_s", "exchange_s" + on);
  }
  if (!scenario.cluster.network.cost_file.empty() ||
      scenario.cluster.network.cost_tree.is_object()) {
    refuse("/cluster/network/cost", "a measured cost" + on);
  }
  if (communication.calibrated || communication.library) {
    refuse("/communication/collective",
           "collective " + std::string(collective_word(communication)) + on);
  }
  if (communication.options.cost_form != collectives::CostForm::exact) {
    refuse("/communication/cost_form", "a published cost form" + on);
  }
  if (communication.options.ring_startup_2p) {
    refuse("/communication/ring_startup", "ring_startup 2P" + on);
  }
  const collectives::CompressionRow& method = collectives::row(communication.compression.method);
  if (is_compressed(scenario) && !method.simulated) {
    refuse("/communication/compression/method",
           "compression " + std::string(method.name) + " is known by a formula only, which" + on);
  }
  if (communication.compression.method == collectives::CompressionMethod::custom &&
      communication.compression.custom.exchange == collectives::CustomExchange::server) {
    refuse("/communication/compression/exchange", "exchange server of a custom compressor" + on);
  }
  if (communication.compression.method == collectives::CompressionMethod::hierarchical_topk) {
    refuse("/communication/compression/method", "compression hierarchical_topk" + on);
  }
  if (scenario.cluster.network.packet.options.load_balancing ==
      links::LoadBalancing::explicit_path) {
    refuse("/cluster/network/packet/load_balancing",
           "explicit needs a path for every flow, which training has not");
  }
  for (const auto& [layer, bound] : scenario.cluster.network.packet.bounded_loss.bound_of_layer) {
    const std::size_t layers = scenario.workload.layers.size();
    if (layer >= static_cast<std::int64_t>(layers)) {
      refuse("/cluster/network/packet/transport/loss_bound_per_layer",
             "unknown layer " + std::to_string(layer) + ", there are " + std::to_string(layers));
    }
  }
  if (!simulates_messages(scenario)) {
    return;
  }
  if (communication.collective == collectives::AlgorithmId::parameter_server) {
    check_servers(tree, context, scenario);
    return;
  }
  if (applies_late(training.algorithm) && communication.schedule == buckets::Schedule::horovod) {
    refuse("/communication/schedule",
           "horovod is not defined for " + std::string(kTrainingAlgorithms[training.algorithm]) +
               " where every message is simulated: cycles of its iterations overlap");
  }
  // Elsewhere an exchange that has no halves of its own counts as two equal ones.
  const bool sharded =
      training.sharding.strategy != ShardingStrategy::none && !has_owners(training.sharding);
  const bool halves = !sharded && buckets::planner(communication.schedule).gathers_back();
  const collectives::AlgorithmId algorithm = communication.collective;
  const bool has_halves =
      sharded ? algorithm == collectives::AlgorithmId::automatic ||
                    (collectives::find_algorithm(collectives::Op::reduce_scatter, algorithm) &&
                     collectives::find_algorithm(collectives::Op::allgather, algorithm))
              : algorithm == collectives::AlgorithmId::ring;
  if ((sharded || halves) && !has_halves) {
    refuse("/communication/collective",
           fmt::format("{} sends a reduce-scatter and an all-gather where every message is "
                       "simulated, which collective {} does not have",
                       sharded ? "sharding" : "dear", collective_word(communication)));
  }
  const collectives::Compression& compression = communication.compression;
  if (is_compressed(scenario) && method.kind != collectives::CompressionKind::codec &&
      (communication.reduce_broadcast || halves)) {
    refuse("/communication/compression/method",
           "compression " + std::string(method.name) +
               " is one exchange, which has no two halves where every message is simulated");
  }
  if (is_compressed(scenario) && compression.select_stream == collectives::SelectStream::side) {
    refuse("/communication/compression/select_stream",
           "side is not defined where every message is simulated");
  }
  if (is_compressed(scenario) && communication.schedule == buckets::Schedule::horovod) {
    refuse("/communication/schedule", "horovod is not defined for compression " +
                                          std::string(method.name) +
                                          " where every message is simulated");
  }
}

std::optional<links::Topology> parse_topology_field(const io::Json& json,
                                                    const ParseContext& context) {
  const io::Json* file = json.is_string() ? &json : json.find("file");
  if (file == nullptr) {
    return io::parse_topology(json);
  }
  if (!json.is_string()) {
    io::Fields fields(json, context.problems);
    (void)fields.string("file");
    fields.no_more();
  }
  return context.problems.empty() ? std::optional(context.files.topology(*file)) : std::nullopt;
}

// Packet times are integer picoseconds: rates beyond these limits round to 0, latencies overflow.
// One link is reported, as the others tend to be alike.
void check_packet_links(const io::Json& place, const ParseContext& context,
                        const links::Fabric& fabric) {
  constexpr double kMostLatency = 1000;
  constexpr double kMostBandwidth = 1e15;
  for (links::LinkId link = 0; link < fabric.links.size(); ++link) {
    const auto& [from, to, latency_s, bandwidth_Bps] = fabric.links[link];
    if (latency_s > kMostLatency || bandwidth_Bps > kMostBandwidth) {
      context.problems.add(
          place, "link " + fabric.link_names[link] +
                     ": the packet model needs latency_s <= 1000 and bandwidth_Bps <= 1e15, got " +
                     base::shortest(latency_s) + " and " + base::shortest(bandwidth_Bps));
      return;
    }
  }
}

} // namespace stepsim::study
