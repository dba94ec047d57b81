#pragma once
// The keys of a run's figures, made of the rows of their table: flat in records of sweeps, below
// the groups in the summary of a result.
#include <algorithm>

#include "document/fields/written.hpp"
#include "run/summary_fields.hpp"

namespace stepsim::study {

// A part of the interval (CON 4).
inline constexpr auto kIntervalPart = std::to_array<io::Written<IntervalPart>>({
    io::row<&IntervalPart::at_high>(
        "Logarithm of the iteration time with the factor one standard deviation "
        "above its value, over that with its value.")
        .example("0.21"),
    io::row<&IntervalPart::at_low>("The same one standard deviation below.").example("-0.08"),
    io::row<&IntervalPart::factor>(
        "Name of the factor; estimate is that of computing for a GPU, library the "
        "model of a library, ring_Bps and nic_Bps are rates of its node type, rest what differs "
        "between runs whose factors are known.")
        .example(R"("c_cloud")"),
    io::row<&IntervalPart::share>("Its share of the squared width above the iteration time.")
        .example("0.7"),
});
inline constexpr std::array kOneIntervalPart{
    io::rows::object("interval_parts", io::kKeysOf<kIntervalPart>, "One of them.")};

inline constexpr std::array<std::string_view, 3> kSummaryGroups{"merge", "fct", "memory_parts"};
inline constexpr std::array<std::string_view, 3> kSummaryGroupSentences{
    "The schedule next to the best merge of its gradients.",
    "Completion times of messages on a simulated network.",
    "What memory_bytes consists of, bytes."};

inline constexpr std::array kCount{
    io::rows::integer("staleness_histogram", "Gradients of one staleness.")};

constexpr io::Key key_of(const SummaryField& field, std::string_view name) {
  switch (field.value.index()) {
  case 0:
    return io::rows::number(name, field.sentence).plain().nullable();
  case 1:
    return io::rows::boolean(name, field.sentence).nullable();
  case 2:
    return io::rows::text(name, field.sentence).nullable();
  case 3:
    return io::rows::list(name, kCount, field.sentence);
  default:
    return io::rows::list(name, kOneIntervalPart, field.sentence);
  }
}

inline constexpr auto kFlatSummaryKeys = [] {
  std::array<io::Key, kSummaryFields.size()> keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = key_of(kSummaryFields[i], kSummaryFields[i].key);
  }
  return keys;
}();

[[nodiscard]] constexpr std::size_t fields_in(std::string_view group) {
  return static_cast<std::size_t>(std::ranges::count(kSummaryFields, group, &SummaryField::group));
}

template <std::size_t N> constexpr std::array<io::Key, N> keys_in(std::string_view group) {
  std::array<io::Key, N> keys;
  std::size_t used = 0;
  for (const SummaryField& field : kSummaryFields) {
    if (field.group == group) {
      keys[used++] = key_of(field, field.name_in_group());
    }
  }
  return keys;
}

inline constexpr auto kMergeKeys = keys_in<fields_in(kSummaryGroups[0])>(kSummaryGroups[0]);
inline constexpr auto kFctKeys = keys_in<fields_in(kSummaryGroups[1])>(kSummaryGroups[1]);
inline constexpr auto kMemoryKeys = keys_in<fields_in(kSummaryGroups[2])>(kSummaryGroups[2]);
inline constexpr auto kSummaryKeys = [] {
  constexpr std::size_t kPlain = fields_in("");
  std::array<io::Key, kPlain + kSummaryGroups.size()> keys;
  std::ranges::copy(keys_in<kPlain>(""), keys.begin());
  keys[kPlain] = io::rows::object(kSummaryGroups[0], kMergeKeys, kSummaryGroupSentences[0]);
  keys[kPlain + 1] = io::rows::object(kSummaryGroups[1], kFctKeys, kSummaryGroupSentences[1]);
  keys[kPlain + 2] = io::rows::object(kSummaryGroups[2], kMemoryKeys, kSummaryGroupSentences[2]);
  return keys;
}();

} // namespace stepsim::study
