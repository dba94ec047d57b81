#pragma once
// A job whose pieces are collectives (PKT 7.3), one at a time on the channel; the next begins when
// every rank has done the one before. Times are seconds from the start of the run.
//   FIFO       pieces in the order of JobWorkers; a piece begins when its gradient is ready at one
//              rank, and every other rank enters when its own gradient is ready
//   by layer   of the pieces that are ready at all ranks the smallest (first layer, time at which
//              the last rank was ready, piece); all ranks enter at once
// Transfers between hosts are messages, those inside a host take the time of the inner link.
//
// JobMessage::contributions of a message of a reduction is the number of workers whose gradients it
// sums: its sender, and the workers in the last sum that the sender received from each other rank.
// The two trees of a double binary tree are counted separately.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "coll/evaluate/event_run.hpp"
#include "coll/evaluate/fabric_links.hpp"
#include "coll/schedule/schedule.hpp"
#include "engine/event_queue.hpp"
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
  [[nodiscard]] const JobWorkers& workers() const { return workers_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  struct Outlet { // the network of the EventRun: it hands every transfer to the job
    CollectiveJob* job;
    void submit(double now, const net::Transfer& transfer) const { job->submit(now, transfer); }
  };
  using Run = coll::EventRun<coll::FabricLinks, Outlet>;
  static constexpr std::uint32_t kNoPiece = ~std::uint32_t{0};

  void submit(double now, const net::Transfer& transfer);
  void completed(double now, std::uint32_t src);
  void next_piece(double now);
  void start(double now, std::uint32_t piece);
  void end_if_done(double now);
  [[nodiscard]] const coll::Schedule& schedule_of(std::uint32_t piece);
  [[nodiscard]] std::uint32_t contributions(std::uint32_t rank, std::size_t tree) const;
  [[nodiscard]] bool is_ready(std::uint32_t piece, std::uint32_t rank) const {
    return ready_iteration_[piece * job_.workers + rank] == iteration_;
  }

  const NetworkJob& job_;
  JobWorkers workers_;
  coll::Collective collective_; // of the current piece
  coll::FabricLinks links_;
  std::map<std::int64_t, coll::Schedule> schedules_; // by bytes
  const coll::Schedule* schedule_ = nullptr;
  std::optional<Run> run_;
  std::uint32_t piece_ = kNoPiece;            // on the channel
  std::int64_t iteration_ = 0;                // of the piece on the channel, or the next
  std::size_t done_ = 0;                      // pieces of the iteration
  std::vector<std::int64_t> ready_iteration_; // [piece x workers + rank], the last
  std::vector<std::uint32_t> ready_ranks_;    // [piece] of the iteration
  // by_layer: ready at all ranks; (first layer, ready time, piece).
  using Urgent = std::tuple<std::uint32_t, double, std::uint32_t>;
  std::priority_queue<Urgent, std::vector<Urgent>, std::greater<>> urgent_;
  struct Sum { // the last sum that a source sent, and how many workers it holds
    std::uint32_t source{}, workers{};
    std::size_t tree{}; // 0 or 1 of a double binary tree, else kNoTree
  };
  static constexpr std::size_t kNoTree = 2;
  [[nodiscard]] std::size_t tree_of(const coll::NextSend& send) const;
  std::vector<std::vector<Sum>> received_; // [rank]
  std::vector<Sum> carried_;               // [rank] what it sends; 0 workers: not to be added
  engine::EventQueue<double> inside_;      // transfers inside hosts, by source
  std::vector<JobMessage> outbox_;
  std::vector<JobWorkers::Ready> ready_;
  std::uint64_t events_ = 0;
};

} // namespace stepsim::train
