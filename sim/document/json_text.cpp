// Writers append to one string. Strings are written as ASCII and valid UTF-8, whatever they hold:
// what no reader could take, or would steer a terminal, is escaped or replaced.

#include "document/json_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/collected.hpp"
#include "base/printable.hpp"
#include "base/quantity.hpp"

namespace stepsim::io {

namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

// Short escapes where JSON has one, else by number.
void append_escaped(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\\\n\r\t";
  if (const std::size_t place = kShort.find(c); place != std::string_view::npos) {
    out += '\\';
    out += "\"\\nrt"[place];
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += "0123456789abcdef"[byte >> 4];
  out += "0123456789abcdef"[byte & 0xF];
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    // Runs of plain characters are copied at once.
    const auto* const stop = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(stop - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      append_escaped(out, text.front());
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = base::utf8_length(text);
    // What steers a terminal is written by its number: JSON and printable have one form for it.
    out += length > 0 ? base::printable(text.substr(0, length)) : "\xEF\xBF\xBD"; // U+FFFD
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

void append_scalar(std::string& out, const Json& value) {
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_integer()) {
    base::append_integer(out, value.as_integer());
  } else if (value.is_string()) {
    append_string(out, value.as_string());
  } else {
    const double number = value.as_double();
    assert(std::isfinite(number) && "only finite numbers are written; null stands for the others");
    if (!std::isfinite(number)) {
      out += "null";
    } else if (number == 0.0 && std::signbit(number)) {
      out += "-0.0"; // "-0" would be read as the integer 0
    } else {
      base::append_shortest(out, number);
    }
  }
}

// Calls `visit(member, first)` in the order of the keys. Writers that fill records in that order
// pay no sorting.
template <class Visit> void for_each_sorted(const Object& object, Visit visit) {
  const auto by_key = [](const Member& a, const Member& b) { return a.first < b.first; };
  bool first = true;
  if (std::is_sorted(object.begin(), object.end(), by_key)) {
    for (const Member& member : object) {
      visit(member, std::exchange(first, false));
    }
    return;
  }
  std::vector<const Member*> order =
      base::collected<const Member*>(object, [](const Member& member) { return &member; });
  std::ranges::sort(order, [&](const Member* a, const Member* b) { return by_key(*a, *b); });
  for (const Member* member : order) {
    visit(*member, std::exchange(first, false));
  }
}

void new_line(std::string& out, std::size_t depth) {
  out += '\n';
  out.append(2 * depth, ' ');
}

// Pointer of the first number that JSON cannot hold, below a value; empty if there is none.
std::optional<std::string> not_finite_at(const Json& value) {
  if (value.is_number() && !std::isfinite(value.as_double())) {
    return "";
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      if (const auto below = not_finite_at(value.as_array()[i])) {
        return "/" + std::to_string(i) + *below;
      }
    }
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.as_object()) {
      if (const auto below = not_finite_at(member)) {
        return "/" + escape_token(key) + *below;
      }
    }
  }
  return std::nullopt;
}

// One walk for reading and writing. Indexes of lists are strict ("01" is none), so that a pointer
// has one spelling.

// An array index as RFC 6901 writes it: no sign, no leading zero.
std::optional<std::size_t> array_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) {
    return std::nullopt;
  }
  return base::parse_number<std::size_t>(token);
}

// As messages call the types, in the order of the variant.
std::string_view type_name(const Json& value) {
  static constexpr std::string_view kNames[] = {"null",   "true or false", "a number", "a number",
                                                "a text", "a list",        "an object"};
  return kNames[value.value().index()];
}

// One step of every walk: what `token` names in `at`, null if there is nothing.
template <class Value> Value* child(Value& at, std::string_view token) {
  if (!at.is_array()) {
    return at.find(token);
  }
  auto& elements = at.as_array();
  const auto index = array_index(token);
  return index && *index < elements.size() ? &elements[*index] : nullptr;
}

// All that is in a value stands below the value's new place.
void place_inner(Json& value) {
  if (value.is_array()) {
    std::size_t index = 0;
    for (Json& element : value.as_array()) {
      element.set_origin_below(value, index++, 0);
      place_inner(element);
    }
  } else if (value.is_object()) {
    for (auto& [key, member] : value.as_object()) {
      member.set_origin_below(value, key, 0);
      place_inner(member);
    }
  }
}

// "~1" is "/", "~0" is "~"; a lone "~" stays, as users write it.
std::string unescaped(std::string_view token) {
  std::string plain;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape =
        token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    plain += !escape ? token[i] : token[++i] == '0' ? '~' : '/';
  }
  return plain;
}

// Calls `take` with every token, until it returns false.
template <class Take> void for_tokens(std::string_view pointer, const Take& take) {
  if (!pointer.empty() && pointer.front() != '/') {
    throw UsageError("a JSON pointer starts with \"/\", got \"" + base::shown_value(pointer) +
                     "\"");
  }
  bool goes_on = true;
  while (goes_on && !pointer.empty()) {
    const std::string_view token = pointer.substr(1, pointer.find('/', 1) - 1);
    pointer.remove_prefix(1 + token.size());
    goes_on = token.find('~') == token.npos ? take(token) : take(unescaped(token));
  }
}

template <class Value> Value* walk(Value& root, std::string_view pointer) {
  Value* at = &root;
  for_tokens(pointer, [&](std::string_view token) {
    at = child(*at, token);
    return at != nullptr;
  });
  return at;
}

} // namespace

void append_compact(std::string& out, const Json& value) {
  if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const Json& element : value.as_array()) {
      if (!std::exchange(first, false)) {
        out += ',';
      }
      append_compact(out, element);
    }
    out += ']';
  } else if (value.is_object()) {
    out += '{';
    for_each_sorted(value.as_object(), [&](const Member& member, bool first) {
      if (!first) {
        out += ',';
      }
      append_string(out, member.first);
      out += ':';
      append_compact(out, member.second);
    });
    out += '}';
  } else {
    append_scalar(out, value);
  }
}

std::string compact(const Json& value) {
  std::string out;
  append_compact(out, value);
  return out;
}

// Empty lists and objects stay on one line.
void append_pretty(std::string& out, const Json& value, std::size_t depth) {
  if (value.is_array() && !value.as_array().empty()) {
    char separator = '[';
    for (const Json& element : value.as_array()) {
      out += std::exchange(separator, ',');
      new_line(out, depth + 1);
      append_pretty(out, element, depth + 1);
    }
    new_line(out, depth);
    out += ']';
  } else if (value.is_object() && !value.as_object().empty()) {
    for_each_sorted(value.as_object(), [&](const Member& member, bool first) {
      out += first ? '{' : ',';
      new_line(out, depth + 1);
      append_string(out, member.first);
      out += ": ";
      append_pretty(out, member.second, depth + 1);
    });
    new_line(out, depth);
    out += '}';
  } else {
    append_compact(out, value);
  }
}

std::string pretty(const Json& value) {
  std::string out;
  append_pretty(out, value, 0);
  out += '\n';
  return out;
}

void require_finite(const Json& result) {
  if (const auto pointer = not_finite_at(result)) {
    throw SimulationError("the result " + *pointer + " is beyond the range of numbers");
  }
}

std::string escape_token(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<std::string> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  for_tokens(pointer, [&](std::string_view token) {
    tokens.emplace_back(token);
    return true;
  });
  return tokens;
}

const Json* resolve(const Json& root, std::string_view pointer) { return walk(root, pointer); }
Json* resolve(Json& root, std::string_view pointer) { return walk(root, pointer); }

Json& assign(Json& root, std::string_view pointer, Json value) {
  const auto file = root.file_pointer();
  Json* at = &root;
  std::string so_far;
  for (const std::string& token : pointer_tokens(pointer)) {
    Json* next = child(*at, token);
    std::string name = token;
    if (next == nullptr && at->is_array()) {
      Array& array = at->as_array();
      const std::size_t size = array.size();
      if (token != "-" && array_index(token) != size) {
        throw UsageError(fmt::format("{}: {} has {} elements, no element \"{}\"", pointer, so_far,
                                     size, base::shown_value(token)));
      }
      name = std::to_string(size);
      next = &array.emplace_back();
      next->set_origin(file, so_far + "/" + name, 0);
    } else if (next == nullptr && (at->is_object() || at->is_null())) {
      next = &at->set(token, nullptr);
      next->set_origin(file, so_far + "/" + escape_token(name), 0);
    } else if (next == nullptr) {
      throw UsageError(std::string(pointer) + ": " + (so_far.empty() ? "the root" : so_far) +
                       " is " + std::string(type_name(*at)) + ", not an object");
    }
    so_far.append("/").append(escape_token(name));
    at = next;
  }
  value.set_origin(file, so_far, 0);
  place_inner(value);
  return *at = std::move(value);
}

} // namespace stepsim::io
