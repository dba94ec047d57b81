#include "scenario/rules_table.hpp"

#include <array>
#include <string>
#include <string_view>

#include "scenario/scenario_local.hpp"

namespace stepsim::study {

namespace {

bool in_rounds(const Scenario& s) { return trains_in_rounds(s.training); }
bool is_averaged(const Scenario& s) {
  return in_rounds(s) && s.training.algorithm != TrainingAlgorithm::easgd;
}
bool is_diloco(const Scenario& s) { return s.training.algorithm == TrainingAlgorithm::diloco; }
bool has_several_fragments(const Scenario& s) {
  return s.training.local.fragments > 1 || !in_rounds(s);
}
// True of everything but rounds whose steps are one operation.
bool steps_have_buckets(const Scenario& s) { return has_islands(s.training) || !in_rounds(s); }
bool is_no_island(const Scenario& s) { return !has_islands(s.training); }
bool takes_links(const Scenario& s) { return !s.training.exchange; }

std::string round_word(const Scenario& s) {
  return std::string(kTrainingAlgorithms[s.training.algorithm]);
}
std::string inner_step_word(const Scenario& s) { return round_word(s) + " with inner step"; }
std::string island_word(const Scenario&) {
  return "inner sync_sgd, whose exchanges inside and between islands differ";
}

constexpr std::string_view kInRounds = "the algorithm is local_sgd, diloco or easgd";
constexpr std::string_view kAveraged = "the algorithm is local_sgd or diloco";
constexpr std::string_view kDiloco = "the algorithm is diloco";
constexpr std::string_view kStepBuckets =
    "steps exchange buckets: the algorithm does not train in rounds, or inner is sync_sgd";

// Keys of all algorithms that train in rounds, and of those without servers.
constexpr std::array<std::string_view, 2> kRoundKeys{"/training/local_steps",
                                                     "/training/outer_value_bytes"};
constexpr std::array<std::string_view, 6> kAveragedKeys{
    "/training/fragments", "/training/overlap_steps", "/training/fragment_pattern",
    "/training/inner",     "/training/outer_gate",    "/training/outer_network"};
constexpr std::array<std::string_view, 4> kBucketKeys{
    "/communication/schedule", "/communication/next_forward", "/communication/overlap_backward",
    "/communication/plan_cost"};

constexpr std::array kRoundRules{
    KeyRule{"/training/outer_update_s", kDiloco, is_diloco, round_word},
    KeyRule{"/training/outer_compression", kDiloco, is_diloco, round_word},
    KeyRule{"/training/fragment_pattern", "fragments is above 1", has_several_fragments,
            [](const Scenario&) { return std::string("one fragment"); }},
    KeyRule{"/training/outer_network", "exchange_s is not given", takes_links,
            [](const Scenario&) { return std::string("exchanges of a given exchange_s"); }},
    KeyRule{"/training/outer_network/ranks", "inner is step", is_no_island,
            [](const Scenario&) { return std::string("inner sync_sgd: every node is an island"); }},
    KeyRule{"/training/exchange_s", "inner is not sync_sgd", is_no_island, island_word},
};

} // namespace

void add_local_rules(std::vector<KeyRule>& all) {
  for (const std::string_view pointer : kRoundKeys) {
    all.push_back({pointer, kInRounds, in_rounds, round_word});
  }
  for (const std::string_view pointer : kAveragedKeys) {
    all.push_back({pointer, kAveraged, is_averaged, round_word});
  }
  all.insert(all.end(), kRoundRules.begin(), kRoundRules.end());
  for (const std::string_view pointer : kBucketKeys) {
    all.push_back({pointer, kStepBuckets, steps_have_buckets, inner_step_word});
  }
}

} // namespace stepsim::study
