// parameter_server, mode sync, in one message, where workers differ: the server takes each push as
// it comes (PIP 3.2). Other synchronous runs are run_sync with the parameter server as its
// exchange.
#include <algorithm>

#include "coll/evaluate.hpp"
#include "study/bucket_cost.hpp"
#include "study/run_parts.hpp"
#include "train/parameter_server.hpp"

namespace stepsim::study {

namespace {

// End of a round of pushes, sums and pulls, from the same origin as the ready times.
class ServerRounds {
public:
  explicit ServerRounds(const Scenario& scenario)
      : collective_(exchange_of(scenario)), link_(async_input(scenario).link),
        one_(scenario.communication.options.servers == 1) {
    // A server decodes every push and encodes the sum once (PIP 6).
    const coll::Compression& compression = scenario.communication.compression;
    const bool coded = coll::row(compression.method).kind == coll::CompressionKind::codec;
    const auto bytes = static_cast<double>(scenario.workload.bytes().value);
    const double ratio = compression.method == coll::CompressionMethod::fp16 ? 2
                         : coded                                             ? compression.ratio
                                                                             : 1;
    const auto rate = [&](double Bps) { return coded && Bps > 0 ? 1 / Bps : 0; };
    const double add = collective_.reduction_s_per_byte + rate(compression.decode_Bps);
    link_.add_s = bytes * add;
    collective_.bytes = bytes / ratio;
    collective_.reduction_s_per_byte = add * ratio;
    const bool sharded = collective_.options.placement == coll::Placement::sharded;
    const double servers = sharded ? static_cast<double>(collective_.ranks)
                                   : static_cast<double>(collective_.options.servers);
    encode_s_ = bytes * rate(compression.encode_Bps) / servers;
  }

  // `factor` multiplies all times of the exchange.
  [[nodiscard]] double end(const std::vector<double>& ready, double factor) {
    if (one_) {
      const train::ServerLink link{.latency_s = link_.latency_s * factor,
                                   .push_s = link_.push_s * factor,
                                   .pull_s = link_.pull_s * factor,
                                   .add_s = link_.add_s * factor};
      const bool colocated = collective_.options.placement != coll::Placement::dedicated;
      return train::server_round_end(ready, link, colocated) + encode_s_ * factor;
    }
    coll::Collective round = collective_;
    round.links.all.latency_s *= factor;
    round.links.all.block_latency_s *= factor;
    round.links.all.per_byte_s *= factor;
    round.reduction_s_per_byte *= factor;
    round.enter_s = ready;
    const coll::Evaluation evaluation = coll::events(round);
    events_ += evaluation.events;
    return evaluation.seconds + encode_s_ * factor;
  }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  coll::Collective collective_;
  train::ServerLink link_;
  bool one_;
  double encode_s_{};
  std::uint64_t events_{};
};

// Sums over iterations, per worker.
struct Totals {
  std::vector<double> compute_s, wait_s;
  double slowest_s{};
};

Totals run_rounds(const Scenario& scenario, double compute, ServerRounds& rounds, Result& result) {
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  Totals totals{std::vector<double>(workers), std::vector<double>(workers), 0};
  std::vector<double> ready(workers);
  const train::Jitter jitter(scenario.variability, workers);
  double start = 0;
  for (std::int64_t t = 0; t < scenario.training.iterations; ++t) {
    double slowest = 0;
    for (std::uint32_t w = 0; w < workers; ++w) {
      ready[w] = compute * jitter.compute(w, t + 1);
      slowest = std::max(slowest, ready[w]);
    }
    for (std::uint32_t w = 0; w < workers; ++w) {
      totals.compute_s[w] += ready[w];
      totals.wait_s[w] += slowest - ready[w];
    }
    totals.slowest_s += slowest;
    const double took = rounds.end(ready, jitter.exchange(t + 1));
    result.iterations.push_back({.index = t,
                                 .start_s = start,
                                 .compute_end_s = start + slowest,
                                 .exchange_start_s = start + *std::ranges::min_element(ready),
                                 .exchange_end_s = start + took,
                                 .iteration_time_s = took,
                                 .exposed_communication_s = took - slowest,
                                 .applied_gradient = t,
                                 .density = {},
                                 .k = {}});
    start += took;
  }
  result.summary.makespan_s = start;
  return totals;
}

double mean_period(const Scenario& scenario, const std::vector<Iteration>& iterations) {
  const auto discard = static_cast<std::size_t>(scenario.training.discard_iterations.value_or(0));
  double sum = 0;
  for (std::size_t t = discard; t < iterations.size(); ++t) {
    sum += iterations[t].iteration_time_s;
  }
  return sum / static_cast<double>(iterations.size() - discard);
}

} // namespace

bool needs_server_rounds(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::parameter_server &&
         !scenario.training.async && scenario.variability.varies() &&
         scenario.communication.schedule == plan::Schedule::single &&
         !scenario.cluster.network.curve && scenario.cluster.ranks() > 1;
}

Result run_server_rounds(const Scenario& scenario) {
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  const auto count = static_cast<double>(scenario.training.iterations);
  const double compute = async_input(scenario).compute_s;
  ServerRounds rounds(scenario);
  const double exchange = rounds.end(std::vector<double>(workers, 0.0), 1);

  Result result;
  result.scenario = scenario;
  const Totals totals = run_rounds(scenario, compute, rounds, result);
  const double period = mean_period(scenario, result.iterations);
  Summary& summary = result.summary;
  summary.iteration_time_s = period;
  const double single = fill_work(scenario, summary);
  summary.codec_compute_s = compute - single;
  summary.compute_s = totals.slowest_s / count;
  fill_communication(exchange, std::max(0.0, period - *summary.compute_s), summary);
  double waited = 0;
  for (std::uint32_t w = 0; w < workers; ++w) {
    waited += totals.wait_s[w] / count;
    result.workers.push_back({.worker = w,
                              .compute_s = totals.compute_s[w] / count,
                              .straggler_wait_s = totals.wait_s[w] / count,
                              .transfer_s = exchange});
  }
  summary.straggler_wait_s = waited / workers;
  summary.staleness_mean = 0;
  summary.staleness_max = 0;
  coll::Collective collective = exchange_of(scenario);
  collective.bytes = static_cast<double>(scenario.workload.bytes().value);
  summary.wire_bytes = coll::traffic(collective).max_per_rank;
  fill_speedup(scenario, single, period, summary);
  summary.bottleneck = *summary.straggler_wait_s > kStragglerShare * period ? "straggler"
                       : *summary.compute_s >= exchange                     ? "compute"
                                                                            : "server";
  const bool by_formula = scenario.communication.options.servers == 1;
  result.method = coll::name(by_formula ? coll::Method::closed_form : coll::Method::events);
  result.events = rounds.events();
  add_common_warnings(scenario, {}, result);
  fill_interval(scenario, result);
  return result;
}

} // namespace stepsim::study
