#pragma once
// Simulates training jobs whose messages go through a network, as flows or packets (PKT 7). The
// network lives as long as the run, so that TCP windows, queues and background flows last from one
// iteration to the next; several jobs may share one network.
//
// The workers of a job run the operations of a training program (TRN 2). An exchange is sent in one
// of two ways:
//   collective The transfers of its schedule are messages, with loss_bound_push if the receiver
//              adds them, else with loss_bound_pull (PKT 7.3, A16). The exchanges of different
//              streams are in flight at the same time.
//   servers    Every piece goes in even parts to all servers, or whole to one (`whole`). The
//              workers push their gradients (loss_bound_push), the server adds them, the workers
//              pull the sum (loss_bound_pull). Pieces overlap on the wire (PKT 7.2).
// A job of asynchronous servers has no program: its workers compute, push and pull on their own.
//
// A transfer inside one host is not a message: it takes the time of the inner link, of servers
// JobServers::inner, of a collective two_level->intra. What a rank sends to itself takes none.
// Times are seconds from the start of the run; iterations, ranks and layers are numbered from 0.

#include "collectives/collective.hpp"
#include "links/fabric/placement.hpp"
#include "links/packet/core.hpp"
#include "programs/operation_times.hpp"
#include "programs/step/parameter_server.hpp"

namespace stepsim::programs {

// How a transport treats the packets of a piece.
struct MessageClass {
  std::uint8_t queue = 1; // priority queue of a port
  // With dlcp: the fraction of the packets of a message that may be lost.
  double loss_bound_push = 0, loss_bound_pull = 0;
  // With dlcp and selective dropping: drop classes of packets with small and with large values.
  // Otherwise both are protected.
  links::DropClass small = links::DropClass::protected_;
  links::DropClass large = links::DropClass::protected_;
  double large_fraction = 0.5;  // fraction of the packets that hold large values
  bool keep_parameters = false; // no packet of a parameter message may be lost
};

// What is exchanged as a unit: a tensor, a bucket, or a slice of one of them.
struct JobPiece {
  std::uint32_t first_layer{}; // in forward order; with JobServers::by_layer its urgency
  std::int64_t bytes{};        // bytes that are sent to servers, after compression
  MessageClass message_class{};
};

// Workers that compute, push and pull without waiting for others; a server adds and answers each
// push. A push has all pieces of the worker together, as one part per server. The job ends after
// workers x iterations updates.
struct AsyncWorkers {
  double compute_s = 0;            // of an iteration, with encoding and decoding
  layers::Variability variability; // factors on compute times; exchange_cv has no effect
  // Iterations that a worker may be ahead of the slowest (TRN 4.7); empty = no limit.
  std::optional<std::int64_t> staleness_bound{};
};

struct JobServers {
  std::uint32_t count = 1; // number of servers; placement sharded: unused, one server per worker
  collectives::Placement placement = collectives::Placement::dedicated;
  // Whether piece i is sent as a whole, to server i mod count, which needs placement dedicated.
  // Otherwise every piece is cut into even parts, one per server.
  bool whole = false;
  double add_s_per_byte = 0; // time to decode and add a push, per byte
  // Time to encode a sum, per byte; asynchronous: to encode the weights after each push.
  double encode_s_per_byte = 0;
  // Every worker has two queues of waiting parts, pushes and pulls. They are sent FIFO by ready
  // time, or most urgent layer first (`by_layer`, PKT 7.4), while fewer than credit_bytes (> 0) of
  // the queue are in flight.
  bool by_layer = false;
  double credit_bytes = std::numeric_limits<double>::infinity();
  std::optional<AsyncWorkers> async{}; // instead of a program
  // The link between GPUs of one host; empty: nothing between them takes time.
  std::optional<collectives::LinkCost> inner{};
};

// How an exchange of a program is sent: as collectives, one after the other, each among the ranks
// of the operation's group. A collective must have operation, algorithm, bytes, options, reduction
// and two-level costs.
struct JobExchange {
  std::vector<collectives::Collective> stages; // empty: nothing is sent
};
struct JobProgram {
  static constexpr std::uint32_t kNotSent = ~std::uint32_t{0}, kToServers = kNotSent - 1;
  // The ranks of the program are the workers. The seconds of an exchange that is sent are only
  // those beyond its messages (copies, synchronisation). Exchanges must not have Entry::each.
  programs::Program program;
  programs::Factors factors; // random factors of the iterations of the job
  std::vector<JobExchange> exchanges;
  // [operation]: index in `exchanges`. The exchange is sent when its ranks have entered; the
  // seconds of the operation pass afterwards. kNotSent: the operation only takes its seconds.
  // kToServers: its unit goes to the servers of the job and back, then the seconds pass on every
  // rank by itself; the operation has a fifo stream to itself and is not in the tail.
  std::vector<std::uint32_t> exchange_of;
  // The number of first iterations whose exchanges are sent; those of later iterations only take
  // the seconds of their operations. The iteration behind the last one of a run only shows when the
  // exchanges of the last one have ended.
  std::int64_t sent_iterations = std::numeric_limits<std::int64_t>::max();
};

struct NetworkJob {
  std::vector<JobPiece> pieces; // the units of the program
  std::int64_t value_bytes = 4; // bytes of a value; parts and packets hold whole values
  std::int64_t iterations = 1;
  std::uint32_t workers = 1;
  std::optional<JobServers> servers;
  std::optional<JobProgram> program; // empty with asynchronous servers only
  std::vector<links::NodeId> hosts;  // hosts of all workers, then of all dedicated servers

  // The number of communicators, each with its own connections (exchange_streams() of
  // network_job_program.hpp); 1 with servers.
  [[nodiscard]] std::uint32_t communicators() const;
};

struct FlowLevelOptions {
  links::FlowPathOptions paths;
  links::Headers headers; // headers that are added to the bytes of messages (key count_headers)
};
// The network that the jobs share.
struct JobNetwork {
  std::shared_ptr<const links::RoutedFabric> fabric;
  std::optional<links::PacketOptions> packet; // empty: flow level
  FlowLevelOptions flow;
  links::BackgroundOptions background; // packet level
  // Flow level with dlcp: a message of n packets of this payload carries only the packets that its
  // loss bound requires (PKT 6.4). 0 = off.
  std::uint32_t early_stop_payload = 0;
  double simulated_limit_s = 1000; // the run fails if it lasts longer than this in simulated time
};

// gradient: a push, or a transfer of a collective whose receiver adds it. parameter: a pull, or any
// other transfer of a collective.
enum class MessagePart : std::uint8_t { gradient, parameter };

struct JobMessage {
  std::int64_t iteration{};
  std::uint32_t piece{};
  MessagePart part{};
  std::uint32_t src{}, dst{};      // ranks; dedicated servers are numbered after the workers
  std::uint32_t step{};            // step of the collective, 0 for servers
  std::uint32_t communicator{};    // < NetworkJob::communicators()
  std::uint32_t run{};             // index of its collective among those in flight, or number of
                                   // its exchange with servers among those of an iteration
  std::uint32_t contributions = 1; // gradient: number of workers whose gradients it sums
  double start_s{}, end_s{};       // passed to the network; complete at the receiver
  double stretch = 1; // its path takes this many times as long: the factor of its exchange
  std::int64_t size_bytes{}, delivered_bytes{};
  // Bytes that the network lost, that are missing because the receiver ended the message early, and
  // that arrived after completion (links/packet/message.hpp).
  std::int64_t lost_network_bytes{}, lost_stopped_bytes{}, wasted_bytes{};
  // Counts of the packet level (links/packet/message.hpp); 0 at the flow level.
  std::uint32_t packets{}, delivered_packets{};
  std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
};

struct JobIteration {
  double start_s{}, end_s{}; // from one end of the marker on the last worker to the next
  double period_s{};         // end_s - start_s
  std::int64_t gradient_bytes{}, gradient_lost_bytes{};   // sums over gradient messages
  std::int64_t parameter_bytes{}, parameter_lost_bytes{}; // sums over parameter messages
  double lost_contributions{}; // sum of contributions x lost bytes of gradient messages (PKT 7.3)
};

struct JobResult {
  std::vector<JobIteration> iterations;
  double end_s{}; // end of all operations of the iterations whose exchanges were sent
  std::vector<JobMessage> messages; // messages of all iterations, in order of start_s
  // Set if the job runs a program.
  programs::OperationTimes times;
  // Set for asynchronous servers. `arrive_s` is when the push is passed to the network.
  std::vector<AsyncUpdate> updates;
};

struct JobsResult {
  std::vector<JobResult> jobs;
  std::vector<links::LinkUse> links;              // [link]; packet level: bytes on the wire
  std::vector<links::LinkCounters> link_counters; // [link]; empty at the flow level
  double elapsed_s{};                             // the last end_s of the jobs
  std::uint64_t events{};                         // events of the network and of the jobs
  std::uint64_t packet_hops{}, messages{};        // counts over the whole run
};

// Connections live as long as the network. In a job with R ranks (workers, then dedicated servers)
// the connection of communicator c from rank src to rank dst has number first + c R^2 + src R +
// dst, where `first` is the number of connections of all earlier jobs. Returns `first` of every
// job, then the number of all connections.
[[nodiscard]] std::vector<std::uint64_t> first_connections(std::span<const NetworkJob> jobs);
template <class Message> // has communicator, src and dst
[[nodiscard]] std::uint64_t connection_number(std::uint64_t ranks, std::uint64_t first,
                                              const Message& message) {
  return first + (message.communicator * ranks + message.src) * ranks + message.dst;
}

// Fraction of the packets of a message that may be lost for good (dlcp).
[[nodiscard]] inline double loss_bound(const NetworkJob& job, const JobMessage& message) {
  const MessageClass& of = job.pieces[message.piece].message_class;
  return message.part == MessagePart::gradient ? of.loss_bound_push
         : of.keep_parameters                  ? 0
                                               : of.loss_bound_pull;
}

// Runs the jobs on one network until all have finished their iterations. Throws SimulationError if
// messages can never complete or simulated_limit_s is reached (the error names the messages), and
// with transport raw as soon as a message has lost a packet (PKT A27 to A29).
[[nodiscard]] JobsResult run_network_jobs(const JobNetwork& network,
                                          std::span<const NetworkJob> jobs);

} // namespace stepsim::programs
