#pragma once
// Figures of a run: the parts of a step as a bar, and the first steps as a timeline.
#include <optional>

#include "events/timeline.hpp"
#include "plot/figure.hpp"
#include "run/summary.hpp"

namespace stepsim::cli {

// The parts of the iteration time from left to right; the rest is "other". Empty if there is no
// iteration time.
[[nodiscard]] std::optional<plot::Figure> time_bar(const study::Summary& summary);

// The first eight lanes of node 0. Empty if they have no spans.
[[nodiscard]] std::optional<plot::Figure> timeline_figure(const events::Timeline& timeline);

} // namespace stepsim::cli
