#include "scenario/scenario_parts.hpp"

#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

// Latency and bandwidth of a profile as the network inside a node: its link class there, else its
// network block.
std::optional<collectives::LinkCost> intra_of_profile(const links::NetworkProfile& profile,
                                                      const io::Json& place,
                                                      const ParseContext& context) {
  if (const links::LinkClass* link = class_in_node(profile)) {
    return cost_of(*link);
  }
  if (!profile.latency_s || profile.bandwidth_Bps.value_or(0) <= 0) {
    context.problems.add(place, "profile " + profile.name +
                                    " gives no latency and bandwidth of a network inside a node");
    return std::nullopt;
  }
  return cost_of(profile.any_link());
}

// The kind of link that the class of a profile is called after.
std::optional<Bus> bus_of_class(const links::NetworkProfile& profile) {
  const links::LinkClass* link = class_in_node(profile);
  return link == nullptr          ? std::nullopt
         : link->name == "nvlink" ? std::optional(Bus::nvlink)
         : link->name == "pcie"   ? std::optional(Bus::pcie)
                                  : std::nullopt;
}

} // namespace

// A resolved scenario repeats the values, whose reciprocals may differ in their last digit.
MeasuredLink measured_by(const links::NetworkProfile& profile,
                         const collectives::LinkCost& of_profile, double latency_s,
                         double rate_Bps) {
  constexpr double kSame = 1e-12;
  const bool counts = profile.label != links::ProfileLabel::default_value;
  return {.rate = (counts || profile.fitted_rate) &&
                  std::abs(rate_Bps * of_profile.per_byte_s - 1) <= kSame,
          .start =
              counts && std::abs(latency_s - of_profile.latency_s) <= kSame * of_profile.latency_s};
}

// The link class of a profile that joins GPUs of one node, the fastest first.
// A class without a rate says nothing about bandwidth and is passed over.
const links::LinkClass* class_in_node(const links::NetworkProfile& profile) {
  for (const std::string_view name : {"nvlink", "pcie", "host"}) {
    const auto link = std::ranges::find(profile.links, name, &links::LinkClass::name);
    if (link != profile.links.end() && link->per_byte_s > 0) {
      return &*link;
    }
  }
  return nullptr;
}

collectives::LinkCost cost_of(const links::LinkClass& link) {
  return {.latency_s = link.latency_s,
          .block_latency_s = link.further_block_s(),
          .per_byte_s = link.per_byte_s,
          .delay_s = link.delay_s};
}

// A link inside a node needs latency and bandwidth, from its keys or from a profile.
void parse_intra(io::Fields& fields, const ParseContext& context, Cluster& cluster) {
  const io::Json* json = fields.any("intra_network");
  std::optional<collectives::LinkCost> of_profile;
  if (cluster.node && cluster.gpus_of_domain() > 1) {
    const nccl::NodeLinks& links = cluster.node->links;
    of_profile =
        collectives::LinkCost{links.inner_latency_s, links.inner_latency_s, 1 / links.inner_Bps};
    cluster.bus = cluster.node->type.approximate                     ? Bus::xgmi
                  : cluster.node->type.link == nccl::InnerLink::pcie ? Bus::pcie
                                                                     : Bus::nvlink;
  }
  if (json == nullptr || json->is_null()) {
    cluster.intra = of_profile;
    return;
  }
  io::Fields intra(*json, context.problems, fields.row("intra_network"));
  if (const auto bus = intra.optional_word("bus", links::kBuses)) {
    cluster.bus = bus;
  }
  const links::NetworkProfile* measured_in = nullptr;
  if (intra.has("calibration")) {
    cluster.intra_calibration = intra.string("calibration");
    note_profile(intra, cluster.intra_calibration, cluster);
    if (const io::Json& place = *intra.any("calibration"); place.is_string()) {
      const links::NetworkProfile& profile = context.files.profile(place);
      of_profile = intra_of_profile(profile, place, context);
      measured_in = &profile;
      if (!intra.has("bus")) {
        cluster.bus = profile.bus ? profile.bus : bus_of_class(profile);
      }
    }
  }
  const bool of_node = of_profile && !intra.has("calibration");
  collectives::LinkCost cost;
  constexpr std::string_view kRate = io::key_of<&Network::bandwidth_Bps>();
  std::optional<double> rate; // as given
  if (of_profile) {           // values next to it win
    cost.latency_s = intra.number_or("latency_s", of_profile->latency_s);
    rate = intra.optional_number(kRate);
    cost.per_byte_s = rate ? 1 / *rate : of_profile->per_byte_s;
  } else {
    cost.latency_s = intra.required_number("latency_s");
    rate = intra.required_number(kRate);
    cost.per_byte_s = 1 / *rate;
  }
  const bool own_latency = of_profile && !intra.has("latency_s");
  cost.block_latency_s = intra.number_or(
      "block_latency_s", own_latency ? of_profile->block_latency_s : cost.latency_s);
  if (cost.block_latency_s > cost.latency_s) {
    intra.refuse("block_latency_s", "per-block latency must not exceed latency_s (" +
                                        base::shortest(cost.latency_s) + "), got " +
                                        base::shortest(cost.block_latency_s));
  }
  cost.delay_s = intra.number_or("delay_s", of_profile ? of_profile->delay_s : 0);
  if (of_node) {
    const nccl::NodeLinks& links = cluster.node->links;
    note_override(intra, "latency_s", cost.latency_s, links.inner_latency_s, cluster);
    note_override(intra, kRate, rate.value_or(links.inner_Bps), links.inner_Bps, cluster);
  }
  intra.no_more();
  cluster.intra = cost;
  if (measured_in != nullptr && of_profile) {
    cluster.intra_measured =
        measured_by(*measured_in, *of_profile, cost.latency_s, 1 / cost.per_byte_s);
  }
}

void add_missing_intra(const io::Json& place, const ParseContext& context, const Cluster& cluster) {
  context.problems.add(place, "intra_network",
                       "missing: " +
                           (cluster.gpus_per_node > 1
                                ? std::to_string(cluster.gpus_per_node) +
                                      " GPUs per node need the network inside the node"
                                : "the " + std::to_string(cluster.nvlink_domain_nodes) +
                                      " machines of an NVLink domain need the network that joins "
                                      "them") +
                           "; a name (nvlink-h100, "
                           "nvlink-a100, nvlink-v100, xgmi-mi300x, pcie4, pcie3) or "
                           "{\"latency_s\", \"bandwidth_Bps\"}");
}

} // namespace stepsim::study
