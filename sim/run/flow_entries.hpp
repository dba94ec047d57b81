#pragma once
// Reads the entries of a list of flows: single flows, and rules that generate many (PKT 7.1).
#include "base/words.hpp"
#include "document/reader.hpp"
#include "links/fabric/topology.hpp"
#include "run/flows_file.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// incast: hosts 0 .. senders - 1 send to host `senders`; permutation: every host sends to one other
// host and receives from one, drawn with the seed of the file; all_to_all: every host sends to
// every other.
enum class FlowRule { incast, permutation, all_to_all };
inline constexpr auto kFlowRules = base::words<FlowRule>({{FlowRule::incast, "incast"},
                                                          {FlowRule::permutation, "permutation"},
                                                          {FlowRule::all_to_all, "all_to_all"}});

// Reads the keys `flows` and `start_jitter_s` into `file`, whose fabric, network and seed must be
// set already. Problems are added to the context.
void parse_flow_entries(io::Fields& top, const ParseContext& context, FlowsFile& file,
                        const links::Topology& topology);

} // namespace stepsim::study
