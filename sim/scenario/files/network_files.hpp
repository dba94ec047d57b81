#pragma once
// Reads files of networks: profiles, topologies, links between pairs of ranks, and calibrations of
// collective libraries.
//
// Reads network profiles (kind network_calibration, CAL 5) into links::NetworkProfile. All keys of
// the format are checked, also those that the simulator does not use (residuals, kernels, device).
// An estimate may be a number or {value, low, high}.

#include "collectives/collective.hpp"
#include "document/json.hpp"
#include "document/reader.hpp"
#include "links/profile/profile.hpp"
#include "nccl/calibration.hpp"
#include "scenario/files/node_file.hpp"

namespace stepsim::io {

// Intervals are checked and dropped; valid ranges are kept, so that a run can report how far it
// extrapolates. Missing values stay empty, and a scenario must then give them. Throws InputError
// with all problems.
[[nodiscard]] links::NetworkProfile parse_profile(const Json& json);

// Reads the parts of a profile about training: how much longer dense all-reduces took than the
// network model predicts, compression costs, and timed kernels (SPA 9, CAL 5). Used by
// parse_profile() only.

// Each function reads one key of the file if it is present, and reports problems through `fields`;
void parse_dense_inflation(Fields& fields, links::NetworkProfile& profile);
void parse_compression_costs(Fields& fields, links::NetworkProfile& profile);

// Reads and writes topology files (kind topology) as links::Topology: hosts, switches and
// full-duplex links, or a preset with its parameters. It is checked that ids are unique, the two
// ends of a link are known and different, bandwidths are >= 1 B/s, and every node can reach every
// other.

// Throws InputError with all problems.
[[nodiscard]] links::Topology parse_topology(const Json& json);
// The file with its header. links::Topology does not hold `note` and `source` of a file that was
// read, so they are not written; neither are the warnings of a preset.
[[nodiscard]] Json to_json(const links::Topology& topology);

// The files of `stepsim collective` (COL 1): kind `links` (keys/links_keys.hpp), and bare lists
// with the bytes or the entry time of each rank.

// A pair of ranks as the file has it.
struct WrittenPair {
  std::int64_t src{}, dst{};
  double latency_s{}, delay_s{}, bandwidth_Bps{};
};

struct LinksFile {
  std::vector<collectives::PairCost> pairs; // sorted by (src, dst); block latency = latency
  std::vector<double> reduction_s_per_byte; // [rank] or empty
  std::vector<double> enter_s;              // [rank] or empty
  std::vector<std::uint32_t> chain;         // order of the ranks in pipelines, or empty
};

// Without `ranks`, checks that depend on the number of ranks are skipped. With it, further ranks of
// the file are left out, and lists per rank must not be shorter. Throws InputError with all
// problems.
[[nodiscard]] LinksFile parse_links(const Json& tree, std::optional<std::uint32_t> ranks);
// [rank] bytes, whole and at most 2^53; with `ranks`, exactly so many. Throws InputError with all
// problems.
[[nodiscard]] std::vector<double> parse_sizes(const Json& tree, std::optional<std::uint32_t> ranks);
// [rank] entry time, s; with `ranks`, exactly so many. Throws InputError with all problems.
[[nodiscard]] std::vector<double> parse_entry(const Json& tree, std::optional<std::uint32_t> ranks);

// Files of kind library_calibration (CLU 8): the calibration of the library model. The result of
// the reader is completed by nccl::calibration_of(); the writer needs a completed calibration.

struct LibraryFile {
  nccl::FittedLibrary fitted;
  // [nccl::Parameter] whether the measurements hardly determine the parameter
  std::array<bool, nccl::kParameterCount> from_prior{};
  std::vector<SourcedNumber> of_nominal; // shares of nominal rates, keys::kNominalRates
  std::vector<std::string> sources, warnings;
};

// Parameters that the file does not have keep the means of their priors. Throws InputError with all
// problems, also for points that the node type cannot have.
[[nodiscard]] LibraryFile parse_library_calibration(const Json& json);

// The whole file. `calibration` must be the one completed from file.fitted; the intervals of the
// parameters come from its covariance.
[[nodiscard]] Json to_json(const LibraryFile& file, const nccl::Calibration& calibration);

// The 95 % interval of a parameter: a factor, or the number itself if it is not a factor; >= 0.
[[nodiscard]] base::Interval parameter_interval(const nccl::Calibration& calibration,
                                                nccl::Parameter parameter);

} // namespace stepsim::io
