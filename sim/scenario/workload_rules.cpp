#include "scenario/rules_table.hpp"

#include <array>
#include <string>
#include <string_view>

namespace stepsim::study {

namespace {

bool has_measured_times(const Scenario& s) {
  return s.workload_source.profile.measured.has_value();
}
bool has_gpu_times(const Scenario& s) { return s.workload_source.profile.estimate.has_value(); }
std::string measured_word(const Scenario&) { return "measured times"; }
std::string gpu_word(const Scenario&) { return "times of a gpu"; }
std::string other_word(const Scenario&) { return "a workload without a gpu"; }

constexpr std::array kWorkloadRules{
    KeyRule{"/workload/layer_overhead_s", "the times are not measured",
            [](const Scenario& s) { return !has_measured_times(s); }, measured_word},
    KeyRule{"/workload/layer_overhead_s", "no gpu is given",
            [](const Scenario& s) { return !has_gpu_times(s); }, gpu_word},
    KeyRule{"/workload/backward_factor", "no measured forward_s and backward_s are given",
            [](const Scenario& s) {
              return !has_measured_times(s) || s.workload_source.measured_compute;
            },
            [](const Scenario&) { return std::string("measured forward_s and backward_s"); }},
    KeyRule{"/workload/backward_factor", "no gpu is given",
            [](const Scenario& s) { return !has_gpu_times(s); }, gpu_word},
};
// Of the estimate.
constexpr std::array<std::string_view, 4> kGpuKeys{"/workload/dtype", "/workload/recompute",
                                                   "/workload/accept_estimate",
                                                   "/workload/measured_step"};

} // namespace

void add_workload_rules(std::vector<KeyRule>& all) {
  all.insert(all.end(), kWorkloadRules.begin(), kWorkloadRules.end());
  for (const std::string_view pointer : kGpuKeys) {
    all.push_back({pointer, "a gpu is given", has_gpu_times, other_word});
  }
}

} // namespace stepsim::study
