#pragma once
// Lists of flows as values, read from files or generated, for both levels of the model (PKT 7.1).
// The id of a flow is its position in the list; generators append.
//
//     incast       hosts 0 .. senders - 1 -> host `senders`
//     permutation  every host sends to one other and receives from one other
//     all_to_all   every ordered pair of hosts, by source, then destination
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace stepsim::net {

struct FlowSpec {
  NodeId src{}, dst{};
  double bytes{};            // whole number
  double start_s = 0;        // from the begin of the run
  std::uint8_t priority = 1; // class and queue; smaller is served first
  double weight = 1;         // flow level
  double cap_Bps = std::numeric_limits<double>::infinity(); // flow level
  std::vector<LinkId> path{}; // links from src to dst; empty = by routing
  // Spine of a leaf-spine that the flow goes over, from 0; elsewhere the position among the next
  // links, wherever there are several.
  std::optional<std::uint32_t> via{};
  // Packet level: the packets whose number mod `every` is `offset` are protected.
  struct Protect {
    std::uint32_t every = 1, offset = 0;
  };
  std::optional<Protect> protect{};
};

struct FlowPattern { // of every flow that a generator adds
  double bytes{};
  double start_s = 0;
};

// The fabric has more than `senders` hosts.
void add_incast(std::vector<FlowSpec>& flows, std::uint32_t senders, const FlowPattern& pattern);
// A seeded shuffle, drawn again until no host sends to itself; nothing for one host. Draws are
// pick(hash(seed, 7, attempt, i), i + 1) for i = hosts - 1 .. 1.
void add_permutation(std::vector<FlowSpec>& flows, std::uint32_t hosts, std::uint64_t seed,
                     const FlowPattern& pattern);
void add_all_to_all(std::vector<FlowSpec>& flows, std::uint32_t hosts, const FlowPattern& pattern);

// Adds u01(seed, 3, flow) jitter_s to every start.
void add_start_jitter(std::vector<FlowSpec>& flows, double jitter_s, std::uint64_t seed);

// Size and headers: ceil(bytes / payload) packets with one header each.
[[nodiscard]] double wire_bytes(double bytes, double payload_bytes, double header_bytes);

// What headers add to messages that flow (`count_headers`).
struct Headers {
  double payload_bytes = 0; // of a full packet; 0 = headers do not count
  double header_bytes = 0;  // of every packet
  [[nodiscard]] double wire(double bytes) const {
    return payload_bytes > 0 ? wire_bytes(bytes, payload_bytes, header_bytes) : bytes;
  }
  // The least that a byte of data takes on the wire.
  [[nodiscard]] double per_byte() const {
    return payload_bytes > 0 ? 1 + header_bytes / payload_bytes : 1;
  }
};

} // namespace stepsim::net
