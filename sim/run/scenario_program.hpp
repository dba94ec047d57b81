#pragma once
// Makes the program of a scenario: the operations of one iteration of a worker, on streams
// (TRN 2, 4). The schedule plans the buckets, the evaluators of collectives time the exchanges, and
// the builder of the training algorithm puts both on streams.
//
//     workload --plan--> buckets --costs--> exchange times --builder--> program

#include <set>

#include "collectives/method.hpp"
#include "programs/live_bytes.hpp"
#include "programs/recurrence.hpp"
#include "run/bucket_cost.hpp"

namespace stepsim::study {

// One exchange of a unit: its duration, and the bytes of the rank that sends most. If every message
// is simulated, `seconds` is the duration without other traffic, `stages` are the collectives to
// send, one after the other, and the operation in the program keeps only the time that is not on
// the wire. `time` is that of the operation.
struct UnitExchange {
  double seconds{};
  programs::ExchangeTime time{};
  double bytes_sent{};
  // Of groups of ranks: the parts of `seconds` that start-ups and additions take.
  double startup_s{}, reduction_s{};
  std::vector<collectives::Collective> stages{};
};

// The unit to which the label `unit` of operations refers: a bucket (in launch order), a sharding
// unit (in forward order), or, after the buckets, what an owner of updated tensors broadcasts.
struct ProgramUnit {
  std::vector<std::uint32_t> layers{}; // from 0 in forward order, ascending
  std::vector<double> layer_bytes{};   // per element of `layers`: bytes of gradients in the unit
  Bytes bytes{};                       // bytes of all its gradients
  std::int64_t parameters{};           // sharding units: rounded up to a multiple of the shards
  // The cost of a bucket of training without sharding. With sharding, only `algorithm` is set; for
  // outer exchanges of local steps, also encode_s, decode_s, wire_s and bytes_sent.
  BucketCost cost{};
  UnitExchange exchange{}; // the all-reduce, if the bucket has one
  // The all-gather or broadcast; the reduce-scatter or reduce; the all-reduce of replicas.
  UnitExchange gather{}, reduce{}, replicate{};
  std::optional<std::uint32_t> owner{}; // of a broadcast: the rank that it comes from
};

// What a program is made for: lists, with operations of each layer; figures, with merged layers
// (with_merged_layers()) where that leaves the times of exchanges and iterations as they are; or
// the period alone, in which exchanges have no bytes and algorithms either.
enum class MadeFor { lists, figures, period };

// An operation that is the exchange of a unit, and the first unit with the same times.
using ExchangeMember = UnitExchange ProgramUnit::*;
struct TimedExchange {
  std::uint32_t operation{}, unit{};
  ExchangeMember member{};
};
// Exchanges of operations of an iteration with the same times.
struct CountedExchange {
  std::uint32_t unit{};
  ExchangeMember member{};
  double count{};
};

// Means of a run are taken over the iterations from the end of the marker of iteration `from` to
// that of iteration `to`; over the whole run if `from` is -1.
struct Window {
  std::int64_t from{}, to{};
};
// The iterations that are not discarded, each with its own exchanges: where they outlast the marker
// they lie between this one and that of the next iteration. The first iteration waits for no
// exchange of an iteration before it: where it counts, one iteration more takes its place, but in
// a pipeline, where the one iteration that there is counts as a whole (PIP 10).
[[nodiscard]] Window window_of(const Scenario& scenario, const programs::Program& made);

// The iterations that run. Those behind the window run, too, where they slow those of the window.
[[nodiscard]] std::int64_t iterations_of(const programs::Program& made, const Window& window);

struct ScenarioProgram {
  programs::Program program;        // layers of operations are numbered as in the workload
  programs::OperationLayout layout; // of the program
  std::vector<double> seconds{};    // [operation] of the program, as retimed last
  programs::EachRule each;          // of exchanges that workers enter one by one; else empty
  std::vector<ProgramUnit> units;
  buckets::Plan plan; // groups of buckets, which are the first units; empty if sharded
  // [unit]: the first one with exchanges of the same times: a bucket of as many bytes that is
  // copied to a buffer, too, or is not, either; a sharding unit of as many parameters. All units
  // behind the list have their own.
  std::vector<std::uint32_t> alike{};
  // What time_exchanges() times: those of the same times follow each other unless `each` is set,
  // when they are in the order of operations.
  std::vector<TimedExchange> timed{};
  std::vector<CountedExchange> counted{}; // of `timed`
  std::vector<programs::LiveSpan> live{}; // of sharding units
  programs::LiveChanges live_changes{};   // of `live`
  double parameters{};                    // of all sharding units
  buckets::Problem problem;               // what was planned; empty if sharded
  bool is_planned = false; // the program is still to be made: it has its problem and plan alone
  bool sharded = false;    // the units are sharding units
  bool simulated = false;  // every message is simulated
  MadeFor made_for{};
  std::vector<std::uint32_t> layer_of{};      // [layer]: the one of operations that it is in
  bool one_forward = false;                   // all forwards of a micro-batch are one operation
  std::vector<programs::MessageGate> gates{}; // of the buckets
  std::optional<bool> certified;              // optimal sharding units: whether none can be better
  collectives::Method method =
      collectives::Method::closed_form; // most detailed evaluator of the exchanges
  std::uint64_t events{};               // events that the evaluators simulated
  collectives::SentBytes sent{};        // of its exchanges, for time_exchanges()
  std::int64_t counted_ranks{};         // by which bytes_sent of units was counted
  std::set<std::string> estimates{};    // warnings that exchanges of groups are only estimated
  // Of a run, which sets them: the iterations of means, and the factors of all of them.
  Window window{};
  programs::Factors factors{};

  [[nodiscard]] std::uint32_t like(std::uint32_t unit) const {
    return unit < alike.size() ? alike[unit] : unit;
  }
};

// The member of ProgramUnit that holds the exchange of an operation; null for other operations.
[[nodiscard]] ExchangeMember exchange_member(const ScenarioProgram& made,
                                             const programs::Operation& operation);
[[nodiscard]] inline const UnitExchange* exchange_of(const ScenarioProgram& made,
                                                     const programs::Operation& operation) {
  const ExchangeMember member = exchange_member(made, operation);
  return member != nullptr
             ? &(made.units[made.like(static_cast<std::uint32_t>(operation.unit))].*member)
             : nullptr;
}
// Sets `counted` and the order of `timed`.
void count_exchanges(ScenarioProgram& made);

// A sentence that explains why the scenario cannot be written as a program file; empty if it can.
// For example, exchanges have no fixed times if every message is simulated.
[[nodiscard]] std::string why_no_program(const Scenario& scenario);

// The program of the scenario. All workers are equal; factors of variability are applied when the
// program is evaluated. If `simulated`, every message will be simulated on the network of the
// scenario. Throws SimulationError if the training algorithm has no program, and where the
// evaluator of an exchange throws it (evaluation.hpp). `out` is new, or has been planned.
[[nodiscard]] ScenarioProgram scenario_program(const Scenario& scenario, bool simulated = false,
                                               MadeFor made_for = MadeFor::lists,
                                               ScenarioProgram out = {});

// Gives the exchanges of a program the times that they have on the network of the scenario.
void time_exchanges(const Scenario& scenario, ScenarioProgram& made);

// The factors of variability of all ranks in `iterations` iterations; empty if nothing varies.
[[nodiscard]] programs::Factors
factors_of(const Scenario& scenario, const programs::Program& program, std::int64_t iterations);

// Local SGD and DiLoCo as programs (TRN 4.8, 4.9): what a round computes and sends, and how long
// its outer exchanges take.

// Makes the program whose iteration is one round, and fills units, plan, method and events of
// `out`. Every outer message is a unit: a fragment, or a layer if the key outer_gate is "layer". If
// the key inner is "sync_sgd", the buckets of an island are units, too, and come first.
[[nodiscard]] programs::Program make_rounds(const Scenario& scenario, ScenarioProgram& out);

// Times the outer exchanges of a program of make_rounds() without islands for this scenario, which
// may differ from that of the program in nodes, latency and bandwidth.
void time_rounds(const Scenario& scenario, ScenarioProgram& made);

} // namespace stepsim::study
