// A codec's time is on the compute thread and not in the exchange; synchronisation and host copies
// are in the exchange and not on the wire. Copies count twice, into and out of host memory, and
// carry compressed bytes.
#include "scenario/scenario_exchange.hpp"

#include "collectives/validate.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

// Of the gradients of a group; of all of them where it is a size alone.
double bytes_per_value(const Scenario& scenario, const buckets::Group& group) {
  std::int64_t bytes = 0;
  std::int64_t values = 0;
  for (const std::uint32_t item : group.items) {
    if (item < scenario.workload.gradients.size()) { // else one that sends nothing
      bytes += scenario.workload.gradients[item].bytes.value;
      values += scenario.workload.gradients[item].values();
    }
  }
  return values > 0 ? static_cast<double>(bytes) / static_cast<double>(values)
                    : scenario.workload.bytes_per_value();
}

// What a profile found dense ring all-reduces to take longer than the network explains (SPA 9).
// The measured factor is of rings, and of dense gradients: other exchanges load the hosts
// differently.
double inflation(const Scenario& scenario) {
  const auto& profile = scenario.cluster.network.profile;
  const bool dense = collectives::row(scenario.communication.compression.method).kind ==
                     collectives::CompressionKind::dense;
  const bool ring = scenario.communication.collective == collectives::AlgorithmId::ring;
  return profile && dense && ring ? links::dense_inflation(*profile, scenario.cluster.ranks()) : 1;
}

// Receivers that have enough of a message stop the rest, also as fluid (PKT 6.4).
bool stops_early(const Scenario& scenario) {
  return may_lose(scenario) && scenario.cluster.network.packet.options.transport.dlcp.early_stop;
}

// Streams that are under way at the same time share the network, and so do the replicas of a node.
bool exchanges_meet(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  const Communication& communication = scenario.communication;
  return buckets::planner(communication.schedule).shares_channel(communication.schedule_options) ||
         has_replicas(scenario.training) ||
         (has_units(sharding) &&
          (sharding.communicators > 1 || sharding.strategy == ShardingStrategy::hybrid_shard));
}

// A library's own algorithm ("nccl", "mpi", "horovod"), not one of ours.
bool is_library(std::string_view algorithm) {
  return std::ranges::none_of(collectives::algorithm_table(),
                              [&](const collectives::AlgorithmRow& row) {
                                return collectives::name(row.algorithm) == algorithm;
                              });
}

// By the words of nccl-tests and of PyTorch.
double element_bytes(std::string_view dtype) {
  return dtype == "half" || dtype.find("16") != std::string_view::npos     ? 2
         : dtype == "double" || dtype.find("64") != std::string_view::npos ? 8
         : dtype.find('8') != std::string_view::npos                       ? 1
                                                                           : 4;
}

// The operation of the first exchange: allreduce, or reduce with reduce_broadcast.
collectives::Op exchange_op(const Communication& communication) {
  return communication.reduce_broadcast ? collectives::Op::reduce : collectives::Op::allreduce;
}

} // namespace

bool may_lose(const Scenario& scenario) {
  const PacketSettings& packet = scenario.cluster.network.packet;
  const BoundedLoss& bounded = packet.bounded_loss;
  return packet.has_transport && packet.options.transport.kind == links::TransportKind::dlcp &&
         (bounded.bound_push > 0 || bounded.bound_pull > 0 || !bounded.bound_of_layer.empty());
}

bool exchanges(const Scenario& scenario) {
  return scenario.cluster.ranks() > 1 || scenario.communication.dedicated_servers() > 0;
}

bool is_compressed(const Scenario& scenario) {
  return scenario.communication.compression.method != collectives::CompressionMethod::none;
}

buckets::Group all_gradients(const Scenario& scenario) {
  buckets::Group all;
  for (std::uint32_t i = 0; i < scenario.workload.gradients.size(); ++i) {
    all.items.push_back(i);
    all.bytes += scenario.workload.gradients[i].bytes;
  }
  return all;
}

// A rate of 0 means free.
CodecTimes codec_times(const Scenario& scenario, double bytes) {
  const collectives::Compression& compression = scenario.communication.compression;
  const bool coded =
      collectives::row(compression.method).kind == collectives::CompressionKind::codec;
  if (!coded || !exchanges(scenario)) {
    return {};
  }
  const auto seconds = [bytes](double rate) { return rate > 0 ? bytes / rate : 0; };
  return {seconds(compression.encode_Bps), seconds(compression.decode_Bps)};
}

// Seconds per byte of the dense gradient, whatever of it is sent.
buckets::LinearCost extra_cost(const Scenario& scenario) {
  if (!exchanges(scenario)) {
    return {};
  }
  const Training& training = scenario.training;
  const double ratio = std::max(1.0, scenario.communication.compression.ratio);
  return {.startup_s = training.sync.value,
          .per_byte_s = training.host_copy_Bps > 0 ? 2 / (training.host_copy_Bps * ratio) : 0};
}

collectives::GradientPart part_of_bytes(double bytes, double bytes_per_value) {
  return {.elements = static_cast<std::int64_t>(std::ceil(bytes / bytes_per_value)),
          .bytes = bytes};
}

// Low-rank methods need the shapes; a tensor of unknown shape is a single column, which is sent as
// it is.
collectives::GradientPart gradient_part(const Scenario& scenario, const buckets::Group& group) {
  const collectives::Compression& compression = scenario.communication.compression;
  collectives::GradientPart part =
      part_of_bytes(static_cast<double>(group.bytes.value), bytes_per_value(scenario, group));
  if (compression.method == collectives::CompressionMethod::powersgd) {
    for (const std::uint32_t item : group.items) {
      if (item >= scenario.workload.gradients.size()) {
        continue; // one that sends nothing
      }
      const layers::Gradient& gradient = scenario.workload.gradients[item];
      if (gradient.shapes.empty()) {
        part.shapes.push_back({gradient.values(), 1});
      }
      part.shapes.insert(part.shapes.end(), gradient.shapes.begin(), gradient.shapes.end());
    }
  }
  return part;
}

// A flow-level exchange of equal workers repeats itself and is evaluated once per size; what
// depends on other messages under way has to be simulated as a whole.
bool simulates_messages(const Scenario& scenario) {
  const NetworkModel model = scenario.cluster.network.model;
  const Communication& communication = scenario.communication;
  return model == NetworkModel::packet ||
         (model == NetworkModel::flow && (communication.has_servers() || exchanges_meet(scenario) ||
                                          stops_early(scenario) || !scenario.other_jobs.empty()));
}

const links::CollectiveCurve* find_curve(const links::NetworkProfile& profile,
                                         const CurveWish& wish) {
  const auto fit_of = [&](const links::CollectiveCurve& curve) {
    return (element_bytes(curve.dtype) == wish.element_bytes ? 2 : 0) +
           (curve.start_up == wish.start_up ? 1 : 0);
  };
  const links::CollectiveCurve* best = nullptr;
  for (const links::CollectiveCurve& curve : profile.collectives) {
    const bool fits =
        wish.algorithm.empty() ? is_library(curve.algorithm) : curve.algorithm == wish.algorithm;
    if (curve.op == wish.op && fits && curve.ranks == wish.ranks && !curve.segments.empty() &&
        (best == nullptr ||
         (curve.algorithm == best->algorithm && fit_of(curve) > fit_of(*best)))) {
      best = &curve;
    }
  }
  return best;
}

links::StartUp start_up_of(const Communication& communication) {
  return communication.schedule == buckets::Schedule::single ? links::StartUp::alone
                                                             : links::StartUp::queue;
}

// Copies the segments: the cost outlives the profile.
buckets::Cost cost_of(const links::CollectiveCurve& curve) {
  return {.base = buckets::CurveCost{[segments = curve.segments](double bytes) {
            return links::curve_seconds(segments, bytes);
          }}};
}

std::optional<buckets::Cost> measured_half(const Scenario& scenario, collectives::Op op) {
  const Network& network = scenario.cluster.network;
  if (!scenario.communication.calibrated || scenario.training.exchange || !network.curve ||
      !network.profile) {
    return std::nullopt;
  }
  const Sharding& sharding = scenario.training.sharding;
  const links::CollectiveCurve* curve =
      find_curve(*network.profile,
                 {.op = collectives::name(op),
                  .algorithm = "",
                  .ranks = scenario.cluster.ranks(),
                  .element_bytes = op == collectives::Op::allgather ? sharding.parameter_bytes
                                                                    : sharding.reduce_bytes,
                  .start_up = start_up_of(scenario.communication)});
  return curve == nullptr ? std::nullopt : std::optional(cost_of(*curve));
}

std::string_view collective_word(const Communication& communication) {
  return communication.calibrated ? keys::kCalibrated
         : communication.library  ? keys::kLibrary
                                  : collectives::name(communication.collective);
}

bool sends_chains(const Communication& communication) {
  return communication.reduce_broadcast &&
         collectives::algorithm(communication.collective).node_blocks != nullptr;
}

bool may_send_blocks(const Communication& communication, collectives::AlgorithmId of_level) {
  const collectives::AlgorithmId whole = communication.collective;
  return whole == collectives::AlgorithmId::automatic ||
         collectives::algorithm(whole).block_streams > 0 || sends_chains(communication) ||
         (collectives::has_level_algorithms(whole) &&
          collectives::algorithm(of_level).block_streams > 0);
}

bool may_send_blocks(const Communication& communication) {
  return may_send_blocks(communication, communication.options.inter_algorithm) ||
         may_send_blocks(communication, communication.options.intra_algorithm);
}

bool adds_bytes(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  if (sharding.any()) {
    return sharding.reduce_bytes < 2;
  }
  const double ratio = std::max(1.0, scenario.communication.compression.ratio);
  return std::ranges::any_of(scenario.workload.gradients, [&](const layers::Gradient& gradient) {
    return gradient.bytes.value > 0 && static_cast<double>(gradient.bytes.value) <
                                           2 * ratio * static_cast<double>(gradient.values());
  });
}

collectives::TwoLevel two_levels_of(const Cluster& cluster, bool adds_type) {
  const std::vector<std::uint32_t> counts =
      domain_ranks(cluster.ranks_per_node, cluster.nvlink_domain_nodes);
  const std::int64_t each = cluster.ranks() / (cluster.nodes / cluster.nvlink_domain_nodes);
  return {.gpus_per_node =
              counts.empty() ? static_cast<std::uint32_t>(each) : *std::ranges::max_element(counts),
          .nics_per_node = static_cast<std::uint32_t>(cluster.nics_of_domain()),
          .intra = cluster.intra.value_or(collectives::LinkCost{}),
          .nvls = cluster.nvls,
          .switch_latency_s = cluster.switch_latency_s,
          .ranks_per_node = counts,
          .adds_type = adds_type};
}

// The inflation of a profile scales the whole link, latency too: it was fitted to whole all-
// reduces. On a fabric the links of `all` are unused.
collectives::Collective exchange_of(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const Network& network = cluster.network;
  collectives::Collective collective;
  collective.op = exchange_op(scenario.communication);
  collective.algorithm = scenario.communication.collective;
  collective.ranks = static_cast<std::uint32_t>(cluster.exchange_ranks());
  const double rate = network.bandwidth_Bps * network.efficiency;
  if (cluster.fabric) {
    collective.links.fabric = cluster.fabric; // which alone counts
  } else {
    collective.links.all = {.latency_s = network.latency_s,
                            .block_latency_s = network.block_latency_s,
                            .per_byte_s = rate > 0 ? 1 / rate : 0,
                            .delay_s = network.delay_s};
    collective.links.measured = network.steps;
  }
  const double gamma = inflation(scenario);
  collective.links.all.scale(gamma, gamma);
  if ((cluster.intra || cluster.fabric) && cluster.gpus_of_domain() > 1 && !cluster.machines_push) {
    collective.links.two_level = two_levels_of(cluster, !adds_bytes(scenario));
  }
  collective.reduction_s_per_byte = network.reduction_Bps > 0 ? 1 / network.reduction_Bps : 0;
  collective.options = scenario.communication.options;
  return collective;
}

std::string_view usual_collective(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return communication.question ? keys::kLibrary
                                : default_collective(scenario, is_compressed(scenario),
                                                     communication.reduce_broadcast);
}

// Two-level algorithms need a network inside the node, or a topology; auto would repeat one of the
// others. collnet needs switches that add, which nobody has who does not ask for it.
std::vector<std::string_view> collectives_of(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const collectives::Op op = exchange_op(communication);
  std::vector<std::string_view> words;
  for (const collectives::AlgorithmId algorithm : collectives::valid_algorithms(op)) {
    const bool two_level = collectives::is_two_level(algorithm);
    const bool other =
        algorithm == collectives::AlgorithmId::automatic ||
        algorithm == collectives::AlgorithmId::parameter_server ||
        (algorithm == collectives::kCollnet && communication.collective != algorithm);
    collectives::Collective exchange = exchange_of(scenario);
    exchange.algorithm = algorithm;
    if (!other && (!two_level || ((scenario.cluster.intra || scenario.cluster.fabric) &&
                                  collectives::validate_nodes(exchange).empty()))) {
      words.push_back(collectives::name(algorithm));
    }
  }
  if (usual_collective(scenario) == keys::kLibrary) {
    words.push_back(keys::kLibrary);
  }
  return words;
}

} // namespace stepsim::study
