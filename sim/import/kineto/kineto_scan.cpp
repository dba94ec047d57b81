// Every byte is looked at once and checked as JSON. A scanner whose `at` is null has met something
// that it does not take; all functions leave at once then. The zero behind the text is no part of
// any value, so that a text that ends too soon is met like a wrong byte:
//     {"ph": "X", "ts": 12.5, "args": {"Input Dims": [[2, 3], []]}}
//     ^ members ^ text  ^ time         ^ members     ^ shapes
#include "import/kineto/kineto_scan.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "files/import_number.hpp"
#include "import/kineto/kineto_keys.hpp"
#include "import/kineto/plain_text.hpp"

namespace stepsim::io {

namespace {

constexpr int kDeepest = 32;                // nested values that are skipped
constexpr std::ptrdiff_t kMostDigits = 300; // a number below 1e300 is a finite double

const char* behind_value(const char* at, int depth);

// The functions that are called in many places are inlined: `at` stays in a register.
struct Scanner {
  const char* at;

  void fail() { at = nullptr; }
  [[nodiscard]] bool good() const { return at != nullptr; }

  // The next character that is no blank.
  [[gnu::always_inline]] char peek() {
    at = behind_blanks(at);
    return *at;
  }

  [[gnu::always_inline]] bool take(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    ++at;
    return true;
  }

  // A text without escapes, without its quotes.
  [[gnu::always_inline]] std::string_view text() {
    if (!take('"')) {
      return fail(), std::string_view();
    }
    const char* const begin = at;
    at = plain_end(at);
    if (*at != '"') {
      return fail(), std::string_view();
    }
    return {begin, static_cast<std::size_t>(at++ - begin)};
  }

  // A text of no interest, which may have escapes.
  void skip_text() {
    ++at; // the quote
    while (true) {
      at = plain_end(at);
      if (*at != '"' && *at != '\\') {
        return fail();
      }
      if (*at++ == '"') {
        return;
      }
      // Escapes by number need more care, for pairs of them may make one letter.
      if (std::string_view("\"\\/bfnrt").find(*at) == std::string_view::npos) {
        return fail();
      }
      ++at;
    }
  }

  // The digits before a point or an end: at least one, and no zero before others. The scanner then
  // is behind them.
  [[gnu::always_inline]] std::uint64_t digits(std::ptrdiff_t most) {
    const DigitRun run = digit_run(at);
    const std::ptrdiff_t count = run.end - at;
    if (count == 0 || count > most || (*at == '0' && count > 1)) {
      return fail(), 0;
    }
    at = run.end;
    return run.value;
  }

  // Behind a number: no exponent, and no point if it is to be whole.
  [[gnu::always_inline]] void end_number(bool whole) {
    if (*at == 'e' || *at == 'E' || (whole && *at == '.')) {
      fail();
    }
  }

  void skip_number() {
    at += *at == '-' ? 1 : 0;
    (void)digits(kMostDigits);
    if (good() && *at == '.') {
      const char* const behind = ++at;
      at = digit_run(at).end;
      if (at == behind) {
        return fail();
      }
    }
    if (good()) {
      end_number(false);
    }
  }

  // Longer ones, which may be beyond 64 bits, are left to the parser.
  [[gnu::always_inline]] std::int64_t integer() {
    constexpr std::ptrdiff_t kMost = 18;
    const bool minus = take('-');
    const auto value = static_cast<std::int64_t>(digits(kMost));
    if (good()) {
      end_number(true);
    }
    return minus ? -value : value;
  }

  void skip_word(std::string_view word) {
    if (std::strncmp(at, word.data(), word.size()) != 0) {
      return fail();
    }
    at += word.size();
  }

  void skip_value(int depth) { at = behind_value(at, depth); }

  // Behind a value: whether the object or list ends here. Another value follows if not.
  [[gnu::always_inline]] bool ends(char closing) {
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
    constexpr std::ptrdiff_t kMost = 16; // times 1000 they fit into 64 bits without a sign
    if (peek() == '"') {
      return to.set_bad('"' + std::string(text()) + '"');
    }
    const char* const begin = at;
    std::uint64_t value = digits(kMost);
    if (!good()) {
      return;
    }
    int missing = 3; // decimals of a nanosecond that are not written
    if (*at == '.') {
      const char* const behind = ++at;
      for (; is_digit(*at) && missing > 0; ++at, --missing) {
        value = value * 10 + static_cast<std::uint64_t>(*at - '0');
      }
      if (at == behind) {
        return fail();
      }
      if (is_digit(*at)) { // rounded
        at = digit_run(at).end;
        to.set({begin, static_cast<std::size_t>(at - begin)});
        return end_number(false);
      }
    }
    for (; missing > 0; --missing) {
      value *= 10;
    }
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Nanoseconds>::max())) {
      return fail();
    }
    to.state = RawTime::State::good;
    to.value = static_cast<Nanoseconds>(value);
    end_number(false);
  }

  // A number or a text; numbers as they are written, which is what printing them gives.
  [[gnu::always_inline]] std::string_view id() {
    if (peek() == '"') {
      return text();
    }
    const char* const begin = at;
    const std::int64_t value = integer();
    if (!good() || (value == 0 && *begin == '-')) {
      return fail(), std::string_view();
    }
    return {begin, static_cast<std::size_t>(at - begin)};
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
      event.collective = text();
      return;
    case KinetoKey::dtype:
      event.dtype = text();
      return;
    case KinetoKey::group:
      event.group = text();
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
      event.category = text();
      return;
    case KinetoKey::name:
      event.name = text();
      return;
    case KinetoKey::pid:
      event.pid = id();
      return;
    case KinetoKey::tid:
      event.tid = id();
      return;
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

// The end of a value of no interest inside `depth` others; null if the scanner does not take it.
const char* behind_value(const char* at, int depth) {
  Scanner scanner{at};
  switch (scanner.peek()) {
  case '"':
    scanner.skip_text();
    break;
  case '{':
    if (depth == kDeepest) {
      return nullptr;
    }
    scanner.members([&](std::string_view) { scanner.skip_value(depth + 1); });
    break;
  case '[':
    if (depth == kDeepest) {
      return nullptr;
    }
    scanner.elements([&] { scanner.skip_value(depth + 1); });
    break;
  case 't':
    scanner.skip_word("true");
    break;
  case 'f':
    scanner.skip_word("false");
    break;
  case 'n':
    scanner.skip_word("null");
    break;
  default:
    scanner.skip_number();
  }
  return scanner.at;
}

} // namespace

const char* scan_event(const char* begin, RawEvent& event) {
  event.clear();
  Scanner scanner{begin};
  scanner.members([&](std::string_view name) { scanner.member(name, event); });
  return scanner.at;
}

} // namespace stepsim::io
