// Lists of a result from the step that every iteration repeats. Steps count time from the start of
// backward, because that is where messages begin; results count from the start of the iteration,
// which lies before it by the forward pass.
#include "run/result_lists.hpp"

#include <algorithm>

#include "run/bucket_cost.hpp"
#include "run/network_result.hpp"

namespace stepsim::study {

std::vector<Bucket> plain_buckets(const Scenario& scenario, const buckets::Plan& plan,
                                  std::span<const BucketCost> costs) {
  std::vector<Bucket> buckets;
  buckets.reserve(plan.groups.size());
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const buckets::Group& group = plan.groups[g];
    Bucket& bucket = buckets.emplace_back();
    bucket.index = static_cast<std::int64_t>(g);
    const auto layers = static_cast<std::int64_t>(scenario.workload.layers.size());
    bucket.first = layers;
    bucket.bytes = group.bytes;
    bucket.items = static_cast<std::int64_t>(group.items.size());
    for (const std::uint32_t item : group.items) {
      const layers::Gradient& gradient = scenario.workload.gradients[item];
      // Layers have their forward order inside the program and are shown in the order of backward,
      // from 1.
      const std::int64_t number = layers - gradient.layer; // from 1, backward order
      bucket.first = std::min(bucket.first, number);
      bucket.last = std::max(bucket.last, number);
      bucket.elements += gradient.elements;
    }
    bucket.algorithm = costs[g].algorithm;
  }
  return buckets;
}

std::vector<Bucket> bucket_list(const Scenario& scenario, const buckets::Plan& plan,
                                const programs::StepTimes& step,
                                std::span<const BucketCost> costs) {
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

std::vector<LayerResult> layer_list(const Scenario& scenario, const programs::StepInput& input,
                                    const programs::StepTimes& step) {
  std::vector<LayerResult> layers(scenario.workload.layers.size());
  const double iteration =
      step.next_forward_s.front() - step.period_s; // start, from backward start
  double t = 0;
  for (std::size_t l = layers.size(); l-- > 0;) {
    const layers::WorkLayer& work = scenario.workload.layers[l];
    LayerResult& layer = layers[l];
    layer.name = work.name;
    layer.backward_start_s = t - iteration;
    t += input.backward_s[l];
    layer.backward_end_s = t - iteration;
    layer.forward_start_s = step.next_forward_s[l] - step.next_forward_s.front();
    layer.forward_end_s = layer.forward_start_s + input.forward_s[l];
    // A time of 0 marks a layer without gradients.
    layer.gradient_done_s = step.layer_done_s[l] > 0 ? step.layer_done_s[l] - iteration : 0;
  }
  return layers;
}

std::vector<Iteration> iteration_list(const Scenario& scenario, const programs::StepTimes& step) {
  std::vector<Iteration> iterations;
  for (std::int64_t k = 0; k < scenario.training.iterations; ++k) {
    const double backward = programs::backward_start_s(step, k);
    Iteration& iteration = iterations.emplace_back();
    iteration.index = k;
    iteration.start_s = programs::iteration_start_s(step, k);
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

// Utilization is over the whole run, the heat of a bucket over the time of its own exchange: how
// full the link is while that bucket is sent.
void fill_links(const Scenario& scenario, std::span<const BucketCost> costs, Result& result) {
  if (!scenario.cluster.fabric) {
    return;
  }
  std::vector<links::LinkUse> uses;
  for (const BucketCost& cost : costs) {
    links::add_uses(cost.links, static_cast<double>(scenario.training.iterations), uses);
  }
  const links::Fabric& fabric = scenario.cluster.fabric->fabric();
  uses.resize(fabric.links.size());
  for (std::size_t link = 0; link < uses.size(); ++link) {
    result.links.push_back(link_result(fabric.links[link], uses[link], *result.summary.makespan_s));
  }
  for (const links::LinkId link : busiest_links(result.links, kHotLinks)) {
    LinkHeat& heat = result.heat.emplace_back(LinkHeat{.link = link, .of_bucket = {}});
    for (std::size_t g = 0; g < costs.size(); ++g) {
      const double took = result.buckets[g].end_s - result.buckets[g].start_s;
      const double bytes = costs[g].links.empty() ? 0 : costs[g].links[link].bytes;
      heat.of_bucket.push_back(took > 0 ? bytes / (fabric.links[link].bandwidth_Bps * took) : 0);
    }
  }
}

} // namespace stepsim::study
