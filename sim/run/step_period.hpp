#pragma once
// The period of a plain step without its program: dense synchronous training of equal workers,
// whose buckets follow each other on one channel and slow the computing beside them, and whose next
// forward waits for all of them. With the backward of layers merged as in with_merged_layers(),
//
//     period = end of: update, forward, backward, and each bucket behind its gate (IdlePass)
//
// which has the bits of the period of the program that scenario_program() makes.

#include <map>

#include "buckets/planners.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// What is kept of the steps of scenarios that differ as ProgramMemory says.
struct StepMemory {
  struct Groups {
    buckets::Plan plan{};
    std::vector<std::uint32_t> alike{}; // of a plan that is kept, else empty: alike()
    bool in_line = false; // kept: groups wait for their gradients and for those before them alone
    bool laid = false;    // what follows is that of the plan
    std::vector<double> backward_s{};           // of merged layers
    std::vector<programs::MessageGate> gates{}; // [group]; the layer is a merged one
    std::vector<double> ends_s{}, lasts_s{};    // working memory: [merged layer], [group]
  };
  std::vector<double> computing{}; // the conditions of what follows
  buckets::Problem problem{};      // without items: not made yet
  std::vector<Seconds> ends{};     // [layer]: of its backward
  double forward_s{};              // of all layers
  bool has_empty = false;          // a gradient without bytes
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
  // The period with the buckets of a schedule, or some number that is not below `limit` where it is
  // not below either; empty if the step is not plain.
  [[nodiscard]] std::optional<double>
  operator()(buckets::Schedule merge, double limit = std::numeric_limits<double>::infinity());

private:
  [[nodiscard]] double least(const buckets::Plan& plan) const;
  [[nodiscard]] bool is_best() const;
  void plan(buckets::Schedule merge, StepMemory::Groups& groups) const;
  [[nodiscard]] bool lay(StepMemory::Groups& groups) const;
  [[nodiscard]] double seconds(const StepMemory::Groups& groups, std::size_t group);

  const Scenario& scenario_;
  StepMemory& memory_;
  const ScenarioProgram* timed_;
  std::optional<BucketCosts> costs_;      // where nothing is timed yet
  std::optional<collectives::Line> line_; // of an exchange
  double least_of_all_ = 0;               // no merge into messages of neighbours ends before
};

} // namespace stepsim::study
