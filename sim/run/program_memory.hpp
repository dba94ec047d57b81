#pragma once
// What is kept from one run of a program to the next, of scenarios that differ in nodes, in latency
// and bandwidth of their network, in what conditions make of these, and in the seed: the points of
// a sweep.

#include "run/evaluated_program.hpp"
#include "run/memory_figures.hpp"
#include "run/verdict.hpp"

#include <map>

namespace stepsim::study {

// The period of a plain step without its program: dense synchronous training of equal workers,
// whose buckets follow each other on one channel and may slow the computing beside them, and whose
// next forward waits for all of them. With the backward of layers merged as in
// with_merged_layers(),
//
//     period = end of: update, forward, backward, and each bucket behind its gate (IdlePass)
//
// which has the bits of the period of the program that scenario_program() makes.

// What is kept of the steps of scenarios that differ as ProgramMemory says.
struct StepMemory {
  struct Groups {
    buckets::Plan plan{};
    std::vector<std::uint32_t> alike{}; // of a plan that is kept, else empty: alike()
    bool planned = false;               // by the present times of computing and costs
    bool in_line = false;   // kept: groups wait for their gradients and for those before them alone
    bool laid = false;      // what follows is that of the plan
    std::size_t merged = 0; // layers after merging, each with its backward_s
    std::vector<double> backward_s{};           // of merged layers
    std::vector<programs::MessageGate> gates{}; // [group]; the layer is a merged one
    std::vector<double> ends_s{}, lasts_s{};    // working memory: [merged layer], [group]
  };
  std::vector<double> computing{}; // the conditions of what follows
  buckets::Problem problem{};      // without items: not made yet
  std::vector<Seconds> ends{};     // [layer]: of its backward
  double forward_s{};              // of all layers
  bool has_empty = false;          // a gradient without bytes
  bool has_types = false;          // gradients of several element types
  std::map<buckets::Schedule, Groups> groups{};
};

class StepPeriod {
public:
  // Whether the step of a scenario is plain, if all gradients have bytes, the last bucket has one
  // of the first layer, and those of a layer are in buckets that follow each other.
  [[nodiscard]] static bool is_for(const Scenario& scenario);
  // All must outlive the object. `timed`, if not null, has the buckets of a planner that reads no
  // cost, whose exchanges take as long. Throws as check_range() does.
  StepPeriod(const Scenario& scenario, StepMemory& memory, const ScenarioProgram* timed = nullptr);
  // The period with the buckets of a schedule but for rounding; infinity where no merge is faster
  // than the one with the period `limit`, 0 where every message has to be timed, and empty if the
  // step is not plain.
  [[nodiscard]] std::optional<double> estimate(buckets::Schedule merge, double limit);
  // The period with the buckets of a schedule, or some number that is not below `limit` where it is
  // not below either; empty if the step is not plain.
  [[nodiscard]] std::optional<double>
  operator()(buckets::Schedule merge, double limit = std::numeric_limits<double>::infinity());

private:
  [[nodiscard]] double estimate(const buckets::Plan& plan, double slowdown, double limit) const;
  [[nodiscard]] bool begins_behind_all(const buckets::Plan& plan) const;
  [[nodiscard]] bool is_best() const;
  void plan(buckets::Schedule merge, StepMemory::Groups& groups) const;
  [[nodiscard]] bool lay(StepMemory::Groups& groups) const;
  [[nodiscard]] double seconds(const StepMemory::Groups& groups, std::size_t group);

  const Scenario& scenario_;
  StepMemory& memory_;
  const ScenarioProgram* timed_;
  std::optional<BucketCosts> costs_;      // where nothing is timed yet
  std::optional<collectives::Line> line_; // of an exchange
  double startup_s_ = 0;                  // of an exchange, as line_startups() has it
  double least_of_all_ = 0;               // no merge into messages of neighbours ends before
};

struct ProgramMemory {
  std::optional<ScenarioProgram> made; // every run retimes its exchanges
  // Conditions of the scenario of `made`.
  std::vector<double> links{}, computing{};
  // Of `made`, and where workers vary of its ranks and of this seed. Empty: not computed yet.
  std::uint64_t seed{};
  std::optional<AloneTimes> alone;
  std::optional<WorkSums> sums{};               // of the scenario
  std::optional<double> single_s;               // a step of one worker alone
  std::optional<MemoryParts> parts{};           // bytes of a worker
  std::optional<std::vector<double>> compute_s; // of each worker where they vary
  StepMemory own_step{};                        // of runs without a program
  // The memory of another run that computes as fast and outlives this one; null for the own one.
  StepMemory* other_step = nullptr;
  [[nodiscard]] StepMemory& step() { return other_step != nullptr ? *other_step : own_step; }
  std::vector<ProgramMemory> merges{}; // of the runs of fastest_merge()
  // Of the runs that a compressed one is compared with.
  std::vector<ProgramMemory> dense{};
  std::optional<Scenario> dense_scenario{};
  // Of a scenario whose starts and transfers hide each other: of its run without starts, and of the
  // one without transfers.
  std::vector<ProgramMemory> hidden{};
  // [2 x part + side]: the runs that give the interval of a result under typical conditions. Each
  // has a memory of its own, because what is moved may change more than times.
  std::vector<ProgramMemory> moved{};
  std::optional<Scenario> own_scenario{}; // of one of `moved`; empty before its first run
};

} // namespace stepsim::study
