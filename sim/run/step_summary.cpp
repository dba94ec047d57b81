// Figures of a steady step, as sums over its buckets and from the times of the step itself.
#include "run/step_summary.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <variant>

#include "buckets/planners.hpp"
#include "collectives/choose.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"
#include "programs/step/exchange_times.hpp"
#include "run/bucket_cost.hpp"
#include "run/largest_part.hpp"
#include "run/period_bound.hpp"
#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"
#include "scenario/compression/compressed_cost.hpp"

namespace stepsim::study {

void fill_compression(const Scenario& scenario, std::span<const BucketCost> costs,
                      Summary& summary) {
  if (!is_compressed(scenario)) {
    return;
  }
  const collectives::Compression& compression = scenario.communication.compression;
  const auto total = [&](auto member) {
    return std::accumulate(costs.begin(), costs.end(), 0.0,
                           [&](double sum, const BucketCost& cost) { return sum + cost.*member; });
  };
  const collectives::CompressionKind kind = collectives::row(compression.method).kind;
  // A gradient is coded again on every hop of a ring, P - 1 times, which is where its errors add
  // up.
  if (kind == collectives::CompressionKind::codec) {
    summary.codec_hops = static_cast<double>(scenario.cluster.ranks() - 1);
    return;
  }
  summary.select_s = total(&BucketCost::select_s);
  summary.residual_s = total(&BucketCost::residual_s);
  summary.compress_s = *summary.select_s + *summary.residual_s;
  summary.staging_s = total(&BucketCost::staging_s);
  summary.wire_s = total(&BucketCost::wire_s);
  summary.merge_s = total(&BucketCost::merge_s);
  summary.scatter_s = total(&BucketCost::scatter_s);
  if (kind == collectives::CompressionKind::sparse) {
    double k = 0;
    double elements = 0;
    for (const BucketCost& cost : costs) {
      k += static_cast<double>(cost.k);
      elements += static_cast<double>(cost.elements);
    }
    summary.k = k;
    summary.density = compression.density ? compression.density
                      : elements > 0      ? std::optional(k / elements)
                                          : std::nullopt;
  }
}

Summary summarize(const Scenario& scenario, const buckets::Problem& problem,
                  const buckets::Plan& plan, const programs::StepTimes& step,
                  std::span<const BucketCost> costs, double added_s, double alone_s) {
  Summary summary;
  summary.iteration_time_s = step.period_s;
  const auto total = [&](auto member) {
    return std::accumulate(costs.begin(), costs.end(), 0.0,
                           [&](double sum, const BucketCost& cost) { return sum + cost.*member; });
  };
  // Decoding was added to the update and encoding to backward when the step was made; both are
  // taken off again, so that forward, backward and update are those of the model.
  const double decode = total(&BucketCost::decode_s);
  summary.codec_compute_s = total(&BucketCost::encode_s) + decode;
  summary.forward_s = step.forward_s;
  summary.backward_s = step.backward_s - added_s;
  summary.update_s = step.update_s - decode;
  summary.compute_s =
      *summary.forward_s + *summary.backward_s + *summary.update_s + *summary.codec_compute_s;
  fill_communication(step.communication_s, step.exposed_s, summary);
  summary.wire_bytes = total(&BucketCost::bytes_sent);
  summary.straggler_wait_s = 0;
  summary.makespan_s = programs::makespan_s(step, scenario.training.iterations);

  summary.input_wait_s = step.input_wait_s;

  fill_speedup(scenario, alone_s, step.period_s, summary);
  fill_compression(scenario, costs, summary);
  if (!is_compressed(scenario)) {
    if (const auto bound = period_lower_bound(scenario, problem)) {
      summary.lower_bound_s = bound_of(*bound, step.period_s);
    }
  }
  summary.bottleneck = verdict(
      summary, [&] { return step.chained_s; }, [&] { return largest_part(scenario, plan, costs); });
  return summary;
}

} // namespace stepsim::study
