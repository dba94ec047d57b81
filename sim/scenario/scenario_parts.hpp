#pragma once
// The parts of parse_scenario, one function per top-level object of the file. Internal to study.
#include <string>
#include <string_view>

#include "plan/planner_options.hpp"
#include "plan/planners.hpp"
#include "scenario/scenario.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// What every part needs: the place to report problems, the files, and how to treat keys without a
// meaning.
struct ParseContext {
  io::Problems& problems;
  Files& files;
  Leftovers leftovers;

  // Reports `key` of `fields` if it is present, has no meaning here and leftovers are refused:
  // "cycle_s has no meaning for schedule ddp".
  void needs_meaning(io::Fields& fields, std::string_view key, bool meaningful,
                     std::string_view where) const;
};

void parse_workload(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// `workload`, one or a list of them with `nodes` each.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario);
// After the cluster is known.
void check_jobs(const io::Json& tree, io::Problems& problems, Scenario& scenario);
void parse_cluster(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void parse_training(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void parse_variability(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// The same parts back as trees, resolved.
[[nodiscard]] io::Json training_tree(const Scenario& scenario);
[[nodiscard]] io::Json variability_tree(const train::Variability& variability);

// {"startup_s", "per_byte_s"} or {"table": [[bytes, seconds], ...]} (MER 4), as in problem files.
// Problems are reported; the cost is then free. `report`: what made a table monotone.
[[nodiscard]] plan::Cost inline_cost(const io::Json& json, io::Problems& problems,
                                     plan::TableReport* report = nullptr);

// The option keys of a schedule (MER 5, 6), beside `schedule` or in a problem's `planners`.
// `bytes_of_element`: presets count parameters.
[[nodiscard]] plan::ScheduleOptions parse_schedule_options(io::Fields& fields,
                                                           const ParseContext& context,
                                                           const plan::Planner& planner,
                                                           std::int64_t bytes_of_element = 4);
// What a scenario without `schedule` has: the measured buckets of its trace, else ddp; single where
// training is not synchronous.
[[nodiscard]] plan::Schedule default_schedule(const Scenario& scenario);
// The buckets of every job's trace hold all its gradients: schedule trace can send them.
[[nodiscard]] bool has_measured_buckets(const Scenario& scenario);
// `schedule` with its keys; after workload and training are known.
void parse_schedule(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// What the rest of the scenario must be for its schedule (MER 12); after everything else is known.
void check_schedule(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// What the rest of the scenario says of a compressed gradient; empty = not known or not asked.
struct CompressionUse {
  std::optional<std::int64_t> gradient_bytes{}; // of all gradients
  // In training: values of all gradients, and the mean bytes of one, by their types. Empty: as many
  // values of `value_bytes` as the bytes hold (a break-even problem has no types).
  std::optional<std::int64_t> elements{};
  double bytes_per_value = 4;
  std::optional<std::int64_t> ranks{};
  std::int64_t gpus_per_node = 1;
  plan::Schedule schedule = plan::Schedule::single; // `k` needs it
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
};

// `/communication/compression`, a word or an object (SPA 1, 11, 14; PIP 6, 16). Its `costs`
// override `defaults` (a profile's for this method) one by one. Keys without a meaning for the
// method are leftovers. Beside an explicit `none` the other keys wait for another method, so that
// `--over .../method=none,topk` works, but their values must be valid; without a method they are
// errors. Warnings of free compression and the like are added.
[[nodiscard]] coll::Compression parse_compression(const io::Json& json, const ParseContext& context,
                                                  const coll::CompressCosts& defaults,
                                                  const CompressionUse& use,
                                                  std::vector<std::string>& warnings);
// The method alone, `none` where it is unknown: to look up its default costs.
[[nodiscard]] coll::CompressionMethod compression_method(const io::Json& json);
// Keys of `communication` for speedup_vs_dense_overlapped: `baseline`, or its default.
[[nodiscard]] io::Json compression_baseline(const io::Json& json);
// Resolved, with the keys that have a meaning for the method, less `baseline`.
[[nodiscard]] io::Json compression_tree(const coll::Compression& compression);

// After everything else is known: the topology with its routes, the place of every rank and server,
// the packet block, and what does not go together with a simulated network.
void resolve_fabric(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// Keys of the cluster and its network that say so, resolved; nothing for alpha_beta.
void add_fabric_keys(const Cluster& cluster, io::Json& cluster_tree, io::Json& network_tree);

// After cluster and communication are known: the measured curve that stands for the evaluators.
void resolve_curve(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// GPUs of one node need a network inside it: given, or of the calibration (its link class nvlink,
// pcie or host). Nothing is needed where a curve, exchange_s or a topology stands for the links.
void require_networks(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// How much messages slow each other: the authors' 0.5 was fitted to measured all-reduces, which
// leave a link idle. Where times follow from latency and bandwidth alone two at once share the
// link, 1, unless the scenario says otherwise; less than that is beyond the link, with a warning.
void resolve_contention(const io::Json& tree, Scenario& scenario);
// What the profile says of itself, and of ranks and densities that it was not fitted to.
void add_profile_warnings(Scenario& scenario);

} // namespace stepsim::study
