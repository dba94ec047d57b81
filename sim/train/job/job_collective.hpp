#pragma once
// A collective among ranks of a job. Transfers between hosts are messages of the job, those inside
// a host take the time of the inner link. A message of a reduction sums the gradients of its sender
// and of the workers in the last sum that the sender received from each other rank; the two trees
// of a double binary tree are counted separately.
//   JobCollective       what is the same for all its runs: ranks, links, schedules by bytes
//   CollectiveMessages  one run of it, step by step (event_run.hpp)
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "coll/evaluate/event_run.hpp"
#include "coll/evaluate/fabric_links.hpp"
#include "coll/schedule/schedule.hpp"
#include "engine/event_queue.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::train {

class JobCollective {
public:
  // `collective` carries operation, algorithm, options, reduction and two-level costs; everything
  // else is set here. `ranks`: of the job, in the order of the collective's ranks. Throws
  // SimulationError where the algorithm has no schedule. The job outlives this.
  JobCollective(coll::Collective collective, const NetworkJob& job, const JobNetwork& network,
                std::vector<std::uint32_t> ranks);
  JobCollective(const JobCollective&) = delete;
  JobCollective& operator=(const JobCollective&) = delete;

  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  // The place of a rank of the job among `ranks`.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const { return places_[rank]; }

private:
  friend class CollectiveMessages;
  // Parts hold whole values where the bytes allow it.
  [[nodiscard]] const coll::Schedule& schedule_of(std::int64_t bytes);

  coll::Collective collective_;
  std::int64_t value_bytes_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> places_; // [rank of the job]
  coll::FabricLinks links_;
  std::map<std::int64_t, coll::Schedule> schedules_; // by bytes
};

class CollectiveMessages {
public:
  // Messages are copies of `label`, which says what they belong to; they are appended to `outbox`.
  // `of` and `outbox` outlive this.
  CollectiveMessages(JobCollective& of, std::int64_t bytes, const JobMessage& label,
                     std::vector<JobMessage>& outbox);
  CollectiveMessages(const CollectiveMessages&) = delete;
  CollectiveMessages& operator=(const CollectiveMessages&) = delete;

  // Ranks and sources are places among the ranks of the collective.
  void enter(double now, std::uint32_t place);
  // Of transfers inside hosts and of additions; infinity if there are none.
  [[nodiscard]] double next_time() const;
  void advance(double now);
  // A message from this source has arrived.
  void delivered(double now, std::uint32_t src) { completed(now, src); }
  // Every rank has entered and has done everything.
  [[nodiscard]] bool finished() const { return entered_ == of_.ranks_.size() && run_.finished(); }
  [[nodiscard]] const JobMessage& label() const { return label_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  struct Outlet { // the network of the EventRun: it hands every transfer to this run
    CollectiveMessages* run;
    void submit(double now, const net::Transfer& transfer) const { run->submit(now, transfer); }
  };
  struct Sum { // the last sum that a source sent, and how many workers it holds
    std::uint32_t source{}, workers{};
    std::size_t tree{}; // 0 or 1 of a double binary tree, else kNoTree
  };
  static constexpr std::size_t kNoTree = 2;

  void submit(double now, const net::Transfer& transfer);
  void completed(double now, std::uint32_t src);
  [[nodiscard]] std::uint32_t contributions(std::uint32_t rank, std::size_t tree) const;
  [[nodiscard]] std::size_t tree_of(const coll::NextSend& send) const;

  JobCollective& of_;
  const coll::Schedule& schedule_;
  JobMessage label_;
  std::vector<JobMessage>& outbox_;
  coll::EventRun<coll::FabricLinks, Outlet> run_;
  std::uint32_t entered_ = 0;
  std::vector<std::vector<Sum>> received_; // [rank]
  std::vector<Sum> carried_;               // [rank] what it sends; 0 workers: not to be added
  engine::EventQueue<double> inside_;      // transfers inside hosts, by source
  std::uint64_t events_ = 0;
};

} // namespace stepsim::train
