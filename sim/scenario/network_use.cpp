#include "scenario/scenario_fabric.hpp"

#include "collectives/algorithms.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Refuses what a scenario asks for at a key of its file.
class Refusals {
public:
  Refusals(const io::Json& tree, io::Problems& problems) : tree_(tree), problems_(problems) {}
  void operator()(bool is_asked, std::string_view pointer, const std::string& what) const {
    const io::Json* place = io::resolve(tree_, pointer);
    if (is_asked) {
      problems_.add(place != nullptr ? *place : tree_, what);
    }
  }

private:
  const io::Json& tree_;
  io::Problems& problems_;
};

// Servers send what one synchronous step sums, as one exchange of every bucket.
void check_servers(const Refusals& refusals, const Scenario& scenario) {
  const auto refuse = [&](bool is_asked, std::string_view pointer, std::string_view what) {
    refusals(
        is_asked, pointer,
        fmt::format("{} is not defined for servers on a simulated network; use model alpha_beta",
                    what));
  };
  const Communication& communication = scenario.communication;
  const collectives::CompressionRow& method = collectives::row(communication.compression.method);
  refuse(method.kind != collectives::CompressionKind::codec &&
             method.kind != collectives::CompressionKind::dense,
         "/communication/compression/method", fmt::format("compression {}", method.name));
  refuse(communication.compression.scale_agreement, "/communication/compression/scale_agreement",
         "scale_agreement");
  refuse(is_compressed(scenario) && communication.compression.count_scale_bytes,
         "/communication/compression/count_scale_bytes", "count_scale_bytes");
  refuse(communication.reduce_broadcast, "/communication/exchange", "reduce_broadcast");
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  refuse(!planner.fits_networks(), "/communication/schedule",
         fmt::format("schedule {}", planner.name));
  const TrainingAlgorithm algorithm = scenario.training.algorithm;
  refuse(algorithm != TrainingAlgorithm::sync_sgd && !needs_servers(algorithm),
         "/communication/collective", fmt::format("algorithm {}", kTrainingAlgorithms[algorithm]));
  refuse(scenario.training.sharding.any(), "/training/sharding", "sharding");
}

} // namespace

// Each line refuses one thing that the simulated networks do not model, at the key that asks for
// it. What follows `simulates_messages` holds where every message is a flow of a job: there
// exchanges have no times of their own.
void check_network_use(const io::Json& tree, const ParseContext& context,
                       const Scenario& scenario) {
  const std::string on = " needs network model alpha_beta";
  const Refusals refuse(tree, context.problems);
  const Training& training = scenario.training;
  const Communication& communication = scenario.communication;
  if (scenario.method) {
    refuse(*scenario.method != collectives::Method::events, "/method",
           fmt::format("method {}{}", collectives::name(*scenario.method), on));
  }
  refuse(training.async() && training.serial_server, "/training/server_mode",
         "a serial server" + on + ": the ports of a server are links");
  refuse(training.async() && !scenario.other_jobs.empty(), "/training/mode",
         "mode async is not defined for several jobs");
  refuse(training.exchange.has_value(), "/training/exchange_s", "exchange_s" + on);
  refuse(!scenario.cluster.network.cost_file.empty() ||
             scenario.cluster.network.cost_tree.is_object(),
         "/cluster/network/cost", "a measured cost" + on);
  refuse(communication.calibrated || communication.library, "/communication/collective",
         fmt::format("collective {}{}", collective_word(communication), on));
  refuse(communication.options.cost_form != collectives::CostForm::exact,
         "/communication/cost_form", "a published cost form" + on);
  refuse(communication.options.ring_startup_2p, "/communication/ring_startup",
         "ring_startup 2P" + on);
  const collectives::Compression& compression = communication.compression;
  const collectives::CompressionRow& method = collectives::row(compression.method);
  refuse(is_compressed(scenario) && !method.simulated, "/communication/compression/method",
         fmt::format("compression {} is known by a formula only, which{}", method.name, on));
  refuse(compression.method == collectives::CompressionMethod::custom &&
             compression.custom.exchange == collectives::CustomExchange::server,
         "/communication/compression/exchange", "exchange server of a custom compressor" + on);
  refuse(compression.method == collectives::CompressionMethod::hierarchical_topk,
         "/communication/compression/method", "compression hierarchical_topk" + on);
  const auto& packet = scenario.cluster.network.packet;
  refuse(packet.options.load_balancing == links::LoadBalancing::explicit_path,
         "/cluster/network/packet/load_balancing",
         "explicit needs a path for every flow, which training has not");
  const std::size_t layers = scenario.workload.layers.size();
  for (const auto& [layer, bound] : packet.bounded_loss.bound_of_layer) {
    refuse(layer >= static_cast<std::int64_t>(layers),
           "/cluster/network/packet/transport/loss_bound_per_layer",
           fmt::format("unknown layer {}, there are {}", layer, layers));
  }
  if (!simulates_messages(scenario)) {
    return;
  }
  if (communication.has_servers()) {
    check_servers(refuse, scenario);
    return;
  }
  refuse(applies_late(training.algorithm) && communication.schedule == buckets::Schedule::horovod,
         "/communication/schedule",
         fmt::format("horovod is not defined for {} where every message is simulated: cycles of "
                     "its iterations overlap",
                     kTrainingAlgorithms[training.algorithm]));
  // Elsewhere an exchange that has no halves of its own counts as two equal ones.
  const bool sharded = training.sharding.any() && !has_owners(training.sharding);
  const bool halves = !sharded && buckets::planner(communication.schedule).gathers_back();
  const collectives::AlgorithmId algorithm = communication.collective;
  const bool has_halves =
      sharded ? algorithm == collectives::AlgorithmId::automatic ||
                    (collectives::find_algorithm(collectives::Op::reduce_scatter, algorithm) &&
                     collectives::find_algorithm(collectives::Op::allgather, algorithm))
              : algorithm == collectives::AlgorithmId::ring;
  refuse((sharded || halves) && !has_halves, "/communication/collective",
         fmt::format("{} sends a reduce-scatter and an all-gather where every message is "
                     "simulated, which collective {} does not have",
                     sharded ? "sharding" : "dear", collective_word(communication)));
  refuse(is_compressed(scenario) && method.kind != collectives::CompressionKind::codec &&
             (communication.reduce_broadcast || halves),
         "/communication/compression/method",
         fmt::format("compression {} is one exchange, which has no two halves where every message "
                     "is simulated",
                     method.name));
  refuse(is_compressed(scenario) && compression.select_stream == collectives::SelectStream::side,
         "/communication/compression/select_stream",
         "side is not defined where every message is simulated");
  refuse(is_compressed(scenario) && communication.schedule == buckets::Schedule::horovod,
         "/communication/schedule",
         fmt::format("horovod is not defined for compression {} where every message is simulated",
                     method.name));
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
