#pragma once
// Simulates the compute of the workers of a job: forward layer by layer as the pieces of the
// previous iteration come back, then backward, whose layers make pieces ready.
//
//   forward l    t = max(t, every piece with layer l is back) + f (u(l) + forward_s[l])
//   backward     piece ready at t + f (sum of backward_s from the last layer to its first_layer,
//                                      + encode_s of the pieces up to and including it)
//
// t is the clock of the worker, f the factor of worker and iteration, u(l) the time to decode the
// pieces whose first layer is l, plus the update of layer l. With a barrier, layer 0 waits for all
// pieces, and its u(0) is the whole time of decoding and update. Without overlap_backward the
// backward of all layers comes before every piece. The first iteration has no update and waits for
// nothing. A forward is computed as far as its pieces are back, so that the only events are pieces
// that become ready and ends of backward. Pieces of 0 bytes are ignored.
#include <cstdint>
#include <vector>

#include "events/event_queue.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::programs {

class JobWorkers {
public:
  struct Ready {
    std::uint32_t worker{}, piece{};
    std::int64_t iteration{};
  };

  explicit JobWorkers(const NetworkJob& job); // `job` must outlive the object

  [[nodiscard]] double next_time() const; // infinity if none
  // Computes until `now`, and appends the pieces that become ready by then to `ready`.
  void advance(double now, std::vector<Ready>& ready);
  // Tells the worker that the piece, summed over all workers, has come back.
  void received(double now, std::uint32_t worker, std::uint32_t piece);
  // Whether all workers have computed the forward after the last iteration.
  [[nodiscard]] bool finished() const { return finished_ == job_.workers; }

  // The pieces with bytes, in the order in which they become ready.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  // Sets iterations, pieces and forward_start_s of `result`. The caller sets what needs the
  // messages (bytes, communication_s, the exact start of exchanges).
  void record(JobResult& result) const;

private:
  struct Group {       // pieces that become ready together
    double offset_s{}; // seconds from the start of backward, at factor 1
    std::size_t end{}; // position in order_ after the last piece of the group
  };
  struct Worker {
    double t = 0, factor = 1;
    std::int64_t iteration = 0;
    std::uint32_t layer = 0;   // in forward: the next layer to compute
    std::size_t group = 0;     // in backward: the next group to become ready
    bool forward = true;       // in forward, else in backward
    std::uint32_t missing = 0; // number of pieces that are not back
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
  layers::Jitter jitter_;
  std::vector<double> updates_; // [layer]: u(l)
  double update_s_ = 0;         // time of the whole update, with decoding
  double first_update_ = 0;     // added to u(0): the whole update if layers have no shares of it
  double forward_s_ = 0, backward_s_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<Group> groups_;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> missing_;   // [worker x layers + layer]: pieces that are not back
  events::EventQueue<double> timers_;    // when groups become ready; id: worker
  std::vector<double> start_s_;          // [iteration]: start of forward on the first worker
  std::vector<double> backward_start_s_; // [iteration x workers + worker]
  std::vector<double> exchange_end_s_;   // [iteration]: when the last piece is back
  std::vector<double> piece_end_s_;      // [piece]: when it is last back, in the last iteration
  std::vector<double> forward_start_s_;  // [layer]: last start of its forward on worker 0
  std::uint32_t finished_ = 0;
};

} // namespace stepsim::programs
