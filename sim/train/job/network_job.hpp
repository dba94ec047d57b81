#pragma once
// Training whose messages go through a network that is simulated: flows or packets (PKT 7). The
// network lives as long as the run, so TCP windows, queues and background flows last from one
// iteration to the next; several jobs may share one network.
//
//   backward of layer l done -> pieces of l ready -> sent -> layer's pieces all back -> forward l
//
//   servers    every piece is cut into one part per server; W pushes (loss bound of pushes), the
//              sum, W pulls (bound of pulls). Pieces overlap on the wire (PKT 7.2).
//   collective one piece at a time is on the channel, as with one stream of a library; transfers
//              of its schedule are messages; those that are added have the bound of pushes, others
//              that of pulls (PKT 7.3, A16).
//   order      FIFO by ready time, or by layer with partitions and a credit (PKT 7.4); partitions
//              are pieces already. Every worker has two lists, of pushes and of pulls.
//
// What stays on one host is no message: it takes no time, or that of `two_level->intra` in a
// collective. After the last iteration one more forward is computed, so that every iteration has a
// period. Seconds from the start of the run; iterations and everything else from 0.
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
  double large_fraction = 0.5;
};

// What is exchanged as one: a tensor, a bucket, or a slice of one.
struct JobPiece {
  std::uint32_t first_layer{}, last_layer{}; // forward order; ready after backward of first_layer
  std::int64_t bytes{};
  MessageClass message_class{};
};

struct JobServers {
  std::uint32_t count = 1;
  coll::Placement placement = coll::Placement::dedicated;
  bool whole = false; // dedicated: whole pieces on server index mod count; else even parts
  double add_s_per_byte = 0;
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
  // by_layer, servers: sent while fewer bytes than this are handed over and not complete. > 0
  double credit_bytes = std::numeric_limits<double>::infinity();
  std::int64_t iterations = 1;
  std::uint32_t workers = 1;
  Variability variability; // of computing; exchange_cv does not apply to a network
  // One of the two. The collective (not `automatic`) carries algorithm, options, reduction and
  // two-level costs; its bytes, ranks, chunks (whole values) and other links are set here.
  std::optional<JobServers> servers;
  coll::Collective collective;
  std::vector<net::NodeId> hosts; // [worker], then dedicated servers
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
  // Flow level with dlcp: a message carries size need / n (PKT 6.4); n by this payload, 0 = off.
  std::uint32_t early_stop_payload = 0;
  double simulated_limit_s = 1000;
};

enum class MessagePart : std::uint8_t { gradient, parameter }; // push, reduce; pull, gather

struct JobMessage {
  std::int64_t iteration{};
  std::uint32_t piece{};
  MessagePart part{};
  std::uint32_t src{}, dst{};      // ranks; dedicated servers after the workers
  std::uint32_t step{};            // of the collective, 0 for servers
  std::uint32_t contributions = 1; // gradient: of how many workers it is the sum
  double start_s{}, end_s{};       // hand-over, completion at the receiver
  std::int64_t size_bytes{}, delivered_bytes{};
  std::int64_t lost_network_bytes{}, lost_stopped_bytes{}, wasted_bytes{};
  std::uint32_t packets{}, delivered_packets{}; // 0 at the flow level, as the next
  std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
};

struct JobIteration {
  double start_s{};          // the first worker starts its forward
  double backward_start_s{}; // of the last worker
  double compute_end_s{};    // of the last backward
  double exchange_start_s{}, exchange_end_s{};
  double end_s{};           // start of the next; after the last: all updates done
  double period_s{};        // from the last worker's start of backward to the next such
  double compute_s{};       // the rest of it: computing, and waiting for slower workers
  double mean_work_s{};     // what a worker computes of it, mean over workers
  double exposed_s{};       // by how much it were shorter if messages took no time
  double communication_s{}; // while any message is under way
  std::int64_t gradient_bytes{}, gradient_lost_bytes{};   // of messages
  std::int64_t parameter_bytes{}, parameter_lost_bytes{}; // stale
  double lost_contributions{}; // sum of contributions x lost bytes of gradient messages (PKT 7.3)
};

struct JobResult {
  std::vector<JobIteration> iterations;
  std::vector<JobMessage> messages; // of all iterations, by hand-over
  // Of the last iteration, [piece]: ready at the last worker, first hand-over, last completion.
  struct PieceTimes {
    double ready_s{}, start_s{}, end_s{};
  };
  std::vector<PieceTimes> pieces;
  std::vector<double> forward_start_s; // [layer] of worker 0, in the forward after all iterations
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

// Connections live as long as the network: of ranks (src, dst) of a job, number src ranks + dst,
// after those of the jobs before it (ranks: workers and dedicated servers). First connection number
// of every job, and the number after the last.
[[nodiscard]] std::vector<std::uint64_t> first_connections(std::span<const NetworkJob> jobs);

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
