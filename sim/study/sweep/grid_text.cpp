// Values of flags have no quotes and no types, so that their kind is guessed in a fixed order:
// JSON, then a number with a unit that the key allows, then a text. A value that begins like JSON
// and is none is an error instead of a text, because it is a typing error.
#include "study/sweep/grid.hpp"

#include <cctype>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

using base::QuantityKind;

// "/a/b=rest": pointer and rest.
std::pair<std::string, std::string_view> split_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError(base::shown_value(text) + ": must be POINTER=VALUE");
  }
  const std::string pointer(text.substr(0, equals));
  if (!pointer.starts_with('/') || pointer.ends_with('/')) {
    throw UsageError(base::shown_value(pointer) +
                     ": not a JSON pointer (/cluster/nodes, /communication/schedule)");
  }
  return {pointer, text.substr(equals + 1)};
}

std::optional<io::Json> as_json(std::string_view text) {
  try {
    return io::parse_json(text, "");
  } catch (const InputError& error) {
    const char first = text.empty() ? ' ' : text.front();
    if (first == '[' || first == '{' || first == '"') {
      throw UsageError(base::shown_value(text) + ": not valid JSON (" + error.what() + ")");
    }
    return std::nullopt;
  }
}

// "-3", ".5" and "+4" begin as numbers, too; "nodes.json" does not.
bool starts_as_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t+-.");
  return first != std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(text[first])) != 0;
}

// Commas outside of brackets and strings: `1,[2,3],"a,b"` has three parts.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

io::Json number_json(double value, QuantityKind kind) {
  if (kind == QuantityKind::size || kind == QuantityKind::count || kind == QuantityKind::amount) {
    return {static_cast<std::int64_t>(value)};
  }
  return {value};
}

// Numbers without a unit keep their JSON form (3 or 3.0).
// All or none: if one entry has a unit, the list parser has to see all of them.
bool append_plain_numbers(std::string_view text, std::vector<io::Json>& values) {
  const std::size_t before = values.size();
  for (const std::string_view part : split_list(text)) {
    auto json = as_json(part);
    if (!json || !json->is_number()) {
      values.resize(before);
      return false;
    }
    values.push_back(std::move(*json));
  }
  return true;
}

// `text`: entries that all start as numbers, of a key with unit `kind`, or none.
// A key without a unit is tried as a count and then as a ratio: "1:9:+2" gives whole numbers,
// "0.1:0.9:+0.2" does not parse as counts. What is neither is a name that happens to begin with a
// digit, unless it is a range of digits that lacks its step.
void append_numbers(std::string_view pointer, std::string_view text,
                    std::optional<QuantityKind> kind, std::vector<io::Json>& values) {
  if (kind != QuantityKind::size && append_plain_numbers(text, values)) {
    return;
  }
  for (const QuantityKind tried :
       {kind.value_or(QuantityKind::count), kind.value_or(QuantityKind::ratio)}) {
    auto parsed = base::parse_quantity_list(text, tried, base::BareNumber::si);
    if (const auto* numbers = std::get_if<std::vector<double>>(&parsed)) {
      for (const double number : *numbers) {
        values.push_back(number_json(number, tried));
      }
      return;
    }
    const bool only_digits = text.find_first_not_of("0123456789.,:+-xe") == std::string_view::npos;
    if (kind || (only_digits && text.find(':') != std::string_view::npos)) {
      throw UsageError(std::string(pointer) + "=" + base::shown_value(text) + ": " +
                       std::get<std::string>(parsed));
    }
  }
  for (const std::string_view part : split_list(text)) {
    values.emplace_back(part); // "2nodes.json", a file name
  }
}

std::optional<QuantityKind> kind_of(std::string_view pointer) {
  return base::kind_of_key(io::pointer_tokens(pointer).back());
}

} // namespace

Axis parse_over(std::string_view text) {
  auto [pointer, list] = split_assignment(text);
  const auto kind = kind_of(pointer);
  Axis axis{pointer, {}};
  const std::vector<std::string_view> parts = split_list(list);
  for (std::size_t i = 0; i < parts.size();) {
    if (!starts_as_number(parts[i])) {
      if (parts[i].empty()) {
        throw UsageError(pointer + ": empty value in \"" + base::shown_value(list) + "\"");
      }
      axis.values.push_back(axis_value(pointer, as_json(parts[i]).value_or(io::Json(parts[i]))));
      ++i;
      continue;
    }
    // A run of numbers goes to the list parser as a whole, so that a unit reaches those before it.
    std::size_t last = i;
    while (last + 1 < parts.size() && starts_as_number(parts[last + 1])) {
      ++last;
    }
    const char* begin = parts[i].data();
    const char* end = parts[last].data() + parts[last].size();
    append_numbers(pointer, {begin, static_cast<std::size_t>(end - begin)}, kind, axis.values);
    i = last + 1;
  }
  return axis;
}

// A text with a comma stays one text: `--set` gives one value.
std::pair<std::string, io::Json> parse_set(std::string_view text) {
  auto [pointer, value] = split_assignment(text);
  if (auto json = as_json(value)) {
    return {pointer, std::move(*json)};
  }
  std::vector<io::Json> values;
  if (starts_as_number(value) && value.find(',') == std::string_view::npos) {
    append_numbers(pointer, value, kind_of(pointer), values);
  }
  if (values.size() == 1) {
    return {pointer, std::move(values.front())};
  }
  return {pointer, io::Json(value)};
}

} // namespace stepsim::study
