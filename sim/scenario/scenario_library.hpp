#pragma once
// The node type and the library of a scenario (CLU 10): the values they give, the default
// collective, and the cost of a message by the library model.

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads /communication/library before the cluster, because it may give the node type.
void parse_library(const io::Json& tree, const ParseContext& context, Scenario& scenario);

// The question to the model for an all-reduce among all ranks of the cluster, which must have a
// node type; bytes and type of the elements are left open. Rates beside the node type are those of
// the cluster.
[[nodiscard]] nccl::LibraryQuestion question_of(const Cluster& cluster,
                                                const LibrarySettings& settings);

// The pointer of a key in the scenario, "/cluster/network/latency_s", wherever the scenario stands:
// that of a result or of a request is a part of a larger file. `object` is a part of /cluster, or
// of a collective, which has the keys of a cluster at its root.
[[nodiscard]] std::string cluster_pointer(const io::Json& object, std::string_view key);

// Records that `key` of `fields` replaces a value of the node type, if it is present and differs.
void note_override(io::Fields& fields, std::string_view key, double value, double of_node,
                   Cluster& cluster);

// Does the same for latency_s and bandwidth_Bps of the network; `cluster.network` must have been
// read before.
void note_network(io::Fields& network, Cluster& cluster);
// Does the same for a calibration, which replaces several values.
void note_profile(const io::Fields& fields, const std::string& name, Cluster& cluster);

// The collective of a scenario that names none: `library` with a node type, `auto` with several
// GPUs per node, else `ring`. It is `ring`, too, where something else times the exchanges or a ring
// of this many ranks was measured. `compressed`: whether gradients are compressed.
[[nodiscard]] std::string_view default_collective(const Scenario& scenario, bool compressed,
                                                  bool reduce_broadcast);

// Sets the cost of messages from the model, for the collective `library`; reports a problem if the
// model cannot answer. Sets nothing for a single rank and with exchange_s. With compressed
// gradients it reports a problem or, where leftovers are ignored, drops the model.
void resolve_library(const io::Json& tree, const ParseContext& context, Scenario& scenario);

// Sets the cost of messages anew, after the rates of communication.question have changed.
void renew_library_cost(Scenario& scenario);

// The scenario with the exchanges that the library model gives for another question, while planners
// use those of its own. The scenario must take its exchange times from the model:
// communication.question must be set.
[[nodiscard]] Scenario with_question(const Scenario& scenario,
                                     const nccl::LibraryQuestion& question);

// The algorithm and protocol that the library chooses for a message of `bytes`, "ring/ll128".
[[nodiscard]] std::string library_pair(const nccl::LibraryQuestion& question, double bytes);

// Warnings of the model about its predictions for messages of these bytes, each once.
[[nodiscard]] std::vector<std::string> library_warnings(const nccl::LibraryQuestion& question,
                                                        const std::vector<double>& bytes);

// A line that touches the cost at `bytes`, for planners that need a start-up and a time per byte.
// It is the tangent, unless the start-up of the tangent is negative (the line then has no start-up)
// or the cost falls with the size (the line then has no time per byte).
[[nodiscard]] buckets::LinearCost tangent(const buckets::Cost& cost, double bytes);

// The mean bytes of the gradients that have any, at which a planner takes the tangent; 1 if no
// gradient has bytes.
[[nodiscard]] double mean_message(const Scenario& scenario);

// The keys of /communication/library of a resolved scenario; null if there are none.
[[nodiscard]] io::Json library_tree(const Communication& communication);

// Reads the settings of a collective library in a scenario or a collective: restrictions,
// calibration, and the node type that determines rates and choices.

// Reads the object `library`, or its short form, the name of a library. Problems are reported.
[[nodiscard]] LibrarySettings read_library(const io::Json& json, const ParseContext& context);

// The node type that the key `preset` names or, if `preset` is null because the key is absent, the
// node type of the calibration. Empty if there is neither, and after a problem.
[[nodiscard]] std::optional<NodeSource>
node_source(const io::Json* preset, const LibrarySettings& settings, const ParseContext& context);

// The reason why the model cannot answer: the first problem of shape, node type and restrictions.
// Empty if it can.
[[nodiscard]] std::optional<std::string> library_problem(const nccl::LibraryQuestion& question);

} // namespace stepsim::study
