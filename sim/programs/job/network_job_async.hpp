#pragma once
// A job with asynchronous parameter servers (PIP 3.3). Every worker computes, pushes its gradient
// in one part per server, and continues when all its parts have come back and the staleness bound,
// if there is one, permits it (TRN 4.7). Parts are even, or with JobServers::whole the pieces that
// the server has.
//
//   worker   compute -> push to all servers -> all parts back -> compute ..
//   server   push arrives -> added, one after the other -> the part is sent back
//
// An update is complete when its last part is added. Its staleness is the number of updates by
// other workers since the worker's previous update. The ports of workers and servers belong to the
// network, in which pushes share them.

#include "programs/job/server_traffic.hpp"
#include "programs/step/parameter_server.hpp"

namespace stepsim::programs {

class AsyncServerJob : public ServerSide {
public:
  // `job` must outlive the object. Throws SimulationError for 2^24 or more pairs of a worker and a
  // server.
  explicit AsyncServerJob(const NetworkJob& job);

  // The time of the next event of the job itself; infinity if there is none.
  [[nodiscard]] double next_time() const;
  // Processes all events until `now`.
  void advance(double now);
  // Tells the job that a message of send() has arrived.
  void delivered(double now, const JobMessage& message);
  // Appends the messages that are passed to the network now.
  void send(double now, std::vector<JobMessage>& messages);
  [[nodiscard]] bool finished() const { return received_ == total_; }
  void record(JobResult& result) const;

private:
  struct Worker {
    std::int64_t iteration = 0;
    std::int64_t read_version = 0;
    std::uint32_t to_add = 0, to_receive = 0; // parts that are not added, not received yet
    double pushed_s = 0, received_s = 0;
    double held_up_s = 0;   // wait for the staleness bound before the current iteration
    bool held = false;      // the staleness bound delays the next iteration
    std::size_t update = 0; // position in updates_
  };
  void compute(double now, std::uint32_t worker);
  void push(double now, std::uint32_t worker);
  void arrived(double now, std::uint32_t worker, std::uint32_t server);
  void added(double now, std::uint32_t worker, std::uint32_t server);
  void received(double now, std::uint32_t worker);
  void take_near(double now, const InnerLinks::Part& part);
  void hand_over(double now, std::uint32_t worker, std::uint32_t server, MessagePart part);

  layers::Jitter jitter_;
  double compute_s_ = 0;
  std::int64_t total_;        // number of updates of the run
  std::int64_t pushed_ = 0;   // updates that have left a worker
  std::int64_t received_ = 0; // updates whose weights are back
  std::int64_t version_ = 0;
  std::vector<Worker> workers_;
  StalenessBound bound_;
  std::vector<std::int64_t> part_bytes_; // [server] of every gradient
  events::EventQueue<double> computing_; // id: worker
  std::vector<AsyncUpdate> updates_;
  std::vector<JobMessage> outbox_;
};

} // namespace stepsim::programs
