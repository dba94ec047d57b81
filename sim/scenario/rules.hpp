#pragma once
// Which keys go together: the feature matrix of a scenario. A rule says where a key has a meaning;
// elsewhere the key is an error, and the resolved scenario leaves it out. `stepsim keys --rules`
// prints the matrix. Rules that need the whole scenario stand in rules_table.cpp; keys of a
// schedule, a compression or a transport are listed in the tables of these.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Keys of a workload that count for a model table alone; checked where the workload is read.
inline constexpr std::array<std::string_view, 11> kModelKeys{
    "device",           "measured",        "gpu",           "dtype",
    "recompute",        "accept_estimate", "measured_step", "backward_factor",
    "layer_overhead_s", "sequence_length", "value_bytes"};

// Whether the file has a value there, null excepted.
[[nodiscard]] bool is_given(const io::Json& tree, std::string_view pointer);
// Adds a problem for every key of the file that has no meaning with the other keys, unless
// leftovers are ignored; a problem for a cluster on which a collective over nodes cannot run; and
// warnings about values without effect. Call it when the rest of the scenario has been read.
void check_meaning(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// A key that the file gives although it has no meaning with the other keys, and the reason:
// "collective has no meaning for parameter_server".
struct MeaninglessKey {
  std::string pointer;
  std::string reason;
};
// Each key once, by the rules of `stepsim keys --rules`.
[[nodiscard]] std::vector<MeaninglessKey> meaningless_keys(const io::Json& tree,
                                                           const Scenario& scenario);
// Takes keys without a meaning out of a resolved scenario, by the same rules.
void drop_meaningless(const Scenario& scenario, io::Json& tree);

// Where a key of a scenario has a meaning, in words that complete "where ..."; all of them hold.
// Empty: everywhere.
[[nodiscard]] std::vector<std::string> conditions(std::string_view pointer);

} // namespace stepsim::study
