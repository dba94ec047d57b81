// Counters are kept as changes: +1 and -1 where messages start and end, or plus and minus a share
// of the capacity. Sorted by time and summed up they give the value at every instant.
#include "run/run_timeline.hpp"

#include "base/shared_value.hpp"

namespace stepsim::study {

namespace {

// Links of the connections of the first job, as the network takes them.
class ConnectionPaths {
public:
  explicit ConnectionPaths(const links::RankFabric& fabric) : fabric_(fabric) {}

  bool passes(const programs::JobMessage& message, links::LinkId link) {
    const std::uint64_t connection = programs::connection_number(fabric_.hosts.size(), 0, message);
    // A job uses the same connections again and again; each path is looked up once.
    const std::vector<links::LinkId>& links = base::remembered(known_, connection, [&] {
      const links::NodeId from = fabric_.hosts[message.src];
      const links::NodeId to = fabric_.hosts[message.dst];
      return fabric_.paths.spray
                 ? links::sprayed_path(fabric_.fabric(), fabric_.routes(), from, to).links
                 : fabric_.routes().ecmp_path(from, to, connection, fabric_.paths.seed);
    });
    return std::ranges::find(links, link) != links.end();
  }

private:
  const links::RankFabric& fabric_;
  std::map<std::uint64_t, std::vector<links::LinkId>> known_; // by connection_number()
};

std::vector<LinkChange> changes_of_messages(const Result& result, ConnectionPaths& paths,
                                            links::LinkId link, std::int64_t first,
                                            std::int64_t last) {
  std::vector<LinkChange> changes;
  for (const programs::JobMessage& message : result.messages) {
    if (message.iteration >= first && message.iteration <= last && paths.passes(message, link)) {
      changes.push_back({message.start_s, 1});
      changes.push_back({message.end_s, -1});
    }
  }
  return changes;
}

std::vector<LinkChange> changes_of_buckets(const ProgramRun& run, const LinkHeat& heat,
                                           std::int64_t first, std::int64_t last) {
  std::vector<LinkChange> changes;
  for (std::int64_t k = first; k <= last; ++k) {
    for (std::uint32_t o = 0; o < run.program.iteration_size(); ++o) {
      const programs::Operation& each = run.program.operations[o];
      if (each.type == programs::OperationType::exchange && each.unit >= 0) {
        constexpr double kPercent = 100;
        const std::size_t at = run.times.at(k, o, 0);
        const double used = kPercent * heat.of_bucket[static_cast<std::size_t>(each.unit)];
        changes.push_back({run.times.start[at], used});
        changes.push_back({run.times.end[at], -used});
      }
    }
  }
  return changes;
}

} // namespace

void add_counter(std::uint32_t node, const std::string& name, std::vector<LinkChange> changes,
                 events::Timeline& timeline) {
  std::ranges::stable_sort(changes, {}, &LinkChange::time_s);
  double value = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    value += changes[i].by;
    // Of several changes at one instant only the last value is shown: those between lasted no time.
    if (i + 1 == changes.size() || changes[i + 1].time_s > changes[i].time_s) {
      constexpr double kRounding = 1e-9; // of sums of percentages
      timeline.counters.push_back({.node = node,
                                   .name = name,
                                   .time = {changes[i].time_s},
                                   .value = std::abs(value) < kRounding ? 0 : value});
    }
  }
}

void add_link_counters(const Result& result, std::int64_t first, std::int64_t last,
                       events::Timeline& timeline) {
  if (result.links.empty()) {
    return;
  }
  const links::RankFabric& fabric = *result.scenario->cluster.fabric;
  const auto node = static_cast<std::uint32_t>(timeline.node_names.size());
  timeline.node_names.emplace_back("network");
  if (!result.messages.empty()) {
    ConnectionPaths paths(fabric);
    for (const links::LinkId link : busiest_links(result.links, kHotLinks)) {
      add_counter(node, "messages on " + fabric.fabric().link_names[link],
                  changes_of_messages(result, paths, link, first, last), timeline);
    }
    return;
  }
  for (const LinkHeat& heat : result.heat) { // of a program
    add_counter(node, "use of " + fabric.fabric().link_names[heat.link] + " [%]",
                changes_of_buckets(*result.program, heat, first, last), timeline);
  }
}

} // namespace stepsim::study
