#include "scenario/rules_table.hpp"

#include <array>
#include <string>

#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

bool trains_with_servers(const Scenario& s) {
  return s.training.algorithm == TrainingAlgorithm::parameter_server;
}
std::string server_model_word(const Scenario& s) {
  return "network model " + std::string(kNetworkModels[s.cluster.network.model]);
}

constexpr std::array kServerRules{
    KeyRule{"/training/optimizer", "workers hold its state",
            [](const Scenario& s) {
              return !trains_with_servers(s) ||
                     s.communication.options.placement != collectives::Placement::dedicated;
            },
            [](const Scenario&) { return std::string("dedicated servers, which hold its state"); }},
    KeyRule{"/training/server_mode", "the mode is async or ssp",
            [](const Scenario& s) { return !trains_with_servers(s) || s.training.async(); },
            [](const Scenario&) { return std::string("mode sync"); }},
    KeyRule{"/training/staleness_bound", "the mode is ssp",
            [](const Scenario& s) {
              return !trains_with_servers(s) || s.training.mode == ServerMode::ssp;
            },
            [](const Scenario& s) { return "mode " + std::string(kServerModes[s.training.mode]); }},
    KeyRule{"/training/server_split",
            "the parts are even, or the network is simulated", // alpha_beta has even parts
            [](const Scenario& s) { return !s.training.whole_split || is_simulated(s); },
            [](const Scenario& s) { return server_model_word(s) + ", whose parts are even"; }},
    KeyRule{"/training/server_split", "the parts are even, or there are several servers",
            [](const Scenario& s) {
              return !s.training.whole_split || s.communication.options.servers > 1;
            },
            [](const Scenario&) { return std::string("one server"); }},
};

} // namespace

void add_server_rules(std::vector<KeyRule>& all) {
  all.insert(all.end(), kServerRules.begin(), kServerRules.end());
}

} // namespace stepsim::study
