#pragma once
// Training with parameter servers (PIP 3.2, 3.3, 4). Synchronous: all push, the server adds, all
// pull, everybody starts again. Asynchronous: every worker pushes its gradient, the server applies
// it and answers with the weights as of that moment; nobody waits for anybody, gradients are stale.
//
//   start   = max(arrive, free_in)                  arrive = now + c_w + alpha, c_w of computing
//   applied = max(start + push, free_add) + add     version += 1, the worker reads this version
//   now     = max(applied + alpha, free_out) + pull
//
// The stations in, add and out of the server are FIFO, ties by worker index. Stale synchronous (TRN
// 4.7): asynchronous, but iteration t of a worker also waits until every worker's push of iteration
// t - 1 - s has been applied.
#include <cstdint>
#include <optional>
#include <vector>

#include "train/workload/staleness.hpp"
#include "train/workload/variability.hpp"

namespace stepsim::train {

struct ServerLink {
  double latency_s{}; // alpha plus LinkCost::delay_s: at a server neither holds a port
  double push_s{};    // wire bytes of a push through the server's inbound port
  double pull_s{};    // the same for a pull, outbound port
  double add_s{};     // adding (and decoding) one push
};

// PS-sync with workers that become ready at different times, one server: the end of the pulls, from
// the same origin as `ready_s`. Colocated: worker 0 holds the server and does not push. Source: PIP
// 3.2 (derived).
[[nodiscard]] double server_round_end(std::vector<double> ready_s, const ServerLink& link,
                                      bool colocated);

struct AsyncInput {
  std::uint32_t workers = 1;
  std::int64_t iterations = 1; // the run ends after workers x iterations updates
  double compute_s{};          // one worker's iteration, codec included
  ServerLink link{};
  // S servers hold equal shares of the parameters and are in step with each other: a push goes to
  // all at once at the speed of the worker's port, so it takes push_s but keeps each server's port
  // busy for push_s / S only; an addition takes add_s / S.
  std::uint32_t servers = 1;
  bool serial = false;                           // the three stations are one (server_mode serial)
  std::optional<std::int64_t> staleness_bound{}; // s of stale synchronous training, else empty
  Variability variability{};                     // of compute; the exchange's is not drawn here
};

struct AsyncUpdate { // in the order of application
  std::uint32_t worker{};
  // The push reaches the server, the server has applied it, the weights are back at the worker.
  double arrive_s{}, applied_s{}, received_s{};
  std::int64_t staleness{};
  double held_s{}; // what the bound held the worker up before it computed this gradient
};

struct AsyncTimes {
  std::vector<AsyncUpdate> updates;
  double period_s{};         // of one worker, harmonic mean over workers, second half of its run
  double throughput_per_s{}; // updates: workers / period
  double makespan_s{};       // all weights are back
  // Computing in the mean of the same iterations, the rest of the period being the exchange; and
  // the iteration of one worker alone, with the same random factors, as fast as the fastest worker.
  double compute_s{};
  double held_s{}; // by the bound on staleness, in the mean of the same iterations
  double alone_compute_s{};
  StalenessCounts staleness;
  std::vector<double> worker_compute_s; // [worker] mean per iteration
  std::vector<double> worker_wait_s;    // the rest: from the end of computing to the next start
  // [worker] mean per iteration of what `staleness_bound` holds it up after its weights are back;
  // part of worker_wait_s
  std::vector<double> worker_held_s;
};

// What follows from the updates of a run, however their times came about; only workers, computing
// and variability of `input` count.
[[nodiscard]] AsyncTimes async_times(const AsyncInput& input, std::vector<AsyncUpdate> updates);

// Events in (arrival, worker) order; O(updates x log workers).
[[nodiscard]] AsyncTimes run_async(const AsyncInput& input);

// Period of each of p equal workers with constant times, c of computing and S servers:
//   max(c + 2 alpha + push + pull + add/S, p max(push, pull, add) / S)
// With a serial server the second term is p (push + pull + add) / S. Source: PIP 4 (derived).
[[nodiscard]] double async_period(const AsyncInput& input);

} // namespace stepsim::train
