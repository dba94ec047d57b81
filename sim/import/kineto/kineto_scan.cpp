// Every byte is looked at once. A scanner that has met something that is not JSON stands at zero
// bytes from then on, which no function takes, so that all functions end without further checks.
//     {"ph": "X", "ts": 12.5, "args": {"Input Dims": [[2, 3], []]}}
//     ^ members ^ text  ^ time         ^ members     ^ shapes
#include "import/kineto/kineto_read.hpp"

#include <nlohmann/json.hpp>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr char kNothing[kTextPadding] = {};
constexpr std::ptrdiff_t kMostDigits = 300; // a number below 1e300 is a finite double

// A number as it is written, and the digits before and behind its point.
struct Number {
  std::string_view literal;
  std::uint64_t units{}, fraction{}; // modulo 2^64
  std::ptrdiff_t unit_digits{}, fraction_digits{};
  bool minus = false, point = false, exponent = false;

  // Empty for numbers with a point or an exponent, and beyond 64 bits.
  [[nodiscard]] std::optional<std::int64_t> whole() const {
    if (point || exponent || unit_digits == 0) {
      return std::nullopt;
    }
    constexpr std::ptrdiff_t kFit = 18;
    return unit_digits > kFit ? parse_whole(literal)
           : minus            ? -static_cast<std::int64_t>(units)
                              : static_cast<std::int64_t>(units);
  }
};

// The functions that are called in many places are inlined: `at` stays in a register.
struct Scanner {
  const char* at;
  RawEvent& event;
  int depth = 0;
  const char* stop = nullptr;
  bool too_deep = false;

  void fail() {
    stop = stop == nullptr ? at : stop;
    at = kNothing;
  }
  void fail_depth() {
    too_deep = true;
    fail();
  }
  [[gnu::always_inline]] std::string_view key() { return text(); }
  [[nodiscard]] Scanned result() const { return {stop == nullptr ? at : nullptr, stop, too_deep}; }

  // The next character that is not blank.
  [[gnu::always_inline]] char peek() {
    at = behind_blanks(at);
    return *at;
  }

  // A text without its quotes.
  [[gnu::always_inline]] std::string_view text() {
    if (!take(*this, '"')) {
      return fail(), std::string_view();
    }
    const char* const begin = at;
    at = plain_end(at);
    return *at == '"' ? std::string_view(begin, static_cast<std::size_t>(at++ - begin))
                      : decoded(begin - 1);
  }

  // A text that begins with the quote at `begin` and is not plain.
  std::string_view decoded(const char* begin) {
    for (; *at != '"'; at = plain_end(at)) {
      if (static_cast<unsigned char>(*at) < 0x20) { // the end of the text as well
        return fail(), std::string_view();
      }
      at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
    auto value = nlohmann::json::parse(begin, ++at, nullptr, false);
    if (value.is_discarded()) {
      at = begin;
      return fail(), std::string_view();
    }
    return event.decoded.emplace_back(std::move(value.get_ref<std::string&>()));
  }

  [[gnu::always_inline]] std::ptrdiff_t digits(std::uint64_t& value) {
    const char* const begin = at;
    for (; is_digit(*at); ++at) {
      value = value * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return at - begin;
  }

  [[gnu::always_inline]] Number number() {
    Number number;
    const char* const begin = at;
    number.minus = *at == '-';
    at += number.minus ? 1 : 0;
    const bool zero = *at == '0';
    number.unit_digits = digits(number.units);
    bool good = number.unit_digits == 1 || (number.unit_digits > 1 && !zero);
    if (good && *at == '.') {
      ++at;
      number.point = true;
      number.fraction_digits = digits(number.fraction);
      good = number.fraction_digits > 0;
    }
    if (good && (*at == 'e' || *at == 'E')) {
      ++at;
      number.exponent = true;
      at += *at == '+' || *at == '-' ? 1 : 0;
      std::uint64_t unused{};
      good = digits(unused) > 0;
    }
    if (good && (number.exponent || number.unit_digits > kMostDigits)) { // maybe no double
      good = !nlohmann::json::parse(begin, at, nullptr, false).is_discarded();
    }
    if (!good) {
      return fail(), Number();
    }
    number.literal = {begin, static_cast<std::size_t>(at - begin)};
    return number;
  }

  void word(std::string_view expected) {
    for (const char c : expected) {
      if (*at != c) {
        return fail();
      }
      ++at;
    }
  }

  // A value of no interest.
  void skip() {
    switch (peek()) {
    case '"': {
      const char* const begin = at;
      const std::size_t kept = event.decoded.size();
      at = plain_end(at + 1);
      return *at == '"' ? void(++at) : (void(decoded(begin)), event.decoded.resize(kept));
    }
    case '{':
      return read_members(*this, [this](std::string_view) { skip(); });
    case '[':
      return elements([this] { skip(); });
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      (void)number();
    }
  }

  template <class Element> void elements(const Element& element) {
    read_parts(*this, ']', element);
  }

  // Whole numbers and texts of members; values of other types are not taken.
  void integer(std::int64_t& to) {
    if (const auto value = next_integer()) {
      to = *value;
    }
  }
  std::optional<std::int64_t> next_integer() {
    if (const char first = peek(); first == '-' || is_digit(first)) {
      return number().whole();
    }
    skip();
    return std::nullopt;
  }
  void text(std::string_view& to) {
    if (peek() == '"') {
      to = text();
    } else {
      skip();
    }
  }

  // A text or a whole number as it is written.
  void id(std::string_view& to) {
    if (peek() == '"') {
      to = text();
      return;
    }
    const char* const begin = at;
    if (const auto value = next_integer()) {
      to = *value == 0 ? "0" : std::string_view(begin, static_cast<std::size_t>(at - begin));
    }
  }

  // Microseconds since 1970 have 16 digits, and up to three behind the point.
  void time(RawTime& to) {
    const char first = peek();
    if (first == '"') {
      return to.set_bad('"' + std::string(text()) + '"');
    }
    const char* const begin = at;
    if (first != '-' && !is_digit(first)) {
      skip();
      return to.set_bad(first == '{'      ? std::string_view("an object")
                        : first == '['    ? std::string_view("an array")
                        : stop != nullptr ? std::string_view()
                                          : std::string_view(begin, at));
    }
    const Number read = number();
    constexpr std::array<std::uint64_t, 4> kScale{1000, 100, 10, 1}; // of the fraction
    const bool negative = read.minus && (read.units != 0 || read.point);
    if (!negative && !read.exponent && read.unit_digits <= 16 && read.fraction_digits <= 3) {
      const std::uint64_t value =
          read.units * 1000 +
          read.fraction * kScale[static_cast<std::size_t>(read.fraction_digits)];
      if (value <= static_cast<std::uint64_t>(std::numeric_limits<Nanoseconds>::max())) {
        to.value = static_cast<Nanoseconds>(value);
        return;
      }
    }
    to.set(read.literal);
  }

  // [[2, 3], [], [[10], [20, 2]]]
  void shapes() {
    if (peek() != '[') {
      return skip();
    }
    event.has_shapes = true;
    elements([this] {
      const char first = peek();
      if (first != '[') {
        const bool named = first == 't' || first == 'f' || first == 'n';
        if (next_integer() || named) { // not a tensor, but it counts as an input
          (void)event.add_shape();
        }
        return;
      }
      RawShape unused;
      RawShape* const kept = event.add_shape();
      RawShape& shape = kept == nullptr ? unused : *kept;
      elements([&] {
        if (peek() != '[') {
          if (const auto size = next_integer()) {
            shape.add_dimension(*size);
          }
          return;
        }
        shape.begin_listed();
        elements([&] {
          if (const auto size = next_integer()) {
            shape.add_listed_dimension(*size);
          }
        });
        shape.end_listed();
      });
    });
  }

  void types() {
    if (peek() != '[') {
      return skip();
    }
    elements([this] {
      if (event.wants_type() && peek() == '"') {
        event.types.push_back(text());
      } else {
        skip();
      }
    });
  }

  void phase() {
    if (peek() == '"') {
      event.complete = text() == "X";
    } else {
      skip();
    }
  }

  void arguments();
};

// The keys that the importer reads, and the function that reads the value of each.
struct Row {
  std::string_view key;
  void (*read)(Scanner& scanner, RawEvent& event);
};

constexpr Row kEventKeys[] = {
    {"ph", [](Scanner& s, RawEvent&) { s.phase(); }},
    {"cat", [](Scanner& s, RawEvent& e) { s.text(e.category); }},
    {"name", [](Scanner& s, RawEvent& e) { s.text(e.name); }},
    {"pid", [](Scanner& s, RawEvent& e) { s.id(e.pid); }},
    {"tid", [](Scanner& s, RawEvent& e) { s.id(e.tid); }},
    {"ts", [](Scanner& s, RawEvent& e) { s.time(e.ts); }},
    {"dur", [](Scanner& s, RawEvent& e) { s.time(e.dur); }},
    {"args", [](Scanner& s, RawEvent&) { s.arguments(); }},
};
constexpr Row kArgumentKeys[] = {
    {"External id", [](Scanner& s, RawEvent& e) { s.integer(e.event.external_id); }},
    {"correlation", [](Scanner& s, RawEvent& e) { s.integer(e.event.correlation); }},
    {"Sequence number", [](Scanner& s, RawEvent& e) { s.integer(e.event.sequence); }},
    {"Input Dims", [](Scanner& s, RawEvent&) { s.shapes(); }},
    {"Input dims", [](Scanner& s, RawEvent&) { s.shapes(); }}, // until 2021
    {"Input type", [](Scanner& s, RawEvent&) { s.types(); }},
    {"Collective name", [](Scanner& s, RawEvent& e) { s.text(e.collective); }},
    {"In msg nelems", [](Scanner& s, RawEvent& e) { s.integer(e.elements); }},
    {"Out msg nelems", [](Scanner& s, RawEvent& e) { s.integer(e.out_elements); }},
    {"Process Group Name", [](Scanner& s, RawEvent& e) { s.text(e.group); }},
    {"Group size", [](Scanner& s, RawEvent& e) { s.integer(e.group_size); }},
    {"dtype", [](Scanner& s, RawEvent& e) { s.text(e.dtype); }},
};

template <std::size_t N> void read_rows(const Row (&rows)[N], Scanner& scanner) {
  read_members(scanner, [&](std::string_view key) {
    for (const Row& row : rows) {
      if (row.key.size() == key.size() && row.key[0] == key[0] && row.key == key) {
        return row.read(scanner, scanner.event);
      }
    }
    scanner.skip();
  });
}

void Scanner::arguments() {
  if (peek() == '{') {
    read_rows(kArgumentKeys, *this);
  } else {
    skip();
  }
}

} // namespace

Scanned scan_event(const char* begin, int depth, RawEvent& event) {
  event.clear();
  Scanner scanner{begin, event, depth};
  read_rows(kEventKeys, scanner);
  return scanner.result();
}

Scanned scan_scalar(const char* begin, std::string& to) {
  RawEvent unused;
  Scanner scanner{begin, unused};
  if (*begin == '"') {
    to = scanner.text();
  } else {
    scanner.skip();
    to.assign(begin, scanner.stop == nullptr ? scanner.at : begin);
  }
  return scanner.result();
}

} // namespace stepsim::io
