#pragma once
// Training with parameter servers (PIP 3.2, 3.3, 4). Synchronous: all workers push, the server
// adds, all workers pull, and the next iteration begins. Asynchronous: every worker pushes its
// gradient; the server applies it and returns the current weights. No worker waits for another, so
// that gradients are stale:
//
//   start   = max(arrive, free_in)                  arrive = now + c_w + alpha, c_w of computing
//   applied = max(start + push, free_add) + add     version += 1, the worker reads this version
//   now     = max(applied + alpha, free_out) + pull
//
// c_w is the compute time of worker w. The stations `in`, `add` and `out` of the server are FIFO;
// ties are decided by worker index. Stale synchronous training (TRN 4.7) is asynchronous, but
// iteration t of a worker also waits until the pushes of all workers of iteration t - 1 - s have
// been applied.

#include "layers/staleness.hpp"
#include "layers/variability.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::programs {

struct ServerLink {
  double latency_s{}; // alpha + LinkCost::delay_s; neither occupies a port at a server
  double push_s{};    // time of a push at the server's inbound port
  double pull_s{};    // time of a pull at the server's outbound port
  double add_s{};     // time to add (and decode) one push
};

// The end of the last pull of a synchronous round with one server, if worker w is ready at
// ready_s[w]; both times have the same origin. If `colocated`, worker 0 holds the server and does
// not push. Source: PIP 3.2 (derived).
[[nodiscard]] double server_round_end(std::vector<double> ready_s, const ServerLink& link,
                                      bool colocated);

struct AsyncInput {
  std::uint32_t workers = 1;
  std::int64_t iterations = 1; // per worker; the run ends after workers x iterations updates
  double compute_s{};          // one worker's iteration, codec included
  ServerLink link{};
  // S servers hold equal shares of the parameters and work in step. A push goes to all servers at
  // once at the speed of the worker's port, so that it takes push_s but occupies the port of each
  // server for push_s / S only. An addition takes add_s / S.
  std::uint32_t servers = 1;
  // The share of push_s for which every push keeps the interfaces of machines: the workers of a
  // machine over all workers, because an interface carries the pushes of its own workers only.
  double interface_share{};
  bool serial = false;                           // the stations are a single one (serial mode)
  std::optional<std::int64_t> staleness_bound{}; // s of stale synchronous training; else empty
  layers::Variability variability{};             // applied to compute only, not to exchanges

  // From a push to new weights, of an idle server.
  [[nodiscard]] double round_trip_s() const {
    return 2 * link.latency_s + link.push_s + link.pull_s + link.add_s / servers;
  }
  // The share of push_s and pull_s for which ports are kept.
  [[nodiscard]] double port_share() const { return std::max(1.0 / servers, interface_share); }
  // Time of the busiest station, or of the one that all are in serial mode, per push of each
  // worker.
  [[nodiscard]] double station_s() const {
    const double add = link.add_s / servers;
    return (serial ? (link.push_s + link.pull_s) * port_share() + add
                   : std::max(std::max(link.push_s, link.pull_s) * port_share(), add)) *
           workers;
  }
};

struct AsyncUpdate { // in the order of application
  std::uint32_t worker{};
  // When the push reaches the server, is applied, and the weights are back at the worker.
  double arrive_s{}, applied_s{}, received_s{};
  std::int64_t staleness{};
  double held_s{}; // wait for the staleness bound before this gradient was computed
};

struct AsyncTimes {
  std::vector<AsyncUpdate> updates;
  double period_s{};   // of a worker: harmonic mean over all, second half of each one's updates
  double makespan_s{}; // when all weights are back
  // Parts of period_s: computing, and waiting for the staleness bound. Their shares are means over
  // the workers, of the same updates as period_s. The rest of period_s is the exchange.
  double compute_s{};
  double held_s{};
  // Iteration time of one worker alone with the same random factors, as fast as the fastest worker.
  double alone_compute_s{};
  layers::StalenessCounts staleness;
  struct Worker { // means per iteration
    double compute_s{};
    double wait_s{}; // from the end of compute to the next start
    double held_s{}; // part of it: wait for `staleness_bound` after the weights are back
  };
  std::vector<Worker> workers;
};

// Computes AsyncTimes from the updates of a run, from whichever simulation they are. Only workers,
// compute_s and variability of `input` are used.
[[nodiscard]] AsyncTimes async_times(const AsyncInput& input, std::vector<AsyncUpdate> updates);

// Simulates the run, with events in the order of (arrival, worker), where times that only rounding
// tells apart are one. O(updates x log workers).
[[nodiscard]] AsyncTimes run_async(const AsyncInput& input);

// The period of each of p equal workers with constant times, compute time c and S servers:
//   max(c + 2 alpha + push + pull + add/S, p max(push, pull, add) / S)
// With a serial server the second term is p (push + pull + add) / S. Source: PIP 4 (derived).
[[nodiscard]] double async_period(const AsyncInput& input);

// What asynchronous workers have done so far: their updates, each with its staleness. By the rule
// of stale synchronous parameter servers (TRN 4.7) a worker computes iteration t only after the
// pushes of iteration t - 1 - s of all workers have been added. Without a bound s, no worker waits.

class AsyncProgress {
public:
  AsyncProgress(std::uint32_t workers, std::optional<std::int64_t> bound)
      : bound_(bound), workers_(workers), behind_(workers) {}

  // A worker computes from `now` on. Returns its iteration, from 1.
  std::int64_t begin(std::uint32_t worker, double now) {
    workers_[worker].held = false;
    workers_[worker].held_up_s = now - workers_[worker].received_s;
    return workers_[worker].iterations + 1;
  }
  // Its push, which arrived at `arrive_s`, has been added. Calls start(other, time) for every
  // worker that waited for it.
  template <class Start>
  void add(std::uint32_t worker, double arrive_s, double applied_s, const Start& start) {
    Worker& x = workers_[worker];
    const auto version = static_cast<std::int64_t>(updates_.size());
    updates_.push_back(
        {worker, arrive_s, applied_s, applied_s, version - x.read_version, x.held_up_s});
    x.read_version = version + 1;
    if (x.added++ > common_ || --behind_ > 0) {
      return;
    }
    behind_ = std::ranges::count(workers_, ++common_, &Worker::added);
    for (std::uint32_t other = 0; other < workers_.size(); ++other) {
      if (workers_[other].held && may_start(workers_[other])) {
        start(other, std::max(workers_[other].received_s, applied_s));
      }
    }
  }
  // Its weights are back. Returns whether it may compute on.
  [[nodiscard]] bool receive(std::uint32_t worker, double now) {
    Worker& x = workers_[worker];
    updates_[static_cast<std::size_t>(x.read_version - 1)].received_s = x.received_s = now;
    ++x.iterations;
    x.held = !may_start(x);
    return !x.held;
  }
  [[nodiscard]] std::int64_t iterations(std::uint32_t worker) const { // whose weights are back
    return workers_[worker].iterations;
  }
  [[nodiscard]] const std::vector<AsyncUpdate>& updates() const { return updates_; }

private:
  struct Worker {
    std::int64_t iterations{}, added{}; // whose weights are back, whose pushes were added
    std::int64_t read_version{};        // number of updates in the weights of the worker
    double received_s{}, held_up_s{};   // held up before the iteration under way
    bool held{};                        // the next iteration is not under way
  };
  [[nodiscard]] bool may_start(const Worker& worker) const {
    return !bound_ || worker.iterations - *bound_ <= common_;
  }

  std::optional<std::int64_t> bound_;
  std::vector<Worker> workers_;
  std::int64_t common_ = 0; // least number of pushes over all workers
  std::int64_t behind_;     // number of workers with exactly `common_` pushes
  std::vector<AsyncUpdate> updates_;
};

} // namespace stepsim::programs
