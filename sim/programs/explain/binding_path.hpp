#pragma once
// The binding path of a program: a chain of operations, each of which starts when the one before
// it ends, so that their seconds add up to the period (TRN 7.1). If all ranks are equal, durations
// constant and streams fifo, the path is the critical cycle, which is exact. Otherwise it is found
// in the recorded events of a run, by walking back from each operation to the one that delayed it.
//
//     compute  F1 F2 | B2 B1 ....wait....| F1      path: B2 X2 X1 F1 F2; B1 ends before X2 does,
//     reduce            =X2=====X1=======|         hence a shorter B1 changes nothing

#include "programs/explain/program_evaluation.hpp"

namespace stepsim::programs {

// One operation on the path, with its seconds summed over all visits of the path to it:
// startup_s + data_s + stretch_s. A compute operation has its own seconds in `data_s`.
struct PathStep {
  std::uint32_t operation{};
  // On a critical cycle, relative to the iteration of the first step; in a recorded run, that of
  // the last visit in time.
  std::int64_t iteration{};
  std::uint32_t rank{}; // rank of the first visit in time
  std::int64_t visits = 1;
  double startup_s{};
  double data_s{};
  double stretch_s{}; // time beyond its own seconds, by interference or shared links
  [[nodiscard]] double seconds() const { return startup_s + data_s + stretch_s; }
};

struct BindingPath {
  bool exact{};          // true for a critical cycle, false for recorded events
  double period_s{};     // seconds per iteration of the program
  double iterations = 1; // iterations that the path spans; shares are seconds / iterations
  bool other_cycles{};   // further critical cycles have other operations that take time
  // In the direction of time for a critical cycle; else one step per operation, in list order.
  std::vector<PathStep> steps{};
  double waiting_s{}; // time on the path without an operation; 0 except for rounding
};

// The critical cycle of a program for which recurrence_applies(). If there are several,
// steady_state() chooses one with the fewest operations, then the smallest first list position,
// then one along waits rather than along streams.
[[nodiscard]] BindingPath critical_cycle(const Program& program, const SteadyState& state);

// The binding path of a recorded run. `times` must come from a run with the same factors and
// Record::all; 1 <= discard < iterations. The walk begins at the last completion of the marker on
// any rank and ends at the completion after which iterations are no longer discarded. The last of
// several iterations and, in a run without factors, the last quarter are walked but not counted,
// because the walk may first have to reach the binding operations. If several operations end when
// another one starts, the walk goes to the one on the same stream, else to the first in the order
// of the waits. From an exchange it goes to the rank that entered last (the first of several).
[[nodiscard]] BindingPath binding_path(const Program& program, const OperationTimes& times,
                                       const Factors& factors, std::int64_t discard);

// Divides the period of a program into shares (TRN 7.2): the seconds per iteration of the
// operations on its binding path (binding_path.hpp) are summed by kind, by unit, by layer and by
// link. The shares of each list add up to the period. Time by which an operation takes longer than
// its own seconds is a share by itself: `interference` if compute and communication slow each
// other, `contention` if messages share a stream. `waiting` is time without an operation.

// A layer of a bucket or sharding unit, with the weights that divide the unit's operations among
// its layers: forward_s for forwards, backward_s for backwards, bytes for all other operations.
struct UnitLayer {
  std::uint32_t layer{};
  double forward_s{};
  double backward_s{};
  double bytes{};
};

// Names and parts that a program itself does not hold. If they are empty, units and layers are
// shown by number, from 0, and an operation with a unit but no layer is attributed to no layer.
// The last of exchanges whose start-ups are not known.
inline constexpr std::array<std::string_view, 3> kTransfers{"bandwidth", "bandwidth and additions",
                                                            "whole exchanges"};

struct ProgramLabels {
  std::vector<std::string> layers;                // [layer]: name
  std::vector<std::vector<UnitLayer>> unit_parts; // [unit]: its layers
  std::string unit_noun = "unit";                 // what a unit is called, such as "bucket"
  std::int32_t first_broadcast = std::numeric_limits<std::int32_t>::max(); // unit that is no bucket
  // Name of the share that exchanges take after their start-ups, one of kTransfers.
  std::string_view transfer = "bandwidth";

  // "bucket 3", "broadcast 0", "no bucket"
  [[nodiscard]] std::string unit_name(std::int32_t unit) const {
    return unit < 0                  ? "no " + unit_noun
           : unit >= first_broadcast ? "broadcast " + std::to_string(unit - first_broadcast)
                                     : unit_noun + " " + std::to_string(unit);
  }
};

struct Share {
  std::string name;
  double seconds{};
};

// Shares, the largest first, equal shares by name.
using Shares = std::vector<Share>;

struct Attribution {
  Shares by_kind;  // words of kKinds
  Shares by_unit;  // "bucket 3"; "no bucket"
  Shares by_layer; // name of the layer, or "layer 3"; "no layer"
  // "no exchange"; "start-up" and "bandwidth" for exchanges of all ranks, with the name of the
  // group in front for exchanges of one of Program::groups: "node start-up"; for "bandwidth" it may
  // be another word of kTransfers
  Shares by_link;
};

inline constexpr std::string_view kInterferenceShare = "interference";
inline constexpr std::string_view kContentionShare = "contention";
inline constexpr std::string_view kWaitingShare = "waiting";

[[nodiscard]] Attribution attribution(const Program& program, const BindingPath& path,
                                      const ProgramLabels& labels = {});

// Explains the period of a program: its binding path, the division of the period into shares, and
// the derivatives with respect to links and compute (TRN 7.1 to 7.3).

struct ExplainOptions {
  Evaluation evaluation;
  ProgramLabels labels{};
  LinkConstants links{};
  // How many operations, those with the most seconds on the path, get a derivative of their own.
  std::size_t operations = 5;
};

struct Explanation {
  Evaluator evaluator{};
  double exposed_s{};      // exposed communication: period minus that of without_exchanges()
  double interference_s{}; // period minus the period without interference
  BindingPath path;        // holds the period
  Attribution attribution;
  std::vector<Sensitivity> sensitivities;
};

// Explains a valid program. If has_critical_cycle(), path and derivatives are exact; otherwise they
// come from a recorded run, of a single rank if there are no compute factors. Throws
// SimulationError as evaluate() does with Record::all.
[[nodiscard]] Explanation explain(const Program& program, const ExplainOptions& options);

} // namespace stepsim::programs
