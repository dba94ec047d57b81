#pragma once
// The flags of `stepsim collective`: every flag may be a list or a range, and all of them together
// make a grid of collectives. Each flag that varies is an axis of that grid, in the order of help.
#include <string>
#include <vector>

#include "cli/collective/collective_grid.hpp"
#include "cli/collective/compression_flags.hpp"

namespace CLI {
class App;
}

namespace stepsim::cli {

// As typed.
struct CollectiveFlags {
  std::string op, algorithm, ranks, bytes, latency, bandwidth;
  std::string reduction_rate = "0";
  std::string block = "optimal";
  std::string block_latency; // "" = as latency
  std::string root = "0";
  std::string gpus_per_node; // "" = 1, or the GPUs of a machine of the topology
  std::string intra_latency, intra_bandwidth, nics_per_node = "1";
  std::string servers = "1", placement = "dedicated";
  std::string candidates;
  std::string links, sizes; // files
  std::string topology;     // file or shipped name
  std::vector<std::string> params;
  CompressionFlags compression;
};

// Adds the flags to `app`, in groups as --help shows them. `flags` must live until the command line
// is parsed.
void add_collective_flags(CLI::App& app, CollectiveFlags& flags);

// Throws UsageError `--ranks 0: must be an integer >= 1, got 0`, InputError for the files.
// `data_folder` has the shipped topologies. The order of axes is that of the grid: operation,
// algorithm, numbers, compression.
[[nodiscard]] CollectiveGrid parse_collective_flags(const CollectiveFlags& flags,
                                                    const std::string& data_folder);

} // namespace stepsim::cli
