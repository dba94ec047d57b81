// The same rows give the flat record of a sweep and the grouped summary of a run, so that a figure
// cannot be in one and missing in the other.
#include "run/summary.hpp"

#include "run/bucket_cost.hpp"
#include "run/summary_keys.hpp"

namespace stepsim::study {

namespace {

// What a figure is in JSON, one function per kind.
struct FigureJson {
  const Summary& summary;
  io::Json operator()(SummaryNumber number) const { return io::or_null(summary.*number); }
  io::Json operator()(SummaryFlag flag) const { return io::or_null(summary.*flag); }
  io::Json operator()(SummaryWord word) const {
    return (summary.*word).empty() ? io::Json() : io::Json(summary.*word);
  }
  io::Json operator()(SummaryCounts counts) const {
    return io::Array((summary.*counts).begin(), (summary.*counts).end());
  }
  io::Json operator()(SummaryParts parts) const {
    return io::write_all(kIntervalPart, summary.*parts);
  }
};

} // namespace

std::optional<base::Band> band_of(const Summary& summary) {
  return summary.interval_level
             ? std::optional(base::Band{.low = summary.iteration_time_low_s.value(),
                                        .high = summary.iteration_time_high_s.value(),
                                        .level = *summary.interval_level})
             : std::nullopt;
}

io::Json figure_json(const Summary& summary, const SummaryField& field) {
  return std::visit(FigureJson{summary}, field.value);
}

io::Object flat_summary(const Summary& summary) {
  io::Object flat;
  flat.reserve(kSummaryFields.size());
  for (const SummaryField& field : kSummaryFields) {
    flat.emplace_back(field.key, figure_json(summary, field));
  }
  return flat;
}

io::Json summary_tree(const Summary& summary) {
  io::Json tree{io::Object{}};
  std::array<io::Json, kSummaryGroups.size()> groups;
  for (const SummaryField& field : kSummaryFields) {
    const auto* const group = std::ranges::find(kSummaryGroups, field.group);
    io::Json& place = group == kSummaryGroups.end()
                          ? tree
                          : groups[static_cast<std::size_t>(group - kSummaryGroups.begin())];
    place.set(field.name_in_group(), figure_json(summary, field));
  }
  // Groups are always there, even if all their figures are null: readers need no test.
  for (std::size_t i = 0; i < groups.size(); ++i) {
    tree.set(kSummaryGroups[i], std::move(groups[i]));
  }
  return tree;
}

} // namespace stepsim::study
