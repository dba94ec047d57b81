#pragma once
// Node types (kind node_preset, CLU 9): a machine for the library model, with nominal rates and
// sources for readers.
#include "collectives/collective.hpp"
#include "document/reader.hpp"
#include "links/profile/profile.hpp"
#include "nccl/calibration.hpp"

namespace stepsim::io {

// A number of the file with its source, for tables.
struct SourcedNumber {
  std::string key;
  double value{};
  double low{}, high{};      // range of the measurements; `value` if the file gives none
  std::string label, source; // "" for a plain number
};

struct NodePreset {
  nccl::NodeType node;
  std::string label; // one of keys::kNodeLabels
  std::string note, gpu;
  std::optional<double> link_nominal_Bps, nic_nominal_Bps;
  std::vector<SourcedNumber> numbers; // in the order of the keys
};

// Throws InputError with all problems, also those of the file that `of_nominal` names.
[[nodiscard]] NodePreset parse_node_preset(const Json& json);

// The path of the file that `of_nominal` names, from the working directory; "" if it names none.
[[nodiscard]] std::string file_of_shares(const Json& preset);
// The preset with the rates that the shares of `of_nominal` give. Problems are added.
[[nodiscard]] Json with_rates_of_nominal(const Json& preset, Problems& problems);

// Reads `of_nominal`, an object with some of the keys of keys::kNominalRates.
[[nodiscard]] std::vector<SourcedNumber> read_nominal_shares(Fields& parent);

// Reads the node type of a name, or of a path (study::is_shipped_name). Throws as
// study::shipped_file() and parse_node_preset() do.
[[nodiscard]] NodePreset read_node_preset(const std::string& data_folder, const std::string& name);

// The links of a node type as a network profile: its network is the fabric between nodes, which
// `"network": "dgx_h100"` of a scenario selects, and its link class is the link between GPUs, which
// `"intra_network": "dgx_h100"` selects.

[[nodiscard]] links::NetworkProfile profile_of_node(const NodePreset& preset);

// Reads files of networks: profiles, topologies, links between pairs of ranks, and calibrations of
// collective libraries.
//
// Reads network profiles (kind network_calibration, CAL 5) into links::NetworkProfile. All keys of
// the format are checked, also those that the simulator does not use (residuals, kernels, device).
// An estimate may be a number or {value, low, high}.

// Intervals are checked and dropped; valid ranges are kept, so that a run can report how far it
// extrapolates. Missing values stay empty, and a scenario must then give them. Throws InputError
// with all problems.
[[nodiscard]] links::NetworkProfile parse_profile(const Json& json);

// Reads the parts of a profile about training: how much longer dense all-reduces took than the
// network model predicts, compression costs, and timed kernels (SPA 9, CAL 5). Used by
// parse_profile() only.

// Reads and writes topology files (kind topology) as links::Topology: hosts, switches and
// full-duplex links, or a preset with its parameters. It is checked that ids are unique, the two
// ends of a link are known and different, bandwidths are >= 1 B/s, and every node can reach every
// other.

// Throws InputError with all problems.
[[nodiscard]] links::Topology parse_topology(const Json& json);
// The file with its header. links::Topology does not hold `note` and `source` of a file that was
// read, so they are not written; neither are the warnings of a preset.
[[nodiscard]] Json to_json(const links::Topology& topology);

// The files of `stepsim collective` (COL 1): kind `links` (keys/topology_keys.hpp), and bare lists
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
