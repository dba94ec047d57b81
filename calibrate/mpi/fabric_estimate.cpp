// Evidence that two ranks are on different switches is a slowed message; that a message was not
// slowed shows nothing, since an uplink carries a few at full rate. So switches are colours: ranks
// that were slowed against each other have different ones.
#include "calibrate/mpi/fabric_estimate.hpp"

#include <algorithm>
#include <cassert>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "document/fields/members.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::calibrate::mpi {

namespace {

// Messages of shift s by receiver, with how much longer they take than alone.
class Shifts {
public:
  explicit Shifts(const SharedTimes& times) : times_(times) {
    std::vector<double> ratios;
    for (std::uint32_t shift = 1; shift < times.ranks; ++shift) {
      for (std::uint32_t dst = 0; dst < times.ranks; ++dst) {
        ratios.push_back(ratio(shift, dst));
      }
    }
    // A quarter of all messages at most is taken to be free of others: with two switches half of
    // them cross.
    std::ranges::sort(ratios);
    usual_ = std::max(1.0, ratios[ratios.size() / 4]);
  }

  [[nodiscard]] std::uint32_t source(std::uint32_t shift, std::uint32_t dst) const {
    return (dst + times_.ranks - shift) % times_.ranks;
  }
  [[nodiscard]] double seconds(std::uint32_t shift, std::uint32_t dst) const {
    return times_.shifted_s[std::size_t{shift - 1} * times_.ranks + dst];
  }
  [[nodiscard]] bool slowed(std::uint32_t shift, std::uint32_t dst) const {
    return ratio(shift, dst) > kShared * usual_;
  }
  [[nodiscard]] bool slowed_between(std::uint32_t a, std::uint32_t b) const {
    return slowed((b + times_.ranks - a) % times_.ranks, b) ||
           slowed((a + times_.ranks - b) % times_.ranks, a);
  }

private:
  [[nodiscard]] double ratio(std::uint32_t shift, std::uint32_t dst) const {
    return seconds(shift, dst) /
           times_.alone_s[std::size_t{source(shift, dst)} * times_.ranks + dst];
  }

  const SharedTimes& times_;
  double usual_ = 1;
};

std::vector<double> access_rates(const SharedTimes& times) {
  std::vector<double> rates(times.ranks, 0);
  for (std::uint32_t src = 0; src < times.ranks; ++src) {
    for (std::uint32_t dst = 0; dst < times.ranks; ++dst) {
      const double seconds = times.alone_s[std::size_t{src} * times.ranks + dst];
      if (src == dst) {
        continue;
      }
      if (!(seconds > 0)) {
        throw SimulationError("ranks " + std::to_string(src) + " and " + std::to_string(dst) +
                              ": time does not grow with size from 4 B to 256 KiB; measure "
                              "longer, or without other load");
      }
      for (const std::uint32_t rank : {src, dst}) {
        rates[rank] = std::max(rates[rank], times.bytes / seconds);
      }
    }
  }
  return rates;
}

std::vector<std::uint32_t> switches_of(const Shifts& shifts, std::uint32_t ranks) {
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<std::uint32_t> switches(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto free_of_it = [&](const std::vector<std::uint32_t>& all) {
      return std::ranges::none_of(
          all, [&](std::uint32_t other) { return shifts.slowed_between(other, rank); });
    };
    const auto found = std::ranges::find_if(members, free_of_it);
    switches[rank] = static_cast<std::uint32_t>(found - members.begin());
    (found == members.end() ? members.emplace_back() : *found).push_back(rank);
  }
  return switches;
}

// The rate of an uplink is seen in a shift where messages wait for it: all that cross it, over the
// time of the median one.
std::vector<double> uplink_rates(const SharedTimes& times, const Shifts& shifts,
                                 const FabricEstimate& fabric) {
  const std::uint32_t count = 1 + *std::ranges::max_element(fabric.switches);
  if (count == 1) {
    return {};
  }
  std::vector<double> rates(count, 0);
  for (std::uint32_t shift = 1; shift < times.ranks; ++shift) {
    for (std::uint32_t which = 0; which < count; ++which) {
      for (const bool out : {true, false}) {
        std::vector<double> crossing;
        bool waited = false;
        for (std::uint32_t dst = 0; dst < times.ranks; ++dst) {
          const std::uint32_t from = fabric.switches[shifts.source(shift, dst)];
          const std::uint32_t to = fabric.switches[dst];
          if (from != to && (out ? from : to) == which) {
            crossing.push_back(shifts.seconds(shift, dst));
            waited = waited || shifts.slowed(shift, dst);
          }
        }
        if (waited) {
          const double carried = times.bytes * static_cast<double>(crossing.size());
          rates[which] = std::max(rates[which], carried / base::median(crossing));
        }
      }
    }
  }
  for (std::uint32_t which = 0; which < count; ++which) {
    if (rates[which] == 0) { // nothing ever waited for it
      for (std::uint32_t rank = 0; rank < times.ranks; ++rank) {
        rates[which] += fabric.switches[rank] == which ? fabric.access_Bps[rank] : 0;
      }
    }
  }
  return rates;
}

// In a shift by 1 every message has its sender's and its receiver's link to itself, and an uplink
// with the others that cross it in its direction.
double host_factor(const SharedTimes& times, const Shifts& shifts, const FabricEstimate& fabric) {
  std::vector<double> factors;
  std::vector<std::uint32_t> out(fabric.uplink_Bps.size(), 0), in = out;
  const auto crosses = [&](std::uint32_t dst) {
    return fabric.switches[shifts.source(1, dst)] != fabric.switches[dst];
  };
  for (std::uint32_t dst = 0; dst < times.ranks; ++dst) {
    if (crosses(dst)) {
      ++out[fabric.switches[shifts.source(1, dst)]];
      ++in[fabric.switches[dst]];
    }
  }
  for (std::uint32_t dst = 0; dst < times.ranks; ++dst) {
    const std::uint32_t src = shifts.source(1, dst);
    double rate = std::min(fabric.access_Bps[src], fabric.access_Bps[dst]);
    if (crosses(dst)) {
      const std::uint32_t from = fabric.switches[src], to = fabric.switches[dst];
      rate = std::min({rate, fabric.uplink_Bps[from] / out[from], fabric.uplink_Bps[to] / in[to]});
    }
    factors.push_back(shifts.seconds(1, dst) * rate / times.bytes);
  }
  return base::median(factors);
}

} // namespace

FabricEstimate estimate_fabric(const SharedTimes& times) {
  assert(times.ranks >= 2 && times.alone_s.size() == std::size_t{times.ranks} * times.ranks &&
         times.shifted_s.size() == std::size_t{times.ranks} * (times.ranks - 1));
  FabricEstimate fabric;
  fabric.access_Bps = access_rates(times);
  const Shifts shifts(times);
  fabric.switches = switches_of(shifts, times.ranks);
  fabric.uplink_Bps = uplink_rates(times, shifts, fabric);
  fabric.host_factor = host_factor(times, shifts, fabric);
  return fabric;
}

io::Json topology_tree(const FabricEstimate& fabric) {
  using Link = links::TopologyLink;
  io::Array hosts, switches, links;
  const auto link = [&](std::string a, std::string b, double rate) {
    links.push_back(io::tree_of<&Link::a, &Link::b, &Link::latency_s, &Link::bandwidth_Bps>(
        {{}, std::move(a), std::move(b), 0, rate, {}}));
  };
  for (std::size_t rank = 0; rank < fabric.access_Bps.size(); ++rank) {
    const std::string name = "r" + std::to_string(rank);
    hosts.push_back(io::Object{{"id", name}});
    link(name, "sw" + std::to_string(fabric.switches[rank]), fabric.access_Bps[rank]);
  }
  const std::uint32_t count = 1 + *std::ranges::max_element(fabric.switches);
  for (std::uint32_t which = 0; which < count; ++which) {
    const std::string name = "sw" + std::to_string(which);
    switches.push_back(io::Object{{"id", name}});
    if (count > 1) {
      link(name, "core", fabric.uplink_Bps[which]);
    }
  }
  if (count > 1) {
    switches.push_back(io::Object{{"id", "core"}});
  }
  return io::Object{{"schema_version", 1},
                    {"kind", "topology"},
                    {"hosts", std::move(hosts)},
                    {"switches", std::move(switches)},
                    {"links", std::move(links)}};
}

} // namespace stepsim::calibrate::mpi
