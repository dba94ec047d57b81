#pragma once
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
#include <optional>
#include <string>

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/traffic.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"

namespace stepsim::collectives {

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
// lambda + 2 floor(log2 N) alpha_e + n / rate, with the rate of nccl/in_network.hpp (CLU 5.2).
[[nodiscard]] std::optional<ClosedForm> nvls_tree_allreduce(const Collective& collective);
// A ring in the nodes, the sum in the network and a ring in the nodes again, in chunks that follow
// each other; or NVLS in place of the rings (CLU 5.3).
[[nodiscard]] std::optional<ClosedForm> collnet_allreduce(const Collective& collective);
// Returns the seconds of collnet with `chunks` chunks (nccl/in_network.hpp).
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
