#pragma once
// Training with parameter servers (PIP 3.2, 3.3, 4). Synchronous: all push, the server adds, all
// pull, everybody starts again. Asynchronous: every worker pushes its gradient, the server applies
// it and answers with the weights as of that moment; nobody waits for anybody, gradients are stale.
#include <cstdint>
#include <vector>

#include "train/variability.hpp"

namespace stepsim::train {

struct ServerLink {
  double latency_s{}; // alpha
  double push_s{};    // n beta, wire bytes of a push on the server's inbound port
  double pull_s{};    // the same on its outbound port
  double add_s{};     // n gamma, adding (and decoding) one push
};

// PS-sync with workers that become ready at different times, one server: the end of the pulls, from
// the same origin as `ready_s`. Colocated: worker 0 holds the server and does not push. Source: PIP
// 3.2 (derived).
[[nodiscard]] double server_round_end(std::vector<double> ready_s, const ServerLink& link,
                                      bool colocated);

struct AsyncInput {
  std::uint32_t workers = 1;
  std::int64_t iterations = 1; // per worker
  double compute_s{};          // one worker's iteration, codec included
  ServerLink link;
  std::uint32_t servers = 1; // each holds an equal share of the parameters
  bool serial = false;       // the three stations are one (server_mode serial)
  Variability variability;
};

struct AsyncUpdate { // in the order of application
  std::uint32_t worker{};
  double arrive_s{}, applied_s{}, received_s{};
  std::int64_t staleness{};
};

struct AsyncTimes {
  std::vector<AsyncUpdate> updates;
  double period_s{};         // between two updates of one worker, second half of the run
  double throughput_per_s{}; // updates
  double makespan_s{};
  double staleness_mean{};
  std::int64_t staleness_max{};
  std::vector<std::int64_t> staleness_histogram;       // [staleness] updates
  std::vector<double> worker_compute_s, worker_wait_s; // [worker] mean per iteration
};

[[nodiscard]] AsyncTimes run_async(const AsyncInput& input);

// Period per worker of equal workers with constant times (PIP 4); `servers` divides the server's
// part (asymptotic).
[[nodiscard]] double async_period(const AsyncInput& input);

} // namespace stepsim::train
