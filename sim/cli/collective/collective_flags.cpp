// Each flag becomes an axis: its values as numbers and a function that puts one into a collective.
// Words are the values of their enumerators, so that all axes have one type.
#include "cli/collective/collective_flags.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "base/units.hpp"
#include "cli/collective/collective_params.hpp"
#include "cli/collective/compression_flags.hpp"
#include "cli/shell/flag_values.hpp"
#include "coll/algorithms.hpp"
#include "files/links_file.hpp"
#include "files/topology_file.hpp"
#include "net/fabric/topology.hpp"
#include "scenario/files.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "json/json_parse.hpp"
#include "json/reader.hpp"

namespace stepsim::cli {

namespace {

using base::QuantityKind;
using coll::Collective;

// The range of the key of a scenario that names the same thing as a flag; of a key with several
// forms that of its number, which stands first. A flag and a key then refuse the same values.
io::Range range_of(std::string_view pointer) {
  const io::Key* key = io::key_at(study::keys::kScenario, pointer);
  assert(key != nullptr && "the pointer is one of a key");
  return key->kind == io::KeyKind::either ? key->keys.front().range : key->range;
}

// The algorithms of any of the operations, each once, in the order of the table.
std::vector<std::string_view> algorithm_names(std::span<const coll::Op> ops) {
  std::vector<std::string_view> names;
  for (const coll::Op op : ops) {
    for (const coll::AlgorithmId algorithm : coll::valid_algorithms(op)) {
      if (std::find(names.begin(), names.end(), coll::name(algorithm)) == names.end()) {
        names.push_back(coll::name(algorithm));
      }
    }
  }
  if (std::find(names.begin(), names.end(), "auto") == names.end()) {
    names.push_back("auto");
  }
  return names;
}

constexpr std::array<coll::Op, 6> kOps{coll::Op::broadcast, coll::Op::reduce,
                                       coll::Op::allreduce, coll::Op::reduce_scatter,
                                       coll::Op::allgather, coll::Op::allgatherv};

// Dense algorithms and methods of compression in one list, since a grid compares both. Throws
// UsageError with the nearest of all names.
std::vector<double> algorithm_words(std::string_view text) {
  std::vector<std::string_view> known = algorithm_names(kOps);
  for (const coll::CompressionRow& row : coll::compression_table()) {
    if (row.method != coll::CompressionMethod::none) {
      known.push_back(row.name);
    }
  }
  return words<int>("--algorithm", "algorithm", text, known,
                    [](std::string_view word) -> std::optional<int> {
                      if (const auto algorithm = coll::parse_algorithm(word)) {
                        return static_cast<int>(*algorithm);
                      }
                      const coll::CompressionRow* row = coll::find_compression(word);
                      if (row != nullptr && row->method != coll::CompressionMethod::none) {
                        return kFirstMethod + static_cast<int>(row->method);
                      }
                      if (coll::compression_family(word) != nullptr) {
                        throw UsageError("--algorithm: " + coll::unknown_compression(word));
                      }
                      return std::nullopt;
                    });
}

// The operation is the first axis and varies slowest; add_sums (collective_sums.hpp) relies on it.
void add_words(CollectiveGrid& grid, const CollectiveFlags& flags) {
  std::vector<std::string_view> op_names;
  for (const coll::Op op : kOps) {
    op_names.push_back(coll::name(op));
  }
  grid.axes.push_back({"--op",
                       words<coll::Op>("--op", "operation", flags.op, op_names,
                                       [](std::string_view w) { return coll::parse_op(w); }),
                       [](Collective& c, double v) { c.op = coll::Op(static_cast<int>(v)); }});
  grid.axes.push_back({"--algorithm", algorithm_words(flags.algorithm),
                       [](Collective& c, double v) {
                         // A compressed exchange of dense values is a ring's.
                         c.algorithm = compression_method(v)
                                           ? coll::AlgorithmId::ring
                                           : coll::AlgorithmId(static_cast<int>(v));
                       },
                       [](coll::Compression& c, double v) {
                         c.method = compression_method(v).value_or(coll::CompressionMethod::none);
                       }});
}

// Absent flags give no axis: their values come from --links, --sizes or --topology. A latency is
// that of further blocks as well until --block-latency says otherwise.
void add_main_numbers(CollectiveGrid& grid, const CollectiveFlags& flags) {
  grid.axes.push_back(
      {"--ranks",
       numbers("--ranks", flags.ranks, QuantityKind::count, io::between(1, study::keys::kMaxRanks)),
       [](Collective& c, double v) { c.ranks = static_cast<std::uint32_t>(v); }});
  if (!flags.bytes.empty()) {
    grid.axes.push_back({"--bytes",
                         numbers("--bytes", flags.bytes, QuantityKind::size,
                                 io::between(0, static_cast<double>(base::kMaxExactBytes))),
                         [](Collective& c, double v) { c.bytes = v; }});
  }
  if (!flags.latency.empty()) {
    grid.axes.push_back({"--latency",
                         numbers("--latency", flags.latency, QuantityKind::time,
                                 range_of("/cluster/network/latency_s")),
                         [](Collective& c, double v) {
                           c.links.all.latency_s = v;
                           c.links.all.block_latency_s = v;
                         }});
  }
  if (!flags.bandwidth.empty()) {
    grid.axes.push_back({"--bandwidth",
                         numbers("--bandwidth", flags.bandwidth, QuantityKind::rate,
                                 range_of("/cluster/network/bandwidth_Bps")),
                         [](Collective& c, double v) { c.links.all.per_byte_s = 1 / v; }});
  }
  grid.axes.push_back(
      {"--reduction-rate",
       numbers("--reduction-rate", flags.reduction_rate, QuantityKind::rate,
               range_of("/cluster/network/reduction_Bps")),
       [](Collective& c, double v) { c.reduction_s_per_byte = v > 0 ? 1 / v : 0; }});
}

// These come after --latency and the files in the order of axes, because they override what those
// set.
void add_rare_numbers(CollectiveGrid& grid, const CollectiveFlags& flags) {
  if (flags.block != "optimal") {
    grid.axes.push_back(
        {"--block",
         numbers("--block", flags.block, QuantityKind::size,
                 range_of("/communication/block_bytes")),
         [](Collective& c, double v) { c.options.block = Bytes{static_cast<std::int64_t>(v)}; }});
  }
  if (!flags.block_latency.empty()) {
    grid.axes.push_back({"--block-latency",
                         numbers("--block-latency", flags.block_latency, QuantityKind::time,
                                 range_of("/cluster/network/block_latency_s")),
                         [](Collective& c, double v) {
                           c.links.all.block_latency_s = v;
                           for (coll::PairCost& pair : c.links.pairs) {
                             pair.cost.block_latency_s = v;
                           }
                         }});
  }
  grid.axes.push_back(
      {"--root",
       numbers("--root", flags.root, QuantityKind::count, io::between(0, study::keys::kMaxRanks)),
       [](Collective& c, double v) { c.root = static_cast<std::uint32_t>(v); }});
  grid.axes.push_back(
      {"--servers",
       numbers("--servers", flags.servers, QuantityKind::count, range_of("/training/servers")),
       [](Collective& c, double v) { c.options.servers = static_cast<std::uint32_t>(v); }});
  grid.axes.push_back({"--placement",
                       words("--placement", "placement", flags.placement, coll::kPlacements),
                       [](Collective& c, double v) {
                         c.options.placement = coll::Placement(static_cast<int>(v));
                       }});
}

// On a topology the GPUs of a machine follow from it and its cables are the interfaces; without one
// the network inside a node must be given.
void add_two_level(CollectiveGrid& grid, const CollectiveFlags& flags) {
  const std::uint32_t gpus = grid.network ? grid.network->fabric.gpus_per_machine : 0;
  const std::string gpus_per_node =
      flags.gpus_per_node.empty() ? std::to_string(std::max(1U, gpus)) : flags.gpus_per_node;
  if (grid.network && flags.nics_per_node != "1") {
    throw UsageError("--nics-per-node and --topology exclude each other: its cables are there");
  }
  const bool intra = !flags.intra_latency.empty() || !flags.intra_bandwidth.empty();
  if (!intra && gpus_per_node == "1" && flags.nics_per_node == "1") {
    return;
  }
  if (!intra && !grid.network) { // on a topology only where ranks share a host
    throw UsageError("--gpus-per-node needs --intra-latency and --intra-bandwidth");
  }
  if (intra && (flags.intra_latency.empty() || flags.intra_bandwidth.empty())) {
    throw UsageError("give both --intra-latency and --intra-bandwidth");
  }
  grid.common.links.two_level = coll::TwoLevel{};
  grid.axes.push_back({"--gpus-per-node",
                       numbers("--gpus-per-node", gpus_per_node, QuantityKind::count,
                               range_of("/cluster/gpus_per_node")),
                       [](Collective& c, double v) {
                         c.links.two_level->gpus_per_node = static_cast<std::uint32_t>(v);
                       }});
  if (!intra) {
    return;
  }
  grid.axes.push_back({"--intra-latency",
                       numbers("--intra-latency", flags.intra_latency, QuantityKind::time,
                               range_of("/cluster/intra_network/latency_s")),
                       [](Collective& c, double v) {
                         c.links.two_level->intra.latency_s = v;
                         c.links.two_level->intra.block_latency_s = v;
                       }});
  grid.axes.push_back(
      {"--intra-bandwidth",
       numbers("--intra-bandwidth", flags.intra_bandwidth, QuantityKind::rate,
               range_of("/cluster/intra_network/bandwidth_Bps")),
       [](Collective& c, double v) { c.links.two_level->intra.per_byte_s = 1 / v; }});
  grid.axes.push_back({"--nics-per-node",
                       numbers("--nics-per-node", flags.nics_per_node, QuantityKind::count,
                               range_of("/cluster/nics_per_node")),
                       [](Collective& c, double v) {
                         c.links.two_level->nics_per_node = static_cast<std::uint32_t>(v);
                       }});
}

// Files have one entry per rank, so that the number of ranks cannot vary.
void read_files(CollectiveGrid& grid, const CollectiveFlags& flags) {
  if (flags.links.empty() && flags.sizes.empty()) {
    return;
  }
  const auto& ranks = grid.axis("--ranks").values;
  if (ranks.size() != 1) {
    throw UsageError("--links and --sizes belong to one number of ranks, got --ranks " +
                     base::shown_value(flags.ranks));
  }
  const auto count = static_cast<std::uint32_t>(ranks.front());
  if (!flags.links.empty()) {
    io::LinksFile file = io::parse_links(io::read_json(flags.links), count);
    grid.common.links.pairs = std::move(file.pairs);
    grid.common.links.pairs_only = flags.latency.empty();
    grid.common.reduction_s_per_byte_rank = std::move(file.reduction_s_per_byte);
    grid.common.enter_s = std::move(file.enter_s);
    grid.common.chain = std::move(file.chain);
  }
  if (!flags.sizes.empty()) {
    grid.common.sizes = io::parse_sizes(io::read_json(flags.sizes), count);
    const auto& sizes = grid.common.sizes;
    grid.common.bytes = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  }
}

// Flags without which no collective is defined. A topology or a file of links can take the place of
// latency and bandwidth, but one of the two alone says nothing.
void require_flags(const CollectiveFlags& flags) {
  const auto require = [](const std::string& value, const char* flag, const char* example) {
    if (value.empty()) {
      throw UsageError(std::string(flag) + ": required, e.g. " + flag + " " + example);
    }
  };
  require(flags.op, "--op", "allreduce");
  require(flags.algorithm, "--algorithm", "ring");
  require(flags.ranks, "--ranks", "8");
  if (flags.sizes.empty()) {
    require(flags.bytes, "--bytes", "100MB");
  } else if (!flags.bytes.empty()) {
    throw UsageError("--sizes and --bytes exclude each other: the sizes give the bytes");
  }
  if (!flags.topology.empty()) {
    if (!flags.links.empty()) {
      throw UsageError("--links and --topology exclude each other");
    }
  } else if (flags.links.empty() || !flags.latency.empty() || !flags.bandwidth.empty()) {
    require(flags.latency, "--latency", "10us");
    require(flags.bandwidth, "--bandwidth", "10Gbps");
  }
}

// A shipped name or a file, routed once: every point of the grid shares it.
std::shared_ptr<const net::RoutedFabric> read_topology(const std::string& name,
                                                       const std::string& data_folder) {
  const std::string path = study::is_shipped_name(name)
                               ? study::shipped_file(data_folder, study::kShippedTopologies, name)
                               : name;
  return std::make_shared<const net::RoutedFabric>(
      net::fabric_of(io::parse_topology(io::read_json(path))));
}

} // namespace

void add_collective_flags(CLI::App& app, CollectiveFlags& flags) {
  const auto add = [&app](const char* name, std::string& value, const char* type,
                          const std::string& description, const char* group) {
    app.add_option(name, value, description)->type_name(type)->group(group);
  };
  constexpr const char* kMain = "Collective (lists 1,2,4 and ranges 4:64:x2, 1:9:+2 anywhere)";
  add("--op", flags.op, "OP",
      "broadcast, reduce, allreduce, reduce_scatter, allgather or allgatherv", kMain);
  add("--algorithm", flags.algorithm, "A",
      base::joined(coll::algorithm_names()) + " or a compressed exchange: topk, gtopk_tree, ..",
      kMain);
  add("--ranks", flags.ranks, "P", "number of ranks", kMain);
  add("--bytes", flags.bytes, "SIZE",
      "the vector; the total buffer of reduce_scatter and allgather; e.g. 25MiB", kMain);
  add("--sizes", flags.sizes, "FILE", "JSON list of bytes per rank, for allgatherv", kMain);
  add("--root", flags.root, "R", "of broadcast and reduce; default 0", kMain);
  constexpr const char* kNetwork = "Network";
  add("--latency", flags.latency, "TIME", "per message, e.g. 10us", kNetwork);
  add("--bandwidth", flags.bandwidth, "RATE", "per direction, e.g. 25Gbps or 3GB/s", kNetwork);
  add("--reduction-rate", flags.reduction_rate, "RATE", "of adding; default 0, free", kNetwork);
  add("--links", flags.links, "FILE", "kind links: cost per pair, adding and entry per rank",
      kNetwork);
  add("--topology", flags.topology, "FILE|PRESET",
      "messages are flows that share its cables (method events); --latency and --bandwidth come on "
      "top and may be left out",
      kNetwork);
  add("--gpus-per-node", flags.gpus_per_node, "G",
      "ranks of a node; default 1, or the GPUs of a machine of the topology", kNetwork);
  add("--intra-latency", flags.intra_latency, "TIME", "inside a node", kNetwork);
  add("--intra-bandwidth", flags.intra_bandwidth, "RATE", "inside a node", kNetwork);
  add("--nics-per-node", flags.nics_per_node, "N", "interfaces that a node shares; default 1",
      kNetwork);
  constexpr const char* kAlgorithm = "Algorithm";
  add("--block", flags.block, "SIZE",
      "of " + base::joined(coll::block_algorithms(), " and ") + ", or optimal; default optimal",
      kAlgorithm);
  add("--block-latency", flags.block_latency, "TIME",
      "of the follow-up blocks of a stream; default the latency", kAlgorithm);
  add("--candidates", flags.candidates, "LIST", "of algorithm auto; default all of the operation",
      kAlgorithm);
  add("--servers", flags.servers, "S", "of parameter_server; default 1", kAlgorithm);
  add("--placement", flags.placement, "WORD",
      "of the servers: dedicated, colocated or sharded; default dedicated", kAlgorithm);
  app.add_option("--param", flags.params, params_help())
      ->type_name("NAME=VALUE")
      ->group(kAlgorithm)
      ->allow_extra_args(false);
  add_compression_flags(app, flags.compression);
}

CollectiveGrid parse_collective_flags(const CollectiveFlags& flags,
                                      const std::string& data_folder) {
  require_flags(flags);
  CollectiveGrid grid;
  if (!flags.topology.empty()) {
    grid.network = read_topology(flags.topology, data_folder);
  }
  add_words(grid, flags);
  add_main_numbers(grid, flags);
  read_files(grid, flags);
  add_two_level(grid, flags);
  add_rare_numbers(grid, flags);
  add_compression_axes(grid, flags.compression);
  CollectiveParams params{grid.common.options, {}, {}, {}};
  for (const std::string& text : flags.params) {
    apply_param(params, text);
  }
  grid.common.options = std::move(params.options);
  grid.compression = std::move(params.compression);
  grid.shapes = std::move(params.shapes);
  const auto methods = grid.methods();
  check_compression_keys(methods, grid, params.given);
  grid.own_ratio = std::ranges::find(params.given, "ratio") == params.given.end();
  if (!flags.candidates.empty()) {
    std::vector<coll::Op> ops;
    for (const double op : grid.axis("--op").values) {
      ops.push_back(coll::Op(static_cast<int>(op)));
    }
    const auto known = algorithm_names(ops);
    for (const std::string_view word : split(flags.candidates)) {
      const auto algorithm = coll::parse_algorithm(word);
      if (!algorithm || std::ranges::find(known, word) == known.end() || word == "auto") {
        throw UsageError("--candidates: " + base::unknown_word("algorithm", word, known));
      }
      grid.common.options.candidates.push_back(*algorithm);
    }
  }
  return grid;
}

} // namespace stepsim::cli
