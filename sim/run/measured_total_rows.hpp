#pragma once
// The keys of a result about a measured step that corrects it (CON 5).
#include <array>

#include "document/fields/written.hpp"
#include "run/result.hpp"

namespace stepsim::study {

inline constexpr std::array kAtText{io::rows::text("at", "POINTER=VALUE.")};
inline constexpr auto kMeasuredTotal = std::to_array<io::Written<MeasuredTotal>>({
    {io::rows::list("at", kAtText, "What the scenario had when its step was measured.").required(),
     [](const MeasuredTotal& m) -> io::Json { return io::Array(m.at.begin(), m.at.end()); }},
    io::row<&MeasuredTotal::measured_s>("measured_s", "The measured step, s."),
    io::row<&MeasuredTotal::predicted_s>("predicted_s", "The prediction of that step, s."),
    io::row<&MeasuredTotal::step_s>(
        "iteration_time_s", "The iteration time of this scenario, corrected by the same ratio, s."),
    {io::rows::number("iteration_time_low_s",
                      "Low end of the interval that holds 80 % of real runs, s; null under ideal "
                      "conditions.")
         .nullable()
         .required(),
     io::value_of<&MeasuredTotal::low_s>},
    {io::rows::number("iteration_time_high_s", "High end of that interval, s.")
         .nullable()
         .required(),
     io::value_of<&MeasuredTotal::high_s>},
});
inline constexpr std::array kMeasuredTotalKeys = io::written_keys(kMeasuredTotal);

} // namespace stepsim::study
