#pragma once
// A job whose workers run a training program (TRN 2.2, evaluator `events`). With servers a rank
// pushes its gradients when it reaches the exchange, which ends for every rank when the sum is back
// there. Otherwise the exchanges are collectives on the network, each among the ranks of its part.
// The discipline of the stream decides when an exchange runs:
//   fifo       as soon as its last rank has reached it
//   priority   the most urgent one that is ready at all ranks, while credit is left
//   at_once    as many as the stream has slots
// A collective ends for all ranks of its part when all of them have finished the schedule and the
// seconds of the operation, which are added to the messages, have passed. A factor x of an exchange
// (TRN 2.7) multiplies all these times by x: links take x times as long for its messages, which
// leaves their bytes as they are.

#include "programs/job/job_collective.hpp"
#include "programs/job/server_traffic.hpp"
#include "programs/program_events.hpp"

namespace stepsim::programs {

// The numbering of communicators, each of which has its own connections. A stream with exchanges
// has one communicator, a stream `at_once` one per slot. They are numbered in the order of streams.
struct ExchangeStreams {
  std::vector<std::uint32_t> first; // [stream]: number of its first communicator
  std::vector<std::uint32_t> slots; // [stream]: number of its communicators; 0 without exchanges
  std::uint32_t count = 0;          // number of all communicators
};
[[nodiscard]] ExchangeStreams exchange_streams(const programs::Program& program);

class ProgramJob {
public:
  // Both arguments must outlive the object. Throws SimulationError if the program is too large
  // (ProgramEvents). advance() and delivered() throw it when an exchange begins whose algorithm has
  // no schedule.
  ProgramJob(const NetworkJob& job, const JobNetwork& network);
  ProgramJob(const ProgramJob&) = delete;
  ProgramJob& operator=(const ProgramJob&) = delete;

  [[nodiscard]] double next_time() const;
  void advance(double now);
  // Tells the job that a message of send() has arrived. The caller must call advance() afterwards.
  void delivered(double now, const JobMessage& message);
  // Appends the messages that are passed to the network now.
  void send(double now, std::vector<JobMessage>& messages);
  // Whether the program has finished and all exchanges have ended, even if nothing waits for them.
  [[nodiscard]] bool finished() const {
    return begun_ && program_.finished() && place_of_.empty() && program_.next_time() == kNever;
  }
  void record(JobResult& result);
  [[nodiscard]] std::uint64_t events() const {
    return events_ + program_.events() + (servers_ ? servers_->events() : 0);
  }

private:
  struct Running { // an exchange, from the moment at which its first rank reaches it
    std::uint32_t operation{};
    std::int64_t iteration{};
    std::uint32_t first_rank{}; // first rank of its part
    std::uint32_t communicator{};
    std::size_t entered = 0; // number of ranks that have reached it
    std::size_t stage = 0;
    JobCollective* collective = nullptr;            // collective of the current stage
    std::unique_ptr<CollectiveMessages> messages{}; // none before, and while seconds pass
  };
  using Key = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>; // as in Running

  [[nodiscard]] JobCollective& collective(std::uint32_t operation, std::size_t stage,
                                          const std::vector<std::uint32_t>& ranks);
  [[nodiscard]] double factor(std::uint32_t operation, std::int64_t iteration) const;
  void take_entered(double now);
  void take_received(double now);
  void end_on(double now, const ServerTraffic::Received& received);
  [[nodiscard]] std::uint32_t start(const programs::ProgramEvents::Entered& entered,
                                    std::uint32_t first_rank);
  [[nodiscard]] std::uint32_t free_communicator(std::uint32_t stream) const;
  void begin_stage(double now, std::uint32_t place);
  void end_stage_if_done(double now, std::uint32_t place);
  void end(double now, std::uint32_t place);

  const NetworkJob& job_;
  const JobProgram& spec_;
  const JobNetwork& network_;
  ExchangeStreams streams_;
  programs::ProgramEvents program_;
  std::optional<ServerTraffic> servers_;
  std::vector<std::uint32_t> operation_of_;       // [exchange] with servers
  std::vector<std::uint32_t> server_exchange_of_; // [operation]: the inverse
  std::map<std::tuple<std::uint32_t, std::size_t, std::uint32_t, std::uint32_t>,
           std::unique_ptr<JobCollective>>
      collectives_;                               // key: exchange, stage, group, first rank
  std::vector<bool> busy_;                        // [communicator] of streams at_once
  std::vector<std::vector<double>> inner_free_s_; // [stream][rank], as in CollectiveMessages
  std::vector<Running> running_;
  std::vector<std::uint32_t> free_;       // free positions in running_
  std::vector<std::uint32_t> active_;     // positions in running_ with messages
  std::map<Key, std::uint32_t> place_of_; // position in running_
  // Ends of the operations' seconds; id: position in running_, or with servers in resting_.
  events::EventQueue<double> seconds_;
  std::vector<ServerTraffic::Received> resting_;
  std::vector<JobMessage> outbox_;
  bool begun_ = false;
  bool changed_ = false; // the program must be advanced again at this instant
  std::uint64_t events_ = 0;
};

} // namespace stepsim::programs
