#pragma once
// How the workers of a job compute: forward layer by layer as the pieces of the iteration before
// come back, then backward, whose layers make pieces ready.
//
//   forward l    t = max(t, every piece with layer l is back) + f (u(l) + forward_s[l])
//                with a barrier layer 0 waits for all pieces, and u is all before it
//   backward     piece ready at t + f (backward_s of the last layer .. of its first_layer, and the
//                encode_s of the pieces up to it)
//
// t is the clock of the worker, f the factor of worker and iteration, u(l) the update of the layer
// after decoding the pieces whose first layer it is;
// the first iteration has no update and waits for nothing. A forward is computed at once as far as
// its pieces are back, so that the only events are pieces that become ready and ends of backward.
// Pieces of 0 bytes are ignored.
#include <cstdint>
#include <vector>

#include "engine/event_queue.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::train {

class JobWorkers {
public:
  struct Ready {
    std::uint32_t worker{}, piece{};
    std::int64_t iteration{};
  };

  explicit JobWorkers(const NetworkJob& job); // which outlives this

  [[nodiscard]] double next_time() const; // infinity if none
  // Goes on to `now`; pieces that become ready by then are appended.
  void advance(double now, std::vector<Ready>& ready);
  // The piece is back at the worker: it holds the sum over all workers.
  void received(double now, std::uint32_t worker, std::uint32_t piece);
  // The forward after the last iteration is computed: all pieces have come back.
  [[nodiscard]] bool finished() const { return finished_ == job_.workers; }

  // [position]: the pieces with bytes, in the order in which they become ready.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  // Fills in what follows from the times of computing and the returns of pieces; sums over messages
  // are added by the caller.
  void record(JobResult& result) const;

private:
  struct Group { // pieces that become ready together
    double offset_s{};
    std::size_t end{}; // in order_
  };
  struct Worker {
    double t = 0, factor = 1;
    std::int64_t iteration = 0;
    std::uint32_t layer = 0; // next to compute, in forward
    std::size_t group = 0;   // next to become ready, in backward
    bool forward = true;
    std::uint32_t missing = 0; // pieces
  };
  void group_pieces();
  void add_groups(std::size_t begin, std::size_t end, bool last, double& offset);
  void run_forward(double now, std::uint32_t worker);
  void start_backward(std::uint32_t worker);
  void start_iteration(std::uint32_t worker, std::int64_t iteration);
  [[nodiscard]] bool blocked(std::uint32_t worker) const;
  [[nodiscard]] std::size_t at(std::int64_t iteration, std::uint32_t worker) const {
    return static_cast<std::size_t>(iteration) * job_.workers + worker;
  }
  [[nodiscard]] double next_start_without_messages(std::int64_t iteration) const;

  const NetworkJob& job_;
  Jitter jitter_;
  std::vector<double> updates_; // [layer]
  double update_s_ = 0;         // with decoding
  double first_update_ = 0;     // the whole update, before layer 0, where layers have no shares
  double forward_s_ = 0, backward_s_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<Group> groups_;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> missing_;   // [worker x layers + layer] pieces
  engine::EventQueue<double> timers_;    // by worker
  std::vector<double> start_s_;          // [iteration] of the first forward
  std::vector<double> backward_start_s_; // [iteration x workers + worker]
  std::vector<double> exchange_end_s_;   // [iteration]
  std::vector<double> piece_end_s_;      // [piece] of the last iteration
  std::vector<double> forward_start_s_;  // [layer] of worker 0
  std::uint32_t finished_ = 0;
};

} // namespace stepsim::train
