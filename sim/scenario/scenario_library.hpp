#pragma once
// Node type and library of a scenario (CLU 10): what they fill in, which collective is the default,
// and the cost of a message by the model of the library.
#include <string>
#include <string_view>
#include <vector>

#include "plan/cost.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads /communication/library, which says where the node type comes from, before the cluster.
void parse_library(const io::Json& tree, const ParseContext& context, Scenario& scenario);

// Notes that `key` of `fields` replaces a value of the node type, if it is there and differs.
void note_override(io::Fields& fields, std::string_view key, double value, double of_node,
                   Cluster& cluster);

// The same for latency and rate of the network. `cluster.network` must have been read before.
void note_network(io::Fields& network, Cluster& cluster);
// The same for a calibration, which stands for several values.
void note_profile(const io::Fields& fields, const std::string& name, Cluster& cluster);

// The collective of a scenario that names none. `compressed`: gradients are.
[[nodiscard]] std::string_view default_collective(const Scenario& scenario, bool compressed,
                                                  bool reduce_broadcast);

// The cost of messages by the model, for collective `library`; problems where it has no answer.
void resolve_library(const io::Json& tree, const ParseContext& context, Scenario& scenario);

// The scenario with every exchange so many deviations above the library's prediction (see
// LibraryQuestion), while planners see the prediction. Only where the model gives the times.
[[nodiscard]] Scenario with_deviations(const Scenario& scenario, double deviations);

// Algorithm and protocol that the library takes for so many bytes, "ring/ll128".
[[nodiscard]] std::string library_pair(const library::LibraryQuestion& question, double bytes);

// What the model says against itself for messages of these bytes, each sentence once.
[[nodiscard]] std::vector<std::string> library_warnings(const library::LibraryQuestion& question,
                                                        const std::vector<double>& bytes);

// A line through the cost at `bytes`, for planners that need start-up and data apart: its tangent,
// or the line through 0 where that would start below 0.
[[nodiscard]] plan::LinearCost tangent(const plan::Cost& cost, double bytes);

// Mean size of the gradients that send anything, at which a planner takes the tangent; 1 without.
[[nodiscard]] double mean_message(const Scenario& scenario);

// The keys of /communication/library of a resolved scenario; null where there is nothing to say.
[[nodiscard]] io::Json library_tree(const Communication& communication);

} // namespace stepsim::study
