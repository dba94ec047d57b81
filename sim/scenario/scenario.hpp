#pragma once
// A scenario: workload, cluster, training and communication, as plain values with all defaults
// filled in. parse_scenario() makes it from a JSON tree, scenario_tree() (scenario_tree.hpp) writes
// it back, fully resolved. The file format is a stable interface (schemas/scenario.schema.json).
#include <numeric>

#include "buckets/planners.hpp"
#include "document/fields/written.hpp"
#include "layers/optimizer_state.hpp"
#include "layers/variability.hpp"
#include "programs/builders/step_parts.hpp"
#include "programs/step/pipeline.hpp"
#include "scenario/files.hpp"
#include "scenario/node_source.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "scenario/training_parts.hpp"

namespace stepsim::study {

using links::Bus;
using links::Carrier;

// The source of a workload that has been loaded: exactly one of trace, model and layers.
struct WorkloadSource {
  std::string trace; // name of the file, as written; "" = none
  std::string model; // name or file, as written; "" = none
  bool layers = false;
  std::optional<std::int64_t> batch_size;      // samples per worker; trace and layers only
  layers::ProfileOptions profile;              // model only, except the granularity
  bool has_attention = false;                  // model only
  std::optional<Seconds> measured_compute;     // /workload/measured/compute_s as given
  std::optional<std::int64_t> sequence_length; // tokens per sample; model only
  std::optional<std::int64_t> tokens;       // the same, also where the table of the model gives it
  std::optional<Seconds> scale_backward_to; // sum to which all backward times are scaled
  std::int64_t measured_gpus = 1;           // of the run that the times were measured in
};

// alpha_beta: latency and bandwidth per message. flow, packet: through the topology (PKT).
enum class NetworkModel { alpha_beta, flow, packet };
inline constexpr auto kNetworkModels = base::words<NetworkModel>();

// What of a link a measurement of the user's own gives: a calibration whose values nothing
// replaces.
struct MeasuredLink {
  bool rate = false, start = false;
};

struct Network {
  NetworkModel model = NetworkModel::alpha_beta;
  std::optional<Carrier> carrier; // the key `transport`, else that of the profile or node type
  double latency_s{};
  bool latency_given = false; // by the scenario itself
  MeasuredLink measured{};
  double delay_s{};         // latency that occupies no port (collectives::LinkCost)
  double bandwidth_Bps{};   // as given; costs use bandwidth_Bps * efficiency
  double reduction_Bps{};   // speed of adding; 0 = adding takes no time
  double block_latency_s{}; // <= latency_s
  double efficiency = 1;
  std::string calibration;                 // name or file of the calibration as written, "" = none
  std::string cost_file;                   // cost file as written, "" = none or inline
  io::Json cost_tree, broadcast_cost_tree; // inline costs as written
  std::string label; // label of the profile: measured, calibrated, default; "" without one
  std::string grade; // grade of the profile, "" = none
  // Ranges of ranks and bytes of the calibration; empty if the file gives none.
  std::optional<std::pair<double, double>> valid_ranks;
  std::optional<std::pair<double, double>> valid_bytes;
  // T(bytes) of a dense exchange, if given by `cost`, exchange_s, a collective curve of the
  // calibration, or the library model.
  std::optional<buckets::Cost> curve;
  std::optional<buckets::Cost> broadcast_curve; // the same of a broadcast, given by broadcast_cost
  // Takes the place of `curve` for planners; Communication::plan_cost wins over both.
  std::optional<buckets::Cost> planned_curve;
  std::string curve_source; // origin of `curve` in words, printed by `run`
  // Set where `curve` comes from the measured times of single messages.
  std::shared_ptr<const collectives::MeasuredSteps> steps;
  std::optional<links::NetworkProfile> profile; // the calibration, whose values may depend on ranks
  bool count_headers = false;                   // flow: messages have the bytes on the wire
  PacketSettings packet;                        // flow: only sizes, paths and the loss bound
};

// The pointers of the keys of both networks that have the name of a member.
template <auto Member>
inline constexpr std::string_view kNetworkPointer = io::pointer_to<Member, "/cluster/network/">();
template <auto Member>
inline constexpr std::string_view
    kIntraPointer = io::pointer_to<Member, "/cluster/intra_network/">();

struct Cluster {
  std::optional<NodeSource> node;  // from the preset, else from the library calibration
  std::vector<Override> overrides; // replaced values of the node type
  std::int64_t nodes = 1;
  std::int64_t gpus_per_node = 1;           // largest number if nodes differ
  std::vector<std::int64_t> ranks_per_node; // [node] if nodes differ, else empty
  std::int64_t nics_per_node = 1;
  std::optional<std::int64_t> gpu_memory_bytes; // given, of the node type or of the named GPU
  std::int64_t nvlink_domain_nodes = 1;         // machines that form one node (CLU 3.7)
  std::optional<collectives::NvlsCost> nvls;    // switch of a node that adds
  std::optional<double> switch_latency_s; // latency of switches that add in the network, if given
  std::optional<collectives::LinkCost> intra; // link inside a node, if known
  std::string intra_calibration;              // file or name as written, "" = none
  MeasuredLink intra_measured{};
  std::optional<Bus> bus;  // the key of intra_network, else that of the profile or node type
  bool has_network = true; // false only for a single node
  Network network;
  io::Json topology;       // as written; null = a star of the nodes with the network's links
  io::Json rank_placement; // as written; null = packed
  // With alpha_beta: whether latency and bandwidth come from the topology, because no other key
  // gives them.
  bool topology_gives_latency = false;
  bool topology_gives_bandwidth = false;
  // The hosts of all ranks, then of all dedicated servers; null for alpha_beta.
  std::shared_ptr<const links::RankFabric> fabric;
  // Whether servers see a machine, or a domain, as one worker.
  bool machines_push = false;
  [[nodiscard]] bool equal_nodes() const { return ranks_per_node.empty(); }
  [[nodiscard]] std::int64_t ranks() const {
    return equal_nodes() ? nodes * gpus_per_node : base::sum_of<std::int64_t>(ranks_per_node);
  }
  // The number of ranks that take part in an exchange among all.
  [[nodiscard]] std::int64_t exchange_ranks() const {
    return machines_push ? nodes / nvlink_domain_nodes : ranks();
  }
  // The number of GPUs of an NVLink domain; an upper bound if nodes differ.
  [[nodiscard]] std::int64_t gpus_of_domain() const { return nvlink_domain_nodes * gpus_per_node; }
  // The number of network interfaces of a domain that are used: each GPU uses one.
  [[nodiscard]] std::int64_t nics_of_domain() const {
    return nvlink_domain_nodes * std::min(nics_per_node, gpus_per_node);
  }
};

// The epochs that a loss of gradients costs (PKT 8).
struct Convergence {
  double epochs_lossless{};
  std::int64_t iterations_per_epoch{};
  double harmless{}, most{}; // x1, x2: loss fractions
  double beta{};             // epochs at x2 = (1 + beta) epochs_lossless
};

enum class TrainingAlgorithm {
  sync_sgd,
  pipe_sgd,
  od_sgd,
  parameter_server,
  local_sgd,
  diloco,
  easgd // synchronous elastic averaging (arXiv:1412.6651, eq. 5 and 6)
};
// Whether gradients are applied in a later iteration, by one update of all layers.
[[nodiscard]] constexpr bool applies_late(TrainingAlgorithm algorithm) {
  return algorithm == TrainingAlgorithm::pipe_sgd || algorithm == TrainingAlgorithm::od_sgd;
}
// Whether a step may accumulate the gradients of several micro-batches.
[[nodiscard]] constexpr bool accumulates(TrainingAlgorithm algorithm) {
  return algorithm == TrainingAlgorithm::sync_sgd;
}
// Whether workers exchange with servers, whatever /communication/collective says.
[[nodiscard]] constexpr bool needs_servers(TrainingAlgorithm algorithm) {
  return algorithm == TrainingAlgorithm::parameter_server || algorithm == TrainingAlgorithm::easgd;
}
inline constexpr auto kTrainingAlgorithms = base::words<TrainingAlgorithm>();

// Workers of parameter servers train in step (sync), without waiting (async), or at most a bound
// ahead of the slowest (ssp, stale synchronous, TRN 4.7).
enum class ServerMode { sync, async, ssp };
inline constexpr auto kServerModes = base::words<ServerMode>();

// How long gradients stay in memory: until the update, always, or until the update of their layer.
enum class GradientLifetime { step, always, layer };
inline constexpr auto kGradientLifetimes = base::words<GradientLifetime>();

struct Training {
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
  std::int64_t iterations = 10; // rounds for algorithms that train in rounds
  // Empty: 1 if periods differ, else 0. Of iterations whose gradients are applied late, as by
  // pipe_sgd, the first half is left out instead.
  std::optional<std::int64_t> discard_iterations;
  Seconds update; // weight update of an iteration
  Seconds loss;   // between forward and backward; in the forward of the last layer
  Seconds input;  // reading a batch
  bool input_pipelined = true;
  std::optional<Seconds> exchange;       // time of every dense exchange
  Seconds sync;                          // added to every exchange
  Seconds wait;                          // per step, for reasons that nothing else gives
  double host_copy_Bps = 0;              // 0 = no staging through host memory
  programs::Interference overlap;        // slowdown of compute and exchanges that overlap
  bool overlap_given = false;            // whether the file says anything about it
  std::optional<bool> reduced_precision; // computing in 16 or 8 bits, if given
  layers::Optimizer optimizer{};
  std::optional<double> activation_bytes; // of a micro-batch; empty = as the workload says
  GradientLifetime gradient_lifetime{};
  std::optional<double> context_bytes; // of a process; empty = assumed
  std::int64_t micro_batches = 1;      // per update; the times of the workload are those of one
  AccumulationExchange accumulation_exchange = AccumulationExchange::last;
  Sharding sharding;
  LocalTraining local; // local_sgd, diloco
  // pipe_sgd
  std::optional<std::int64_t> pipeline_width = 2; // K; empty = the word `optimal`
  std::int64_t max_width = 16;                    // largest width that `optimal` tries
  // The optimal width may be slower than max_width by this ratio: 0.01 = 1 %.
  double width_tolerance = 0.01;
  std::int64_t warmup_iterations = 0; // synchronous iterations before the pipeline starts
  programs::WarmupSwitch warmup_switch = programs::WarmupSwitch::skip;
  bool drain = false;
  // parameter_server; servers and placement are in the options of the collective
  ServerMode mode{};
  std::optional<std::int64_t> staleness_bound; // iterations, with ssp; empty = no limit
  [[nodiscard]] bool async() const {
    return algorithm == TrainingAlgorithm::parameter_server && mode != ServerMode::sync;
  }
  bool serial_server = false;
  bool whole_split = false; // whole tensors, distributed over the servers in turn (PKT 7.2)
  std::optional<Convergence> convergence;
};

struct Communication {
  collectives::AlgorithmId collective = collectives::AlgorithmId::ring;
  bool calibrated = false; // collective "calibrated": measured curve of a library
  bool library = false;    // collective "library": the library model
  LibrarySettings library_settings;
  // What the library model is asked for an exchange, except its bytes; set for collective "library"
  // among several ranks, unless exchange_s gives the times.
  std::optional<nccl::LibraryQuestion> question;
  collectives::Options options; // chunking is real by default here
  buckets::Schedule schedule = buckets::Schedule::ddp;
  buckets::ScheduleOptions schedule_options;
  // The schedule whose merge schedule `optimal` takes; a run sets it where it has searched.
  std::optional<buckets::Schedule> merge_of;
  double copy_bandwidth_Bps = 0;                // 0 = no copies
  std::optional<buckets::LinearCost> plan_cost; // the key: cost that planners use, if it is set
  bool reduce_broadcast = false;                // whether the key `exchange` is reduce_broadcast
  bool overlap_backward = true;
  bool host_reduction = false; // sums on the host's processor
  programs::NextForward next_forward = programs::NextForward::per_layer;
  collectives::Compression compression;
  // Whether gradients are exchanged with parameter servers instead of by an all-reduce.
  [[nodiscard]] bool has_servers() const {
    return collective == collectives::AlgorithmId::parameter_server;
  }
  // Servers on machines of their own, of each job.
  [[nodiscard]] std::uint32_t dedicated_servers() const {
    return has_servers() && options.placement == collectives::Placement::dedicated ? options.servers
                                                                                   : 0;
  }
};

// The whole training: how much of it there is, what a GPU costs, and how its machines fail.
struct Job {
  std::optional<std::int64_t> samples, tokens, tokens_per_sample;
  std::optional<double> price_per_gpu_hour; // USD
  // Mean time between failures of one machine, the time that a checkpoint stops the training, and
  // that from a failure until it goes on.
  std::optional<double> node_mtbf_s, checkpoint_s, restart_s;
};

// A further job on the same fabric. It has its own workload and nodes, and the training and
// communication settings of the first job.
struct OtherJob {
  WorkloadSource source;
  layers::Workload workload;
  std::int64_t nodes{};
};

// A key that the file gives although it has no meaning with the other keys, and the reason:
// "collective has no meaning for parameter_server".
struct MeaninglessKey {
  std::string pointer;
  std::string reason;
};

// The parts of a scenario that conditions change, with nominal rates and measured times.
struct Nominal {
  Cluster cluster;
  Training training;
  layers::Workload workload;
  std::vector<OtherJob> other_jobs;
  collectives::Compression compression;
  std::optional<nccl::LibraryQuestion> question;
};

struct Scenario {
  std::string name;
  std::int64_t seed = 1;
  std::optional<collectives::Method> method; // empty = auto
  Seconds simulated_limit{1000};
  bool allow_unusual = false; // allows network speeds and latencies that are probably wrong
  WorkloadSource workload_source;
  layers::Workload workload; // with granularity and scaling applied
  // If /workload is a list of jobs: the first job has the first nodes, and so on; together the jobs
  // have all nodes of the cluster.
  std::int64_t first_job_nodes{};
  std::vector<OtherJob> other_jobs;
  Cluster cluster;
  Training training;
  Communication communication;
  layers::Variability variability;
  Job job;
  Conditions conditions;
  std::optional<Nominal> nominal; // under typical conditions, which the other parts are under
  std::optional<Communication> dense_baseline; // for speedup_vs_dense_overlapped
  std::vector<std::string> warnings;
  std::vector<MeaninglessKey> left_out; // as Leftovers::ignore asks
};

// What to do with keys that the chosen schedule or collective does not use: they are an error in a
// scenario file, and ignored in a point that axes or `--over` made from it, which is then the same
// scenario as without them.
enum class Leftovers { refuse, ignore };

// Makes a scenario from a tree in stages: reading all keys, then several checks of which go
// together. Throws InputError with all problems of the first stage that has any, and for files that
// Files cannot read. File names in the tree are relative to its file.
[[nodiscard]] Scenario parse_scenario(const io::Json& tree, Files& files,
                                      Leftovers leftovers = Leftovers::refuse);

} // namespace stepsim::study
