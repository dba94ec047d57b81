#pragma once
// The tables of all algorithms. `algorithm` returns a row per name, with the properties that hold
// for every operation. `algorithm_table` has a row per operation and algorithm, with the closed
// forms (COL 4, 5) and a line of help; within an operation, `auto` tries the rows in their order
// (COL 9). A new algorithm needs a .cpp and a header with its number, formula and phases, and a row
// in each table.

#include "collectives/formula/closed_form.hpp"

namespace stepsim::collectives {

// Whether `auto` tries an algorithm without being asked: always; `two_level` on two-level clusters
// whose nodes suit the algorithm (default_candidates); or `never`, unless the user names it.
enum class Candidate { always, two_level, never };

struct AlgorithmRow {
  Op op;
  AlgorithmId algorithm;
  Candidate candidate;
  ClosedFormFunction exact; // time of the schedule, never null
  ClosedFormFunction paper; // as printed in its paper; null if there is none
  ClosedFormFunction ideal; // with infinitely fine pipelining at no cost; null if there is none
  std::string_view summary;
};

class FlatPhases;
struct Blocks;
struct Schedule;

// How the ranks of a node share its interfaces if there are fewer interfaces than ranks (COL 5.9):
//   shared            equally among the ranks that send in a step
//   shared_off_chain  as `shared` if Collective::chain orders the ranks; without a chain they are
//                     in rank order, where only one rank of a node sends to another node, and
//                     nothing is shared
//   fixed_share       every rank has a fixed share
//   own               the schedule has its own rule
enum class Interfaces { shared, shared_off_chain, fixed_share, own };

struct Algorithm {
  AlgorithmId id;
  std::string_view name; // as in files and flags
  // Number of equal parts into which the message is cut. Null if it is sent whole, if it is sent in
  // blocks (formulas know the short last block), or if `node_parts` or parts_divide (method.hpp)
  // count the parts.
  double (*parts)(Op op, std::uint32_t ranks);
  // Appends the phases of an operation; returns false if the algorithm does not offer the
  // operation. Null if there are `node_phases`, or no phases at all (parameter_server, switches,
  // auto).
  bool (*phases)(FlatPhases& phases, Op op);
  Interfaces interfaces = Interfaces::shared;
  int block_streams = 0;         // streams of blocks in `phases`, each of one part; 0 = none
  double formula_s_per_rank = 0; // CPU time of the closed form, to estimate the work
  bool needs_even_ranks = false;
  bool two_level = false; // scenarios need a network inside the node for it
  // For algorithms over nodes: functions that append all phases of any operation, count the equal
  // parts of the message, and cut it into blocks. Null: `phases`, `parts` and `block_streams` do
  // so.
  void (*node_phases)(Schedule& schedule, const Collective& collective) = nullptr;
  double (*node_parts)(const Collective& collective) = nullptr;
  std::optional<Blocks> (*node_blocks)(const Collective& collective) = nullptr;
  bool needs_equal_nodes = false;
  bool in_switch = false; // switches add: closed forms only, no list of transfers
};

[[nodiscard]] const Algorithm& algorithm(AlgorithmId id);
// Returns the algorithm of this name in files and flags; empty for an unknown name.
[[nodiscard]] std::optional<AlgorithmId> find_algorithm(std::string_view name);
// Whether the algorithm runs on `ranks` ranks: false only for an odd number above 1 if the
// algorithm needs an even number.
[[nodiscard]] bool takes_ranks(AlgorithmId id, std::uint32_t ranks);
// Returns the names of all algorithms, "auto" last.
[[nodiscard]] std::vector<std::string_view> algorithm_names();
// Returns the names of the algorithms with `block_streams`. ring_rails is not among them, because
// it sends blocks in a broadcast and a reduce only.
[[nodiscard]] std::vector<std::string_view> block_algorithms();
// Whether all nodes must have equally many ranks, because the algorithm requires it or, for `auto`,
// every algorithm of the operation does.
[[nodiscard]] bool needs_equal_nodes(const Collective& collective);
// Whether the schedule is a list of transfers in program order (make_schedule). False for the
// parameter server, whose order follows from arrivals, and for sums in switches, which are
// formulas.
[[nodiscard]] bool has_transfers(AlgorithmId id);
// Whether the algorithm is made for nodes of several ranks (`two_level` of its row). False for
// pairwise and pairwise_pxn, which use node boundaries but count as flat.
[[nodiscard]] bool is_two_level(AlgorithmId id);
// Whether the algorithm runs a flat algorithm on each of two levels (COL 5.9): hierarchical and
// hierarchical_leader.
[[nodiscard]] bool has_level_algorithms(AlgorithmId id);

[[nodiscard]] std::span<const AlgorithmRow> algorithm_table();
// Returns the algorithms that an operation offers (COL 4), in the order of the table.
[[nodiscard]] std::vector<AlgorithmId> valid_algorithms(Op op);
// Returns the row, or null if the operation does not offer the algorithm.
[[nodiscard]] const AlgorithmRow* find_algorithm(Op op, AlgorithmId algorithm);
// Returns the algorithms that `auto` tries if the user names no candidates.
[[nodiscard]] std::vector<AlgorithmId> default_candidates(const Collective& collective);

} // namespace stepsim::collectives
