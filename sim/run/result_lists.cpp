#include <algorithm>

#include "run/bucket_cost.hpp"
#include "run/run_parts.hpp"

namespace stepsim::study {

std::vector<Bucket> bucket_list(const Scenario& scenario, const plan::Plan& plan,
                                const train::StepTimes& step, std::span<const BucketCost> costs) {
  std::vector<Bucket> buckets = plain_buckets(scenario, plan, costs);
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    Bucket& bucket = buckets[g];
    bucket.ready_s = step.forward_s + plan.groups[g].ready.value;
    bucket.start_s = step.forward_s + step.messages[g].start_s;
    bucket.end_s =
        step.forward_s + std::max(step.messages[g].end_s, step.messages[g].broadcast_end_s);
    bucket.exposed_s = step.messages[g].exposed_s;
  }
  return buckets;
}

std::vector<LayerResult> layer_list(const Scenario& scenario, const train::StepInput& input,
                                    const train::StepTimes& step) {
  std::vector<LayerResult> layers(scenario.workload.layers.size());
  const double iteration =
      step.next_forward_s.front() - step.period_s; // start, from backward start
  double t = 0;
  for (std::size_t l = layers.size(); l-- > 0;) {
    const train::WorkLayer& work = scenario.workload.layers[l];
    LayerResult& layer = layers[l];
    layer.name = work.name;
    layer.backward_start_s = t - iteration;
    t += input.backward_s[l];
    layer.backward_end_s = t - iteration;
    layer.forward_start_s = step.next_forward_s[l] - step.next_forward_s.front();
    layer.forward_end_s = layer.forward_start_s + work.forward.value;
    layer.gradient_done_s = step.layer_done_s[l] > 0 ? step.layer_done_s[l] - iteration : 0;
  }
  return layers;
}

std::vector<Iteration> iteration_list(const Scenario& scenario, const train::StepTimes& step) {
  std::vector<Iteration> iterations;
  for (std::int64_t k = 0; k < scenario.training.iterations; ++k) {
    const double backward = train::backward_start_s(step, k);
    Iteration& iteration = iterations.emplace_back();
    iteration.index = k;
    iteration.start_s = train::iteration_start_s(step, k);
    iteration.compute_end_s = backward + step.backward_s;
    iteration.exchange_start_s =
        backward + (step.messages.empty() ? step.backward_s : step.messages.front().start_s);
    iteration.exchange_end_s = backward + step.finish_s;
    iteration.iteration_time_s = step.period_s;
    iteration.exposed_communication_s = step.exposed_s;
    iteration.applied_gradient = k;
  }
  return iterations;
}

} // namespace stepsim::study
