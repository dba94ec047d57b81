#pragma once
// The keys of a result about estimated compute times of a GPU (INP 3).
#include <array>
#include <string_view>

#include "document/fields/written.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The origin of the interval in which a measured time is expected.
inline constexpr std::array<std::string_view, 3> kEstimateLabels{"validated", "unvalidated",
                                                                 "measured_step"};

// The keys of the object `estimate`, which scenarios with estimated times have.
inline constexpr auto kEstimate = std::to_array<io::Written<Scenario>>({
    {io::rows::word("gpu", layers::gpu_words, "GPU of the estimate.").required(),
     [](const Scenario& s) -> io::Json { return s.workload_source.profile.estimate->gpu->name; }},
    {io::rows::word("dtype", layers::kPrecisions, "Number format of the matrix products.")
         .required(),
     [](const Scenario& s) -> io::Json {
       return layers::kPrecisions[s.workload_source.profile.estimate->precision];
     }},
    {io::rows::word("label", kEstimateLabels,
                    "Whether estimates of such models on such a GPU were compared with measured "
                    "steps, or whether times are scaled to a measured step.")
         .required(),
     [](const Scenario& s) -> io::Json {
       return s.workload_source.profile.estimate->measured ? kEstimateLabels[2]
              : s.workload.interval->validated             ? kEstimateLabels[0]
                                                           : kEstimateLabels[1];
     }},
    {io::rows::number("low", "Measured times are at least this many times the estimate.")
         .required(),
     [](const Scenario& s) -> io::Json { return s.workload.interval->low; }},
    {io::rows::number("high", "Measured times are at most this many times the estimate.")
         .required(),
     [](const Scenario& s) -> io::Json { return s.workload.interval->high; }},
    {io::rows::number("scale", "Factor on all times by a measured step; 1 without one.").required(),
     [](const Scenario& s) -> io::Json { return s.workload.estimate_scale; }},
});

} // namespace stepsim::study
