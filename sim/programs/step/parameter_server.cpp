#include "programs/step/parameter_server.hpp"

#include <numeric>
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
  void push(double time, std::uint32_t worker) { later_.push({time, worker}); }
  Arrival pop() {
    if (together_.empty()) {
      constexpr double kRounding = 1e-11;
      together_until_ = later_.top().time * (1 + kRounding);
    }
    for (; !later_.empty() && later_.top().time <= together_until_; later_.pop()) {
      together_.push(later_.top());
    }
    const Arrival next = together_.top();
    together_.pop();
    return next;
  }

private:
  struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const { return a.time > b.time; }
  };
  struct HigherWorker {
    bool operator()(const Arrival& a, const Arrival& b) const { return a.worker > b.worker; }
  };
  std::priority_queue<Arrival, std::vector<Arrival>, Later> later_;
  std::priority_queue<Arrival, std::vector<Arrival>, HigherWorker> together_;
  double together_until_{};
};

struct Server {
  double free_in = 0, free_add = 0, free_out = 0;
  std::int64_t version = 0;
};

struct Served {
  double applied{}, received{};
};

Served serve(Server& server, const AsyncInput& input, double arrive) {
  const ServerLink& link = input.link;
  const auto servers = static_cast<double>(input.servers);
  const double add = link.add_s / servers;
  const double start = std::max(arrive, server.free_in);
  if (input.serial) {
    server.free_in = start + (link.push_s + link.add_s + link.pull_s) / servers;
    const double applied = start + link.push_s + add;
    return {applied, applied + link.pull_s + link.latency_s};
  }
  server.free_in = start + link.push_s / servers;
  const double applied = std::max(start + link.push_s, server.free_add) + add;
  server.free_add = applied;
  const double out = std::max(applied + link.latency_s, server.free_out);
  server.free_out = out + link.pull_s / servers;
  return {applied, out + link.pull_s};
}

struct ServerClient {
  std::int64_t iterations{}; // updates whose weights are back
  std::int64_t read_version{};
  std::vector<double> computed_s{}; // [iteration]
  std::vector<double> held_s{};     // [iteration] that the staleness bound holds it up
  bool held{};                      // the next iteration is not under way
  double held_up_s{};               // before the iteration under way
  double under_way_s{};             // that it computes
  double received{};
  double half_received{}; // after half of its iterations

  // Of the second half of the iterations whose weights are back.
  [[nodiscard]] double mean_of(const std::vector<double>& seconds) const {
    const auto begin = seconds.begin() + iterations / 2;
    return std::accumulate(begin, seconds.begin() + iterations, 0.0) /
           static_cast<double>(iterations - iterations / 2);
  }
};

// `computed_s`: what each of the updates was computed for.
AsyncTimes times_of(const AsyncInput& input, const layers::Jitter& jitter,
                    std::vector<AsyncUpdate> updates, std::span<const double> computed_s) {
  AsyncTimes times;
  times.updates = std::move(updates);
  std::vector<ServerClient> workers(input.workers);
  for (std::size_t i = 0; i < times.updates.size(); ++i) {
    const AsyncUpdate& update = times.updates[i];
    ServerClient& worker = workers[update.worker];
    worker.computed_s.push_back(computed_s[i]);
    worker.held_s.push_back(update.held_s);
    worker.received = update.received_s;
    ++worker.iterations;
    times.staleness.add(update.staleness);
    times.makespan_s = std::max(times.makespan_s, update.received_s);
  }
  // Second half of every worker's own run.
  std::vector<std::int64_t> seen(input.workers);
  for (const AsyncUpdate& update : times.updates) {
    ServerClient& worker = workers[update.worker];
    if (++seen[update.worker] == worker.iterations / 2) {
      worker.half_received = update.received_s;
    }
  }
  double complete = 0;    // workers with an iteration
  double share = 0;       // of computing in the cycles of all workers
  double held = 0;        // the same of what the bound holds up
  double alone_per_s = 0; // iterations without communication, all as fast as the fastest worker
  for (std::uint32_t w = 0; w < input.workers; ++w) {
    const ServerClient& worker = workers[w];
    if (worker.iterations == 0) { // none is complete: what is under way
      times.worker_compute_s.push_back(jitter.compute(w, 1) * input.compute_s);
      times.worker_wait_s.push_back(0);
      times.worker_held_s.push_back(0);
      continue;
    }
    const std::int64_t counted = worker.iterations - worker.iterations / 2;
    const double computed = worker.mean_of(worker.computed_s);
    const double cycle =
        std::max(computed, (worker.received - worker.half_received) / static_cast<double>(counted));
    times.worker_compute_s.push_back(computed);
    times.worker_wait_s.push_back(cycle - computed);
    times.worker_held_s.push_back(worker.mean_of(worker.held_s));
    times.throughput_per_s += 1 / cycle;
    share += cycle > 0 ? computed / cycle : 0;
    held += cycle > 0 ? times.worker_held_s.back() / cycle : 0;
    alone_per_s += jitter.straggler(w) / (jitter.fastest() * computed);
    ++complete;
  }
  times.period_s = input.workers / times.throughput_per_s;
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
  const std::int64_t total = input.iterations * input.workers;
  const layers::Jitter jitter(input.variability, input.workers);
  std::vector<ServerClient> workers(input.workers);
  Arrivals arrivals;
  const auto compute = [&](std::uint32_t w, double start) {
    ServerClient& worker = workers[w];
    worker.under_way_s = jitter.compute(w, worker.iterations + 1) * input.compute_s;
    worker.held = false;
    worker.held_up_s = start - worker.received;
    arrivals.push(start + worker.under_way_s + input.link.latency_s, w);
  };
  for (std::uint32_t w = 0; w < input.workers; ++w) {
    compute(w, 0);
  }
  StalenessBound bound(input.workers, input.staleness_bound);

  std::vector<AsyncUpdate> updates;
  updates.reserve(static_cast<std::size_t>(total));
  std::vector<double> computed_s; // [update]
  computed_s.reserve(static_cast<std::size_t>(total));
  Server server;
  while (static_cast<std::int64_t>(updates.size()) < total) {
    const Arrival next = arrivals.pop();
    const Served served = serve(server, input, next.time);
    ServerClient& worker = workers[next.worker];
    const std::int64_t staleness = server.version - worker.read_version;
    worker.read_version = ++server.version;
    worker.received = served.received;
    ++worker.iterations;
    updates.push_back(
        {next.worker, next.time, served.applied, served.received, staleness, worker.held_up_s});
    computed_s.push_back(worker.under_way_s);
    if (bound.complete(next.worker)) { // its push is what held workers wait for
      for (std::uint32_t w = 0; w < input.workers; ++w) {
        if (workers[w].held && bound.may_start(workers[w].iterations)) {
          compute(w, std::max(workers[w].received, served.applied));
        }
      }
    }
    worker.held = !bound.may_start(worker.iterations);
    if (!worker.held) {
      compute(next.worker, worker.received);
    }
  }
  return times_of(input, jitter, std::move(updates), computed_s);
}

AsyncTimes async_times(const AsyncInput& input, std::vector<AsyncUpdate> updates) {
  const layers::Jitter jitter(input.variability, input.workers);
  std::vector<std::int64_t> iterations(input.workers);
  std::vector<double> computed_s;
  computed_s.reserve(updates.size());
  for (const AsyncUpdate& update : updates) {
    computed_s.push_back(jitter.compute(update.worker, ++iterations[update.worker]) *
                         input.compute_s);
  }
  return times_of(input, jitter, std::move(updates), computed_s);
}

double async_period(const AsyncInput& input) {
  const ServerLink& link = input.link;
  const auto servers = static_cast<double>(input.servers);
  const double alone =
      input.compute_s + 2 * link.latency_s + link.push_s + link.pull_s + link.add_s / servers;
  return std::max(alone, input.workers * link.station_s(input.serial) / servers);
}

} // namespace stepsim::programs
