#pragma once
// A list of flows as `stepsim flows` shows it to people: summary, flows, links.
#include <string>

#include "flows/flows_run.hpp"

namespace stepsim::cli {

// Completion times (fct) in milliseconds from the start of a flow to its last byte, starts from
// time 0 of the simulation, loss and utilization in percent. Of long lists the 20 slowest flows and
// the 8 most used links; JSON has all of them.
[[nodiscard]] std::string flows_text(const study::FlowsFile& file,
                                     const study::FlowsResult& result);

} // namespace stepsim::cli
