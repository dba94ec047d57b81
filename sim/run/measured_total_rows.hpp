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
    {io::rows::number("measured_s", "The measured step, s.").required(),
     [](const MeasuredTotal& m) -> io::Json { return m.measured_s; }},
    {io::rows::number("predicted_s", "The prediction of that step, s.").required(),
     [](const MeasuredTotal& m) -> io::Json { return m.predicted_s; }},
    {io::rows::number("iteration_time_s",
                      "The iteration time of this scenario, corrected by the same ratio, s.")
         .required(),
     [](const MeasuredTotal& m) -> io::Json { return m.step_s; }},
    {io::rows::number("iteration_time_low_s",
                      "Low end of the interval that holds 80 % of real runs, s; null under ideal "
                      "conditions.")
         .nullable()
         .required(),
     [](const MeasuredTotal& m) { return io::or_null(m.low_s); }},
    {io::rows::number("iteration_time_high_s", "High end of that interval, s.")
         .nullable()
         .required(),
     [](const MeasuredTotal& m) { return io::or_null(m.high_s); }},
});
inline constexpr std::array kMeasuredTotalKeys = io::written_keys(kMeasuredTotal);

} // namespace stepsim::study
