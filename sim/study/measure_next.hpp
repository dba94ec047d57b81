#pragma once
// What to measure next (CON 5): by how much one measured step would narrow the interval of a
// prediction under typical conditions, by the linear posterior of its factors.

#include "run/summary.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct MeasureNext {
  std::string what;             // "one step on 2 machines"
  std::vector<std::string> set; // --set values of the run to measure; empty: the scenario as it is
  double low_s{}, high_s{};     // interval of the asked step afterwards
};

// `tree`: the scenario as written, with its short forms expanded; `asked`: its run. The candidates
// are a run on two machines, the run itself and, where computing times are estimated, a run of the
// shipped model with most bytes per computing; the one that narrows most comes first. Empty under
// ideal conditions.
[[nodiscard]] std::vector<MeasureNext> measure_next(const io::Json& tree, const Scenario& scenario,
                                                    const Summary& asked, Files& files);

} // namespace stepsim::study
