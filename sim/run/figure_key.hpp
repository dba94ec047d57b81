#pragma once
// The keys of figures by their members, where a record is read or written elsewhere.

#include "run/summary_fields.hpp"

namespace stepsim::study {

// The key that the row of the figure has: figure_key(&Summary::period_s).
template <class Member> [[nodiscard]] constexpr std::string_view figure_key(Member member) {
  return std::ranges::find_if(kSummaryFields,
                              [&](const SummaryField& field) {
                                return std::holds_alternative<Member>(field.value) &&
                                       std::get<Member>(field.value) == member;
                              })
      ->key;
}

inline constexpr std::string_view kIterationTime = figure_key(&Summary::iteration_time_s);

} // namespace stepsim::study
