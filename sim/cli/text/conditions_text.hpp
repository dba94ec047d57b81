#pragma once
// The conditions of a run, and what its interval consists of, in words.
#include <string>
#include <string_view>

#include "run/result.hpp"

namespace stepsim::cli {

// What the run takes real training to lose: "typical: a message costs 1.040 ms more, ..".
[[nodiscard]] std::string conditions_text(const study::Scenario& scenario);
// "one step of 412.0 ms with /cluster/nodes=4, predicted 389.1 ms: 431.2 ms (401.2 to 462.0, 80 %)
// here"
[[nodiscard]] std::string measured_text(const study::MeasuredTotal& total);
// "c_cloud (rate of TCP between rented machines, bytes/s)"; `factor`: the name of a part of an
// interval.
[[nodiscard]] std::string part_text(std::string_view factor);
// What most of the interval of the iteration time comes from, and what narrows it: "c_cloud (..);
// measure one step on 2 machines". The summary has an interval; `to_measure` may be "".
[[nodiscard]] std::string interval_text(const study::Summary& summary, std::string_view to_measure);
// "estimated for h100 in bf16: 812 to 1270 ms"; the workload is estimated for a GPU.
[[nodiscard]] std::string estimate_text(const study::Scenario& scenario,
                                        const study::Summary& summary);

} // namespace stepsim::cli
