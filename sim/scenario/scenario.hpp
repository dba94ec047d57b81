#pragma once
// A scenario: workload, cluster, training and communication, as plain values with every default
// filled in. The file format is interface-stable (schemas/scenario.schema.json); `parse_scenario`
// maps it from io's tree and `scenario_tree` (scenario_tree.hpp) maps it back, fully resolved.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"
#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "net/fabric/rank_fabric.hpp"
#include "plan/planner_options.hpp"
#include "plan/planners.hpp"
#include "program/training_program.hpp"
#include "scenario/files.hpp"
#include "scenario/local_training.hpp"
#include "scenario/node_source.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "scenario/sharding.hpp"
#include "train/step/pipeline.hpp"
#include "train/step/step.hpp"
#include "train/workload/variability.hpp"
#include "train/workload/workload.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// What the file says of a workload, which is loaded by then: exactly one of trace, model and
// layers.
struct WorkloadSource {
  std::string trace; // file as written
  std::string model; // name or file as written
  bool layers = false;
  std::optional<std::int64_t> batch_size;  // samples per worker; trace and layers only
  train::ProfileOptions profile;           // model only, but for the granularity
  std::optional<Seconds> measured_compute; // as given: splits into forward and backward
  std::optional<std::int64_t> sequence_length;
  std::optional<Seconds> scale_backward_to; // sum over the layers
};

// alpha_beta: latency and bandwidth per message; flow and packet: through the topology (PKT).
enum class NetworkModel { alpha_beta, flow, packet };
inline constexpr auto kNetworkModels =
    base::words<NetworkModel>({{NetworkModel::alpha_beta, "alpha_beta"},
                               {NetworkModel::flow, "flow"},
                               {NetworkModel::packet, "packet"}});

struct Network {
  NetworkModel model = NetworkModel::alpha_beta;
  double latency_s{};
  double delay_s{};         // after the ports are free (coll::LinkCost)
  double bandwidth_Bps{};   // as given; times `efficiency` in costs
  double reduction_Bps{};   // 0 = free
  double block_latency_s{}; // <= latency_s
  double efficiency = 1;
  std::string calibration; // file as written, "" = none
  std::string cost_file;   // file as written, "" = none or inline
  io::Json cost_tree;      // an inline cost as written
  std::string label;       // of the profile: measured, calibrated, default; "" without one
  std::string grade;       // of the profile, "" = none
  // Ranges of ranks and bytes that the calibration covers; empty if the file gives none.
  std::optional<std::pair<double, double>> valid_ranks;
  std::optional<std::pair<double, double>> valid_bytes;
  // T(bytes) of a dense exchange, where something gives it: `cost`, exchange_s, a collective curve
  // of the calibration, the model of a library.
  std::optional<plan::Cost> curve;
  std::optional<plan::Cost> planned_curve;    // that planners see, if not `curve`
  std::string curve_source;                   // in words, for results
  std::optional<net::NetworkProfile> profile; // of the calibration, for what it says of ranks
  bool count_headers = false;                 // flow: bytes on the wire
  PacketSettings packet;                      // flow: sizes, paths and the loss bound alone
};

struct Cluster {
  std::optional<NodeSource> node;  // of the preset, else of the calibration of the library
  std::vector<Override> overrides; // of its values
  std::int64_t nodes = 1;
  std::int64_t gpus_per_node = 1;           // of the largest where nodes differ
  std::vector<std::int64_t> ranks_per_node; // [nodes] where nodes differ, else empty
  std::int64_t nics_per_node = 1;
  std::int64_t nvlink_domain_nodes = 1;   // machines that count as one node (CLU 3.7)
  std::optional<coll::NvlsCost> nvls;     // the switch of a node adds
  std::optional<double> switch_latency_s; // of switches that add in the network, if given
  std::optional<coll::LinkCost> intra;    // inside a node, if known
  std::string intra_calibration;          // file or name as written, "" = none
  bool has_network = true;                // one node alone may do without
  Network network;
  io::Json topology;       // as written; null = a star of the nodes with the network's links
  io::Json rank_placement; // as written; null = packed
  bool topology_gives_latency = false; // to alpha_beta, which has no latency of its own
  bool topology_gives_bandwidth = false;
  // Where every rank is, then every dedicated server; null for alpha_beta.
  std::shared_ptr<const net::RankFabric> fabric;
  [[nodiscard]] bool equal_nodes() const { return ranks_per_node.empty(); }
  [[nodiscard]] std::int64_t ranks() const {
    return equal_nodes()
               ? nodes * gpus_per_node
               : std::accumulate(ranks_per_node.begin(), ranks_per_node.end(), std::int64_t{0});
  }
  // At most so many where nodes differ.
  [[nodiscard]] std::int64_t gpus_of_domain() const { return nvlink_domain_nodes * gpus_per_node; }
  // Those that its GPUs use: each uses one.
  [[nodiscard]] std::int64_t nics_of_domain() const {
    return nvlink_domain_nodes * std::min(nics_per_node, gpus_per_node);
  }
};

// How many epochs a loss of gradients costs (PKT 8).
struct Convergence {
  double epochs_lossless{};
  std::int64_t iterations_per_epoch{};
  double harmless{}, most{}; // x1, x2: loss fractions
  double beta{};             // epochs at x2 = (1 + beta) epochs_lossless
};

enum class TrainingAlgorithm { sync_sgd, pipe_sgd, od_sgd, parameter_server, local_sgd, diloco };
// Gradients are applied in a later iteration, by one update of all layers.
[[nodiscard]] constexpr bool applies_late(TrainingAlgorithm algorithm) {
  return algorithm == TrainingAlgorithm::pipe_sgd || algorithm == TrainingAlgorithm::od_sgd;
}
inline constexpr auto kTrainingAlgorithms =
    base::words<TrainingAlgorithm>({{TrainingAlgorithm::sync_sgd, "sync_sgd"},
                                    {TrainingAlgorithm::pipe_sgd, "pipe_sgd"},
                                    {TrainingAlgorithm::od_sgd, "od_sgd"},
                                    {TrainingAlgorithm::parameter_server, "parameter_server"},
                                    {TrainingAlgorithm::local_sgd, "local_sgd"},
                                    {TrainingAlgorithm::diloco, "diloco"}});

// Workers of parameter servers train in step, nobody waits, or nobody runs further ahead than a
// bound (stale synchronous, TRN 4.7).
enum class ServerMode { sync, async, ssp };
inline constexpr auto kServerModes = base::words<ServerMode>(
    {{ServerMode::sync, "sync"}, {ServerMode::async, "async"}, {ServerMode::ssp, "ssp"}});

struct Training {
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
  std::int64_t iterations = 10;                   // rounds with local_sgd and diloco
  std::optional<std::int64_t> discard_iterations; // empty: 1 if periods differ, else 0
  Seconds update;
  Seconds input;
  bool input_pipelined = true;
  std::optional<Seconds> exchange; // stands for every dense exchange
  Seconds sync;                    // added to every exchange
  double host_copy_Bps = 0;        // 0 = no staging through host memory
  program::Interference overlap;   // slowdown of what overlaps
  std::int64_t micro_batches = 1;  // per update; the workload is one of them
  AccumulationExchange accumulation_exchange = AccumulationExchange::last;
  Sharding sharding;
  LocalTraining local; // local_sgd, diloco
  // pipe_sgd
  std::optional<std::int64_t> pipeline_width = 2; // empty = optimal
  std::int64_t max_width = 16;                    // largest that `optimal` tries
  double width_tolerance = 0.01; // how much slower than max_width the optimal one may be, ratio
  std::int64_t warmup_iterations = 0; // synchronous ones before the pipeline starts
  train::WarmupSwitch warmup_switch = train::WarmupSwitch::skip;
  bool drain = false;
  // parameter_server; servers and placement are in the options of the collective
  ServerMode mode{};
  std::optional<std::int64_t> staleness_bound; // ssp; empty: none
  [[nodiscard]] bool async() const { return mode != ServerMode::sync; }
  bool serial_server = false;
  bool whole_split = false; // whole tensors on servers in turn (PKT 7.2)
  std::optional<Convergence> convergence;
};

struct Communication {
  coll::AlgorithmId collective = coll::AlgorithmId::ring;
  bool calibrated = false; // `collective` is "calibrated": a library's measured curve
  bool library = false;    // `collective` is "library": the model of one
  LibrarySettings library_settings;
  std::optional<library::LibraryQuestion> question; // of `library` among several ranks; no bytes
  coll::Options options;                            // chunking real by default here
  plan::Schedule schedule = plan::Schedule::ddp;
  plan::ScheduleOptions schedule_options;
  double copy_bandwidth_Bps = 0;             // 0 = no copies
  std::optional<plan::LinearCost> plan_cost; // that the planner sees, if not that of the run
  bool reduce_broadcast = false;             // `exchange`
  bool overlap_backward = true;
  train::NextForward next_forward = train::NextForward::per_layer;
  coll::Compression compression;
};

// A further job on the same fabric: layers of its own, training and communication as the first.
struct OtherJob {
  WorkloadSource source;
  train::Workload workload;
  std::int64_t nodes{};
};

struct Scenario {
  std::string name;
  std::int64_t seed = 1;
  std::optional<coll::Method> method; // empty = auto
  Seconds simulated_limit{1000};
  bool allow_unusual = false; // network speeds and latencies that rather lack their unit
  WorkloadSource workload_source;
  train::Workload workload; // loaded, granularity and scaling applied
  // Where `workload` is a list: the first job has the first nodes, and so on; all of them together
  // are the cluster's.
  std::int64_t first_job_nodes{};
  std::vector<OtherJob> other_jobs;
  Cluster cluster;
  Training training;
  Communication communication;
  train::Variability variability;
  std::optional<Communication> dense_baseline; // of speedup_vs_dense_overlapped
  std::vector<std::string> warnings;
};

// Keys without a meaning for the chosen schedule or collective: an error in a scenario file,
// ignored in a point that `--over`, axes and the like made from it.
enum class Leftovers { refuse, ignore };

// Throws InputError with all problems of the first stage that has any (reading, then checks of what
// goes together), and as Files does. File names inside are relative to the tree's file.
[[nodiscard]] Scenario parse_scenario(const io::Json& tree, Files& files,
                                      Leftovers leftovers = Leftovers::refuse);

} // namespace stepsim::study
