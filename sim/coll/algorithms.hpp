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

// Which candidates `auto` takes by itself: all with `always`, on two-level clusters also
// `two_level`; `never` only by name.
enum class Candidate { always, two_level, never };

struct AlgorithmRow {
  Op op;
  AlgorithmId algorithm;
  Candidate candidate;
  ClosedFormFunction exact; // of the schedule
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
  // The message is cut into so many equal parts. Null: it is sent whole, or in blocks, of which
  // formulas know the short last one.
  double (*parts)(Op op, std::uint32_t ranks);
  // Appends the phases of an operation; null: no list of flat phases.
  bool (*phases)(FlatPhases& phases, Op op);
  Interfaces interfaces = Interfaces::shared;
  int block_streams = 0;         // pipelined: so many streams of blocks, each of its part; 0 = none
  double formula_s_per_rank = 0; // what its closed form takes to evaluate, for estimates of work
  bool needs_even_ranks = false;
  bool two_level = false; // its formulas know both levels
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
// One rank alone fits every algorithm.
[[nodiscard]] bool takes_ranks(AlgorithmId id, std::uint32_t ranks);
// The words of all algorithms, "auto" the last.
[[nodiscard]] std::vector<std::string_view> algorithm_names();
// The names of the algorithms that send in blocks.
[[nodiscard]] std::vector<std::string_view> block_algorithms();
// All nodes must have as many ranks: the algorithm needs it, or for `auto` all of the operation's.
[[nodiscard]] bool needs_equal_nodes(const Collective& collective);
// It is a list of transfers in program order (make_schedule); not the parameter server, whose order
// follows from arrivals, and not sums in switches, which are formulas.
[[nodiscard]] bool has_transfers(AlgorithmId id);
// It knows two levels: ranks inside nodes, and nodes.
[[nodiscard]] bool is_two_level(AlgorithmId id);
// It has a flat algorithm for each of two levels (COL 5.9).
[[nodiscard]] bool has_level_algorithms(AlgorithmId id);
// The message, or that of one of its levels, is sent in blocks.
[[nodiscard]] bool sends_blocks(AlgorithmId id, const Options& options);

[[nodiscard]] std::span<const AlgorithmRow> algorithm_table();
// The algorithms that an operation offers (COL 4), in the order of the table.
[[nodiscard]] std::vector<AlgorithmId> valid_algorithms(Op op);
// The row, or null where the operation does not offer the algorithm.
[[nodiscard]] const AlgorithmRow* find_algorithm(Op op, AlgorithmId algorithm);
// What `auto` tries if the user names no candidates.
[[nodiscard]] std::vector<AlgorithmId> default_candidates(const Collective& collective);

} // namespace stepsim::coll
