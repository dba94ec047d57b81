#pragma once
// A job whose pieces are collectives (PKT 7.3), one at a time on the channel; the next begins when
// every rank has done the one before. Times are seconds from the start of the run.
//   FIFO       pieces in the order of JobWorkers; a piece begins when its gradient is ready at one
//              rank, and every other rank enters when its own gradient is ready
//   by layer   of the pieces that are ready at all ranks the smallest (first layer, time at which
//              the last rank was ready, piece); all ranks enter at once
// What a collective does is said in job_collective.hpp.
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "train/job/job_collective.hpp"
#include "train/job/network_job.hpp"
#include "train/job/network_job_workers.hpp"

namespace stepsim::train {

class CollectiveJob {
public:
  // Both outlive this. Throws SimulationError for the algorithms auto and parameter_server; advance
  // and delivered throw it when a piece begins whose algorithm has no schedule (make_schedule).
  CollectiveJob(const NetworkJob& job, const JobNetwork& network);
  CollectiveJob(const CollectiveJob&) = delete;
  CollectiveJob& operator=(const CollectiveJob&) = delete;

  [[nodiscard]] double next_time() const;
  void advance(double now);
  // A message that `send` handed over has arrived.
  void delivered(double now, const JobMessage& message);
  // Appends the messages that are handed over now.
  void send(double now, std::vector<JobMessage>& messages);
  [[nodiscard]] bool finished() const { return workers_.finished(); }
  void record(JobResult& result) const { workers_.record(result); }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  static constexpr std::uint32_t kNoPiece = ~std::uint32_t{0};

  void next_piece(double now);
  void start(double now, std::uint32_t piece);
  void end_if_done(double now);
  [[nodiscard]] bool is_ready(std::uint32_t piece, std::uint32_t rank) const {
    return ready_iteration_[piece * job_.workers + rank] == iteration_;
  }

  const NetworkJob& job_;
  JobWorkers workers_;
  JobCollective collective_;
  std::optional<CollectiveMessages> run_;     // of the piece on the channel
  std::uint32_t piece_ = kNoPiece;            // on the channel
  std::int64_t iteration_ = 0;                // of the piece on the channel, or the next
  std::size_t done_ = 0;                      // pieces of the iteration
  std::vector<std::int64_t> ready_iteration_; // [piece x workers + rank], the last
  std::vector<std::uint32_t> ready_ranks_;    // [piece] of the iteration
  // by_layer: ready at all ranks; (first layer, ready time, piece).
  using Urgent = std::tuple<std::uint32_t, double, std::uint32_t>;
  std::priority_queue<Urgent, std::vector<Urgent>, std::greater<>> urgent_;
  std::vector<JobMessage> outbox_;
  std::vector<JobWorkers::Ready> ready_;
  std::uint64_t events_ = 0;
};

} // namespace stepsim::train
