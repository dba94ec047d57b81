#pragma once
// Reduction inside switches (CLU 5): nvls, in the switch of one node; nvls_tree, there and by a
// double tree across nodes; collnet (SHARP), in the switches of the network, with rings inside the
// nodes. Ranks send no messages to each other that a schedule could list: a switch works for all
// ranks at once, begins when the last of them has entered, and all have the result at the same
// time. So max_plus and events give the formula of the algorithm after the last entry; closed_form
// does where ranks and links count as alike (uniform_cost).
//
// G GPUs a node, N nodes, n bytes; lambda and 1/r of NvlsCost, alpha_e latency between nodes.
#include <optional>
#include <string>

#include "coll/evaluate/evaluation.hpp"
#include "coll/evaluate/traffic.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/lower_bound.hpp"

namespace stepsim::coll {

// What collnet does with an intra_algorithm, in words.
inline constexpr std::string_view kCollnetInside =
    "collnet, which sums in rings inside nodes unless it is nvls";

inline constexpr AlgorithmId kNvls{132};
inline constexpr AlgorithmId kNvlsTree{133};
inline constexpr AlgorithmId kCollnet{134};

// What the cluster lacks for the algorithm, as a sentence; empty where it runs.
[[nodiscard]] std::optional<std::string> in_switch_problem(const Collective& collective);

// lambda + n (1 + 1/G)/r of an all-reduce, lambda + n (G-1)/G / r of one half (CLU 5.1, 6.2).
[[nodiscard]] std::optional<ClosedForm> nvls_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> nvls_half(const Collective& collective);
// lambda + 2 floor(log2 N) alpha_e + n / rate, the rate of library/in_network.hpp (CLU 5.2).
[[nodiscard]] std::optional<ClosedForm> nvls_tree_allreduce(const Collective& collective);
// Ring, sum in the network, ring, in chunks; or NVLS in the place of the rings (CLU 5.3).
[[nodiscard]] std::optional<ClosedForm> collnet_allreduce(const Collective& collective);
// Seconds of collnet in so many chunks (library/in_network.hpp).
[[nodiscard]] double collnet_seconds(const Collective& collective, std::uint32_t chunks);

// One operation from the last entry on, with transfer times if asked. This and the forms above
// throw SimulationError where NVLS is needed and the node's switch does not add.
[[nodiscard]] Evaluation in_switch_evaluation(const Collective& collective,
                                              bool with_transfer_times);
// What ranks send to switches and to each other.
[[nodiscard]] Traffic in_switch_traffic(const Collective& collective);
// In-network row of CLU 4: n over the rate that a GPU reaches, and over the cards of a node.
[[nodiscard]] LowerBound in_switch_bound(const Collective& collective);

} // namespace stepsim::coll
