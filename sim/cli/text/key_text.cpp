// The words of a key are derived from its row (document/fields/key.hpp): kind, range, unit,
// default. Nothing about a single key stands here.

#include "cli/text/key_text.hpp"

#include "cli/report/result_page.hpp"
#include "document/json_text.hpp"
#include "run/collective_keys.hpp"
#include "run/flows_keys.hpp"
#include "run/result_file.hpp"
#include "scenario/files/keys/profile_keys.hpp"
#include "scenario/keys/problem_keys.hpp"
#include "scenario/program_keys.hpp"
#include "study/breakeven_keys.hpp"
#include "study/measured_steps_keys.hpp"
#include "study/reproduce/reproduction_keys.hpp"
#include "study/semantics_keys.hpp"

namespace stepsim::cli {

namespace {

using io::KeyKind;

// Rows that are placed, and their pointers. A table that two forms share is placed with the first.
struct Seen {
  std::set<std::string> pointers;
  std::set<const io::Key*> rows;
};

// Depth first in the order of the rows. Forms of one key share its pointer, which is listed once,
// and a row that was placed before is skipped, because forms may share a table.
void place(const io::Key& key, const std::string& pointer, std::vector<PlacedKey>& all,
           Seen& seen) {
  switch (key.kind) {
  case KeyKind::object:
    for (const io::Key* each : io::keys_of(key)) {
      const std::string here = pointer + "/" + io::escape_token(each->name);
      if (!seen.rows.insert(each).second) {
        continue;
      }
      if (seen.pointers.insert(here).second) {
        all.push_back({here, each});
      }
      place(*each, here, all, seen);
    }
    break;
  case KeyKind::list:
    place(key.keys.front(), pointer + "/0", all, seen);
    break;
  case KeyKind::map:
    place(key.keys.front(), pointer + "/*", all, seen);
    break;
  case KeyKind::either:
    for (const io::Key& form : key.keys) {
      place(form, pointer, all, seen);
    }
    break;
  case KeyKind::number:
  case KeyKind::integer:
  case KeyKind::boolean:
  case KeyKind::text:
  case KeyKind::word:
  case KeyKind::any:
    break;
  }
}

// The unit follows from the end of the name, as everywhere; "" for counts, ratios and other numbers
// without a unit.
std::string_view unit_of(const io::Key& key) {
  const auto kind = io::kind_of_place("/" + std::string(key.name));
  if (key.kind == KeyKind::integer && kind != base::QuantityKind::size) {
    return "";
  }
  return kind && *kind != base::QuantityKind::ratio && key.has_unit ? base::si_unit(*kind) : "";
}

// "number >= 0, s": range and unit, or the few values that the key takes.
std::string number_text(const io::Key& key) {
  constexpr std::string_view kMust = "must be";
  if (!key.choices.empty()) {
    return base::listed(
        key.choices, [](std::int64_t choice) { return std::to_string(choice); }, " or ");
  }
  const std::string unit(unit_of(key));
  return (key.kind == KeyKind::integer ? "integer" : "number") +
         key.range.text().substr(kMust.size()) + (unit.empty() ? "" : ", " + unit);
}

// The forms joined by "; or". Forms that read the same in words, such as two objects, are said
// once.
std::string either_text(const io::Key& key) {
  std::vector<std::string> forms;
  for (const io::Key& form : key.keys) {
    std::string text = values_text(form);
    if (std::ranges::find(forms, text) == forms.end()) {
      forms.push_back(std::move(text));
    }
  }
  return base::listed(forms, {}, "; or ");
}

// "number > 0" -> "numbers > 0"
std::string plural(std::string text) {
  for (const std::string_view noun : {"number", "integer", "object", "list", "text"}) {
    if (text.starts_with(noun)) {
      text.insert(noun.size(), "s");
      break;
    }
  }
  return text;
}

// A range without an end has null there: JSON knows no infinity.
io::Json number_or_null(double value) {
  return std::isfinite(value) ? io::Json(value) : io::Json();
}

} // namespace

// The root itself has no pointer and is not listed.
std::vector<PlacedKey> placed_keys(const io::Key& root) {
  std::vector<PlacedKey> all;
  Seen seen;
  place(root, "", all, seen);
  return all;
}

// Words of an error message and of help are the same: both begin with the kind.
std::string values_text(const io::Key& key) {
  const std::string null = key.is_nullable ? ", or null" : "";
  switch (key.kind) {
  case KeyKind::number:
  case KeyKind::integer:
    return number_text(key) + null;
  case KeyKind::boolean:
    return "true or false";
  case KeyKind::text:
    return "text" + null;
  case KeyKind::word:
    return base::joined(key.words.all(), " or ");
  case KeyKind::object:
    return "object" + null;
  case KeyKind::list:
    return "list of " + plural(values_text(key.keys.front()));
  case KeyKind::map:
    return "object {name: " + values_text(key.keys.front()) + "}";
  case KeyKind::either:
    return either_text(key);
  case KeyKind::any:
    return "text or number";
  }
  return "";
}

// As it would be written in a file, without quotes.
std::string default_text(const io::Key& key) {
  if (const auto* flag = std::get_if<bool>(&key.fallback)) {
    return *flag ? "true" : "false";
  }
  if (const auto* number = std::get_if<double>(&key.fallback)) {
    return base::shortest(*number);
  }
  const auto* text = std::get_if<std::string_view>(&key.fallback);
  return text != nullptr ? std::string(*text) : "";
}

// Keys that do not apply are null and not absent, as in results.
io::Json key_json(const PlacedKey& placed, const std::vector<std::string>& conditions) {
  const io::Key& key = *placed.key;
  const bool is_number = key.kind == KeyKind::number || key.kind == KeyKind::integer;
  io::Json json{io::Object{{"pointer", placed.pointer},
                           {"sentence", key.sentence},
                           {"values", values_text(key)},
                           {"default", io::text_or_null(default_text(key))},
                           {"default_reason", io::text_or_null(std::string(key.reason))},
                           {"unit", io::text_or_null(std::string(is_number ? unit_of(key) : ""))},
                           {"required", key.is_required},
                           {"when", io::list_of(conditions)}}};
  if (is_number) {
    json.set("low", number_or_null(key.range.low));
    json.set("high", number_or_null(key.range.high));
  }
  if (key.kind == KeyKind::word) {
    const auto words = key.words.all();
    json.set("words", io::Array(words.begin(), words.end()));
  }
  return json;
}

// Conditions stand one per line: all of them must hold.
std::string key_page(const PlacedKey& placed, const std::vector<std::string>& conditions) {
  const io::Key& key = *placed.key;
  std::string page = placed.pointer + "\n  " + std::string(key.sentence) + "\n\n";
  const auto line = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) {
      page +=
          "  " + std::string(name) + std::string(10 - name.size(), ' ') + std::string(text) + "\n";
    }
  };
  line("values", values_text(key));
  const std::string fallback = default_text(key);
  const std::string_view between = fallback.empty() || key.reason.empty() ? "" : ": ";
  line("default", key.is_required ? "none: the key is required"
                                  : fallback + std::string(between).append(key.reason));
  line("example", key.example_json);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    line(i == 0 ? "counts" : "and", "where " + conditions[i]);
  }
  return page;
}

// All kinds of files in the order of their words, so that a list of them reads like an index.

std::vector<io::FileKind> file_kinds() {
  return {study::keys::kBreakEvenFile,
          study::keys::conditions_file(),
          io::keys::cost_file(),
          study::explanation_kind(),
          study::keys::kFlowsFile,
          study::flows_result_kind(),
          io::keys::library_calibration_file(),
          io::keys::links_file(),
          study::keys::kMeasuredStepsFile,
          io::keys::measured_file(),
          io::keys::model_file(),
          io::keys::profile_file(),
          io::keys::node_preset_file(),
          io::keys::overlap_file(),
          plot_result_kind(),
          study::keys::sweep_record(),
          study::keys::problem_file(),
          study::keys::kProgramFile,
          report_records_kind(),
          report_result_kind(),
          reproduce::keys::kReproductionFile,
          study::result_kind(),
          io::keys::samples_file(),
          study::keys::scenario_file(),
          study::keys::kSemanticsFile,
          study::semantics_result_kind(),
          study::study_kind(),
          study::keys::sweep_file(),
          io::keys::topology_file(),
          io::keys::trace_file(),
          study::keys::collective_file()};
}

} // namespace stepsim::cli
