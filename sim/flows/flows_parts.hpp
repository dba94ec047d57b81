#pragma once
// The parts of lists of flows. Internal to study.
#include <vector>

#include "flows/flows.hpp"
#include "net/flow/flow_path.hpp"
#include "scenario/parse_context.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

inline constexpr std::int64_t kMostFlows = 10'000'000;

// `flows` and `start_jitter_s`; the fabric, the network and the seed are known.
void parse_flow_entries(io::Fields& top, const ParseContext& context, FlowsFile& file,
                        const net::Topology& topology);

// The way of every flow: its own, or sprayed, or that of its connection.
[[nodiscard]] std::vector<net::FlowPath> flow_list_paths(const FlowsFile& file);

} // namespace stepsim::study
