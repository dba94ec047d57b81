// Which runs have a number is a list here, because the summary itself only knows that a number is
// null.
#include "study/solve.hpp"

namespace stepsim::study {

const SummaryField& require_metric(std::string_view flag, std::string_view metric) {
  std::vector<std::string_view> known;
  for (const SummaryField& field : kSummaryFields) {
    if (field.is_number() && field.key == metric) {
      return field;
    }
    if (field.is_number()) {
      known.push_back(field.key);
    }
  }
  std::ranges::sort(known);
  throw UsageError(std::string(flag) + ": " + base::unknown_word("metric", metric, known));
}

void throw_absent_metric(std::string_view flag, const std::string& metric) {
  const SummaryRuns needs = std::ranges::find(kSummaryFields, metric, &SummaryField::key)->only_in;
  if (needs.runs.empty()) {
    throw SimulationError("no point has " + metric);
  }
  throw UsageError(std::string(flag) + " " + metric + ": only " + std::string(needs.runs) +
                   " has " + metric + "; add --set " + std::string(needs.setting));
}

Target parse_target(std::string_view text) {
  const std::string shown = base::shown_value(text, 80);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError("--target " + shown + ": must be METRIC=VALUE, e.g. scaling_efficiency=0.9");
  }
  const char side = text[equals - 1];
  const bool says_side = side == '<' || side == '>';
  std::string metric(text.substr(0, equals - (says_side ? 1 : 0)));
  require_metric("--target", metric);
  const auto kind = metric == "samples_per_s" ? std::nullopt : base::kind_of_key(metric);
  const auto value = base::parse_quantity(
      text.substr(equals + 1), kind.value_or(base::QuantityKind::ratio), base::BareNumber::si);
  if (const auto* message = std::get_if<std::string>(&value)) {
    throw UsageError("--target " + shown + ": " + *message);
  }
  if (metric == "scaling_efficiency" && std::get<double>(value) > 1) {
    throw UsageError("--target " + shown + ": must be at most 1, which 100% is, too");
  }
  return {std::move(metric), std::get<double>(value),
          says_side ? std::optional(side == '>') : std::nullopt};
}

} // namespace stepsim::study
