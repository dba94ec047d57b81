#pragma once
// Runs a collective among ranks of a job. Transfers between hosts are messages of the job;
// transfers inside a host take the time of the inner link, on which a rank sends the transfers of
// all exchanges of a stream one after the other (CLU 2: bandwidth per GPU and direction). For every
// message of a reduction, the number of workers in its sum is tracked: the sender, and the workers
// in the last sum that the sender received from each other rank (separately for the two trees of a
// double binary tree).
//   JobCollective       the data shared by all runs: ranks, links, schedule
//   CollectiveMessages  one run, step by step (event_run.hpp)
#include "collectives/evaluate/event_run.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::programs {

class JobCollective {
public:
  // `collective` must have operation, algorithm, bytes, options, reduction and two-level costs;
  // chunking and element size of the options, and all other members, are set here. ranks[p] is the
  // rank of the job at position p of the collective. Parts of the schedule hold whole values if the
  // bytes are a whole number of values. Throws SimulationError for the algorithms auto and
  // parameter_server, which have no schedule.
  JobCollective(collectives::Collective collective, const NetworkJob& job,
                const JobNetwork& network, std::vector<std::uint32_t> ranks);
  JobCollective(const JobCollective&) = delete;
  JobCollective& operator=(const JobCollective&) = delete;

  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  // The position of a rank of the job in `ranks`.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const { return places_[rank]; }

private:
  friend class CollectiveMessages;
  collectives::Collective collective_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> places_; // [rank of the job]
  collectives::FabricLinks links_;
  collectives::Schedule schedule_;
};

class CollectiveMessages {
public:
  // All ranks enter now. Messages are copies of `label`, which identifies the piece, and are
  // appended to `outbox`. inner_free_s[r]: when rank r of the job has sent its last transfer inside
  // a host. With label.stretch everything takes so many times as long (TRN 2.2). All references
  // must outlive the object.
  CollectiveMessages(double now, JobCollective& of, const JobMessage& label,
                     std::vector<JobMessage>& outbox, std::vector<double>& inner_free_s);
  CollectiveMessages(const CollectiveMessages&) = delete;
  CollectiveMessages& operator=(const CollectiveMessages&) = delete;

  // The time of the next end of a transfer inside a host or of an addition; infinity if none.
  [[nodiscard]] double next_time() const;
  void advance(double now);
  // Tells the collective that a message from this source, a position among its ranks, has arrived.
  void delivered(double now, std::uint32_t src) { completed(now, src); }
  [[nodiscard]] bool finished() const { return run_.finished(); } // all ranks have
  [[nodiscard]] const JobMessage& label() const { return label_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  struct Outlet { // the network of the EventRun, which passes every transfer to this object
    CollectiveMessages* run;
    void submit(double /*now*/, const links::Transfer& transfer) const { run->submit(transfer); }
  };
  struct Sum { // the last sum that a source sent, and the number of workers in it
    std::uint32_t source{}, workers{};
    std::size_t tree{}; // 0 or 1 of a double binary tree, else kNoTree
  };
  static constexpr std::size_t kNoTree = 2;

  // The run has a clock of its own, which goes slower by the stretch.
  [[nodiscard]] double real(double own_s) const {
    return label_.stretch == 1 ? own_s : begin_s_ + label_.stretch * (own_s - begin_s_);
  }
  [[nodiscard]] double own(double now) {
    const double own_s = label_.stretch == 1 ? now : begin_s_ + (now - begin_s_) / label_.stretch;
    return own_s_ = std::max(own_s_, own_s); // rounding turns no clock back
  }
  void submit(const links::Transfer& transfer);
  void completed(double now, std::uint32_t src);
  [[nodiscard]] std::uint32_t contributions(std::uint32_t rank, std::size_t tree) const;
  [[nodiscard]] std::size_t tree_of(const collectives::NextSend& send) const;

  JobCollective& of_;
  JobMessage label_;
  double begin_s_, now_s_, own_s_;
  std::vector<JobMessage>& outbox_;
  std::vector<double>& inner_free_s_;
  collectives::EventRun<collectives::FabricLinks, Outlet> run_;
  std::vector<std::vector<Sum>> received_; // [rank]
  std::vector<Sum> carried_;               // [rank]: sum that it sends; 0 workers = not a sum
  events::EventQueue<double> inside_;      // transfers inside hosts, by source
  std::uint64_t events_ = 0;
};

} // namespace stepsim::programs
