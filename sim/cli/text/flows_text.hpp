#pragma once
// A list of flows as `stepsim flows` shows it to people: summary, flows, links.
#include <string>

#include "flows/flows_run.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string flows_text(const study::FlowsFile& file,
                                     const study::FlowsResult& result);

} // namespace stepsim::cli
