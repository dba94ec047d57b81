#pragma once
// The output of `stepsim flows` for the terminal: summary, flows and links.
#include <string>

#include "run/flows_run.hpp"

namespace stepsim::cli {

// Completion times (fct) are in ms, from the start of a flow to its last byte; starts are from time
// 0 of the simulation; loss and utilization are in percent. Long lists show only the 20 slowest
// flows and the 8 most used links; JSON has all of them.
[[nodiscard]] std::string flows_text(const study::FlowsFile& file,
                                     const study::FlowsResult& result);

} // namespace stepsim::cli
