// Every byte is looked at once and checked as JSON. A scanner whose `at` is null has met something
// that it does not take; all functions leave at once then:
//     {"ph": "X", "ts": 12.5, "args": {"Input Dims": [[2, 3], []]}}
//     ^ members ^ text  ^ time         ^ members     ^ shapes
#include "import/kineto/kineto_scan.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "files/import_number.hpp"
#include "import/kineto/kineto_keys.hpp"
#include "import/kineto/plain_text.hpp"

namespace stepsim::io {

namespace {

constexpr int kDeepest = 32;             // nested values that are skipped
constexpr std::size_t kMostDigits = 300; // a number below 1e300 is a finite double

constexpr bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

struct Scanner {
  const char* at;
  const char* end;

  void fail() { at = nullptr; }
  [[nodiscard]] bool good() const { return at != nullptr; }

  // The next character that is no blank; 0 at the end, which ends everything.
  char peek() {
    if (at != end && *at > ' ') { // char is signed or beyond 127: both are no blank
      return *at;
    }
    while (at != end && is_blank(*at)) {
      ++at;
    }
    return at == end ? '\0' : *at;
  }

  bool take(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    ++at;
    return true;
  }

  // A text without escapes, without its quotes.
  std::string_view text() {
    if (!take('"')) {
      return fail(), std::string_view();
    }
    const char* const begin = at;
    at = plain_end(at, end);
    if (at == end || *at != '"') {
      return fail(), std::string_view();
    }
    return {begin, static_cast<std::size_t>(at++ - begin)};
  }

  // A text of no interest, which may have escapes.
  void skip_text() {
    ++at; // the quote
    while (true) {
      at = plain_end(at, end);
      if (at == end || (*at != '"' && *at != '\\')) {
        return fail();
      }
      if (*at++ == '"') {
        return;
      }
      // Escapes by number need more care, for pairs of them may make one letter.
      if (at == end || std::string_view("\"\\/bfnrt").find(*at) == std::string_view::npos) {
        return fail();
      }
      ++at;
    }
  }

  struct Number {
    std::string_view text;
    bool whole = false;
  };
  Number number() {
    (void)peek();
    const char* const begin = at;
    if (at != end && *at == '-') {
      ++at;
    }
    const char* const digits = at;
    while (at != end && is_digit(*at)) {
      ++at;
    }
    const auto count = static_cast<std::size_t>(at - digits);
    const bool fraction = at != end && *at == '.';
    if (count == 0 || count > kMostDigits || (*digits == '0' && count > 1)) {
      return fail(), Number();
    }
    if (fraction) {
      const char* const behind = ++at;
      while (at != end && is_digit(*at)) {
        ++at;
      }
      if (at == behind) {
        return fail(), Number();
      }
    }
    if (at == end || *at == 'e' || *at == 'E') {
      return fail(), Number();
    }
    return {{begin, static_cast<std::size_t>(at - begin)}, !fraction};
  }

  std::int64_t integer() {
    const Number found = number();
    std::int64_t value{};
    if (!good() || !found.whole ||
        std::from_chars(found.text.data(), found.text.data() + found.text.size(), value).ec !=
            std::errc{}) {
      return fail(), 0;
    }
    return value;
  }

  void skip_word(std::string_view word) {
    if (static_cast<std::size_t>(end - at) < word.size() ||
        std::string_view(at, word.size()) != word) {
      return fail();
    }
    at += word.size();
  }

  void skip_value(int depth) {
    switch (peek()) {
    case '"':
      return skip_text();
    case '{':
      return depth == kDeepest ? fail() : members([&](std::string_view) { skip_value(depth + 1); });
    case '[':
      return depth == kDeepest ? fail() : elements([&] { skip_value(depth + 1); });
    case 't':
      return skip_word("true");
    case 'f':
      return skip_word("false");
    case 'n':
      return skip_word("null");
    default:
      (void)number();
    }
  }

  // Behind a value: whether the object or list ends here. Another value follows if not.
  bool ends(char closing) {
    const char next = peek();
    if (next != closing && next != ',') {
      fail();
      return true;
    }
    ++at;
    return next == closing;
  }

  // Calls `value(key)` at the value of every member.
  template <class Value> void members(const Value& value) {
    ++at; // the brace
    if (take('}')) {
      return;
    }
    while (true) {
      const std::string_view key = text();
      if (!good() || !take(':')) {
        return fail();
      }
      value(key);
      if (!good() || ends('}')) {
        return;
      }
    }
  }

  // Calls `element()` at every element.
  template <class Element> void elements(const Element& element) {
    ++at; // the bracket
    if (take(']')) {
      return;
    }
    while (true) {
      element();
      if (!good() || ends(']')) {
        return;
      }
    }
  }

  // Microseconds since 1970 have 16 digits, and up to three behind the point.
  void time(RawTime& to) {
    const Number found = number();
    constexpr std::size_t kMost = 16; // times 1000 they fit into 64 bits without a sign
    if (!good() || found.text.front() == '-') {
      return fail();
    }
    const std::size_t point = found.whole ? found.text.size() : found.text.find('.');
    const std::size_t behind = found.whole ? 0 : found.text.size() - point - 1;
    if (point > kMost) {
      return fail();
    }
    if (behind > 3) {
      return to.set(found.text);
    }
    std::uint64_t value = 0;
    for (const char c : found.text) {
      value = c == '.' ? value : value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    for (std::size_t i = behind; i < 3; ++i) {
      value *= 10;
    }
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Nanoseconds>::max())) {
      return fail();
    }
    to.state = RawTime::State::good;
    to.value = static_cast<Nanoseconds>(value);
  }

  // A number or a text; numbers as they are written, which is what printing them gives.
  void id(std::string& to) {
    if (peek() == '"') {
      to.assign(text());
      return;
    }
    const Number found = number();
    constexpr std::size_t kMost = 18; // fits into 64 bits
    if (!good() || !found.whole || found.text.size() > kMost || found.text == "-0") {
      return fail();
    }
    to.assign(found.text);
  }

  // [[2, 3], [], [[10], [20, 2]]]
  void shapes(RawEvent& event) {
    if (peek() != '[') {
      return fail();
    }
    event.has_shapes = true;
    elements([&] {
      if (peek() != '[') {
        (void)integer(); // no tensor, but it counts as an input
        (void)event.add_shape();
        return;
      }
      RawShape* const shape = event.add_shape();
      elements([&] {
        if (peek() != '[') {
          const std::int64_t size = integer();
          return shape == nullptr ? void() : shape->add_dimension(size);
        }
        if (shape != nullptr) {
          shape->begin_listed();
        }
        elements([&] {
          const std::int64_t size = integer();
          if (shape != nullptr) {
            shape->add_listed_dimension(size);
          }
        });
        if (shape != nullptr) {
          shape->end_listed();
        }
      });
    });
  }

  void argument(std::string_view name, RawEvent& event) {
    switch (argument_key(name)) {
    case KinetoKey::correlation:
      event.event.correlation = integer();
      return;
    case KinetoKey::external_id:
      event.event.external_id = integer();
      return;
    case KinetoKey::sequence:
      event.event.sequence = integer();
      return;
    case KinetoKey::elements:
      event.elements = integer();
      return;
    case KinetoKey::out_elements:
      event.out_elements = integer();
      return;
    case KinetoKey::group_size:
      event.group_size = integer();
      return;
    case KinetoKey::collective:
      event.collective.assign(text());
      return;
    case KinetoKey::dtype:
      event.dtype.assign(text());
      return;
    case KinetoKey::group:
      event.group.assign(text());
      return;
    case KinetoKey::input_dims:
      return shapes(event);
    case KinetoKey::input_type:
      if (peek() != '[') {
        return fail();
      }
      return elements([&] { event.add_type(text()); });
    default:
      return skip_value(0);
    }
  }

  void member(std::string_view name, RawEvent& event) {
    switch (event_key(name)) {
    case KinetoKey::ph:
      event.complete = text() == "X";
      return;
    case KinetoKey::cat:
      event.category.assign(text());
      return;
    case KinetoKey::name:
      event.name.assign(text());
      return;
    case KinetoKey::pid:
      return id(event.pid);
    case KinetoKey::tid:
      return id(event.tid);
    case KinetoKey::ts:
      return time(event.ts);
    case KinetoKey::dur:
      return time(event.dur);
    case KinetoKey::args:
      if (peek() != '{') {
        return fail();
      }
      return members([&](std::string_view key) { argument(key, event); });
    default:
      return skip_value(0);
    }
  }
};

} // namespace

const char* scan_event(const char* begin, const char* end, RawEvent& event) {
  event.clear();
  Scanner scanner{begin, end};
  scanner.members([&](std::string_view name) { scanner.member(name, event); });
  return scanner.at;
}

} // namespace stepsim::io
