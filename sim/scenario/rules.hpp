#pragma once
// Checks which keys of a scenario go together. A rule says with which other settings a key has a
// meaning; with any others the key is an error, and the resolved scenario leaves it out. `stepsim
// keys --rules` prints all rules. Rules that need the whole scenario are in rules_table.cpp; the
// tables of schedules, compressions and transports list the keys of each of them.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Keys of /workload that have a meaning for a model table only. The reader of the workload checks
// this.
inline constexpr std::array<std::string_view, 14> kModelKeys{"device",
                                                             "measured",
                                                             "gpu",
                                                             "dtype",
                                                             "recompute",
                                                             "accept_estimate",
                                                             "measured_step",
                                                             "backward_factor",
                                                             "layer_overhead_s",
                                                             "sequence_length",
                                                             "value_bytes",
                                                             "attention",
                                                             "loss",
                                                             "kernels"};

// Whether `tree` has a value other than null at `pointer`.
[[nodiscard]] bool is_given(const io::Json& tree, std::string_view pointer);
// Adds a problem for every key of the file that has no meaning with the other keys, unless
// leftovers are ignored; a problem for a cluster on which a collective over nodes cannot run; and
// warnings about values without effect. Call it when the rest of the scenario has been read.
void check_meaning(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// The keys that the file gives although they have no meaning with the other keys, each once, by the
// rules of `stepsim keys --rules`.
[[nodiscard]] std::vector<MeaninglessKey> meaningless_keys(const io::Json& tree,
                                                           const Scenario& scenario);
// Removes the keys without a meaning from `tree`, a resolved scenario, by the same rules.
void drop_meaningless(const Scenario& scenario, io::Json& tree);
// Removes the key at `pointer`, if it is there.
void drop_key(io::Json& tree, std::string_view pointer);

// The conditions under which a key of a scenario has a meaning, each in words that complete "has a
// meaning where ..."; all of them must hold. Empty if the key always has a meaning.
[[nodiscard]] std::vector<std::string> conditions(std::string_view pointer);

} // namespace stepsim::study
