#include "links/flow/flow_list.hpp"

#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/counter_hash.hpp"

namespace stepsim::links {
namespace {

constexpr std::uint64_t kJitterStream = 3;
constexpr std::uint64_t kPermutationStream = 7;

FlowSpec flow(NodeId src, NodeId dst, const FlowPattern& pattern) {
  return {.src = src, .dst = dst, .bytes = pattern.bytes, .start_s = pattern.start_s};
}

bool any_at_its_place(const std::vector<NodeId>& order) {
  for (NodeId host = 0; host < order.size(); ++host) {
    if (order[host] == host) {
      return true;
    }
  }
  return false;
}

} // namespace

void add_incast(std::vector<FlowSpec>& flows, std::uint32_t senders, const FlowPattern& pattern) {
  for (NodeId host = 0; host < senders; ++host) {
    flows.push_back(flow(host, senders, pattern));
  }
}

// A random order without a host at its own place: shuffles are drawn until one has none, which
// takes e = 2.7 of them on average.
void add_permutation(std::vector<FlowSpec>& flows, std::uint32_t hosts, std::uint64_t seed,
                     const FlowPattern& pattern) {
  if (hosts < 2) {
    return;
  }
  std::vector<NodeId> order(hosts);
  std::uint64_t attempt = 0;
  do {
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t i = hosts - 1; i > 0; --i) {
      const std::uint64_t draw = base::hash(seed, kPermutationStream, attempt, i);
      std::swap(order[i], order[base::pick(draw, i + 1)]);
    }
    ++attempt;
  } while (any_at_its_place(order));
  for (NodeId host = 0; host < hosts; ++host) {
    flows.push_back(flow(host, order[host], pattern));
  }
}

void add_all_to_all(std::vector<FlowSpec>& flows, std::uint32_t hosts, const FlowPattern& pattern) {
  for (NodeId src = 0; src < hosts; ++src) {
    for (NodeId dst = 0; dst < hosts; ++dst) {
      if (src != dst) {
        flows.push_back(flow(src, dst, pattern));
      }
    }
  }
}

void add_start_jitter(std::vector<FlowSpec>& flows, double jitter_s, std::uint64_t seed) {
  for (std::size_t id = 0; id < flows.size(); ++id) {
    flows[id].start_s += base::u01(seed, kJitterStream, id) * jitter_s;
  }
}

double wire_bytes(double bytes, double payload_bytes, double header_bytes) {
  assert(payload_bytes > 0);
  return bytes + std::ceil(bytes / payload_bytes) * header_bytes;
}

} // namespace stepsim::links
