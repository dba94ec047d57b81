#pragma once
// Training whose messages go through a network that is simulated: flows or packets (PKT 7). The
// network lives as long as the run, so TCP windows, queues and background flows last from one
// iteration to the next; several jobs may share one network.
//
//   backward of layer l done -> pieces of l ready -> sent -> layer's pieces all back -> forward l
//
//   servers    every piece goes in even parts to all servers, or whole to one (`whole`); the
//              workers push their gradients (loss_bound_push), the server adds them, the workers
//              pull the sum (loss_bound_pull). Pieces overlap on the wire (PKT 7.2).
//   collective one piece at a time is on the channel, as with one stream of a library; transfers
//              of its schedule are messages: with loss_bound_push where the receiver adds them,
//              else with loss_bound_pull (PKT 7.3, A16).
//   order      FIFO by ready time, or by layer with partitions and a credit (PKT 7.4). Pieces
//              come cut into partitions. With servers every worker has two queues of waiting parts,
//              pushes and pulls, each with its own credit.
//
//   program    the operations of a training program (TRN 2); every exchange is a collective, and
//              those of different streams are under way at the same time.
//
// A transfer inside one host is not a message: with servers it takes no time, in a collective the
// time of the link collective.two_level->intra. After the last iteration one more forward is
// computed, so that every iteration has a period. Seconds from the start of the run; iterations and
// everything else from 0.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coll/collective.hpp"
#include "net/fabric/rank_fabric.hpp"
#include "net/flow/link_use.hpp"
#include "net/packet/background.hpp"
#include "net/packet/core.hpp"
#include "net/packet/options.hpp"
#include "program/operation_times.hpp"
#include "program/training_program.hpp"
#include "train/step/parameter_server.hpp"
#include "train/step/step.hpp"
#include "train/workload/variability.hpp"

namespace stepsim::train {

// How a transport treats the packets of a piece.
struct MessageClass {
  std::uint8_t queue = 1;
  double loss_bound_push = 0, loss_bound_pull = 0; // dlcp; fraction of packets
  // dlcp, selective dropping: classes of small and large values; both protected otherwise.
  net::DropClass small = net::DropClass::protected_;
  net::DropClass large = net::DropClass::protected_;
  double large_fraction = 0.5; // of the packets, those that hold large values
};

// What is exchanged as a unit: a tensor, a bucket, or a slice of one of them.
struct JobPiece {
  std::uint32_t first_layer{}, last_layer{}; // forward order; ready after backward of first_layer
  std::int64_t bytes{};                      // as sent
  // Codecs, on the compute thread of every worker: before the piece is sent, and before the update
  // of its first layer.
  double encode_s = 0, decode_s = 0;
  MessageClass message_class{};
};

struct JobServers {
  std::uint32_t count = 1;
  coll::Placement placement = coll::Placement::dedicated;
  bool whole = false;        // dedicated: whole pieces on server index mod count; else even parts
  double add_s_per_byte = 0; // of a push, which is decoded first
  double encode_s_per_byte = 0; // of a sum, or, async, of the weights after each push
  // Nobody waits for anybody: a worker computes, pushes and pulls on its own, and a server adds and
  // answers each push. The pieces are one message, and the job ends after workers x iterations
  // updates.
  bool async = false;
  std::optional<std::int64_t> staleness_bound{}; // async: TRN 4.7; empty: none
};

// How the exchanges of a program travel: one collective after the other, each among the ranks of
// the operation's group. A collective carries operation, algorithm, bytes, options, reduction and
// two-level costs.
struct JobExchange {
  std::vector<coll::Collective> stages; // empty: nothing is sent
};
struct JobProgram {
  static constexpr std::uint32_t kNotSent = ~std::uint32_t{0};
  program::Program program; // ranks: the workers; no entry `each`
  // Times of computing, and of exchanges beyond their messages (copies, synchronisation). Of the
  // iterations simulated.
  program::Factors factors;
  std::vector<JobExchange> exchanges;
  // [operation] its exchange, which is sent when its ranks are there and before the operation's own
  // seconds pass; kNotSent: its seconds are all there is to it.
  std::vector<std::uint32_t> exchange_of;
};

struct NetworkJob {
  std::vector<double> forward_s, backward_s; // [layer], forward order
  // Before the next forward: each layer's share by gradient_bytes (layer_updates of step.hpp).
  double update_s{};
  std::vector<double> gradient_bytes; // [layer]; may be empty without update_s
  bool overlap_backward = true;
  NextForward next_forward = NextForward::per_layer;
  std::vector<JobPiece> pieces; // in the order in which their gradients are ready
  std::int64_t value_bytes = 4; // parts and packets hold whole values
  bool by_layer = false;        // most urgent layer first
  // by_layer with servers: a queue sends while fewer bytes than this are handed over and not
  // complete; > 0.
  double credit_bytes = std::numeric_limits<double>::infinity();
  std::int64_t iterations = 1;
  std::uint32_t workers = 1;
  Variability variability; // of computing; exchange_cv does not apply to a network
  // One of the three. With a program everything above but pieces, value_bytes, iterations and
  // workers is unused; a piece is what the label `unit` of an operation means, and its bytes and
  // layers are unused. The collective (neither `automatic` nor `parameter_server`) carries
  // algorithm, options, reduction and two-level costs; its bytes, ranks, chunks (whole values) and
  // other links are set here.
  std::optional<JobServers> servers;
  coll::Collective collective;
  std::optional<JobProgram> program;
  std::vector<net::NodeId> hosts; // [worker], then dedicated servers

  // Streams with exchanges, each of which has connections of its own; 1 without a program.
  [[nodiscard]] std::uint32_t communicators() const;
};

// The network under the jobs.
struct FlowLevelOptions {
  net::FlowPathOptions paths;
  net::Headers headers; // count_headers
};
struct JobNetwork {
  std::shared_ptr<const net::RoutedFabric> fabric;
  std::optional<net::PacketOptions> packet; // empty: flow level
  FlowLevelOptions flow;
  net::BackgroundOptions background; // packet level
  // Flow level with dlcp: a message of n packets of this payload carries only the packets that its
  // loss bound requires (PKT 6.4). 0 = off.
  std::uint32_t early_stop_payload = 0;
  double simulated_limit_s = 1000;
};

// gradient: a push, or a transfer whose receiver adds it; parameter: a pull, or any other transfer.
enum class MessagePart : std::uint8_t { gradient, parameter };

struct JobMessage {
  std::int64_t iteration{};
  std::uint32_t piece{};
  MessagePart part{};
  std::uint32_t src{}, dst{};      // ranks; dedicated servers after the workers
  std::uint32_t step{};            // step of the collective, 0 for servers
  std::uint32_t communicator{};    // which of NetworkJob::communicators
  std::uint32_t run{};             // program: index of its collective among those in flight
  std::uint32_t contributions = 1; // gradient: number of workers whose gradients it sums
  double start_s{}, end_s{};       // hand-over, completion at the receiver
  std::int64_t size_bytes{}, delivered_bytes{};
  std::int64_t lost_network_bytes{}, lost_stopped_bytes{}, wasted_bytes{};
  // Packet level, else 0.
  std::uint32_t packets{}, delivered_packets{};
  std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
};

struct JobIteration {
  double start_s{};          // the first worker starts its forward
  double backward_start_s{}; // the last worker starts its backward
  double compute_end_s{};    // the last backward ends
  double exchange_start_s{}, exchange_end_s{};
  double end_s{};           // start of the next; after the last: all updates done
  double period_s{};        // from the last worker's start of backward to the next such
  double compute_s{};       // period less exposed: computing, and waiting for slower workers
  double mean_work_s{};     // busy time of a worker in the period, mean over workers
  double exposed_s{};       // how much shorter the period would be if messages took no time
  double communication_s{}; // time during which at least one message is under way
  std::int64_t gradient_bytes{}, gradient_lost_bytes{};   // sums over gradient messages
  std::int64_t parameter_bytes{}, parameter_lost_bytes{}; // sums over parameter messages
  double lost_contributions{}; // sum of contributions x lost bytes of gradient messages (PKT 7.3)
};

struct JobResult {
  std::vector<JobIteration> iterations;
  std::vector<JobMessage> messages; // of all iterations, by hand-over
  // Times of a piece in the last iteration: when the last worker has it ready, when its first
  // message is handed over, and when its last message is complete.
  struct PieceTimes {
    double ready_s{}, start_s{}, end_s{};
  };
  std::vector<PieceTimes> pieces;      // [piece]
  std::vector<double> forward_start_s; // [layer] of worker 0, in the forward after all iterations
  // Set if the job runs a program; `forward_start_s` is then empty. An iteration of a program lasts
  // from one end of the marker on the last worker to the next, and has no times of computing.
  program::OperationTimes times;
  std::vector<AsyncUpdate> updates; // of asynchronous servers; `arrive_s`: the push is handed over
};

struct JobsResult {
  std::vector<JobResult> jobs;
  std::vector<net::LinkUse> links;              // [link]; wire bytes at the packet level
  std::vector<net::LinkCounters> link_counters; // [link], packet level
  std::vector<double> background_fct_s;
  double elapsed_s{};
  std::uint64_t events{}; // of the network and of the jobs
  std::uint64_t packet_hops{}, messages{};
};

// Connections live as long as the network. In a job with R ranks (workers, then dedicated servers)
// the connection of communicator c from rank src to rank dst has number first + c R^2 + src R +
// dst, where `first` counts the connections of the jobs before it. Gives `first` of every job, then
// the number of all connections.
[[nodiscard]] std::vector<std::uint64_t> first_connections(std::span<const NetworkJob> jobs);
[[nodiscard]] inline std::uint64_t connection_number(const NetworkJob& job, std::uint64_t first,
                                                     const JobMessage& message) {
  const std::uint64_t ranks = job.hosts.size();
  return first + (message.communicator * ranks + message.src) * ranks + message.dst;
}

// Fraction of the packets of a message that may be lost for good (dlcp).
[[nodiscard]] inline double loss_bound(const NetworkJob& job, const JobMessage& message) {
  const MessageClass& of = job.pieces[message.piece].message_class;
  return message.part == MessagePart::gradient ? of.loss_bound_push : of.loss_bound_pull;
}

// Runs the jobs on one network until all have done their iterations. Throws SimulationError naming
// the blocked messages where they cannot end, at the limit of time, and with transport raw as soon
// as a message lost a packet (PKT A27 to A29).
[[nodiscard]] JobsResult run_network_jobs(const JobNetwork& network,
                                          std::span<const NetworkJob> jobs);

} // namespace stepsim::train
