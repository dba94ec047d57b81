#include "scenario/node_counts.hpp"

#include "collectives/evaluate/measured_steps.hpp"
#include "scenario/keys/cluster_keys.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

// The list as written; empty where it is not given or wrong.
std::vector<std::int64_t> listed_counts(io::Fields& fields, const ParseContext& context,
                                        const Cluster& cluster) {
  std::vector<std::int64_t> counts;
  const io::Json* json = fields.any("ranks_per_node");
  if (json == nullptr || json->is_null()) {
    return counts;
  }
  for (const io::Json& each : fields.list("ranks_per_node", "node")) {
    const auto count = io::checked_integer(each, io::between(1, keys::kMaxRanks), context.problems);
    counts.push_back(count.value_or(1));
  }
  if (fields.has("gpus_per_node")) {
    context.problems.add(*json, "ranks_per_node and gpus_per_node exclude each other");
  }
  if (static_cast<std::int64_t>(counts.size()) != cluster.nodes) {
    context.problems.refuse(*json, "has {} counts for {} nodes", counts.size(), cluster.nodes);
    counts.clear();
  }
  return counts;
}

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

constexpr std::string_view kRate = io::key_of<&Network::bandwidth_Bps>();

// The link of a network, and the rate where it is given.
struct LinkKeys {
  collectives::LinkCost cost;
  std::optional<double> rate_Bps{};
};

// Values that are not given are those of `known`, unless latency and rate are `required`. A given
// latency is that of further blocks, too.
LinkKeys read_link_keys(io::Fields& part, const collectives::LinkCost& known, bool required) {
  LinkKeys link{.cost = known};
  const auto read = [&](std::string_view key) {
    return required ? std::optional(part.required_number(key, kNumberOrNetwork))
                    : part.optional_number(key);
  };
  link.cost.latency_s = read("latency_s").value_or(known.latency_s);
  link.rate_Bps = read(kRate);
  if (link.rate_Bps) {
    link.cost.per_byte_s = 1 / *link.rate_Bps;
  }
  link.cost.block_latency_s = part.number_or(
      "block_latency_s", part.has("latency_s") ? link.cost.latency_s : known.block_latency_s);
  link.cost.delay_s = part.number_or("delay_s", known.delay_s);
  return link;
}

// `link_given`: latency and bandwidth stand beside the profile in the file. Only then may it be of
// one device, where no copy crosses a network: its compression costs are all that counts.
void apply_profile(const links::NetworkProfile& profile, const io::Json& place, bool link_given,
                   const ParseContext& context, Network& network) {
  network.profile = profile;
  network.label = links::kProfileLabels[profile.label];
  network.grade = profile.grade;
  network.valid_ranks = profile.valid_ranks;
  network.valid_bytes = profile.valid_bytes;
  const auto of_class = [&](std::string_view name) {
    return std::ranges::find(profile.links, name, &links::LinkClass::name);
  };
  const links::LinkClass link = network_link(profile);
  network.latency_s = link.latency_s;
  network.block_latency_s = link.further_block_s();
  network.delay_s = link.delay_s;
  network.bandwidth_Bps = collectives::link_of_ranks(profile) == nullptr
                              ? profile.bandwidth_Bps.value_or(0)
                          : link.per_byte_s > 0 ? 1 / link.per_byte_s
                                                : 0;
  network.reduction_Bps = profile.reduction_Bps.value_or(0);
  const bool same_device_only =
      of_class("same-device") != profile.links.end() && network.bandwidth_Bps == 0;
  if (same_device_only && !link_given) {
    context.problems.add(place, "measured between ranks of one device (class same-device): that is "
                                "not a network; with latency_s and bandwidth_Bps beside it its "
                                "compression costs are used");
  } else if (same_device_only) {
    network.profile->collectives.clear();
    network.profile->valid_ranks.reset();
    network.valid_ranks.reset();
    network.valid_bytes.reset();
  }
}

// The kind of link that the class of a profile is called after.
std::optional<Bus> bus_of_class(const links::NetworkProfile& profile) {
  const links::LinkClass* link = class_in_node(profile);
  return link == nullptr          ? std::nullopt
         : link->name == "nvlink" ? std::optional(Bus::nvlink)
         : link->name == "pcie"   ? std::optional(Bus::pcie)
                                  : std::nullopt;
}

// What a profile of the user's own measurements gives of a link that the scenario takes at this
// latency and rate; `of_profile` has the values of the profile.
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

} // namespace

void read_counts(io::Fields& fields, const ParseContext& context, std::int64_t usual_gpus,
                 Cluster& cluster) {
  const nccl::NodeType type = cluster.node ? cluster.node->type : nccl::NodeType{};
  const std::vector<std::int64_t> counts = listed_counts(fields, context, cluster);
  if (counts.empty()) {
    cluster.gpus_per_node = fields.integer_or("gpus_per_node", usual_gpus);
  } else {
    (void)fields.any("gpus_per_node");
    cluster.gpus_per_node = *std::ranges::max_element(counts);
    if (*std::ranges::min_element(counts) < cluster.gpus_per_node) {
      cluster.ranks_per_node = counts;
    }
  }
  const std::int64_t nics = std::min<std::int64_t>(type.nics, cluster.gpus_per_node);
  cluster.nics_per_node = fields.integer_or("nics_per_node", std::max<std::int64_t>(nics, 1));
  const auto as_number = [](std::int64_t value) { return static_cast<double>(value); };
  note_override(fields, "gpus_per_node", as_number(cluster.gpus_per_node), type.gpus, cluster);
  // Equal counts are gpus_per_node in another form.
  if (cluster.node && !counts.empty() && cluster.equal_nodes() &&
      cluster.gpus_per_node != type.gpus) {
    cluster.overrides.push_back({cluster_pointer(fields.json(), "gpus_per_node"),
                                 as_number(cluster.gpus_per_node), as_number(type.gpus)});
  }
  note_override(fields, "nics_per_node", as_number(cluster.nics_per_node), as_number(nics),
                cluster);
  if (as_number(cluster.ranks()) > keys::kMaxRanks) {
    const std::string what =
        cluster.equal_nodes() ? "nodes x gpus_per_node" : "the sum of ranks_per_node";
    context.problems.add(fields.json(), what + " must be at most 1048576");
  }
}

std::vector<std::uint32_t> domain_ranks(std::span<const std::int64_t> ranks_per_node,
                                        std::int64_t nodes) {
  std::vector<std::uint32_t> all;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(1, nodes));
  for (std::size_t node = 0; node < ranks_per_node.size(); ++node) {
    if (node % size == 0) {
      all.push_back(0);
    }
    all.back() += static_cast<std::uint32_t>(ranks_per_node[node]);
  }
  const bool equal = std::ranges::adjacent_find(all, std::not_equal_to<>()) == all.end();
  return equal ? std::vector<std::uint32_t>() : all;
}

std::string unused_interfaces(std::int64_t nics, std::int64_t gpus) {
  return "unused_nics: nics_per_node is " + std::to_string(nics) + ", but a node has " +
         base::counted(gpus, "GPU") + ", each of which uses one interface";
}

JoinedNodes joined_nodes(const Cluster& cluster) {
  const std::int64_t machines = cluster.fabric ? 1 : cluster.nvlink_domain_nodes;
  return {.nodes = cluster.nodes / machines,
          .gpus = cluster.gpus_per_node * machines,
          .nics = std::min(cluster.nics_per_node, cluster.gpus_per_node) * machines};
}

std::vector<links::NodeId> first_places(std::span<const links::NodeId> places, std::size_t per_node,
                                        std::span<const std::uint32_t> ranks_per_node) {
  std::vector<links::NodeId> hosts;
  for (std::size_t node = 0; node < ranks_per_node.size(); ++node) {
    const auto own = places.subspan(node * per_node, ranks_per_node[node]);
    hosts.insert(hosts.end(), own.begin(), own.end());
  }
  return hosts;
}

std::uint32_t first_rank(const Cluster& cluster, std::int64_t node) {
  const auto before = cluster.ranks_per_node.begin();
  return static_cast<std::uint32_t>(cluster.equal_nodes()
                                        ? node * cluster.gpus_per_node
                                        : std::accumulate(before, before + node, std::int64_t{0}));
}

void require_equal_nodes(const Cluster& cluster, std::string_view what, const io::Json& place,
                         io::Problems& problems) {
  if (!cluster.equal_nodes()) {
    problems.add(place, std::string(what) + " needs as many GPUs on every node; /cluster/"
                                            "ranks_per_node lists different numbers");
  }
}

void read_switches(io::Fields& fields, Cluster& cluster) {
  const nccl::NodeLinks links = cluster.node ? cluster.node->links : nccl::NodeLinks{};
  const std::int64_t size = cluster.node ? cluster.node->type.domain_nodes : 1;
  const std::int64_t domain = fields.has("topology")      ? 1
                              : cluster.nodes <= size     ? cluster.nodes
                              : cluster.nodes % size == 0 ? size
                                                          : 1;
  cluster.nvlink_domain_nodes = fields.integer_or("nvlink_domain_nodes", domain);
  const double startup_s = fields.number_or(
      "nvls_startup_s", cluster.node ? links.nvls_startup_s : collectives::NvlsCost{}.startup_s);
  const double rate = fields.optional_number("nvls_Bps").value_or(links.nvls_Bps);
  if (rate > 0) {
    cluster.nvls = {startup_s, 1 / rate};
  }
  note_override(fields, "nvlink_domain_nodes", static_cast<double>(cluster.nvlink_domain_nodes),
                static_cast<double>(domain), cluster);
  note_override(fields, "nvls_Bps", rate, links.nvls_Bps, cluster);
  cluster.switch_latency_s = fields.optional_number("switch_latency_s");
  if (cluster.nvlink_domain_nodes >= 1 && cluster.nodes % cluster.nvlink_domain_nodes != 0) {
    fields.refuse("nvlink_domain_nodes", "must divide nodes ({}), got {}", cluster.nodes,
                  cluster.nvlink_domain_nodes);
  }
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

void take_node_network(Cluster& cluster) {
  Network& network = cluster.network;
  if (cluster.node) {
    network.latency_s = network.block_latency_s = cluster.node->links.network_latency_s;
    network.bandwidth_Bps = cluster.node->links.network_Bps;
    network.carrier = Carrier::rdma;
  }
}

links::LinkClass network_link(const links::NetworkProfile& profile) {
  const links::LinkClass* of_ranks = collectives::link_of_ranks(profile);
  return of_ranks != nullptr ? *of_ranks : profile.any_link();
}

void read_calibration(io::Fields& part, const ParseContext& context, Cluster& cluster) {
  Network& network = cluster.network;
  if (!part.has("calibration")) {
    return;
  }
  network.calibration = part.string("calibration");
  note_profile(part, network.calibration, cluster);
  const io::Json& place = *part.any("calibration");
  if (!place.is_string()) {
    return;
  }
  const bool link_given = part.has("latency_s") && part.has(kRate);
  apply_profile(context.files.profile(place), place, link_given, context, network);
  if (network.profile->carrier && !part.has("transport")) {
    network.carrier = network.profile->carrier;
  }
  const links::LinkClass* link = class_in_node(*network.profile);
  if (link != nullptr && !cluster.intra && cluster.gpus_of_domain() > 1) {
    cluster.intra = cost_of(*link);
    cluster.intra_measured = measured_by(*network.profile, *cluster.intra, link->latency_s,
                                         1 / cluster.intra->per_byte_s);
  }
}

void read_link(io::Fields& part, bool required, Cluster& cluster) {
  Network& network = cluster.network;
  const collectives::LinkCost of_profile{.latency_s = network.latency_s,
                                         .block_latency_s = network.block_latency_s,
                                         .per_byte_s = 1 / network.bandwidth_Bps,
                                         .delay_s = network.delay_s};
  const auto [cost, rate] = read_link_keys(part, of_profile, required);
  network.latency_s = cost.latency_s;
  network.block_latency_s = cost.block_latency_s;
  network.bandwidth_Bps = rate.value_or(network.bandwidth_Bps);
  network.delay_s = cost.delay_s;
  note_network(part, cluster);
  network.reduction_Bps = part.number_or("reduction_Bps", network.reduction_Bps);
  network.latency_given =
      part.has("latency_s") && !((network.profile || cluster.node) &&
                                 network.latency_s == of_profile.latency_s); // as in a result
  if (network.profile) {
    network.measured =
        measured_by(*network.profile, of_profile, network.latency_s, network.bandwidth_Bps);
  }
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
  if (io::key_at(fields.row("intra_network"), "/bus") != nullptr) { // in a scenario
    if (const auto bus = intra.optional_word("bus", links::kBuses)) {
      cluster.bus = bus;
    }
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
  const auto [cost, rate] =
      read_link_keys(intra, of_profile.value_or(collectives::LinkCost{}), !of_profile);
  intra.refuse_if(cost.block_latency_s > cost.latency_s, "block_latency_s",
                  "per-block latency must not exceed latency_s ({}), got {}",
                  base::shortest(cost.latency_s), base::shortest(cost.block_latency_s));
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
                       "missing: {}; a name (nvlink-h100, nvlink-a100, nvlink-v100, xgmi-mi300x, "
                       "pcie4, pcie3) or {{\"latency_s\", \"bandwidth_Bps\"}}",
                       cluster.gpus_per_node > 1
                           ? std::to_string(cluster.gpus_per_node) +
                                 " GPUs per node need the network inside the node"
                           : "the " + std::to_string(cluster.nvlink_domain_nodes) +
                                 " machines of an NVLink domain need the network that joins them");
}

} // namespace stepsim::study
