#pragma once
// The objects of a scenario, each read by a function of its own, in the order of their dependences
// (scenario.cpp): /cluster, /communication, /training, /variability, /workload and /job.
//
// /cluster: machines, the links between and inside them, and the profiles and
// measured curves with their numbers.

#include "scenario/parse_context.hpp"
#include "scenario/rules.hpp"

namespace stepsim::study {

// Reads the object; missing values come from a calibration, else from a node type.
void parse_cluster(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// The next four read the network between nodes, also that of a file of kind collective.

// The link of the node type of `cluster`, if it has one.
void take_node_network(Cluster& cluster);
// The link of a profile that joins its ranks, else its network block (CAL 5).
[[nodiscard]] links::LinkClass network_link(const links::NetworkProfile& profile);
// Reads the key `calibration` of the object `network`: the profile, its link and, if a node has
// several GPUs and no network inside yet, that of its link class there.
void read_calibration(io::Fields& part, const ParseContext& context, Cluster& cluster);
// Reads latency_s, bandwidth_Bps, delay_s, reduction_Bps and block_latency_s; those that are not
// given stay as they are, unless latency and bandwidth are `required`.
void read_link(io::Fields& part, bool required, Cluster& cluster);

// Sets the cost curve that replaces the evaluators of collectives, from the first of these that is
// given: exchange_s, `cost`, the calibration. A curve of the calibration counts only for its number
// of ranks and, unless the collective is `calibrated`, without a latency_s, delay_s or
// bandwidth_Bps next to it. Call it when cluster and communication are known. For compressed
// gradients it removes exchange_s and, except for fp16, the curve, which were measured for dense
// ones. On a simulated network, or with the library model, it does nothing.
void resolve_curve(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// Reports a missing network. GPUs of one node need a network inside the node: given, of the node
// type, or of the calibration (its link class nvlink, pcie or host). This does not apply if a
// curve, exchange_s or a topology replaces the links. Dedicated servers need a network between
// nodes.
void require_networks(const io::Json& tree, const ParseContext& context, Scenario& scenario);

// Reads /communication of a scenario: collective, schedule and compression of the gradients.

// Reads the options of a collective: candidates, block_bytes, chunking, cost_form and others. If
// the key `chunking` is missing, options.chunking is left as it is, because its default depends on
// the caller. A file of kind collective has these keys, too.
void read_options(io::Fields& fields, collectives::Op op, collectives::Options& options);

// Reads the object. Workload, cluster and training must be known, because defaults depend on them.
void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// The resolved object, without keys that have no meaning.
[[nodiscard]] io::Json communication_tree(const Scenario& scenario);
// Reads a speed [bytes/s], a number or the word `calibrated`: then it is `measured`, a value of the
// calibration of the network, and it is a problem if that is empty. 0 without the key.
[[nodiscard]] double speed_or_calibrated(io::Fields& fields, std::string_view key,
                                         const std::optional<double>& measured,
                                         const ParseContext& context);

// Reads /cluster/intra_network of a scenario: the link inside a node, from its keys, a profile, or
// the node type.

// The link class of a profile that joins GPUs of one node: the first of nvlink, pcie and host that
// has a rate; null if there is none.
[[nodiscard]] const links::LinkClass* class_in_node(const links::NetworkProfile& profile);
// The cost of the link, with LinkClass::further_block_s().
[[nodiscard]] collectives::LinkCost cost_of(const links::LinkClass& link);

// Reads the object; nodes, GPUs and node type of `cluster` must be known. Without the object, the
// link is that of the node type if a node has several GPUs, else there is none.
void parse_intra(io::Fields& fields, const ParseContext& context, Cluster& cluster);

// Reports at `place`, /cluster, that the network inside its nodes is missing.
void add_missing_intra(const io::Json& place, const ParseContext& context, const Cluster& cluster);

// Reads and writes /training and /variability of a scenario (PIP 2, 9).

// These read /training and /variability; problems are reported.
void parse_training(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void parse_variability(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// The two resolved objects, without keys that the algorithm does not use.
[[nodiscard]] io::Json training_tree(const Scenario& scenario);
[[nodiscard]] io::Json variability_tree(const layers::Variability& variability);

// Reads /workload of a scenario: a trace, a model table with the speed of a device, or layers in
// the scenario itself.

// Reads and loads one workload: sets `workload_source` to what is written and `workload` to layers
// and gradients, with granularity and scaling applied. Problems are reported; throws InputError for
// a trace with an unknown time or size and for files that cannot be read.
void parse_workload(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// Reads /job of a scenario, the whole training, once workload and cluster are known, and says which
// of its keys go together.

void parse_job(io::Fields& fields, Scenario& scenario);
[[nodiscard]] std::span<const KeyRule> job_rules();

// Reads /workload of a scenario as a list: several training jobs on one fabric, each with its own
// `nodes`. The first job has the first nodes of the cluster, and so on.

// Reads the list. The first job becomes the workload of the scenario, the others `other_jobs`.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario);
// Checks that the jobs use all nodes and fit the collective and the network model. A workload that
// is not a list gets all nodes. Call it when all objects of the file have been read.
void check_jobs(const io::Json& tree, io::Problems& problems, Scenario& scenario);

// Reads the keys of a workload that estimate compute times for a named GPU (INP 3): gpu, dtype,
// recompute, accept_estimate and measured_step.

// Writes the keys as they are read.
void set_estimate(io::Json& workload, const layers::GpuEstimate& estimate);

// Reads a cost function T(bytes) that is part of a scenario or a merge problem (MER 4).

// {"startup_s", "per_byte_s"} or {"table": [[bytes, seconds], ...]}. The cost is only valid if no
// problem is reported. `report` receives the changes that made a table non-decreasing.
[[nodiscard]] buckets::Cost inline_cost(const io::Json& json, io::Problems& problems,
                                        buckets::TableReport* report = nullptr);

// Adds warnings about the calibration that a result is based on.

// Replaces former names of profiles by the present ones, with a warning. Adds what follows from the
// network's profile for this run: a failed grade, which becomes the
// first warning, the note of a calibrated profile, and ranks, GPUs per node and densities outside
// its fit. NetworkProfile::warnings are not among them. Adds nothing without a profile.
void add_profile_warnings(Scenario& scenario);

// Reads and writes codecs of outer gradients and gathered parameters in a scenario.

// Reads `key` of `fields`, a word or an object, for values of `value_bytes` bytes.
[[nodiscard]] ValueCodec parse_value_codec(io::Fields& fields, std::string_view key,
                                           const ParseContext& context, double value_bytes);
// The object that a resolved scenario has for the codec.
[[nodiscard]] io::Json value_codec_tree(const ValueCodec& codec);

} // namespace stepsim::study
