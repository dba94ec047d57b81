#pragma once
// The builders behind `make_schedule`: they append the phases of one algorithm over given groups of
// ranks, so that two-level algorithms are made of flat ones.
#include <optional>
#include <vector>

#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {

struct PhaseList {
  std::vector<Phase>& phases; // appended to
  Layout layout;
  const Options& options;
  double bytes = 0;                  // of the range of one group
  double block_bytes = 0;            // of the pipelined algorithms
  std::optional<Partition> split{};  // in one part per rank; equal parts of `bytes` if empty
  std::optional<Partition> held{};   // growing messages, by contributions
  double offset = 0;                 // as in Phase
  double group_bytes = 0;            // as in Phase
  std::uint32_t nic_share = 0;       // as in Phase
  std::optional<Index> first_step{}; // of the next phase; after the last one if empty
};

// Phases of a flat algorithm. Throws SimulationError if the operation does not have it.
void add_flat_phases(PhaseList& list, Op op, AlgorithmId algorithm);

// hierarchical and hierarchical_leader (COL 5.9).
void add_two_level_phases(Schedule& schedule, const Collective& collective);

} // namespace stepsim::coll
