#pragma once
// ring_rails (CLU 3.1, 3.5): K rings over all ranks, one per network card of a node, each with n/K
// bytes; K = 1 on a single node. Ring k visits the nodes in order. In every node it starts at local
// index k G/K and goes upwards modulo G; it leaves and enters every node by card k. Example with
// two nodes of four GPUs and two cards:
//     ring 0   0 1 2 3   4 5 6 7
//     ring 1   2 3 0 1   6 7 4 5
// The K rings share the ports inside a node and the adder of a GPU for good, so that each has ports
// of its own at 1/K of the rate. The cards divide the GPUs of a node, whose number is the same in
// all nodes.
#include <optional>

#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

struct Schedule;

inline constexpr AlgorithmId kRingRails{130};

// Appends the phases of an operation; broadcast and reduce are K pipelined chains (linear pipeline,
// COL 5.6) over the ranks of each ring, from or to the root.
void ring_rails_phases(Schedule& schedule, const Collective& collective);
// Equal parts that all K rings together cut the message into: K P, or K of a chain.
[[nodiscard]] double ring_rails_parts(const Collective& collective);
// Blocks of the largest of the K chains; empty for other operations. The optimum is that of the
// chain's own form, sum of hops + (m - 1) slowest hop (COL 5.6, unequal hops), for free additions.
[[nodiscard]] std::optional<Blocks> ring_rails_blocks(const Collective& collective);

// S max(h_e, h_i) with S = P-1 steps, twice as many for an allreduce; h_e = alpha_e + x beta_e on
// the card, h_i = alpha_i + K x beta_i inside a node, x = n/(K P); a level that does not exist is
// left out. Empty where additions take time, with delays, for sizes that differ and where sizes are
// exchanged first: max_plus gives those.
[[nodiscard]] std::optional<ClosedForm> ring_rails_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_rails_half(const Collective& collective);
// Every hop of the chain with most crossings once, then the slowest hop for each further block; an
// upper bound where the last block is shorter. Empty where additions take time, with delays, and
// where further blocks have a latency of their own.
[[nodiscard]] std::optional<ClosedForm> ring_rails_chains(const Collective& collective);

} // namespace stepsim::coll
