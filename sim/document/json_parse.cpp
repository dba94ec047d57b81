// The parser: nlohmann's lexer and grammar, fed character by character from chunks by a
// cursor that knows where each word starts and stops endless ones.
#include "document/json_text.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "document/file.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxNumber = 4096; // most characters of a number or literal
constexpr std::size_t kShownWord = 44;   // most characters of it in messages

struct Place {
  std::int64_t line = 1, column = 0;
  [[nodiscard]] std::string text() const { return fmt::format("{}:{}", line, column); }
};

// Reads the characters of a JSON text from chunks, one at a time, and keeps what error messages
// need: line, column and the start of each word. Endless texts, numbers and blanks are errors,
// because the lexer keeps a whole word in memory. Lines and columns are numbered from 1, columns in
// bytes. A word is a string, a number, a literal or one of {}[]:, Most characters are those of
// strings, for which nothing is kept: all else follows from the number of bytes before them.
class Cursor {
public:
  using NextChunk = std::function<std::string_view()>; // empty at the end

  Cursor(NextChunk next_chunk, std::string file, const ParseLimits& limits)
      : next_chunk_(std::move(next_chunk)), file_(std::move(file)), limits_(limits) {}

  // Whether the text is used up; fetches the next chunk. Call it before every current() and
  // advance().
  bool at_end() { return next_ == last_ && !fetch(); }
  [[nodiscard]] char current() const { return *next_; }
  void advance() {
    const char c = *next_++;
    if (in_string_) {
      follow_string(c);
    } else {
      follow_outside(c);
    }
  }

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const ParseLimits& limits() const { return limits_; }
  [[nodiscard]] std::size_t consumed() const {
    return before_ + static_cast<std::size_t>(next_ - first_);
  }
  [[nodiscard]] bool end_seen() const { return end_seen_; }
  [[nodiscard]] bool in_string() const { return in_string_; }
  [[nodiscard]] bool word_seen() const { return words_[now_].place.column > 0; }
  [[nodiscard]] Place here() const {
    return {line_, static_cast<std::int64_t>(consumed() - line_start_)};
  }
  // The start of the last word. `one_behind`: the lexer has read one character too many, which is
  // how numbers end and which may have begun another word.
  [[nodiscard]] Place word(bool one_behind = false) const { return at(one_behind).place; }
  // The first kShownWord characters of the number or literal at word(one_behind); empty if a string
  // or one of {}[]:, begins there.
  [[nodiscard]] std::string_view text(bool one_behind = false) const {
    return {at(one_behind).text.data(), at(one_behind).shown};
  }

  [[noreturn]] void fail(Place place, std::string message) const {
    throw InputError(file_, place.text(), std::move(message));
  }

private:
  struct Word {
    Place place;
    std::size_t shown{}; // characters in `text`
    std::array<char, kShownWord> text;
  };

  bool fetch() {
    if (in_string_) {
      limit_string();
    }
    before_ = consumed();
    const std::string_view chunk = end_seen_ ? std::string_view() : next_chunk_();
    first_ = next_ = chunk.data();
    last_ = first_ + chunk.size();
    end_seen_ = chunk.empty();
    return !end_seen_;
  }
  [[nodiscard]] const Word& at(bool one_behind) const {
    return words_[one_behind && delimiter_ == consumed() && !end_seen_ ? 1 - now_ : now_];
  }
  // Keeps the previous word, because the lexer may have read one character too many.
  void begin_word() {
    now_ = 1 - now_;
    words_[now_].place = here();
    words_[now_].shown = 0;
    start_ = consumed();
    blanks_ = 0;
  }
  // Whether a quote ends the text; it is escaped after an odd number of backslashes.
  void follow_string(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      limit_string();
      in_string_ = false;
    }
  }
  void limit_string() const {
    if (consumed() - start_ > limits_.max_string + 1) { // the closing quote counts
      fail(words_[now_].place, "text longer than " + std::to_string(limits_.max_string) + " bytes");
    }
  }
  void follow_outside(char c) {
    if (new_line_) {
      ++line_;
      line_start_ = consumed() - 1;
      new_line_ = false;
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      new_line_ = c == '\n';
      in_word_ = false;
      if (++blanks_ > limits_.max_string) { // the lexer keeps them
        fail(here(), "more than " + std::to_string(limits_.max_string) + " blanks in a row");
      }
    } else if (c == '"' || c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']') {
      begin_word();
      delimiter_ = start_;
      in_word_ = false;
      in_string_ = c == '"';
    } else {
      if (!in_word_) {
        begin_word();
        in_word_ = true;
      }
      Word& begun = words_[now_];
      if (begun.shown < kShownWord) {
        begun.text[begun.shown++] = c;
      }
      if (consumed() - start_ >= kMaxNumber) {
        fail(begun.place, "number longer than " + std::to_string(kMaxNumber) + " characters");
      }
    }
  }

  NextChunk next_chunk_;
  std::string file_;
  ParseLimits limits_;
  const char* first_ = nullptr; // of the chunk
  const char* next_ = nullptr;
  const char* last_ = nullptr;
  std::size_t before_{};     // bytes of earlier chunks
  std::size_t start_{};      // bytes up to the first character of the current word
  std::size_t line_start_{}; // bytes before the current line
  std::size_t delimiter_ =
      ~std::size_t{0};   // bytes up to the last quote before a text or one of {}[]:,
  std::size_t blanks_{}; // since the current word
  std::int64_t line_ = 1;
  std::array<Word, 2> words_{};
  std::size_t now_ = 0; // the current word; the other is the previous one
  bool end_seen_ = false;
  bool new_line_ = false; // the last character ended a line
  bool in_string_ = false;
  bool in_word_ = false;
  bool escaped_ = false;
};

// The cursor as the input iterator that nlohmann reads, which it compares with the end only; the
// default one is the end.
class CursorIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CursorIterator() = default;
  explicit CursorIterator(Cursor& cursor) : cursor_(&cursor) {}
  char operator*() const { return cursor_->current(); }
  CursorIterator& operator++() {
    cursor_->advance();
    return *this;
  }
  bool operator==([[maybe_unused]] const CursorIterator& end) const {
    assert(end.cursor_ == nullptr && "nlohmann compares with the end");
    return cursor_->at_end();
  }

private:
  Cursor* cursor_ = nullptr;
};

// Receives nlohmann's events and builds our tree. Open containers are the last elements of their
// parents, so the pointers in the stack stay valid.
// Events return true to go on; what is wrong leaves by an exception with its place.
class TreeBuilder {
public:
  TreeBuilder(Cursor& cursor, Json& root)
      : cursor_(cursor), root_(root), file_(std::make_shared<const std::string>(cursor.file())) {}

  bool null() { return put(nullptr, cursor_.word()); }
  bool boolean(bool value) { return put(value, cursor_.word()); }
  bool number_integer(std::int64_t value) { return put(value, cursor_.word(true)); }
  // Whole numbers beyond 2^63 are kept as doubles.
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return put(static_cast<double>(value), cursor_.word(true));
    }
    return put(static_cast<std::int64_t>(value), cursor_.word(true));
  }
  bool number_float(double value, const std::string&) { return put(value, cursor_.word(true)); }
  bool string(std::string& value) { return put(std::move(value), cursor_.word()); }
  bool binary(nlohmann::json::binary_t&) { return false; } // never in a text
  bool start_object(std::size_t) { return open(Object{}); }
  bool start_array(std::size_t) { return open(Array{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  // JSON leaves repeated keys open; here they are errors, since one of two values would be ignored.
  bool key(std::string& name) {
    Level& level = levels_.back();
    Object& object = level.container->as_object();
    constexpr std::size_t kLinear = 16; // below, comparing with all is faster
    if (object.size() == kLinear) {
      for (const Member& member : object) {
        level.keys.insert(member.first);
      }
    }
    const bool repeated = object.size() < kLinear ? level.container->find(name) != nullptr
                                                  : !level.keys.insert(name).second;
    if (repeated) {
      cursor_.fail(cursor_.word(), "duplicate key \"" + base::shown_value(name) + "\"");
    }
    object.emplace_back(std::move(name), Json());
    return true;
  }

  [[noreturn]] bool parse_error(std::size_t position, const std::string&,
                                const nlohmann::detail::exception& error) {
    // "[...] parse error at line 1, column 5: syntax error while parsing value - REASON; ..."
    const std::string_view what = error.what();
    const auto says = [&](std::string_view text) { return what.find(text) != what.npos; };
    const bool one_behind = position < cursor_.consumed() || says("invalid literal") ||
                            says("invalid number") || says("number overflow");
    const Place word = cursor_.word(one_behind);
    const std::string_view text = cursor_.text(one_behind);
    // The library's messages name tokens of its grammar; users read what is wrong in their file.
    if (says("number overflow")) {
      cursor_.fail(word, "number out of range: " + base::shown_value(text));
    }
    if (says("; expected end of input")) {
      cursor_.fail(word, "unexpected text after the value");
    }
    if (cursor_.end_seen()) {
      if (!cursor_.word_seen()) {
        throw InputError(cursor_.file(), "", "empty");
      }
      cursor_.fail({cursor_.here().line, cursor_.here().column + 1}, "unexpected end of input");
    }
    if (cursor_.in_string() && says("invalid string")) {
      const std::string_view reason = what.substr(what.find("invalid string"));
      cursor_.fail(cursor_.here(), std::string(reason.substr(0, reason.find("; last read:"))));
    }
    if (says("invalid literal") || says("invalid number")) {
      static constexpr std::string_view kNotFinite[] = {"N", "n", "I", "i", "-N", "-n", "-I", "-i"};
      const bool not_finite =
          std::any_of(std::begin(kNotFinite), std::end(kNotFinite),
                      [&](std::string_view start) { return text.starts_with(start); }) &&
          !text.starts_with("nu"); // a mistyped null
      if (!text.empty() && static_cast<unsigned char>(text[0]) >= 0x80) {
        cursor_.fail(word, "not JSON: byte " + std::to_string(static_cast<unsigned char>(text[0])));
      }
      cursor_.fail(word, not_finite ? "NaN and infinity are not allowed in JSON"
                                    : "not a JSON value: " + base::shown_value(text));
    }
    const bool in_list = !levels_.empty() && levels_.back().container->is_array();
    if (says("unexpected '}'; expected string literal") || (in_list && says("unexpected ']'"))) {
      cursor_.fail(word, "JSON allows no comma before the closing bracket");
    }
    const std::size_t dash = what.find(" - ");
    cursor_.fail(word, std::string(dash == what.npos ? what : what.substr(dash + 3)));
  }

private:
  struct Level {
    Json* container;
    std::unordered_set<std::string> keys;
  };

  // Into the container that is open, with the place in the file. Values are counted, because a
  // small file can hold very many.
  Json& add(Json value, Place place) {
    if (++values_ > cursor_.limits().max_values) {
      cursor_.fail(place, fmt::format("more than {} values", cursor_.limits().max_values));
    }
    if (levels_.empty()) {
      root_ = std::move(value);
      root_.set_origin(file_, "", place.line);
      return root_;
    }
    Json& parent = *levels_.back().container;
    if (parent.is_array()) {
      const std::size_t index = parent.as_array().size();
      Json& added = parent.as_array().emplace_back(std::move(value));
      added.set_origin_below(parent, index, place.line);
      return added;
    }
    Member& member = parent.as_object().back();
    member.second = std::move(value);
    member.second.set_origin_below(parent, member.first, place.line);
    return member.second;
  }

  template <class Value> bool put(Value value, Place place) {
    add(Json(std::move(value)), place);
    return true;
  }

  // Depth is bounded because destructors and writers recurse.
  template <class Container> bool open(Container container) {
    if (levels_.size() >= cursor_.limits().max_depth) {
      cursor_.fail(cursor_.word(),
                   fmt::format("nested deeper than {} levels", cursor_.limits().max_depth));
    }
    Json& added = add(Json(std::move(container)), cursor_.word());
    levels_.push_back({&added, {}});
    return true;
  }

  // Trees of large files are kept: lists and objects give back what they took to grow.
  bool close() {
    Json& closed = *levels_.back().container;
    if (closed.is_array()) {
      closed.as_array().shrink_to_fit();
    } else {
      closed.as_object().shrink_to_fit();
    }
    levels_.pop_back();
    return true;
  }

  Cursor& cursor_;
  Json& root_;
  std::shared_ptr<const std::string> file_;
  std::vector<Level> levels_;
  std::size_t values_{};
};

Json parse(Cursor& cursor) {
  Json root;
  TreeBuilder builder(cursor, root);
  [[maybe_unused]] const bool done =
      nlohmann::json::sax_parse(CursorIterator(cursor), CursorIterator(), &builder);
  assert(done && "errors leave by exception");
  return root;
}

} // namespace

Json parse_json(std::string_view text, std::string_view file, ParseLimits limits) {
  Cursor cursor([text]() mutable { return std::exchange(text, {}); }, std::string(file), limits);
  return parse(cursor);
}

Json read_json(ByteSource& source, ParseLimits limits) {
  Cursor cursor([&source] { return source.next(); }, source.name(), limits);
  Json root = parse(cursor);
  while (!source.next().empty()) {}
  return root;
}

Json read_json(const std::string& path, ParseLimits limits, std::string* sha256) {
  ByteSource source(path, limits.max_bytes, sha256 != nullptr);
  Json root = read_json(source, limits);
  if (sha256 != nullptr) {
    *sha256 = source.digest();
  }
  return root;
}

} // namespace stepsim::io
