#include "json/reader.hpp"

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxProblems = 20;
constexpr std::int64_t kSchemaVersion = 1;

std::string kind_of_number(Range range, std::string_view noun) {
  // "must be >= 1" -> "must be an integer >= 1"; "must be in (0, 1]" -> "must be an integer in
  // ...".
  const std::string text = range.text();
  constexpr std::string_view kMust = "must be";
  const std::string_view bounds = std::string_view(text).substr(kMust.size());
  return std::string(kMust).append(" ").append(noun).append(bounds);
}

// The kind of the last key of a pointer; elements of a list have that of the list's key.
std::optional<base::QuantityKind> kind_of_place(std::string_view pointer) {
  const auto is_index = [](std::string_view token) {
    return !token.empty() && token.find_first_not_of("0123456789-") == std::string_view::npos;
  };
  std::string_view key = pointer.substr(pointer.rfind('/') + 1);
  while (is_index(key) && key.size() < pointer.size()) {
    pointer.remove_suffix(key.size() + 1);
    key = pointer.substr(pointer.rfind('/') + 1);
  }
  if (key.ends_with("per_byte_s")) {
    return std::nullopt;
  }
  return base::kind_of_key(key).value_or(base::QuantityKind::ratio);
}

// The text of a quantity where a number belongs; a bare number in quotes needs its unit.
base::QuantityResult quantity_in(std::string_view pointer, std::string_view text) {
  const auto kind = kind_of_place(pointer);
  if (!kind) {
    return "takes no unit";
  }
  if (!text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos) {
    return "a number stands without quotes, or carries a unit";
  }
  return base::parse_quantity(text, *kind);
}

// What is wrong with a value that is no number: "must be a number >= 0, got ..".
std::string not_a_number(const Json& value, const std::string& rule) {
  const std::string text = rule + ", got " + shown(value);
  if (!value.is_string()) {
    return text;
  }
  const std::string pointer = value.pointer();
  const auto parsed = quantity_in(pointer, value.as_string());
  const auto kind = kind_of_place(pointer);
  const bool starts_as_number = value.as_string().find_first_of("0123456789") == 0;
  return starts_as_number && kind && *kind != base::QuantityKind::ratio
             ? text + ": " + std::get<std::string>(parsed)
             : text;
}

std::string quoted_list(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      text += i + 1 == words.size() ? " or " : ", ";
    }
    text.append("\"").append(words[i]).append("\"");
  }
  return text;
}

} // namespace

void Problems::add(const Json& place, std::string message) {
  if (problems_.size() >= kMaxProblems) {
    ++dropped_;
    return;
  }
  problems_.push_back({std::string(place.file()), place.pointer(), std::move(message)});
}

void Problems::add(const Json& parent, std::string_view key, std::string message) {
  if (problems_.size() >= kMaxProblems) {
    ++dropped_;
    return;
  }
  problems_.push_back({std::string(parent.file()),
                       parent.pointer().append("/").append(escape_token(key)), std::move(message)});
}

void Problems::throw_if_any() const {
  if (problems_.empty()) {
    return;
  }
  std::vector<base::Problem> all = problems_;
  if (dropped_ > 0) {
    all.push_back({all.front().file, "", "and " + std::to_string(dropped_) + " more problems"});
  }
  throw InputError(std::move(all));
}

bool Range::contains(double value) const {
  const bool above_low = open_low ? value > low : value >= low;
  const bool below_high = open_high ? value < high : value <= high;
  return above_low && below_high;
}

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high) {
    return std::string("must be in ") + (open_low ? "(" : "[") + base::shortest(low) + ", " +
           base::shortest(high) + (open_high ? ")" : "]");
  }
  if (has_low) {
    return std::string("must be ") + (open_low ? "> " : ">= ") + base::shortest(low);
  }
  if (has_high) {
    return std::string("must be ") + (open_high ? "< " : "<= ") + base::shortest(high);
  }
  return "must be";
}

Range at_least(double low) { return {.low = low}; }
Range above(double low) { return {.low = low, .open_low = true}; }
Range between(double low, double high) { return {.low = low, .high = high}; }
Range above_to(double low, double high) { return {.low = low, .high = high, .open_low = true}; }

std::string shown(const Json& value) {
  if (value.is_array()) {
    return "a list";
  }
  if (value.is_object()) {
    return "an object";
  }
  return base::shown_value(compact(value));
}

std::optional<Json> quantity_at(std::string_view pointer, std::string_view text) {
  const auto parsed = quantity_in(pointer, text);
  const double* number = std::get_if<double>(&parsed);
  if (number == nullptr) {
    return std::nullopt;
  }
  if (*kind_of_place(pointer) == base::QuantityKind::size) {
    return Json(static_cast<std::int64_t>(*number));
  }
  return Json(*number);
}

std::optional<double> number_of(const Json& value) {
  if (value.is_string()) {
    const auto number = quantity_at(value.pointer(), value.as_string());
    return number ? std::optional(number->as_double()) : std::nullopt;
  }
  return value.is_number() ? std::optional(value.as_double()) : std::nullopt;
}

Json with_numbers(Json tree) {
  if (tree.is_array()) {
    for (Json& element : tree.as_array()) {
      element = with_numbers(std::move(element));
    }
  } else if (tree.is_object()) {
    for (auto& [key, member] : tree.as_object()) {
      member = with_numbers(std::move(member));
    }
  } else if (tree.is_string() && kind_of_place(tree.pointer()) != base::QuantityKind::ratio) {
    if (auto number = quantity_at(tree.pointer(), tree.as_string())) {
      number->set_origin(tree.file_pointer(), tree.pointer(), tree.line());
      return std::move(*number);
    }
  }
  return tree;
}

std::optional<double> checked_number(const Json& value, Range range, Problems& problems) {
  const auto number = number_of(value);
  if (!number) {
    problems.add(value, not_a_number(value, kind_of_number(range, "a number")));
    return std::nullopt;
  }
  if (!range.contains(*number)) {
    problems.add(value, range.text() + ", got " + shown(value));
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> checked_integer(const Json& value, Range range, Problems& problems) {
  // A percentage is no integer, not even 200%.
  const bool percent =
      value.is_string() && kind_of_place(value.pointer()) == base::QuantityKind::ratio;
  const auto number = percent ? std::nullopt : number_of(value);
  const double real = number.value_or(0.0);
  const bool whole =
      value.is_integer() || (number && real == std::floor(real) && std::abs(real) <= 0x1p53);
  if (!number) {
    problems.add(value, not_a_number(value, kind_of_number(range, "an integer")));
    return std::nullopt;
  }
  if (!whole || !range.contains(real)) {
    problems.add(value, kind_of_number(range, "an integer") + ", got " + shown(value));
    return std::nullopt;
  }
  return value.is_integer() ? value.as_integer() : static_cast<std::int64_t>(real);
}

Fields::Fields(const Json& json, Problems& problems) : json_(json), problems_(problems) {
  if (!json.is_object()) {
    problems.add(json, "must be an object, got " + shown(json));
  }
}

bool Fields::has(std::string_view key) const {
  const Json* value = json_.find(key);
  return value != nullptr && !value->is_null();
}

const Json* Fields::any(std::string_view key) {
  known_.push_back(key);
  return json_.find(key);
}

// The value, or null after a problem. An object that is none has its one problem already.
const Json* Fields::required(std::string_view key, std::string_view expected) {
  const Json* value = any(key);
  if (value == nullptr && json_.is_object()) {
    problems_.add(json_, key, "required (" + std::string(expected) + ")");
  }
  return value;
}

double Fields::number(std::string_view key, Range range) {
  const Json* value = required(key, "a number");
  const auto number = value != nullptr ? checked_number(*value, range, problems_) : std::nullopt;
  return number.value_or(std::isfinite(range.low) ? range.low : 0.0);
}

double Fields::number(std::string_view key, Range range, double fallback) {
  return optional_number(key, range).value_or(fallback);
}

std::optional<double> Fields::optional_number(std::string_view key, Range range) {
  const Json* value = any(key);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  return checked_number(*value, range, problems_);
}

std::int64_t Fields::integer(std::string_view key, Range range) {
  const Json* value = required(key, "an integer");
  const auto number = value != nullptr ? checked_integer(*value, range, problems_) : std::nullopt;
  return number.value_or(std::isfinite(range.low) ? static_cast<std::int64_t>(range.low) : 0);
}

std::int64_t Fields::integer(std::string_view key, Range range, std::int64_t fallback) {
  return optional_integer(key, range).value_or(fallback);
}

std::optional<std::int64_t> Fields::optional_integer(std::string_view key, Range range) {
  const Json* value = any(key);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  return checked_integer(*value, range, problems_);
}

bool Fields::boolean(std::string_view key, bool fallback) {
  const Json* value = any(key);
  if (value == nullptr || value->is_null()) {
    return fallback;
  }
  if (!value->is_bool()) {
    problems_.add(*value, "must be true or false, got " + shown(*value));
    return fallback;
  }
  return value->as_bool();
}

std::string Fields::string(std::string_view key) {
  const Json* value = required(key, "a text");
  if (value == nullptr) {
    return "";
  }
  if (!value->is_string()) {
    problems_.add(*value, "must be a text, got " + shown(*value));
    return "";
  }
  return value->as_string();
}

std::string Fields::string(std::string_view key, std::string fallback) {
  return has(key) ? string(key) : (any(key), std::move(fallback));
}

std::size_t Fields::word(std::string_view key, std::span<const std::string_view> words,
                         std::optional<std::size_t> fallback) {
  const Json* value = fallback ? any(key) : required(key, "a word");
  if (value == nullptr || (fallback && value->is_null())) {
    return fallback.value_or(0);
  }
  const bool text = value->is_string();
  const auto found = text ? std::find(words.begin(), words.end(), value->as_string()) : words.end();
  if (found != words.end()) {
    return static_cast<std::size_t>(found - words.begin());
  }
  auto near = text ? base::nearest_words(value->as_string(), words) : std::vector<std::string>();
  std::erase_if(near, [&, best = near.empty() ? std::string() : near.front()](const auto& word) {
    const std::string& given = value->as_string();
    return base::edit_distance(given, word) > base::edit_distance(given, best);
  });
  std::string hint;
  if (near.empty()) {
    for (const std::string_view word : words) {
      hint.append(hint.empty() ? "; one of " : ", ").append(word);
    }
  } else {
    hint = "; did you mean " + quoted_list(near) + "?";
  }
  problems_.add(*value, "unknown " + std::string(key) + " " + shown(*value) + hint);
  return fallback.value_or(0);
}

std::span<const Json> Fields::array(std::string_view key, bool is_required) {
  const Json* value = is_required ? required(key, "a list") : any(key);
  if (value == nullptr || (!is_required && value->is_null())) {
    return {};
  }
  if (!value->is_array()) {
    problems_.add(*value, "must be a list, got " + shown(*value));
    return {};
  }
  return value->as_array();
}

void Fields::header(std::string_view kind, bool kind_required) {
  if (!json_.is_object()) { // one line, not one more for everything that is missing in it
    problems_.throw_if_any();
  }
  const auto version = optional_integer("schema_version", at_least(1));
  if (version.value_or(1) > kSchemaVersion) {
    problems_.add(*any("schema_version"), "written by a newer stepsim (this one reads up to " +
                                              std::to_string(kSchemaVersion) + "), got " +
                                              std::to_string(*version));
  }
  const bool given = has("kind");
  const std::string found = kind_required || given ? string("kind") : (any("kind"), std::string());
  if (given && !found.empty() && found != kind) {
    problems_.add(*any("kind"), "must be \"" + std::string(kind) + "\", got \"" +
                                    base::shown_value(found) + "\"");
  }
  (void)string("name", "");
  (void)string("$schema", "");
}

void Fields::no_more() {
  if (!json_.is_object()) {
    return;
  }
  for (const auto& [key, value] : json_.as_object()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      problems_.add(json_, key, "unknown key" + base::did_you_mean(key, known_));
    }
  }
}

} // namespace stepsim::io
