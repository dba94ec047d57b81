#pragma once
// Reads /communication/compression of a scenario, which break-even problems have, too (SPA 1, 11,
// 14; PIP 6, 16).

#include "scenario/parse_context.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// The values from the rest of the scenario that the compression depends on; an empty value is not
// known.
struct CompressionUse {
  std::optional<std::int64_t> gradient_bytes{}; // sum over all gradients
  // In training: number of values of all gradients, and mean bytes of a value, by their dtypes. If
  // empty, there are as many values of `value_bytes` as fit into the bytes, because a break-even
  // problem has no dtypes.
  std::optional<std::int64_t> elements{};
  double bytes_per_value = 4;
  std::optional<std::int64_t> ranks{};
  std::int64_t gpus_per_node = 1;
  // `k` is a number of entries per message, so that it is only defined for `single`.
  buckets::Schedule schedule = buckets::Schedule::single;
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
};

// Reads a word or an object. Its `costs` override `defaults` (from a profile, for this method) key
// by key. A key that the method does not use is an error in a file, and ignored in a point that
// `--over` made. Two cases differ: next to an explicit `none` every key with a valid value is
// allowed, so that `--over .../method=none,topk` works; without the key `method`, all other keys
// are errors. Appends warnings, for example for compression without costs.
[[nodiscard]] collectives::Compression parse_compression(const io::Json& json,
                                                         const ParseContext& context,
                                                         const collectives::CompressCosts& defaults,
                                                         const CompressionUse& use,
                                                         std::vector<std::string>& warnings);
// Reads the keys for the data of a compressed exchange, whatever the method: density, bits,
// allgather and others. A file of kind collective has them, too.
void read_exchange(io::Fields& fields, collectives::Compression& out);
// Only the method, to look up its default costs; `none` if it is unknown.
[[nodiscard]] collectives::CompressionMethod compression_method(const io::Json& json);

// Writes /communication/compression as a tree, and the dense run that a compressed run is compared
// with.

// The keys of /communication of the dense run that speedup_vs_dense_overlapped compares with.
// `json` is the value of /communication/compression. They are its key `baseline`, or without that
// key the schedule ddp with buckets of 25 MiB.
[[nodiscard]] io::Json compression_baseline(const io::Json& json);
// The resolved value of /communication/compression: the keys that the method uses, without
// `baseline`.
[[nodiscard]] io::Json compression_tree(const collectives::Compression& compression);

// Reads the keys of a custom compressor, which a scenario describes by formulas
// (collectives/compress/custom_compressor.hpp).

// The value of `key`, which may be a number >= 0, a quantity such as "5us" or "1MB", or a formula
// in the variables n, P and density (collectives::kCustomVariables); 0 if the key is left out.
// Anything else adds a problem.
[[nodiscard]] base::Formula read_formula(io::Fields& fields, std::string_view key);

// Adds a problem if
//   - bytes_per_worker is missing
//   - a formula uses the density and none is given, or a density is given and no formula uses it
//   - the value of a formula for the whole gradient is negative or not finite; this is checked only
//     if `elements` (of the whole gradient) and `ranks` are known
void check_custom(io::Fields& fields, const collectives::Compression& compression,
                  std::optional<std::int64_t> elements, std::optional<std::int64_t> ranks);

// The compression costs in `compression_costs` of a profile (SPA 9):
//
//   {"any": {"select_s_per_element": 6.1e-9}, "topk": {"scatter_s_per_entry": 1.63e-6}}
//
// `any` applies to every method of kind sparse or encoded (CompressionKind). A method has the keys
// of `any` and its own keys; if both have a key, the value of the method counts. The key `costs` of
// a scenario's compression overrides the result in the same way, key by key.

// The costs of a method; a cost that the profile does not give is 0. `any` does not apply to dense
// methods and codecs.
[[nodiscard]] collectives::CompressCosts costs_of(const links::NetworkProfile& profile,
                                                  collectives::CompressionMethod method);

// The assumed costs of powersgd where nothing gives any and the GPU is known: of the nodes, unless
// layers were estimated or timed for another. The work of low_rank_work() on all gradients, per
// value of them, each part the longer of its FLOP at the speed of the best products (half of it for
// values of more than 2 bytes) and of its bytes at 80 % of the memory bandwidth; starts of kernels
// are not counted. Nothing for an unknown GPU, for unknown shapes and for a `rank` below 1.
[[nodiscard]] collectives::CompressCosts low_rank_costs(const Scenario& scenario,
                                                        std::int64_t rank);
// Whether the compression of the scenario has these costs.
[[nodiscard]] bool assumes_low_rank_costs(const Scenario& scenario);

// The cost of a compressed exchange on the channel, for planners and for runs.

// Seconds that a compressed exchange occupies the channel, with copies and synchronisation.
struct ChannelTimes {
  double staging_s{}, wire_s{}, merge_s{}, scatter_s{};
  [[nodiscard]] double exchange_s() const { return staging_s + wire_s + merge_s + scatter_s; }
};
// The times of an exchange that takes `wire_s` on the wire, for `dense_bytes` of gradients.
[[nodiscard]] ChannelTimes channel_times(const Scenario& scenario,
                                         const collectives::CompressedExchange& exchange,
                                         double wire_s, double dense_bytes);

// Wire seconds of the messages of `exchange` by the measured cost of the scenario, which stays only
// where they are dense ones (fp16); empty without such a cost.
[[nodiscard]] std::optional<double>
measured_seconds(const Scenario& scenario, const collectives::CompressedExchange& exchange);

// The cost of a compressed exchange for planners: channel seconds, with staging, merge and scatter,
// as a function of the dense bytes of a bucket. It is a line for powersgd and, without a fabric,
// for dense methods and codecs whose times lie on a line; else a curve.
[[nodiscard]] buckets::Cost compressed_cost(const Scenario& scenario);
// The same over the links of `base` instead of those of exchange_of(scenario). `value_bytes` are
// those of a value of the workload.
[[nodiscard]] buckets::Cost
compressed_cost(const Scenario& scenario, const collectives::Collective& base, double value_bytes);

} // namespace stepsim::study
