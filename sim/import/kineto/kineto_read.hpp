#pragma once
// Reads a PyTorch profiler trace (Kineto, Chrome trace events; IO 4.1) in one streaming pass: one
// JSON object with `traceEvents`, or a bare array of events. Only complete events (`ph` X) of the
// categories that the importer needs are kept; host, user, job and process names are never stored.
// Above `most_events`, memory grows with the kinds of events only, not with their number.
#include <bit>
#include <cstring>

#include "import/kineto/kineto_collect.hpp"

namespace stepsim::io {

struct KinetoReadOptions {
  // Bytes of the text that are in memory at a time, at least 1; more for an event that is longer.
  std::size_t window = std::size_t{256} << 10;
  // Largest number of events in memory; if there are more, all go to a temporary file.
  std::size_t most_events = std::size_t{1} << 19;
};

// The next piece of the text, valid until the next call; empty at the end.
using TextChunks = std::function<std::string_view()>;

// Throws InputError for wrong syntax (`FILE:LINE:COL: ...`), for a file without traceEvents, for an
// event or a string of more than 16 MiB, and for a time that is not a number, negative or above
// 2^63 ns (`/traceEvents/17/dur: must be >= 0, got -3`). Throws SimulationError as KinetoEventFile
// does. The events do not depend on the options.
[[nodiscard]] KinetoRecording read_kineto(const TextChunks& chunks, const std::string& file,
                                          const KinetoReadOptions& options = {});

// Reads one value of a profiler trace from text in memory and checks it as JSON. nlohmann's parser
// decodes what is rare: texts with escapes or with letters beyond ASCII, and very large numbers.

// Number of zero bytes that the caller puts behind the text.
inline constexpr std::size_t kTextPadding = 8;
inline constexpr int kDeepestValue = 256; // nested objects and arrays

// Place behind the value. If `end` is null, the text is not JSON, or it goes on behind its last
// byte: the scanner stopped at `stop`, which is not in the text if the value is incomplete.
struct Scanned {
  const char* end{};
  const char* stop{};
  bool too_deep = false; // the value is nested deeper than kDeepestValue
};

// Returns the first byte that is not what JSON allows between its parts.
[[nodiscard]] inline const char* behind_blanks(const char* at) {
  while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') {
    ++at;
  }
  return at;
}

// The grammar of objects and lists, for a text in memory and for one of which a part is in memory.
// A reader has the place `at`, the number `depth` of objects and lists that are open, peek(), the
// next character that is not blank, key(), which reads a string, and the ends fail() and
// fail_depth().
template <class Reader> [[gnu::always_inline]] inline bool take(Reader& reader, char wanted) {
  if (reader.peek() != wanted) {
    return false;
  }
  ++reader.at;
  return true;
}

// Calls `part()` for every part of the object or list that begins here.
template <class Reader, class Part>
[[gnu::always_inline]] inline void read_parts(Reader& reader, char closing, const Part& part) {
  if (++reader.depth > kDeepestValue) {
    return reader.fail_depth();
  }
  ++reader.at; // the bracket
  if (!take(reader, closing)) {
    do {
      part();
    } while (take(reader, ','));
    if (!take(reader, closing)) {
      reader.fail();
    }
  }
  --reader.depth;
}

// Calls `value(key)` at the value of every member.
template <class Reader, class Value> void read_members(Reader& reader, const Value& value) {
  read_parts(reader, '}', [&] {
    const auto key = reader.key();
    if (!take(reader, ':')) {
      return reader.fail();
    }
    value(key);
  });
}

// Reads the object that begins with the brace at `begin`, inside `depth` objects and arrays, into
// `event`. The texts of `event` are parts of the object or of `event.decoded`.
[[nodiscard]] Scanned scan_event(const char* begin, int depth, RawEvent& event);

// Reads a string without its quotes, or another value that is neither an object nor an array as it
// is written, into `to`.
[[nodiscard]] Scanned scan_scalar(const char* begin, std::string& to);

// The first byte from `at` on that is not a plain part of a text: a quote, a backslash, a control
// character or a byte beyond ASCII. Eight bytes are looked at together.
//     aten::conv2d", "pid": 42
//                 ^
[[nodiscard]] inline const char* plain_end(const char* at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes << 7U;
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  while (std::endian::native == std::endian::little) {
    std::uint64_t word{};
    std::memcpy(&word, at, sizeof word);
    // The high bit of every byte that is not plain. A byte behind such a one may be marked wrongly;
    // the first mark is right.
    const std::uint64_t marks = zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) |
                                ((word - kOnes * 0x20) & ~word & kHigh) | (word & kHigh);
    if (marks != 0) {
      return at + std::countr_zero(marks) / 8;
    }
    at += sizeof word;
  }
  while (*at != '"' && *at != '\\' && static_cast<signed char>(*at) >= 0x20) {
    ++at;
  }
  return at;
}

} // namespace stepsim::io
