// Reading goes on after a problem, with the lowest allowed value in place of the wrong one, so that
// one run names all problems of a file. Every key that is asked for is noted: what is left is
// unknown.
#include "document/reader.hpp"

#include <cassert>
#include <cmath>

#include "base/collected.hpp"
#include "document/kind_use.hpp"

namespace stepsim::io {

Fields::Fields(const Json& json, Problems& problems) : json_(json), problems_(problems) {
  if (!json.is_object()) {
    problems.add(json, "must be an object, got " + shown(json));
  }
}

// Of a row with several forms the one that is an object has the keys.
Fields::Fields(const Json& json, Problems& problems, const Key& object)
    : json_(json), object_(&object), problems_(problems) {
  std::string rule = "must be an object";
  if (object.kind == KeyKind::either) {
    const auto form = std::ranges::find(object.keys, KeyKind::object, &Key::kind);
    assert(form != object.keys.end() && "one form is an object");
    object_ = &*form;
    rule += std::ranges::count(object.keys, KeyKind::text, &Key::kind) > 0 ? " or a name" : "";
  }
  if (!json.is_object()) {
    problems.add(json, rule + ", got " + shown(json));
  }
}

// Keys are mostly read in the order of their rows: the search begins behind the last one found.
const Key& Fields::row(std::string_view key) const {
  assert(object_ != nullptr && "the object has rows");
  if (object_->kind == KeyKind::map) {
    return object_->keys.front();
  }
  const std::size_t first = object_->keys.size();
  const std::size_t count = first + object_->more.size();
  const auto at = [&](std::size_t i) -> const Key& {
    return i < first ? object_->keys[i] : object_->more[i - first];
  };
  if (last_row_ < count && at(last_row_).name == key) {
    return at(last_row_);
  }
  for (std::size_t i = 0, place = last_row_ + 1; i < count; ++i, ++place) {
    place = place < count ? place : 0;
    if (at(place).name == key) {
      last_row_ = place;
      return at(place);
    }
  }
  assert(false && "every key that is read has a row");
  return object_->keys.front();
}

// The form of a key that is a number: some keys take a number or an object.
const Key& Fields::number_row(std::string_view key) const {
  const Key& found = row(key);
  if (found.kind != KeyKind::either) {
    return found;
  }
  const auto form = std::ranges::find_if(found.keys, [](const Key& each) {
    return each.kind == KeyKind::number || each.kind == KeyKind::integer;
  });
  assert(form != found.keys.end() && "one form is a number");
  return *form;
}

bool Fields::has(std::string_view key) const {
  const Json* value = json_.find(key);
  return value != nullptr && !value->is_null();
}

const Json* Fields::any(std::string_view key) {
  known_.push_back(key);
  return json_.find(key);
}

const Object& Fields::members(std::string_view key, std::string_view form) {
  static const Object none;
  const Json* value = given(key);
  if (value != nullptr && !value->is_object()) {
    problems_.refuse(*value, "must be an object{}{}, got {}", form.empty() ? "" : " ", form,
                     shown(*value));
  }
  return value != nullptr && value->is_object() ? value->as_object() : none;
}

// The value, or null after a problem. An object that is none has its one problem already.
const Json* Fields::required(std::string_view key, std::string_view expected) {
  const Json* value = any(key);
  if (value == nullptr && json_.is_object()) {
    problems_.add(json_, key, "required (" + std::string(expected) + ")");
  }
  return value;
}

double Fields::number(std::string_view key) {
  const Key& row = number_row(key);
  const double* fallback = std::get_if<double>(&this->row(key).fallback);
  assert((fallback != nullptr) != this->row(key).is_required && "required, or with a default");
  return fallback != nullptr ? number(key, row.range, *fallback) : number(key, row.range);
}

double Fields::number_or(std::string_view key, double fallback) {
  return number(key, number_row(key).range, fallback);
}

double Fields::required_number(std::string_view key, std::string_view expected) {
  return number(key, number_row(key).range, expected);
}

std::optional<double> Fields::optional_number(std::string_view key) {
  return optional_number(key, number_row(key).range);
}

// Rows may list the few values that are possible.
std::int64_t Fields::integer(std::string_view key) {
  const Key& row = number_row(key);
  const double* fallback = std::get_if<double>(&this->row(key).fallback);
  assert((fallback != nullptr) != this->row(key).is_required && "required, or with a default");
  const std::int64_t value = fallback != nullptr
                                 ? integer(key, row.range, static_cast<std::int64_t>(*fallback))
                                 : integer(key, row.range);
  if (!row.choices.empty() && std::ranges::find(row.choices, value) == row.choices.end()) {
    const auto text_of = [](std::int64_t choice) { return std::to_string(choice); };
    problems_.add(json_, key, "must be {}, got {}", base::listed(row.choices, text_of, " or "),
                  text_of(value));
    return row.choices.back();
  }
  return value;
}

std::int64_t Fields::integer_or(std::string_view key, std::int64_t fallback) {
  return integer(key, number_row(key).range, fallback);
}

std::int64_t Fields::required_integer(std::string_view key) {
  return integer(key, number_row(key).range);
}

std::optional<std::int64_t> Fields::optional_integer(std::string_view key) {
  return optional_integer(key, number_row(key).range);
}

bool Fields::boolean(std::string_view key) {
  return boolean(key, std::get<bool>(row(key).fallback));
}

// The word itself, so that the caller looks it up in the table of its enum.
std::string_view Fields::word(std::string_view key) { return row(key).words.at(place(key)); }

std::string_view Fields::word_or(std::string_view key, std::string_view fallback) {
  return row(key).words.at(place_or(key, fallback));
}

std::size_t Fields::place(std::string_view key) {
  const auto* fallback = std::get_if<std::string_view>(&row(key).fallback);
  return place_or(key, fallback != nullptr ? *fallback : std::string_view());
}

std::size_t Fields::place_or(std::string_view key, std::string_view fallback) {
  std::vector<std::string_view> made;
  const std::span<const std::string_view> words = row(key).words.all(made);
  const auto place = std::ranges::find(words, fallback);
  assert((fallback.empty() || place != words.end()) && "the default is one of the words");
  const auto index = fallback.empty()
                         ? std::nullopt
                         : std::optional(static_cast<std::size_t>(place - words.begin()));
  return word(key, words, index);
}

std::optional<std::string_view> Fields::optional_word(std::string_view key) {
  return given(key) != nullptr ? std::optional(word_or(key, "")) : std::nullopt;
}

std::string Fields::text(std::string_view key) {
  const Key& found = row(key);
  if (found.is_required) {
    return string(key);
  }
  const auto* fallback = std::get_if<std::string_view>(&found.fallback);
  return string(key, fallback != nullptr ? std::string(*fallback) : std::string());
}

std::optional<std::string> Fields::optional_text(std::string_view key) {
  return given(key) != nullptr ? std::optional(string(key)) : std::nullopt;
}

std::span<const Json> Fields::list(std::string_view key) {
  return array(key, row(key).is_required);
}

std::span<const Json> Fields::list(std::string_view key, std::string_view element) {
  assert(row(key).least == 1 && "the row asks for an element");
  const std::span<const Json> elements = list(key);
  if (const Json* value = json_.find(key);
      elements.empty() && value != nullptr && value->is_array()) {
    problems_.add(*value, "needs at least one " + std::string(element));
  }
  return elements;
}

std::vector<double> Fields::numbers(std::string_view key) {
  std::vector<double> values;
  for (const Json& value : list(key)) {
    const Range range = row(key).keys.front().range;
    values.push_back(checked_number(value, range, problems_).value_or(0));
  }
  return values;
}

// Absent or wrong: the problem is noted, and a value of the range stands in.
double Fields::number(std::string_view key, Range range, std::string_view expected) {
  const Json* value = required(key, expected);
  const auto number = value != nullptr ? checked_number(*value, range, problems_) : std::nullopt;
  return number.value_or(std::isfinite(range.low) ? range.low : 0.0);
}

double Fields::number(std::string_view key, Range range, double fallback) {
  return optional_number(key, range).value_or(fallback);
}

std::optional<double> Fields::optional_number(std::string_view key, Range range) {
  const Json* value = given(key);
  return value != nullptr ? checked_number(*value, range, problems_) : std::nullopt;
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
  const Json* value = given(key);
  return value != nullptr ? checked_integer(*value, range, problems_) : std::nullopt;
}

bool Fields::boolean(std::string_view key, bool fallback) {
  const Json* value = given(key);
  if (value != nullptr && !value->is_bool()) {
    problems_.add(*value, "must be true or false, got " + shown(*value));
  }
  return value != nullptr && value->is_bool() ? value->as_bool() : fallback;
}

std::string Fields::string(std::string_view key) {
  const Json* value = required(key, "a text");
  return value == nullptr ? "" : checked_text(*value, problems_).value_or("");
}

std::string Fields::string(std::string_view key, std::string fallback) {
  return given(key) != nullptr ? string(key) : std::move(fallback);
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
  // Only the nearest of the words are named, all of them if nothing is near.
  auto near = text ? base::nearest_words(value->as_string(), words) : std::vector<std::string>();
  std::erase_if(near, [&, best = near.empty() ? std::string() : near.front()](const auto& word) {
    const std::string& given = value->as_string();
    return base::edit_distance(given, word) > base::edit_distance(given, best);
  });
  std::string hint;
  if (near.empty()) {
    hint = words.empty() ? "" : "; one of " + base::joined(words);
  } else {
    hint = "; did you mean " + base::listed(near, base::quoted, ", ", " or ") + "?";
  }
  problems_.add(*value, "unknown " + std::string(key) + " " + shown(*value) + hint);
  return fallback.value_or(0);
}

// Elements carry their pointers, so that checks of them name the right place.
std::span<const Json> Fields::array(std::string_view key, bool is_required) {
  const Json* value = is_required ? required(key, "a list") : given(key);
  if (value != nullptr && !value->is_array()) {
    problems_.add(*value, "must be a list, got " + shown(*value));
  }
  return value != nullptr && value->is_array() ? std::span<const Json>(value->as_array())
                                               : std::span<const Json>();
}

// Newer files are refused rather than half understood.
void Fields::header(std::string_view kind, bool kind_required) {
  if (!json_.is_object()) { // one line, not one more for everything that is missing in it
    problems_.throw_if_any();
  }
  if (const auto version = optional_integer("schema_version", at_least(1));
      version.value_or(1) > kSchemaVersion) {
    problems_.refuse(*any("schema_version"),
                     "written by a newer stepsim (this one reads up to {}), got {}", kSchemaVersion,
                     *version);
  }
  if (const std::string why = other_kind(json_, kind, object_); !why.empty()) {
    problems_.add(json_, "kind", why);
    problems_.throw_if_any(); // one line, not one more for every key of another kind
  }
  const Key* own = object_ != nullptr ? find_key(*object_, "kind") : nullptr;
  kind_required = kind_required || (own != nullptr && own->is_required);
  (void)(kind_required || has("kind") ? string("kind") : (any("kind"), std::string()));
  (void)string("name", "");
  (void)string("$schema", "");
}

void Fields::check_all() {
  for (const Key* key : keys_of(*object_)) {
    if (key->kind == KeyKind::number) {
      (void)optional_number(key->name);
    } else if (key->kind == KeyKind::integer) {
      (void)optional_integer(key->name);
    } else if (key->kind == KeyKind::boolean) {
      (void)boolean(key->name);
    } else if (key->kind == KeyKind::text) {
      (void)text(key->name);
    } else if (key->kind == KeyKind::list) {
      (void)numbers(key->name);
    } else if (key->kind == KeyKind::map) {
      object(key->name, [](Fields& map) {
        for (std::size_t i = 0; map.json().is_object() && i < map.json().as_object().size(); ++i) {
          (void)map.required_number(map.json().as_object()[i].first);
        }
      });
    }
  }
  know_all();
}

void Fields::check_each(std::string_view key) {
  for (const Json& json : list(key)) {
    Fields fields(json, problems_, row(key).keys.front());
    fields.check_all();
    fields.no_more();
  }
}

void Fields::know_all() {
  for (const Key* key : keys_of(*object_)) {
    known_.push_back(key->name);
  }
}

void Fields::no_more() {
  if (!json_.is_object() || std::exchange(complete_, true)) {
    return;
  }
  const auto is_key = [&](const std::string& name) {
    return object_ != nullptr &&
           std::ranges::find(object_->keys, name, &Key::name) != object_->keys.end();
  };
  for (const auto& [key, value] : json_.as_object()) {
    const bool left_open = value.is_null() && is_key(key);
    if (!left_open && std::find(known_.begin(), known_.end(), key) == known_.end()) {
      problems_.add(json_, key, "unknown key" + base::did_you_mean(key, known_));
    }
  }
}

} // namespace stepsim::io
