#pragma once
// The rows of changes and of measurements to make, in the documents that have them.

#include "document/fields/written.hpp"
#include "study/explained.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study {

// The key that a change sets, and its value; empty for a change of a program and where a run needs
// several values. Further keys that lose their meaning do not count: `run --set` drops them.
[[nodiscard]] inline std::optional<std::pair<std::string, io::Json>>
only_set(const std::vector<std::string>& set) {
  const bool one = !set.empty() && std::all_of(set.begin() + 1, set.end(), [](const auto& text) {
    return text.ends_with("=null");
  });
  return one ? std::optional(parse_set(set.front())) : std::nullopt;
}

// The row of the member `set`.
template <class Source>
[[nodiscard]] constexpr io::Written<Source> set_row(std::string_view sentence) {
  return io::texts_row<&Source::set, "POINTER=VALUE, as --set takes it.">(sentence);
}

inline constexpr auto kWhatIf = std::to_array<io::Written<WhatIf>>({
    io::row<&WhatIf::change>("What changes."),
    io::row("pointer", "JSON pointer of the key that changes; null if several do or none.",
            [](const WhatIf& each) {
              const auto only = only_set(each.set);
              return only ? std::optional(only->first) : std::nullopt;
            }),
    io::row("value", "Its value; null without a pointer.",
            [](const WhatIf& each) {
              auto only = only_set(each.set);
              return only ? std::move(only->second) : io::Json();
            }),
    set_row<WhatIf>("Flags --set of a run with the change; empty for a program."),
    io::row<&WhatIf::step_s>("iteration_time_s", "Time of a step with the change, s."),
    io::row<&WhatIf::gain>("1 - new / old."),
    {io::rows::number(
         "gain_low",
         "Low end of what the gain is at 80 % of all sites; left out where it was not asked for."),
     [](const WhatIf& each) {
       return each.gain_range ? io::Json(each.gain_range->first) : io::Json();
     }},
    {io::rows::number("gain_high", "High end of that range."),
     [](const WhatIf& each) {
       return each.gain_range ? io::Json(each.gain_range->second) : io::Json();
     }},
});
inline constexpr auto kNext = std::to_array<io::Written<MeasureNext>>({
    io::row<&MeasureNext::what>("What to measure."),
    set_row<MeasureNext>("Flags --set of the run to measure; empty: the scenario as it is."),
    io::row<&MeasureNext::low_s>("Low end of the interval of the step that would be left, s."),
    io::row<&MeasureNext::high_s>("High end of that interval, s."),
});
inline constexpr std::array kNextObject{
    io::rows::object("measure_next", io::kKeysOf<kNext>, "One measurement.")};

} // namespace stepsim::study
