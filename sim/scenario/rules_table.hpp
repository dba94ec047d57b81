#pragma once
// The rules about which keys of a scenario go together, checked when all of it has been read.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"

namespace stepsim::study {

struct KeyRule {
  std::string_view pointer;
  std::string_view when; // completes "has a meaning where ..."
  bool (*meaningful)(const Scenario&);
  std::string (*where)(const Scenario&); // completes "has no meaning for ..."
};

// A pointer may have several rules: the key has an effect only if all of them hold.
[[nodiscard]] std::vector<KeyRule> key_rules();

// Rules of the keys for training in rounds of several steps (TRN 8.1, 8.4).
void add_local_rules(std::vector<KeyRule>& all);

// Rules of the keys for nodes with several GPUs and network cards, and for switches that add.
[[nodiscard]] std::span<const KeyRule> node_rules();

// Rules of the keys for parameter servers (PIP 2, TRN 4.7).
void add_server_rules(std::vector<KeyRule>& all);

// Rules of the keys for micro-batches and sharding.
void add_sharding_rules(std::vector<KeyRule>& all);

// Rules of the keys that give the layer times of a model table.
void add_workload_rules(std::vector<KeyRule>& all);

// Functions that the rules of several objects use: what training a scenario has, and its name.
[[nodiscard]] inline bool is_sync(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::sync_sgd;
}
[[nodiscard]] inline std::string training_word(const Scenario& scenario) {
  return std::string(kTrainingAlgorithms[scenario.training.algorithm]);
}

} // namespace stepsim::study
