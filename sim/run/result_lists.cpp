#include "run/program_lists.hpp"

namespace stepsim::study {

std::vector<Bucket> plain_buckets(const Scenario& scenario, const buckets::Plan& plan,
                                  std::span<const ProgramUnit> units) {
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
    bucket.algorithm = units[g].cost.algorithm;
  }
  return buckets;
}

// Utilization is over the whole run, the heat of a bucket over the time of its own exchange: how
// full the link is while that bucket is sent.
void fill_links(const Scenario& scenario, std::span<const ProgramUnit> units, Result& result) {
  if (!scenario.cluster.fabric) {
    return;
  }
  std::vector<links::LinkUse> uses;
  for (const ProgramUnit& unit : units) {
    links::add_uses(unit.cost.links, static_cast<double>(scenario.training.iterations), uses);
  }
  const links::Fabric& fabric = scenario.cluster.fabric->fabric();
  uses.resize(fabric.links.size());
  for (std::size_t link = 0; link < uses.size(); ++link) {
    result.links.push_back(link_result(fabric.links[link], uses[link], *result.summary.makespan_s));
  }
  for (const links::LinkId link : busiest_links(result.links, kHotLinks)) {
    LinkHeat& heat = result.heat.emplace_back(LinkHeat{.link = link, .of_bucket = {}});
    for (std::size_t g = 0; g < units.size(); ++g) {
      const BucketCost& cost = units[g].cost;
      const double took = cost.exchange_s() + cost.broadcast_s;
      const double bytes = cost.links.empty() ? 0 : cost.links[link].bytes;
      heat.of_bucket.push_back(took > 0 ? bytes / (fabric.links[link].bandwidth_Bps * took) : 0);
    }
  }
}

} // namespace stepsim::study
