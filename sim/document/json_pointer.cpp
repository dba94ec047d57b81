// One walk for reading and writing. Indexes of lists are strict ("01" is none), so that a pointer
// has one spelling.
#include "document/json_text.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::io {

namespace {

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
