#pragma once
// The step time with one change to a scenario, and possible causes of a measured step that is
// longer than predicted (TRN 7.4, 8.3). A change is a list of POINTER=VALUE, as for --set. Every
// change is run separately and has exactly the time of `stepsim run --set`.

#include "study/explained.hpp"

namespace stepsim::study {

// A changed step: its time, s, and the assignments that `stepsim run --set` takes for it.
struct ChangedStep {
  double step_s{};
  std::vector<std::string> set;
  std::vector<IntervalPart> parts{}; // of its interval, where they were asked for
  bool exceeds_memory{};             // of a GPU, where they were asked for
};

// The scenario in `tree` with the assignments `set`. Keys that have no meaning beside them are
// taken out by further assignments (POINTER=null). Empty if the changed scenario is invalid, its
// run fails or it has no iteration time. In all functions here the short forms of `tree` must be
// expanded (scenario_tree.hpp), because a change below one is invalid. Empty, too, and `is_slow`
// set, if the run is estimated to take longer than 10 s.
[[nodiscard]] std::optional<ChangedStep> changed_step(const io::Json& tree,
                                                      std::vector<std::string> set, Files& files,
                                                      bool with_parts = false,
                                                      bool* is_slow = nullptr);

struct WhatIfOptions {
  std::span<const ChangeKind> kinds{}; // only these; empty: all
  // Parts of the interval of the step without changes: every gain has its range, but on
  // simulated networks. Empty: none has.
  std::span<const IntervalPart> parts{};
  bool exceeds_memory{}; // the step without changes does: else a change must not
  // Takes a sentence that names the changes that were not run because they take too long; or none.
  std::vector<std::string>* warnings{};
  // Called before every run; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
};
// Every change that is valid for the scenario and changes the step time, the largest gain first.
// `step_s` is the step time without changes.
[[nodiscard]] std::vector<WhatIf> what_if_lines(const io::Json& tree, const Scenario& scenario,
                                                double step_s, Files& files,
                                                const WhatIfOptions& options = {});

// Possible causes of a measured step of `measured_s`, the cause that explains most first; none if
// measured_s <= step_s. Causes that do not lengthen the step are left out.
[[nodiscard]] Measured measured_causes(const io::Json& tree, const Scenario& scenario,
                                       double step_s, double measured_s, Files& files);

// The largest gain first; steps that differ by rounding alone stay in their order.
void sort_by_gain(std::vector<WhatIf>& changes);

// The changes that step_changes.hpp tries, and the causes that it adds to a scenario, before
// anybody has looked whether they are valid.

struct Change {
  std::string name;
  std::vector<std::string> set;
  ChangeKind kind{};
};

// Ways to recompute that differ: only plain attention stores scores, which `selective` makes again.
[[nodiscard]] std::vector<std::string_view>
recomputations_of(const layers::ProfileOptions& profile);

// `tree`: the scenario as written, short forms expanded; `scenario`: what it says (nominal_of()).
[[nodiscard]] std::vector<Change> all_changes(const io::Json& tree, const Scenario& scenario);
// What is often missing in a scenario that predicts too short a step; under typical conditions each
// factor at the bad end of its range.
[[nodiscard]] std::vector<Change> all_causes(const Scenario& scenario);

} // namespace stepsim::study
