#pragma once
// Where the time of a step goes, as a bar, and the first steps of a run, as a timeline.
#include <optional>

#include "engine/timeline.hpp"
#include "plot/figure.hpp"
#include "run/summary.hpp"

namespace stepsim::cli {

// The parts of the iteration time from left to right; what none of them explains is "other". Empty
// without an iteration time.
[[nodiscard]] std::optional<plot::Figure> time_bar(const study::Summary& summary);

// The lanes of the first node. Empty where it has no spans.
[[nodiscard]] std::optional<plot::Figure> timeline_figure(const engine::Timeline& timeline);

} // namespace stepsim::cli
