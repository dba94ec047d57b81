#pragma once
// Runs a collective among ranks of a job. Transfers between hosts are messages of the job;
// transfers inside a host take the time of the inner link, on which a rank sends the transfers of
// all exchanges of a stream one after the other (CLU 2: bandwidth per GPU and direction). For every
// message of a reduction, the number of workers in its sum is tracked: the sender, and the workers
// in the last sum that the sender received from each other rank (separately for the two trees of a
// double binary tree).
//   JobCollective       the data shared by all runs: ranks, links, schedules by bytes
//   CollectiveMessages  one run, step by step (event_run.hpp)
#include <map>

#include "collectives/evaluate/event_run.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::programs {

class JobCollective {
public:
  // `collective` must have operation, algorithm, options, reduction and two-level costs; chunking
  // and element size of the options, and all other members, are set here. ranks[p] is the rank of
  // the job at position p of the collective. The job must outlive the object. Throws
  // SimulationError for the algorithms auto and parameter_server, which have no schedule.
  JobCollective(collectives::Collective collective, const NetworkJob& job,
                const JobNetwork& network, std::vector<std::uint32_t> ranks);
  JobCollective(const JobCollective&) = delete;
  JobCollective& operator=(const JobCollective&) = delete;

  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  // The position of a rank of the job in `ranks`.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const { return places_[rank]; }

private:
  friend class CollectiveMessages;
  // The schedule for `bytes`. Its parts hold whole values if the bytes are a whole number of
  // values.
  [[nodiscard]] const collectives::Schedule& schedule_of(std::int64_t bytes);

  collectives::Collective collective_;
  std::int64_t value_bytes_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> places_; // [rank of the job]
  collectives::FabricLinks links_;
  std::map<std::int64_t, collectives::Schedule> schedules_; // bytes -> schedule
};

class CollectiveMessages {
public:
  // Messages are copies of `label`, which identifies the piece, and are appended to `outbox`.
  // inner_free_s[r]: when rank r of the job has sent its last transfer inside a host. All
  // references must outlive the object.
  CollectiveMessages(JobCollective& of, std::int64_t bytes, const JobMessage& label,
                     std::vector<JobMessage>& outbox, std::vector<double>& inner_free_s);
  CollectiveMessages(const CollectiveMessages&) = delete;
  CollectiveMessages& operator=(const CollectiveMessages&) = delete;

  // A rank enters the collective. `place`, and `src` below, are positions among its ranks.
  void enter(double now, std::uint32_t place);
  // The time of the next end of a transfer inside a host or of an addition; infinity if none.
  [[nodiscard]] double next_time() const;
  void advance(double now);
  // Tells the collective that a message from this source has arrived.
  void delivered(double now, std::uint32_t src) { completed(now, src); }
  // Whether all ranks have entered and have finished.
  [[nodiscard]] bool finished() const { return entered_ == of_.ranks_.size() && run_.finished(); }
  [[nodiscard]] const JobMessage& label() const { return label_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  struct Outlet { // the network of the EventRun, which passes every transfer to this object
    CollectiveMessages* run;
    void submit(double now, const links::Transfer& transfer) const { run->submit(now, transfer); }
  };
  struct Sum { // the last sum that a source sent, and the number of workers in it
    std::uint32_t source{}, workers{};
    std::size_t tree{}; // 0 or 1 of a double binary tree, else kNoTree
  };
  static constexpr std::size_t kNoTree = 2;

  void submit(double now, const links::Transfer& transfer);
  void completed(double now, std::uint32_t src);
  [[nodiscard]] std::uint32_t contributions(std::uint32_t rank, std::size_t tree) const;
  [[nodiscard]] std::size_t tree_of(const collectives::NextSend& send) const;

  JobCollective& of_;
  const collectives::Schedule& schedule_;
  JobMessage label_;
  std::vector<JobMessage>& outbox_;
  std::vector<double>& inner_free_s_;
  collectives::EventRun<collectives::FabricLinks, Outlet> run_;
  std::uint32_t entered_ = 0;
  std::vector<std::vector<Sum>> received_; // [rank]
  std::vector<Sum> carried_;               // [rank]: sum that it sends; 0 workers = not a sum
  events::EventQueue<double> inside_;      // transfers inside hosts, by source
  std::uint64_t events_ = 0;
};

} // namespace stepsim::programs
