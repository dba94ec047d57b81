#pragma once
// Checks which keys of a scenario go together. A rule says with which other settings a key has a
// meaning; with any others the key is an error, and the resolved scenario leaves it out. `stepsim
// keys --rules` prints all rules. Rules that need the whole scenario are in rules_table.cpp; the
// tables of schedules, compressions and transports list the keys of each of them.

#include "scenario/scenario_exchange.hpp"

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

// The rules about which keys of a scenario go together, checked when all of it has been read.

struct KeyRule {
  std::string_view pointer; // in tables several, with blanks between them
  std::string_view when;    // completes "has a meaning where ..."
  bool (*meaningful)(const Scenario&);
  // Completes "has no meaning for ...", in one text or for the scenario at hand; or, of a key that
  // one algorithm alone has, is the word of that algorithm.
  std::variant<const char*, std::string (*)(const Scenario&)> obstacle;
  bool of_one_algorithm = false;

  [[nodiscard]] std::string where(const Scenario& scenario) const {
    const auto* text = std::get_if<const char*>(&obstacle);
    return text != nullptr ? *text : std::get<1>(obstacle)(scenario);
  }
};

// A pointer may have several rules: the key has an effect only if all of them hold.
[[nodiscard]] const std::vector<KeyRule>& key_rules();

// The rules of the keys for training in rounds of several steps (TRN 8.1, 8.4), for nodes with
// several GPUs and network cards and switches that add, for parameter servers (PIP 2, TRN 4.7), for
// micro-batches and sharding, and of the keys that give the layer times of a model table; and those
// of packets and transports (PKT 3.8).
[[nodiscard]] std::span<const KeyRule> object_rules();
[[nodiscard]] std::span<const KeyRule> packet_rules();

// Functions that the rules of several objects use: what training a scenario has, and its name.
[[nodiscard]] inline bool is_sync(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::sync_sgd;
}
[[nodiscard]] inline std::string training_word(const Scenario& scenario) {
  return std::string(kTrainingAlgorithms[scenario.training.algorithm]);
}
[[nodiscard]] inline std::string model_word(const Scenario& scenario) {
  return "network model " + std::string(kNetworkModels[scenario.cluster.network.model]);
}
// In the word of the file, which calls a measured curve calibrated.
[[nodiscard]] inline std::string asked_collective(const Scenario& scenario) {
  return "collective " + std::string(collective_word(scenario.communication));
}

} // namespace stepsim::study
