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
    bucket.index = bucket.unit = static_cast<std::int64_t>(g);
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
      const double took = costs[g].exchange_s() + costs[g].broadcast_s;
      const double bytes = costs[g].links.empty() ? 0 : costs[g].links[link].bytes;
      heat.of_bucket.push_back(took > 0 ? bytes / (fabric.links[link].bandwidth_Bps * took) : 0);
    }
  }
}

} // namespace stepsim::study
