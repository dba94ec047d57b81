#pragma once
// The inputs of a collective operation as plain values: operation, algorithm, ranks, bytes, cost of
// links and of adding, and rarely used options. method.hpp chooses the evaluator of its time.
//
// Symbols (COL 2.1, CLU 2):
//   P      ranks
//   n      bytes: the whole vector; the total buffer for reduce_scatter and allgather; for alltoall
//          the send buffer of one rank, of which every rank gets n / P
//   alpha  latency per message; beta = 1 / bandwidth; gamma = 1 / reduction rate
//
// A transfer of s bytes holds the send port of its source and the receive port of its destination
// for alpha + s beta (full duplex, rendezvous). The message arrives a delay d later, during which
// no port is held (LogGP: o = alpha, L = d).
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"

namespace stepsim::links {
struct RankFabric;
}

namespace stepsim::collectives {

struct MeasuredSteps;

enum class Op { broadcast, reduce, allreduce, reduce_scatter, allgather, allgatherv, alltoall };

// An algorithm of the table in algorithms.cpp, which holds its name and properties. Only algorithms
// that other code names are listed here. Every other algorithm is a constant >= 100 in the header
// of its own file (swing.hpp), so that a new algorithm changes only its own files and the table.
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

inline constexpr auto kOps = base::words<Op>();

enum class Method { closed_form, max_plus, events };
inline constexpr auto kMethods = base::words<Method>();
// overlapped: a rank adds while its port receives more data; serial: its port is held until the
// addition ends (COL 2.3).
enum class ReductionMode { overlapped, serial };
// integer: parts of whole elements, the first parts one element longer; real: parts of exactly n /
// k bytes (COL 2.5).
enum class Chunking { integer, real };
// exact: the time of the schedule; paper: the formula as its paper prints it; ideal: infinitely
// fine pipelining at no cost.
enum class CostForm { exact, paper, ideal };
// The tree of `mst` (minimum spanning tree): far_first is binomial with distances P/2 .. 1 and
// near_first, towards the root, 1 .. P/2; in a flat tree the root exchanges with all others one
// after the other. A binomial broadcast is the same in both orders.
enum class TreeShape { far_first, near_first, flat };
// Where parameter servers run: dedicated hosts, the first `servers` ranks, or every rank.
enum class Placement { dedicated, colocated, sharded };
inline constexpr auto kReductionModes = base::words<ReductionMode>();
inline constexpr auto kChunkings = base::words<Chunking>();
inline constexpr auto kCostForms = base::words<CostForm>();
inline constexpr auto kPlacements = base::words<Placement>();

// Seconds per message and per byte of one directed link.
struct LinkCost {
  double latency_s{};       // alpha
  double block_latency_s{}; // alpha_blk of the later blocks of a stream, <= alpha
  double per_byte_s{};      // beta
  double delay_s{};         // d: the data arrives this long after its ports are free

  // Seconds from the start of a message of 0 bytes until it arrives.
  [[nodiscard]] double startup_s() const { return latency_s + delay_s; }
  friend bool operator==(const LinkCost&, const LinkCost&) = default;
  // Multiplies what does not depend on the bytes by `latency`, and the time of a byte by
  // `per_byte`.
  void scale(double latency, double per_byte) {
    latency_s *= latency;
    block_latency_s *= latency;
    delay_s *= latency;
    per_byte_s *= per_byte;
  }
};

// One directed pair with its own cost (COL 1, `--links`).
struct PairCost {
  std::uint32_t src{};
  std::uint32_t dst{};
  LinkCost cost;
};

// A node whose switch adds (NVLS): start-up per operation, and seconds per byte that one rank sends
// to the switch.
struct NvlsCost {
  double startup_s = 25e-6; // as NCCL assumes (CLU 6.1)
  double per_byte_s{};
};

// Latency of adding in a network switch if none is given: an assumption of CLU 5.3.
inline constexpr double kSwitchLatency = 1e-6;

// Two levels of links. Ranks of one node communicate over `intra`, other ranks over `Links::all`,
// which is the cost of one interface; the ranks of a node share `nics_per_node` interfaces.
struct TwoLevel {
  std::uint32_t gpus_per_node = 1;
  std::uint32_t nics_per_node = 1;
  LinkCost intra;
  std::optional<NvlsCost> nvls{}; // empty: the switch of a node does not add
  // sigma: latency of adding in a network switch; empty: kSwitchLatency
  std::optional<double> switch_latency_s{};
  // [nodes] ranks per node, if nodes differ (node_ranks.hpp); gpus_per_node is then the maximum.
  // Empty: gpus_per_node in every node.
  std::vector<std::uint32_t> ranks_per_node{};
  bool adds_type = true; // false: elements of one byte, which the switch of a node does not add
};

struct Links {
  LinkCost all;                  // every pair without a cost below
  bool pairs_only = false;       // pairs not listed have no link
  std::vector<PairCost> pairs{}; // sorted by (src, dst)
  std::optional<TwoLevel> two_level{};
  // If set, every transfer between hosts is a flow through this fabric and also takes `all` (PKT
  // 6); ranks of one host communicate over `two_level->intra`, or `all`. Only `events` supports
  // fabrics.
  std::shared_ptr<const links::RankFabric> fabric{};
  // If set, times of messages measured by what a rank does in a step; they replace `all` if
  // takes_measured_steps() is true. Only `max_plus` supports them.
  std::shared_ptr<const MeasuredSteps> measured{};
};

// Bytes per rank in the exchange of sizes that `exchange_sizes` adds (COL 5.8).
inline constexpr double kSizeEntryBytes = 8;

struct Options {
  ReductionMode reduction_mode = ReductionMode::overlapped;
  Chunking chunking = Chunking::integer;
  std::int64_t element_bytes = 1; // integer chunking: parts are whole elements
  CostForm cost_form = CostForm::exact;
  std::optional<Bytes> block;   // bytes per block, if sent in blocks; empty = optimal (COL 7)
  bool lp_last_hop = true;      // lp allreduce: the last rank also gets the sums (COL 5.6)
  bool ring_startup_2p = false; // ring: 2P start-ups instead of 2(P-1) (COL 5.4)
  bool exchange_sizes = false;  // allgatherv: sizes are gathered first (COL 5.8)
  // hierarchical_leader; collnet, which adds in rings unless it is nvls
  AlgorithmId intra_algorithm = AlgorithmId::mst;
  AlgorithmId inter_algorithm = AlgorithmId::ring; // hierarchical, hierarchical_leader
  std::vector<AlgorithmId> candidates;             // auto; empty = the defaults of COL 9
  std::uint32_t servers = 1;                       // parameter_server
  Placement placement = Placement::dedicated;      // parameter_server
  TreeShape tree = TreeShape::far_first;           // mst
  bool empty_messages = false; // parts of 0 bytes are also sent, and take their start-up
  // Number of chunks that two_level and collnet pipeline through the levels; empty = the number
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
  double reduction_s_per_byte = 0;               // gamma of all ranks
  std::vector<double> reduction_s_per_byte_rank; // [P] gamma per rank; empty = all equal
  // parameter_server: what a server does with its sum before it sends it, such as coding, per byte.
  double sum_s_per_byte = 0;
  std::vector<double> enter_s;      // [P] entry times from time 0, or empty = all 0
  std::vector<std::uint32_t> chain; // [P] lp: position -> rank; empty = rank order
  // [P] bytes of every rank in an allgatherv, whose sum counts instead of `bytes`; empty = equal
  // parts of `bytes`.
  std::vector<double> sizes;
  // [P] message sizes of a recursive_doubling whose messages grow: a rank that holds the sum of c
  // ranks sends held_bytes[c - 1] bytes (SPA 11, sparcml_rd). Empty for all other collectives.
  std::vector<double> held_bytes;
  Options options;

  // Whether closed forms apply: ranks and links are alike for the algorithm, and all ranks enter
  // together (uniform_cost in formula/uniform.hpp).
  [[nodiscard]] bool homogeneous() const;
};

// Names as in files and flags ("recursive_doubling", "auto"). The parsers return empty for unknown
// names.
[[nodiscard]] std::string_view name(Op op);
[[nodiscard]] std::string_view name(AlgorithmId algorithm);
[[nodiscard]] std::string_view name(Method method);
[[nodiscard]] std::optional<Method> parse_method(std::string_view word);
[[nodiscard]] std::optional<Op> parse_op(std::string_view word);
[[nodiscard]] std::optional<AlgorithmId> parse_algorithm(std::string_view word);

} // namespace stepsim::collectives
