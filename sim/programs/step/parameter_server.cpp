#include "programs/step/parameter_server.hpp"

#include <queue>

namespace stepsim::programs {

namespace {

struct Arrival {
  double time{};
  std::uint32_t worker{};
};

// Pushes under way. Those whose times differ by no more than what sums of the same seconds in
// another order differ by arrive together, in the order of workers.
class Arrivals {
public:
  void push(double time, std::uint32_t worker) { later_.emplace(time, worker); }
  Arrival pop() {
    if (together_.empty()) {
      constexpr double kRounding = 1e-11;
      together_until_ = later_.top().first * (1 + kRounding);
    }
    for (; !later_.empty() && later_.top().first <= together_until_; later_.pop()) {
      together_.emplace(later_.top().second, later_.top().first);
    }
    const auto [worker, time] = together_.top();
    together_.pop();
    return {time, worker};
  }

private:
  template <class Key> using Ascending = std::priority_queue<Key, std::vector<Key>, std::greater<>>;
  Ascending<std::pair<double, std::uint32_t>> later_;
  Ascending<std::pair<std::uint32_t, double>> together_;
  double together_until_{};
};

struct Server {
  double free_in = 0, free_add = 0, free_out = 0;
};

struct Served {
  double applied{}, received{};
};

Served serve(Server& server, const AsyncInput& input, double arrive) {
  const ServerLink& link = input.link;
  const double share = input.port_share();
  const double add = link.add_s / input.servers;
  const double start = std::max(arrive, server.free_in);
  if (input.serial) {
    server.free_in = start + (link.push_s + link.pull_s) * share + add;
    const double applied = start + link.push_s + add;
    return {applied, applied + link.pull_s + link.latency_s};
  }
  server.free_in = start + link.push_s * share;
  const double applied = std::max(start + link.push_s, server.free_add) + add;
  server.free_add = applied;
  const double out = std::max(applied + link.latency_s, server.free_out);
  server.free_out = out + link.pull_s * share;
  return {applied, out + link.pull_s};
}

// Means are of the second half of every worker's own updates.
AsyncTimes times_of(const AsyncInput& input, const layers::Jitter& jitter,
                    std::vector<AsyncUpdate> updates) {
  AsyncTimes times;
  times.updates = std::move(updates);
  std::vector<std::vector<const AsyncUpdate*>> of_workers(input.workers);
  for (const AsyncUpdate& update : times.updates) {
    of_workers[update.worker].push_back(&update);
    times.staleness.add(update.staleness);
    times.makespan_s = std::max(times.makespan_s, update.received_s);
  }
  double complete = 0;    // workers with an iteration
  double share = 0;       // of computing in the cycles of all workers
  double held = 0;        // the same of what the bound holds up
  double alone_per_s = 0; // iterations without communication, all as fast as the fastest worker
  double per_s = 0;       // updates
  for (std::uint32_t w = 0; w < input.workers; ++w) {
    const std::vector<const AsyncUpdate*>& own = of_workers[w];
    if (own.empty()) { // what is under way
      times.workers.push_back({.compute_s = jitter.compute(w, 1) * input.compute_s});
      continue;
    }
    const std::size_t half = own.size() / 2;
    const auto counted = static_cast<double>(own.size() - half);
    AsyncTimes::Worker& worker = times.workers.emplace_back();
    for (std::size_t i = half; i < own.size(); ++i) {
      worker.compute_s += jitter.compute(w, static_cast<std::int64_t>(i) + 1) * input.compute_s;
      worker.held_s += own[i]->held_s;
    }
    worker.compute_s /= counted;
    worker.held_s /= counted;
    const double begin = half > 0 ? own[half - 1]->received_s : 0;
    const double cycle = std::max(worker.compute_s, (own.back()->received_s - begin) / counted);
    worker.wait_s = cycle - worker.compute_s;
    per_s += 1 / cycle;
    share += cycle > 0 ? worker.compute_s / cycle : 0;
    held += cycle > 0 ? worker.held_s / cycle : 0;
    alone_per_s += jitter.straggler(w) / (jitter.fastest() * worker.compute_s);
    ++complete;
  }
  times.period_s = input.workers / per_s;
  times.compute_s = times.period_s * share / complete;
  times.held_s = times.period_s * held / complete;
  times.alone_compute_s = complete / alone_per_s;
  return times;
}

} // namespace

double server_round_end(std::vector<double> ready_s, const ServerLink& link, bool colocated) {
  assert(!ready_s.empty() && "a round has workers");
  double end = 0;
  if (colocated) {
    const double local = ready_s.front();
    if (ready_s.size() == 1) {
      return local;
    }
    std::sort(ready_s.begin() + 1, ready_s.end());
    for (std::size_t w = 1; w < ready_s.size(); ++w) {
      end = std::max(end, ready_s[w] + link.latency_s) + link.push_s;
    }
    end = std::max(end, local);
  } else {
    std::sort(ready_s.begin(), ready_s.end());
    for (const double ready : ready_s) {
      end = std::max(end, ready + link.latency_s) + link.push_s;
    }
  }
  const auto remote = static_cast<double>(ready_s.size() - (colocated ? 1 : 0));
  return end + remote * link.add_s + link.latency_s + remote * link.pull_s;
}

AsyncTimes run_async(const AsyncInput& input) {
  assert(input.workers >= 1 && input.servers >= 1 && input.iterations >= 1 && "counts from 1");
  const auto total = static_cast<std::size_t>(input.iterations * input.workers);
  const layers::Jitter jitter(input.variability, input.workers);
  AsyncProgress progress(input.workers, input.staleness_bound);
  Arrivals arrivals;
  const auto compute = [&](std::uint32_t w, double start) {
    const double seconds = jitter.compute(w, progress.begin(w, start)) * input.compute_s;
    arrivals.push(start + seconds + input.link.latency_s, w);
  };
  for (std::uint32_t w = 0; w < input.workers; ++w) {
    compute(w, 0);
  }
  Server server;
  while (progress.updates().size() < total) {
    const Arrival next = arrivals.pop();
    const Served served = serve(server, input, next.time);
    progress.add(next.worker, next.time, served.applied, compute);
    if (progress.receive(next.worker, served.received)) {
      compute(next.worker, served.received);
    }
  }
  return times_of(input, jitter, progress.updates());
}

AsyncTimes async_times(const AsyncInput& input, std::vector<AsyncUpdate> updates) {
  return times_of(input, layers::Jitter(input.variability, input.workers), std::move(updates));
}

double async_period(const AsyncInput& input) {
  return std::max(input.compute_s + input.round_trip_s(), input.station_s());
}

} // namespace stepsim::programs
