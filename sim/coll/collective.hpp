#pragma once
// What a collective operation is asked for: operation, algorithm, ranks, bytes, the cost of links
// and of adding, and the rarely used switches. Plain values; method.hpp says which evaluator gives
// the time.
//
// Symbols (COL 2.1, CLU 2): P ranks; n bytes (whole vector; total buffer for reduce_scatter and
// allgather; send buffer of one rank, n/P for each rank, for alltoall);
// alpha latency per message; beta = 1 / bandwidth; gamma = 1 / reduction rate.
// A transfer of s bytes holds the send port of its source and the receive port of its destination
// for alpha + s beta (full duplex, rendezvous). The message is there a delay d later, which holds
// no port (LogGP: o = alpha, L = d).
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"

namespace stepsim::net {
struct RankFabric;
}

namespace stepsim::coll {

struct MeasuredSteps;

enum class Op { broadcast, reduce, allreduce, reduce_scatter, allgather, allgatherv, alltoall };

// An algorithm of the table in algorithms.cpp, which has its word and all that holds of it. Here
// stand those that other code names. Any other is a constant in the header of its own file, from
// 100 on (swing.hpp), so that a new one changes nothing but its files and the table.
enum class AlgorithmId : std::uint8_t {
  mst,
  be,
  bruck,
  ring,
  recursive_doubling,
  lp,
  double_binary_tree,
  hierarchical,
  hierarchical_leader,
  parameter_server,
  automatic, // "auto" in files and flags
};

inline constexpr auto kOps = base::words<Op>({{Op::broadcast, "broadcast"},
                                              {Op::reduce, "reduce"},
                                              {Op::allreduce, "allreduce"},
                                              {Op::reduce_scatter, "reduce_scatter"},
                                              {Op::allgather, "allgather"},
                                              {Op::allgatherv, "allgatherv"},
                                              {Op::alltoall, "alltoall"}});

enum class Method { closed_form, max_plus, events };
inline constexpr auto kMethods = base::words<Method>({{Method::closed_form, "closed_form"},
                                                      {Method::max_plus, "max_plus"},
                                                      {Method::events, "events"}});
// A rank adds while its port receives on, or its port is held until the addition ends (COL 2.3).
enum class ReductionMode { overlapped, serial };
// Parts of whole elements, the first ones longer by one, or of exactly n / k bytes (COL 2.5).
enum class Chunking { integer, real };
// The formula of the schedule; as its paper prints it; with infinitely fine pipelining for free.
enum class CostForm { exact, paper, ideal };
// The tree of `mst`: binomial with distances P/2 .. 1 or, towards the root, 1 .. P/2; or the root
// and everybody else one after the other. A binomial broadcast is the same in both orders.
enum class TreeShape { far_first, near_first, flat };
// Parameter servers on hosts of their own, on the first `servers` ranks, or one on every rank.
enum class Placement { dedicated, colocated, sharded };
inline constexpr auto kReductionModes = base::words<ReductionMode>(
    {{ReductionMode::overlapped, "overlapped"}, {ReductionMode::serial, "serial"}});
inline constexpr auto kChunkings =
    base::words<Chunking>({{Chunking::integer, "integer"}, {Chunking::real, "real"}});
inline constexpr auto kCostForms = base::words<CostForm>(
    {{CostForm::exact, "exact"}, {CostForm::paper, "paper"}, {CostForm::ideal, "ideal"}});
inline constexpr auto kPlacements = base::words<Placement>({{Placement::dedicated, "dedicated"},
                                                            {Placement::colocated, "colocated"},
                                                            {Placement::sharded, "sharded"}});

// Seconds per message and per byte of one directed link.
struct LinkCost {
  double latency_s{};       // alpha
  double block_latency_s{}; // alpha_blk, of the follow-up blocks of a stream; <= alpha
  double per_byte_s{};      // beta
  double delay_s{};         // d, from the end of the transfer at its ports until the data is there

  // From the start of a message without bytes until it is there.
  [[nodiscard]] double startup_s() const { return latency_s + delay_s; }
};

// One directed pair with its own cost (COL 1, `--links`).
struct PairCost {
  std::uint32_t src{};
  std::uint32_t dst{};
  LinkCost cost;
};

// A node whose switch adds (NVLS): start-up of an operation, and seconds per byte that one rank
// sends to the switch.
struct NvlsCost {
  double startup_s = 25e-6; // as NCCL assumes (CLU 6.1)
  double per_byte_s{};
};

// Where nothing is known of switches that add in the network: an assumption of CLU 5.3.
inline constexpr double kSwitchLatency = 1e-6;

// Two levels: ranks of a node talk over `intra`, others over `Links::all`, the cost of one
// interface, through the `nics_per_node` interfaces that the ranks of a node share.
struct TwoLevel {
  std::uint32_t gpus_per_node = 1;
  std::uint32_t nics_per_node = 1;
  LinkCost intra;
  std::optional<NvlsCost> nvls{}; // empty: the switch of a node does not add
  // sigma of switches that add in the network; empty: kSwitchLatency
  std::optional<double> switch_latency_s{};
  // [nodes] ranks of every node where they differ (node_ranks.hpp); gpus_per_node is then the
  // largest of them. Empty: gpus_per_node each.
  std::vector<std::uint32_t> ranks_per_node{};
};

struct Links {
  LinkCost all;                  // every pair, unless one of the next says otherwise
  bool pairs_only = false;       // pairs not listed have no link
  std::vector<PairCost> pairs{}; // sorted by (src, dst)
  std::optional<TwoLevel> two_level{};
  // Every transfer between hosts is a flow through this fabric and also pays `all` (PKT 6); ranks
  // of one host talk over `two_level->intra`, or `all`. Only `events` knows fabrics.
  std::shared_ptr<const net::RankFabric> fabric{};
  // Measured times of messages by what a rank does in a step; they replace `all` where
  // takes_measured_steps says so. Only `max_plus` knows measured times.
  std::shared_ptr<const MeasuredSteps> measured{};
};

// Bytes of one entry of the list that ranks exchange first with `exchange_sizes` (COL 5.8).
inline constexpr double kSizeEntryBytes = 8;

struct Options {
  ReductionMode reduction_mode = ReductionMode::overlapped;
  Chunking chunking = Chunking::integer;
  std::int64_t element_bytes = 1; // with chunking integer parts are whole elements
  CostForm cost_form = CostForm::exact;
  std::optional<Bytes> block;   // of what is sent in blocks; empty = optimal (COL 7)
  bool lp_last_hop = true;      // lp allreduce: the tail gets the sums back, too (COL 5.6)
  bool ring_startup_2p = false; // COL 5.4: 2P instead of 2(P-1) start-ups
  bool exchange_sizes = false;  // allgatherv: sizes are gathered first (COL 5.8)
  AlgorithmId intra_algorithm = AlgorithmId::mst;  // hierarchical_leader; collnet: nvls or rings
  AlgorithmId inter_algorithm = AlgorithmId::ring; // both hierarchical kinds
  std::vector<AlgorithmId> candidates;             // auto; empty = the defaults of COL 9
  std::uint32_t servers = 1;                       // parameter_server
  Placement placement = Placement::dedicated;      // parameter_server
  TreeShape tree = TreeShape::far_first;           // mst
  bool empty_messages = false;                     // 0 bytes are sent too, for the start-ups
  // Chunks that follow each other through the levels of two_level and collnet; empty = the number
  // with the shortest time.
  std::optional<std::uint32_t> pipeline_chunks = 1;
};

struct Collective {
  Op op = Op::allreduce;
  AlgorithmId algorithm = AlgorithmId::ring;
  std::uint32_t ranks = 1;
  double bytes = 0; // whole number below 2^53
  std::uint32_t root = 0;
  Links links;
  double reduction_s_per_byte = 0;               // gamma of every rank
  std::vector<double> reduction_s_per_byte_rank; // [P], or empty
  std::vector<double> enter_s;                   // [P] entry times from time 0, or empty = all 0
  std::vector<std::uint32_t> chain;              // [P] lp positions -> ranks; empty = rank order
  std::vector<double> sizes;                     // [P] bytes of allgatherv; empty = equal parts
  // [P], or empty: recursive_doubling whose messages grow. A rank that holds the sum of c ranks
  // sends held_bytes[c - 1] (SPA 11, sparcml_rd).
  std::vector<double> held_bytes;
  Options options;

  // Whether ranks and links are alike for the algorithm and all enter together, as closed forms
  // need it (uniform_cost in formula/uniform.hpp).
  [[nodiscard]] bool homogeneous() const;
};

// Names as in files and flags ("recursive_doubling", "auto"). The parsers return empty for unknown
// words.
[[nodiscard]] std::string_view name(Op op);
[[nodiscard]] std::string_view name(AlgorithmId algorithm);
[[nodiscard]] std::string_view name(Method method);
[[nodiscard]] std::optional<Method> parse_method(std::string_view word);
[[nodiscard]] std::optional<Op> parse_op(std::string_view word);
[[nodiscard]] std::optional<AlgorithmId> parse_algorithm(std::string_view word);

} // namespace stepsim::coll
