#pragma once
// Reads the characters of a JSON text from chunks, one at a time, and keeps what error messages
// need: line, column and the start of each word. Endless texts, numbers and blanks are errors,
// because the lexer keeps a whole word in memory. Lines and columns are numbered from 1, columns in
// bytes.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "document/json.hpp"
#include "document/json_parse.hpp"

namespace stepsim::io {

inline constexpr std::size_t kMaxNumber = 4096; // most characters of a number or literal
inline constexpr std::size_t kShownWord = 44;   // most characters of it in messages

struct Place {
  std::int64_t line = 1, column = 0;
  [[nodiscard]] std::string text() const {
    return std::to_string(line) + ":" + std::to_string(column);
  }
};

// Tracks lines, columns and words. A word is a string, a number, a literal or one of {}[]:,
class Cursor {
public:
  using NextChunk = std::function<std::string_view()>; // empty at the end

  Cursor(NextChunk next_chunk, std::string file, const ParseLimits& limits)
      : next_chunk_(std::move(next_chunk)), file_(std::move(file)), limits_(limits) {}

  // Whether the text is used up; fetches the next chunk. Call it before every current() and
  // advance().
  bool at_end() {
    if (chunk_.empty() && !end_seen_) {
      chunk_ = next_chunk_();
      end_seen_ = chunk_.empty();
    }
    return end_seen_;
  }
  [[nodiscard]] char current() const { return chunk_.front(); }
  void advance() {
    const char c = chunk_.front();
    chunk_.remove_prefix(1);
    ++consumed_;
    if (new_line_) {
      ++here_.line;
      here_.column = 0;
    }
    ++here_.column;
    new_line_ = c == '\n';
    delimiter_ = false;
    if (in_string_) {
      follow_string(c);
    } else {
      follow_outside(c);
    }
  }

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const ParseLimits& limits() const { return limits_; }
  [[nodiscard]] std::size_t consumed() const { return consumed_; }
  [[nodiscard]] bool end_seen() const { return end_seen_; }
  [[nodiscard]] bool in_string() const { return in_string_; }
  [[nodiscard]] bool word_seen() const { return word_.column > 0; }
  [[nodiscard]] Place here() const { return here_; }
  // The start of the last word. `one_behind`: the lexer has read one character too many, which is
  // how numbers end and which may have begun another word.
  [[nodiscard]] Place word(bool one_behind = false) const {
    return one_behind && delimiter_ && !end_seen_ ? previous_ : word_;
  }
  // The first kShownWord characters of the number or literal at word(one_behind); empty if a string
  // or one of {}[]:, begins there.
  [[nodiscard]] const std::string& text(bool one_behind = false) const {
    return one_behind && delimiter_ && !end_seen_ ? previous_text_ : text_;
  }

  [[noreturn]] void fail(Place place, std::string message) const {
    throw InputError(file_, place.text(), std::move(message));
  }

private:
  // Keeps the previous word, because the lexer may have read one character too many.
  void begin_word() {
    previous_ = word_;
    word_ = here_;
    length_ = blanks_ = 0;
    std::swap(text_, previous_text_);
    text_.clear();
  }
  void delimiter() {
    begin_word();
    delimiter_ = true;
    in_word_ = false;
  }
  // Whether a quote ends the text; it is escaped after an odd number of backslashes.
  void follow_string(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    if (++length_ > limits_.max_string + 1) { // the closing quote counts
      fail(word_, "text longer than " + std::to_string(limits_.max_string) + " bytes");
    }
  }
  void follow_outside(char c) {
    switch (c) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      in_word_ = false;
      if (++blanks_ > limits_.max_string) { // the lexer keeps them
        fail(here_, "more than " + std::to_string(limits_.max_string) + " blanks in a row");
      }
      return;
    case '"':
      delimiter();
      in_string_ = true;
      return;
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
      delimiter();
      return;
    default:
      if (!in_word_) {
        begin_word();
        in_word_ = true;
      }
      if (text_.size() < kShownWord) {
        text_ += c;
      }
      if (++length_ > kMaxNumber) {
        fail(word_, "number longer than " + std::to_string(kMaxNumber) + " characters");
      }
    }
  }

  NextChunk next_chunk_;
  std::string file_;
  ParseLimits limits_;
  std::string_view chunk_;
  std::size_t consumed_{};
  std::size_t length_{}; // bytes of the current word
  std::size_t blanks_{}; // since the current word
  Place here_, word_, previous_;
  std::string text_, previous_text_;
  bool end_seen_ = false;
  bool new_line_ = false;  // the last character ended a line
  bool delimiter_ = false; // the last character was a quote outside of a text or one of {}[]:,
  bool in_string_ = false;
  bool in_word_ = false;
  bool escaped_ = false;
};

} // namespace stepsim::io
