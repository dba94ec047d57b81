#pragma once
// The flags of `stepsim collective` as a grid of collectives: every flag may be a list or a range,
// all combinations are taken, the first flag of the list below varying slowest. A combination is
// made from its number, so that a large grid costs no memory.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/shell/app.hpp"
#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "net/fabric/rank_fabric.hpp"

namespace stepsim::cli {

// As typed; "" = not given.
struct CompressionFlags {
  std::string density, k, index_bytes, value_bytes, allgather, broadcast;
};

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

// Of a value of the axis `--algorithm`; empty for the algorithm of a dense collective.
[[nodiscard]] std::optional<coll::CompressionMethod> compression_method(double algorithm);

void add_collective_flags(CLI::App& app, CollectiveFlags& flags);

struct CollectiveGrid {
  // One flag with its values; `apply` puts one into a collective, `compress` into a compression (or
  // null). Words are numbers here: their place in the enumeration.
  struct Axis {
    std::string_view flag;
    std::vector<double> values;
    void (*apply)(coll::Collective&, double);
    void (*compress)(coll::Compression&, double) = nullptr;
  };
  std::vector<Axis> axes;        // ops first
  coll::Collective common;       // what does not vary
  coll::Compression compression; // likewise
  std::vector<coll::MatrixShape> shapes;
  bool own_ratio = true;                            // of codecs
  std::shared_ptr<const net::RoutedFabric> network; // of --topology, or null

  [[nodiscard]] std::int64_t points() const;
  // Ranks are packed on the hosts of a topology; UsageError where they have no room.
  [[nodiscard]] coll::Collective at(std::int64_t point) const;
  // Empty for a dense collective. With one, `at` is the ring on its ranks and links.
  [[nodiscard]] std::optional<coll::Compression> compression_at(std::int64_t point) const;
  // The compressions among the algorithms.
  [[nodiscard]] std::vector<coll::CompressionMethod> methods() const;
  [[nodiscard]] const Axis& axis(std::string_view flag) const; // of a flag that every grid has
  [[nodiscard]] std::optional<double> value(std::int64_t point, std::string_view flag) const;
  [[nodiscard]] bool varies(std::string_view flag) const; // has two values or more
  // Whether the point has the first value of the flag; the points that differ from it in that flag
  // only (itself included).
  [[nodiscard]] bool is_first(std::int64_t point, std::string_view flag) const;
  [[nodiscard]] std::vector<std::int64_t> alike(std::int64_t point, std::string_view flag) const;
  // The value of every axis at this point, in axis order.
  [[nodiscard]] std::vector<double> values_at(std::int64_t point) const;
};

// Throws UsageError `--ranks 0: must be an integer >= 1, got 0`, InputError for the files.
[[nodiscard]] CollectiveGrid parse_collective_flags(const CollectiveFlags& flags,
                                                    const std::string& data_folder);

} // namespace stepsim::cli
