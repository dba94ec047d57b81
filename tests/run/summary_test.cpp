// The table of figures: every row has a figure of its own, and stands where its group says.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "document/json_text.hpp"
#include "run/summary_keys.hpp"

using namespace stepsim;
using study::kSummaryFields;

namespace {

// A summary whose figures all differ: the number of the row, counted from 1.
study::Summary numbered() {
  study::Summary summary;
  double number = 0;
  for (const study::SummaryField& field : kSummaryFields) {
    ++number;
    if (const auto* value = std::get_if<study::SummaryNumber>(&field.value)) {
      summary.** value = number;
    } else if (const auto* flag = std::get_if<study::SummaryFlag>(&field.value)) {
      summary.** flag = true;
    } else if (const auto* word = std::get_if<study::SummaryWord>(&field.value)) {
      summary.** word = field.key;
    } else if (const auto* parts = std::get_if<study::SummaryParts>(&field.value)) {
      summary.** parts = {{.factor = field.key, .share = number}};
    } else {
      summary.*std::get<study::SummaryCounts>(field.value) = {static_cast<std::int64_t>(number)};
    }
  }
  return summary;
}

} // namespace

TEST_CASE("summary: no two rows share a key or a figure") {
  std::set<std::string_view> keys;
  for (const study::SummaryField& field : kSummaryFields) {
    CAPTURE(field.key);
    CHECK(keys.insert(field.key).second);
    CHECK_FALSE(field.sentence.empty());
    CHECK(field.only_in.runs.empty() == field.only_in.setting.empty());
  }
  // A figure that two rows share would have the number of the later one in both.
  const study::Summary summary = numbered();
  double number = 0;
  for (const study::SummaryField& field : kSummaryFields) {
    ++number;
    if (const auto* value = std::get_if<study::SummaryNumber>(&field.value)) {
      CAPTURE(field.key);
      CHECK(summary.**value == number);
    }
  }
}

TEST_CASE("summary: a figure of a group stands below it in results, under its own key in records") {
  const study::Summary summary = numbered();
  const io::Json tree = study::summary_tree(summary);
  std::size_t places = 0;
  for (const auto& [key, value] : study::flat_summary(summary)) {
    const auto* field = std::ranges::find(kSummaryFields, key, &study::SummaryField::key);
    const std::string group = field->group.empty() ? "" : "/" + std::string(field->group);
    const io::Json* place = io::resolve(tree, group + "/" + std::string(field->name_in_group()));
    CAPTURE(key);
    REQUIRE(place != nullptr);
    CHECK(*place == value);
    CHECK_FALSE(value.is_null());
    ++places;
  }
  std::size_t leaves = 0;
  for (const auto& [key, value] : tree.as_object()) {
    leaves += value.is_object() ? value.as_object().size() : 1;
  }
  CHECK(leaves == places);
}

TEST_CASE("summary: the rows of the schema are the keys of the summary") {
  const io::Json tree = study::summary_tree(numbered());
  CHECK(study::kSummaryKeys.size() == tree.as_object().size());
  for (const io::Key& key : study::kSummaryKeys) {
    CAPTURE(key.name);
    const io::Json* member = tree.find(key.name);
    REQUIRE(member != nullptr);
    CHECK(key.keys.size() * (member->is_object() ? 1U : 0U) ==
          (member->is_object() ? member->as_object().size() : 0));
  }
}
