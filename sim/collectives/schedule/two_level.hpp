#pragma once
// two_level (CLU 3.2, 3.3): rings inside the nodes, and rings of equal local indices between nodes
// through the cards; c = ceil(G/R) ranks always share a card.
//     allgather        across nodes, blocks of n/P; then inside every node, blocks of n/G
//     reduce_scatter   the mirror: inside first, then across
//     allreduce        reduce_scatter, then allgather
//     broadcast        the root scatters its G parts in its node, binomial trees carry each part
//                      across nodes, and rings gather them inside
//     reduce           the mirror, with binomial reduces
// Broadcast and reduce are never cut into chunks. The other operations may run in C chunks of n/C
// bytes, which follow each other through the phases: while chunk 1 is inside its nodes, chunk 0 is
// on the cards. The ports of a phase are free when its whole chunk has arrived and has been added.
//     inside   chunk 0 | chunk 1 | chunk 2
//     across             chunk 0 | chunk 1 | chunk 2

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/lower_bound.hpp"

namespace stepsim::collectives {

struct Schedule;

inline constexpr AlgorithmId kTwoLevel{131};
inline constexpr std::uint32_t kMostChunks = 1024;

// Whether the operation of this algorithm can be cut into chunks.
[[nodiscard]] bool takes_chunks(AlgorithmId algorithm, Op op);
// Returns C, the number of chunks of a message that is pipelined between levels: the given number,
// or the number with the shortest time for equal ranks and links (the smallest of several). 1 for
// algorithms and operations without chunks.
[[nodiscard]] std::uint32_t pipeline_chunks(const Collective& collective);

void two_level_phases(Schedule& schedule, const Collective& collective);
// Returns the number of equal parts into which the message is cut: C P, or G for a broadcast and a
// reduce.
[[nodiscard]] double two_level_parts(const Collective& collective);

// With N nodes of G ranks (collectives/formula/uniform.hpp), the times of a chunk inside nodes
// and across are
//     t_in = (G-1) (alpha_i + (beta_i + g) n/(C G))
//     t_out = (N-1) (alpha_e + (c beta_e + g) n/(C P)),  g = gamma if sums are made, else 0:
//     half        t_in + t_out + (C - 1) max(t_in, t_out)    allgather, reduce_scatter
//     allreduce   the time of the reduce_scatter + the time of the allgather
// Derived: a flow shop of two stages with equal jobs. All phases of one kind run before those of
// the next, so the two halves of an all-reduce do not overlap. Empty if links have delays, if sizes
// differ, or if sizes are exchanged first.
[[nodiscard]] std::optional<ClosedForm> two_level_rings(const Collective& collective);
// (G-1)(alpha_i + beta_i n/G) for the scatter and again for the rings, and between them ceil(log2
// N) times alpha_e + c beta_e n/G; a reduce adds n/G gamma in every step of its rings and trees. An
// upper bound for overlapped additions if the number of nodes is not a power of two (COL 3). Empty
// if links have delays.
[[nodiscard]] std::optional<ClosedForm> two_level_rooted(const Collective& collective);

// The schedules of the two-level algorithms (COL 5.9), built from flat ones. Equal nodes of G ranks
// have ranks k G .. k G + G-1 in node k. Only hierarchical_leader allows nodes of different sizes.
//     hierarchical          ring reduce-scatter in every node, an all-reduce of the shards of one
//                           local index between nodes, ring all-gather in every node
//     hierarchical_leader   reduce to the first rank of every node, all-reduce between these ranks,
//                           broadcast from them
// options.inter_algorithm is the all-reduce between nodes, options.intra_algorithm the reduce and
// broadcast in a node.
//
// Appends the phases of hierarchical or hierarchical_leader, which the collective names. Throws
// SimulationError for an operation other than allreduce, and for hierarchical with unequal nodes.
void add_two_level_phases(Schedule& schedule, const Collective& collective);

// Reduction inside switches (CLU 5):
//   nvls        in the switch of one node
//   nvls_tree   in the switch of every node, and along a double tree across nodes
//   collnet     (SHARP) in the switches of the network, with rings inside the nodes
// A schedule could not list these transfers: a switch works for all ranks at once, begins when the
// last rank has entered, and all ranks have the result at the same time. Therefore max_plus and
// events return the formula of the algorithm after the last entry, and so does closed_form if ranks
// and links are alike (uniform_cost).
//
// Symbols: G GPUs per node, N nodes, n bytes; lambda and 1/r are startup_s and per_byte_s of
// NvlsCost, alpha_e is the latency between nodes.

// Ends the error message "has no meaning for ..." about an intra_algorithm that is not nvls.
inline constexpr std::string_view kCollnetInside =
    "collnet, which sums in rings inside nodes unless it is nvls";

inline constexpr AlgorithmId kNvls{132};
inline constexpr AlgorithmId kNvlsTree{133};
inline constexpr AlgorithmId kCollnet{134};

// Returns what the cluster lacks for the algorithm, as a sentence; empty if the algorithm can run.
[[nodiscard]] std::optional<std::string> in_switch_problem(const Collective& collective);

// lambda + n (1 + 1/G)/r for an all-reduce, lambda + n (G-1)/G / r for a reduce_scatter or
// allgather (CLU 5.1, 6.2).
[[nodiscard]] std::optional<ClosedForm> nvls_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> nvls_half(const Collective& collective);
// lambda + 2 floor(log2 N) alpha_e + n / rate, with the rate of nccl/pair_parts.hpp (CLU 5.2).
[[nodiscard]] std::optional<ClosedForm> nvls_tree_allreduce(const Collective& collective);
// A ring in the nodes, the sum in the network and a ring in the nodes again, in chunks that follow
// each other; or NVLS in place of the rings (CLU 5.3).
[[nodiscard]] std::optional<ClosedForm> collnet_allreduce(const Collective& collective);
// Returns the seconds of collnet with `chunks` chunks (nccl/pair_parts.hpp).
[[nodiscard]] double collnet_seconds(const Collective& collective, std::uint32_t chunks);

// Evaluates the collective as if all ranks entered with the last one, and fills transfer times if
// requested. Like the forms above, it throws SimulationError if NVLS is needed but the node's
// switch does not add.
[[nodiscard]] Evaluation in_switch_evaluation(const Collective& collective,
                                              bool with_transfer_times);
// Returns what ranks send to switches and to each other.
[[nodiscard]] Traffic in_switch_traffic(const Collective& collective);
// Returns the in-network bound of CLU 4. Its bandwidth_s is the larger of two times: of n bytes (of
// (P-1)/P n for a reduce_scatter or allgather) at the sum of a GPU's rate in its node and its share
// of the node's cards, and of n bytes at the rate of all cards of a node. Throws like the forms
// above.
[[nodiscard]] LowerBound in_switch_bound(const Collective& collective);

} // namespace stepsim::collectives
