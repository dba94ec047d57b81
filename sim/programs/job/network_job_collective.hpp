#pragma once
// A job whose pieces are collectives (PKT 7.3). A collective ends when all ranks have finished it.
// Times are seconds from the start of the run. The order of the pieces:
//   FIFO       pieces in the order of JobWorkers, one at a time; a piece begins when its gradient
//   is
//              ready at one rank, and every other rank enters when its own gradient is ready
//   by layer   the smallest (first layer, time at which the last rank was ready, piece) among the
//              pieces that are ready at all ranks, while fewer bytes than credit_bytes are in
//              flight (PKT 7.4); all ranks enter at once
// job_collective.hpp runs the collectives.
#include <cstdint>
#include <functional>
#include <list>
#include <queue>
#include <tuple>
#include <vector>

#include "programs/job/job_collective.hpp"
#include "programs/job/network_job.hpp"
#include "programs/job/network_job_workers.hpp"

namespace stepsim::programs {

class CollectiveJob {
public:
  // Both arguments must outlive the object. Throws SimulationError for the algorithms auto and
  // parameter_server. advance() and delivered() throw it when a piece begins whose algorithm has no
  // schedule (make_schedule()).
  CollectiveJob(const NetworkJob& job, const JobNetwork& network);
  CollectiveJob(const CollectiveJob&) = delete;
  CollectiveJob& operator=(const CollectiveJob&) = delete;

  [[nodiscard]] double next_time() const;
  void advance(double now);
  // Tells the job that a message of send() has arrived.
  void delivered(double now, const JobMessage& message);
  // Appends the messages that are passed to the network now.
  void send(double now, std::vector<JobMessage>& messages);
  [[nodiscard]] bool finished() const { return workers_.finished(); }
  void record(JobResult& result) const { workers_.record(result); }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  void start_next(double now);
  void start(double now, std::uint32_t piece);
  void end_finished(double now);
  // The collective of a piece in flight; null if it is not.
  [[nodiscard]] CollectiveMessages* run_of(std::uint32_t piece);
  [[nodiscard]] bool is_ready(std::uint32_t piece, std::uint32_t rank) const {
    return ready_iteration_[piece * job_.workers + rank] == iteration_;
  }

  const NetworkJob& job_;
  JobWorkers workers_;
  JobCollective collective_;
  std::list<CollectiveMessages> runs_;        // messages of the pieces in flight
  double bytes_in_flight_ = 0;                // of these pieces
  std::int64_t iteration_ = 0;                // iteration of the pieces in flight, or of the next
  std::size_t done_ = 0;                      // pieces of the iteration that are finished
  std::vector<std::int64_t> ready_iteration_; // [piece x workers + rank]: last ready iteration
  std::vector<std::uint32_t> ready_ranks_;    // [piece]: ranks at which it is ready
  // by layer: the pieces that are ready at all ranks, as (first layer, ready time, piece).
  using Urgent = std::tuple<std::uint32_t, double, std::uint32_t>;
  std::priority_queue<Urgent, std::vector<Urgent>, std::greater<>> urgent_;
  std::vector<JobMessage> outbox_;
  std::vector<JobWorkers::Ready> ready_;
  std::uint64_t events_ = 0;
};

} // namespace stepsim::programs
