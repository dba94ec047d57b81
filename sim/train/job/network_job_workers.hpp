#pragma once
// How the workers of a job compute: forward layer by layer as the pieces of the iteration before
// come back, then backward, whose layers make pieces ready.
//
//   forward l    t = max(t, every piece with layer l is back) + f (u(l) + forward_s[l])
//   backward     piece ready at t + f (backward_s of the last layer .. of its first_layer)
//
// f is the factor of worker and iteration. Forwards are computed as far as data is there, so the
// only events are pieces that become ready and ends of backward. Pieces without bytes do not exist.
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
  // The piece is back at the worker, with the sum of all.
  void received(double now, std::uint32_t worker, std::uint32_t piece);
  // The forward after the last iteration is computed: all pieces have come back.
  [[nodiscard]] bool finished() const { return finished_ == job_.workers; }

  // Pieces in the order in which they become ready, [position]; those with bytes.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  // Fills in all that is known without messages.
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
  double first_update_ = 0;     // what no layer has a share of
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
