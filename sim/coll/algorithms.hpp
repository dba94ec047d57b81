#pragma once
// The tables of all algorithms. `algorithm` has a row per name: what holds whatever the operation.
// `algorithm_table` tells which operation has which, with its closed forms (COL 4, 5) and one line
// about it; rows of one operation stand in the order in which `auto` tries them (COL 9). A new
// algorithm is a .cpp and a header with its number, its formula and its phases, and a row in each
// table.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coll/collective.hpp"
#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// What `auto` tries by itself: `always`; `two_level` on two-level clusters whose nodes suit the
// algorithm (default_candidates); `never` only if the user names it.
enum class Candidate { always, two_level, never };

struct AlgorithmRow {
  Op op;
  AlgorithmId algorithm;
  Candidate candidate;
  ClosedFormFunction exact; // time of the schedule, never null
  ClosedFormFunction paper; // as printed, null where there is none
  ClosedFormFunction ideal; // infinitely fine free pipelining, null where there is none
  std::string_view summary;
};

class FlatPhases;
struct Blocks;
struct Schedule;

// How the ranks of a node use its interfaces where there are fewer interfaces than ranks: they
// share them by the sends of each step; likewise, but a chain crosses a node once; every rank has a
// fixed share (COL 5.9); or the schedule has its own rule.
enum class Interfaces { shared, shared_off_chain, fixed_share, own };

struct Algorithm {
  AlgorithmId id;
  std::string_view name; // in files and flags
  // How many equal parts the message is cut into. Null: it is sent whole, or in blocks, of which
  // formulas know the short last one; or `node_parts` or parts_divide (method.hpp) count the parts.
  double (*parts)(Op op, std::uint32_t ranks);
  // Appends the phases of an operation; false if the operation does not have the algorithm. Null:
  // the algorithm has `node_phases`, or no phases at all (parameter_server, switches, auto).
  bool (*phases)(FlatPhases& phases, Op op);
  Interfaces interfaces = Interfaces::shared;
  int block_streams = 0; // streams of blocks that `phases` sends, each of its part; 0 = none
  double formula_s_per_rank = 0; // CPU time of its closed form, for estimates of work
  bool needs_even_ranks = false;
  bool two_level = false; // scenarios must have a network inside the node for it
  // Of algorithms over nodes: appends all phases, whatever the operation; counts the equal parts
  // of the message; cuts it into blocks. Null: by `phases`, `parts` and `block_streams`.
  void (*node_phases)(Schedule& schedule, const Collective& collective) = nullptr;
  double (*node_parts)(const Collective& collective) = nullptr;
  std::optional<Blocks> (*node_blocks)(const Collective& collective) = nullptr;
  bool needs_equal_nodes = false;
  bool in_switch = false; // switches add: no list of transfers, and formulas alone
};

[[nodiscard]] const Algorithm& algorithm(AlgorithmId id);
// The algorithm that files and flags call so; empty for no such word.
[[nodiscard]] std::optional<AlgorithmId> find_algorithm(std::string_view name);
// Whether the algorithm runs on so many ranks; one rank alone fits every algorithm.
[[nodiscard]] bool takes_ranks(AlgorithmId id, std::uint32_t ranks);
// The words of all algorithms, "auto" the last.
[[nodiscard]] std::vector<std::string_view> algorithm_names();
// The names of the algorithms with `block_streams`; not ring_rails, which sends blocks in a
// broadcast and a reduce only.
[[nodiscard]] std::vector<std::string_view> block_algorithms();
// Whether all nodes must have equally many ranks: the algorithm needs it or, for `auto`, all
// algorithms of the operation do.
[[nodiscard]] bool needs_equal_nodes(const Collective& collective);
// Whether the schedule is a list of transfers in program order (make_schedule). False for the
// parameter server, whose order follows from arrivals, and for sums in switches, which are
// formulas.
[[nodiscard]] bool has_transfers(AlgorithmId id);
// Whether it is made for nodes of several ranks (`two_level` of its row). pairwise and pairwise_pxn
// know nodes, too, but count as flat.
[[nodiscard]] bool is_two_level(AlgorithmId id);
// Whether it runs a flat algorithm on each of two levels (COL 5.9): hierarchical and
// hierarchical_leader.
[[nodiscard]] bool has_level_algorithms(AlgorithmId id);
// Whether the message, or that of one of its levels, is sent in blocks by an algorithm with
// `block_streams`.
[[nodiscard]] bool sends_blocks(AlgorithmId id, const Options& options);

[[nodiscard]] std::span<const AlgorithmRow> algorithm_table();
// The algorithms that an operation offers (COL 4), in the order of the table.
[[nodiscard]] std::vector<AlgorithmId> valid_algorithms(Op op);
// The row, or null where the operation does not offer the algorithm.
[[nodiscard]] const AlgorithmRow* find_algorithm(Op op, AlgorithmId algorithm);
// What `auto` tries if the user names no candidates.
[[nodiscard]] std::vector<AlgorithmId> default_candidates(const Collective& collective);

} // namespace stepsim::coll
