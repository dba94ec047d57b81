#include "scenario/scenario_fabric.hpp"

#include "scenario/files/topology_file.hpp"

namespace stepsim::study {

std::optional<links::Topology> parse_topology_field(const io::Json& json,
                                                    const ParseContext& context) {
  const io::Json* file = json.is_string() ? &json : json.find("file");
  if (file == nullptr) {
    return io::parse_topology(json);
  }
  if (!json.is_string()) {
    io::Fields fields(json, context.problems);
    (void)fields.string("file");
    fields.no_more();
  }
  return context.problems.empty() ? std::optional(context.files.topology(*file)) : std::nullopt;
}

// Packet times are integer picoseconds: rates beyond these limits round to 0, latencies overflow.
// One link is reported, as the others tend to be alike.
void check_packet_links(const io::Json& place, const ParseContext& context,
                        const links::Fabric& fabric) {
  constexpr double kMostLatency = 1000;
  constexpr double kMostBandwidth = 1e15;
  for (links::LinkId link = 0; link < fabric.links.size(); ++link) {
    const auto& [from, to, latency_s, bandwidth_Bps] = fabric.links[link];
    if (latency_s > kMostLatency || bandwidth_Bps > kMostBandwidth) {
      context.problems.add(place, "link " + fabric.link_names[link] +
                                      ": the packet model needs latency_s <= 1000 and "
                                      "bandwidth_Bps <= 1e15, got " +
                                      base::shortest(latency_s) + " and " +
                                      base::shortest(bandwidth_Bps));
      return;
    }
  }
}

} // namespace stepsim::study
