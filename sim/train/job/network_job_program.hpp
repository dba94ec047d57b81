#pragma once
// A job whose workers follow a training program (TRN 2.2, evaluator `events`). Its exchanges are
// collectives on the network, and as many of them are under way as the streams allow, each among
// the ranks of its part:
//   fifo       a rank enters when it comes to the exchange, so that transfers among early ranks may
//              already move; the exchange begins with its last rank
//   priority   one exchange at a time, the most urgent of those that are ready at all ranks
//   at_once    as many as the stream has slots; all ranks enter at once
// An exchange ends for all ranks of its part when every one of them has done its schedule, and the
// seconds of the operation beside its messages have passed. A factor x of an exchange (TRN 2.7)
// means x times the bytes, and x times those seconds.
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/event_queue.hpp"
#include "program/program_events.hpp"
#include "train/job/job_collective.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::train {

// Communicators, which have connections of their own: one for every stream with exchanges, or one
// for every slot of a stream `at_once`; in the order of streams.
struct ExchangeStreams {
  std::vector<std::uint32_t> first; // [stream]
  std::vector<std::uint32_t> slots; // [stream]
  std::uint32_t count = 0;
};
[[nodiscard]] ExchangeStreams exchange_streams(const program::Program& program);

class ProgramJob {
public:
  // Both outlive this. Throws SimulationError where an algorithm has no schedule.
  ProgramJob(const NetworkJob& job, const JobNetwork& network);
  ProgramJob(const ProgramJob&) = delete;
  ProgramJob& operator=(const ProgramJob&) = delete;

  [[nodiscard]] double next_time() const;
  void advance(double now);
  // A message of `send` has arrived; advance() follows.
  void delivered(double now, const JobMessage& message);
  // Appends the messages that are handed over now.
  void send(double now, std::vector<JobMessage>& messages);
  // Exchanges that nothing waits for have ended, too.
  [[nodiscard]] bool finished() const {
    return begun_ && program_.finished() && place_of_.empty() &&
           program_.next_time() == program::kNoEvent;
  }
  void record(JobResult& result);
  [[nodiscard]] std::uint64_t events() const { return events_ + program_.events(); }

private:
  struct Running { // an exchange under way, from the first rank that enters
    std::uint32_t operation{};
    std::int64_t iteration{};
    std::uint32_t first_rank{}; // of its part
    std::uint32_t communicator{};
    std::size_t stage = 0;
    JobCollective* collective = nullptr;            // of the stage
    std::unique_ptr<CollectiveMessages> messages{}; // none while the operation's seconds pass
  };
  using Key = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>; // as in Running

  [[nodiscard]] JobCollective& collective(std::uint32_t operation, std::size_t stage,
                                          const std::vector<std::uint32_t>& ranks);
  [[nodiscard]] double factor(const Running& running) const;
  void take_entered(double now);
  [[nodiscard]] std::uint32_t start(const program::ProgramEvents::Entered& entered,
                                    std::uint32_t first_rank);
  [[nodiscard]] std::uint32_t free_communicator(std::uint32_t stream) const;
  void begin_stage(std::uint32_t place);
  void end_stage_if_done(double now, std::uint32_t place);
  void end(double now, std::uint32_t place);

  const NetworkJob& job_;
  const JobProgram& spec_;
  const JobNetwork& network_;
  ExchangeStreams streams_;
  program::ProgramEvents program_;
  std::map<std::tuple<std::uint32_t, std::size_t, std::uint32_t, std::uint32_t>,
           std::unique_ptr<JobCollective>>
      collectives_;        // by exchange, stage, group, first rank
  std::vector<bool> busy_; // [communicator] of streams at_once
  std::vector<Running> running_;
  std::vector<std::uint32_t> free_;       // places in running_
  std::vector<std::uint32_t> active_;     // places with messages
  std::map<Key, std::uint32_t> place_of_; // in running_
  engine::EventQueue<double> seconds_;    // of exchanges beside their messages, by place
  std::vector<JobMessage> outbox_;
  bool begun_ = false;
  bool changed_ = false; // the program has news at this instant
  std::uint64_t events_ = 0;
};

} // namespace stepsim::train
