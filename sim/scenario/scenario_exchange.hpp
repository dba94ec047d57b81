#pragma once
// The exchange of gradients of a scenario, without times: the collective, the compressed data, and
// additional costs.

#include "collectives/compress/compressed_exchange.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Whether there is more than one worker, or dedicated servers.
[[nodiscard]] bool exchanges(const Scenario& scenario);
// /training/wait_s, but 0 for one worker, who waits for nobody.
[[nodiscard]] inline Seconds wait_of_step(const Scenario& scenario) {
  return exchanges(scenario) ? scenario.training.wait : Seconds{};
}
[[nodiscard]] bool is_compressed(const Scenario& scenario); // any method except `none`

// The gradients of a bucket as a compressor needs them: bytes, number of values and, for powersgd
// only, the shapes of the tensors.
[[nodiscard]] collectives::GradientPart gradient_part(const Scenario& scenario,
                                                      const buckets::Group& group);

// A part that consists of `bytes` bytes of gradients without shapes; the number of values is
// rounded up.
[[nodiscard]] collectives::GradientPart part_of_bytes(double bytes, double bytes_per_value);

// All gradients as one message, without times; items are in the order of the workload.
[[nodiscard]] buckets::Group all_gradients(const Scenario& scenario);

// Times of a codec on the compute thread of a worker for a message of `bytes` dense bytes (PIP 6);
// 0 for other methods, for a rate of 0, and if nothing is exchanged.
struct CodecTimes {
  double encode_s{}, decode_s{};
};
[[nodiscard]] CodecTimes codec_times(const Scenario& scenario, double bytes);

// The given synchronisation time per message, and the time of the two copies of the sent data
// through host memory, per byte of the dense gradient (PIP 2, 12); 0 if nothing is exchanged.
[[nodiscard]] buckets::LinearCost extra_cost(const Scenario& scenario);

// Whether the messages of the run go through the simulated network one by one. This holds for
// packets, and for flows if exchanges meet (parameter servers, several messages at once, two
// communicators, hybrid_shard, replicas of local training, several jobs) or end early (dlcp
// with early_stop and a bound above 0). Otherwise one exchange at a time is on the network, and its
// time depends only on its size.
[[nodiscard]] bool simulates_messages(const Scenario& scenario);
// Whether receivers do without a part of a message, up to a bound above 0 (dlcp).
[[nodiscard]] bool may_lose(const Scenario& scenario);

// Whether an algorithm over nodes, such as ring_rails, sends its reduce and its broadcast as chains
// of blocks.
[[nodiscard]] bool sends_chains(const Communication& communication);
// Whether blocks may follow one another over a link: the collective sends blocks, or one that
// `auto` may choose, or its algorithm of the level of that link. Without a level: over any link.
[[nodiscard]] bool may_send_blocks(const Communication& communication,
                                   collectives::AlgorithmId of_level);
[[nodiscard]] bool may_send_blocks(const Communication& communication);

// Whether elements of less than two bytes are added, which the switch of a node does not do (CLU
// 5.1): gradients of fp8 or int8, what a codec makes of others, or the reduced parts of shards.
[[nodiscard]] bool adds_bytes(const Scenario& scenario);

// The nodes of a cluster as a collective sees them: the GPUs of an NVLink domain are one node.
[[nodiscard]] collectives::TwoLevel two_levels_of(const Cluster& cluster, bool adds_type);

// The collective of the scenario without its bytes.
[[nodiscard]] collectives::Collective exchange_of(const Scenario& scenario);

// The value of the key `collective`: the name of an algorithm, "calibrated" or "library".
[[nodiscard]] std::string_view collective_word(const Communication& communication);

// The word that a scenario without the key `collective` has.
[[nodiscard]] std::string_view usual_collective(const Scenario& scenario);
// The words of the key `collective` that the scenario can have, except auto and parameter_server;
// collnet only if the scenario uses it.
[[nodiscard]] std::vector<std::string_view> collectives_of(const Scenario& scenario);

// Whether messages go through a simulated topology.
[[nodiscard]] inline bool is_simulated(const Scenario& scenario) {
  return scenario.cluster.network.model != NetworkModel::alpha_beta;
}
// The network is simulated as a star that no file describes: the latency and bandwidth of
// alpha_beta on every link.
[[nodiscard]] inline bool is_star(const Scenario& scenario) {
  return is_simulated(scenario) && scenario.cluster.topology.is_null();
}
// Whether the times of dense exchanges are measured, given, or from the library model.
[[nodiscard]] inline bool has_curve(const Scenario& scenario) {
  return scenario.cluster.network.curve.has_value();
}

// The curve that is wanted of a calibration. If several fit, a curve with elements of
// `element_bytes` comes first, then a curve with this start-up.
struct CurveWish {
  std::string_view op;
  std::string_view algorithm; // "" = any that the simulator does not have: a library's
  std::int64_t ranks{};
  double element_bytes = 4;
  links::StartUp start_up{};
};
// Returns null if no curve fits. The elements of an unknown type count as 4 bytes.
[[nodiscard]] const links::CollectiveCurve* find_curve(const links::NetworkProfile& profile,
                                                       const CurveWish& wish);
// The start-up that the messages of a step have: they follow each other as in a queue.
[[nodiscard]] links::StartUp start_up_of(const Communication& communication);
// The seconds of the curve by bytes.
[[nodiscard]] buckets::Cost cost_of(const links::CollectiveCurve& curve);
// The measured cost of a reduce_scatter or allgather of all ranks, where the collective of the
// scenario is `calibrated` and its calibration has a curve of as many ranks; else empty.
[[nodiscard]] std::optional<buckets::Cost> measured_half(const Scenario& scenario,
                                                         collectives::Op op);

// Local SGD and DiLoCo in a scenario (TRN 4.8, 4.9, 8.1): reading, writing and checking their keys,
// and the two networks of a round as separate scenarios.

// Whether the algorithm is local_sgd, diloco or easgd.
[[nodiscard]] bool trains_in_rounds(const Training& training);
// Whether the steps of a round are synchronous training inside islands.
[[nodiscard]] bool has_islands(const Training& training);
// Whether the outer exchange has one part per rank of an island, parameters / ranks of the island
// each, which the ranks with the same place in all islands exchange over the network of the
// cluster. With islands and a link of outer_network it is one exchange of all parameters between
// the islands instead.
[[nodiscard]] bool has_replicas(const Training& training);
// Whether gradients are exchanged in the buckets of a schedule.
[[nodiscard]] bool has_buckets(const Training& training);

// Reads the keys. For other algorithms the values are checked, but not used.
void parse_local(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// Writes the keys of a resolved scenario.
void add_local(const Scenario& scenario, io::Json& tree);
// Checks the requirements on the rest of the scenario, which must be known.
void check_local(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Synchronous training of one island: a cluster of one node.
[[nodiscard]] Scenario island_of(const Scenario& scenario);
// The scenario whose cluster runs the outer exchanges: `scenario` itself if it has no
// outer_network, or an exchange_s. Otherwise a copy, in which a ring replaces an algorithm that its
// cluster cannot run. If outer_network has a link, the cluster is one node of one GPU per
// participant on that link; participants are the islands, else the `ranks` of outer_network, else
// all ranks. If outer_network has only `ranks`, the cluster is so many nodes of one GPU on the
// network of `scenario`.
[[nodiscard]] Scenario outer_cluster_of(const Scenario& scenario);

// Makes the merge problem that the planner of a scenario solves: gradients with their ready times,
// and the cost of a message by its bytes. Times are in seconds.

// The items of the problem are the gradients in the order of the workload; if there are none, a
// single item of 0 bytes. Ready times count from the start of backward; without overlap_backward
// all gradients are ready at its end.
[[nodiscard]] buckets::Problem merge_problem(const Scenario& scenario);
// The two parts of merge_problem(). The items do not depend on the network.
[[nodiscard]] std::vector<buckets::Item> merge_items(const Scenario& scenario);
[[nodiscard]] buckets::Cost merge_cost(const Scenario& scenario);
// The scenario with the latency and bandwidth of its network and nothing simulated.
[[nodiscard]] Scenario on_alpha_beta(const Scenario& scenario);
// A cost whose start-up is that of the messages that `cost` times, where it can be told. `cost` is
// merge_cost(). Messages that are flows of a star have the start-up of alpha_beta, those of a
// topology that of the tangent at the mean gradient.
[[nodiscard]] buckets::Cost startup_cost(const Scenario& scenario, const buckets::Cost& cost);
// The problem with its cost replaced by /communication/plan_cost; unchanged without that key.
[[nodiscard]] buckets::Problem as_planned(const Scenario& scenario, buckets::Problem problem);

} // namespace stepsim::study
