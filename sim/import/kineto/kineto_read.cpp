// Nearly all events are read by a scanner (kineto_scan.hpp) from a window of the file; nlohmann's
// parser reads the rest, and what the scanner does not take, character by character through an
// iterator over the same window. It keeps a whole string, whose length is therefore limited.
//
//     parser    {"traceEvents": [{...}                  ,{"name": "\u00e9"}             ]}
//     scanner                         ,{...},{...},{...}                   ,{...},{...}
#include "import/kineto/kineto_read.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "import/kineto/kineto_sax.hpp"
#include "import/kineto/kineto_scan.hpp"
#include "import/kineto/plain_text.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMostReserved = std::size_t{1} << 20;  // events
constexpr std::size_t kLongestValue = std::size_t{16} << 20; // one string or number, bytes

// Sums of a byte each are what compilers add up fast: parts of the text cannot exceed them.
std::int64_t line_breaks(std::string_view text) {
  constexpr std::size_t kPart = 240;
  std::int64_t count = 0;
  for (; !text.empty(); text.remove_prefix(std::min(kPart, text.size()))) {
    std::uint8_t in_part = 0;
    for (const char c : text.substr(0, kPart)) {
      in_part = static_cast<std::uint8_t>(in_part + (c == '\n' ? 1 : 0));
    }
    count += in_part;
  }
  return count;
}

// The chunks as one sequence of characters. All copies of the iterator share one cursor.
class Cursor {
public:
  Cursor(const TextChunks& chunks, KinetoSax& sax, const std::string& file, std::size_t window)
      : chunks_(chunks), sax_(sax), file_(file), size_(window), window_(window + kTextPadding),
        next_(window_.data()), end_(window_.data()) {}

  [[nodiscard]] bool at_end() {
    if (sax_.take_behind_event()) {
      scan_events();
    }
    return next_ == end_ && !refill();
  }
  [[nodiscard]] char value() const { return *next_; }
  void advance() {
    ++column_;
    if (*next_++ == '\n') {
      ++line_;
      column_ = 0;
    }
  }

private:
  // Moves what is left to the front and adds chunks until the window is full. False if there were
  // none.
  bool fill() {
    if (ended_) {
      return false;
    }
    const auto left = static_cast<std::size_t>(end_ - next_);
    char* const front = window_.data();
    std::memmove(front, next_, left);
    char* to = front + left;
    char* const room = front + size_;
    while (to != room && !ended_) {
      if (chunk_.empty()) {
        chunk_ = chunks_();
        ended_ = chunk_.empty();
      }
      const auto count = std::min(chunk_.size(), static_cast<std::size_t>(room - to));
      std::copy_n(chunk_.data(), count, to);
      to += count;
      chunk_.remove_prefix(count);
    }
    std::fill_n(to, kTextPadding, '\0');
    next_ = front;
    end_ = to;
    return static_cast<std::size_t>(to - front) > left;
  }

  bool refill() {
    if (sax_.values() != values_) {
      values_ = sax_.values();
      without_value_ = 0;
    }
    (void)fill();
    const auto size = static_cast<std::size_t>(end_ - next_);
    // A string without end would be collected for ever: bytes are counted since the last value.
    without_value_ += size;
    if (without_value_ > kLongestValue + size) {
      throw InputError(file_, "", "a string is longer than 16 MiB");
    }
    return size > 0;
  }

  // The end of the event that follows a comma here, which `event_` holds then; null where there is
  // none of the usual form within the window.
  const char* scanned() {
    const char* at = behind_blanks(next_);
    if (*at != ',') {
      return nullptr;
    }
    at = behind_blanks(at + 1);
    return *at != '{' ? nullptr : scan_event(at, event_);
  }

  // Reads events as long as the scanner takes them. One that may not be whole is tried again with a
  // fuller window.
  void scan_events() {
    const char* begin = next_;
    bool filled = false; // since the last event
    while (true) {
      if (const char* const done = scanned(); done != nullptr) {
        sax_.add(event_);
        next_ = done;
        filled = false;
        continue;
      }
      hide({begin, static_cast<std::size_t>(next_ - begin)});
      if (filled || static_cast<std::size_t>(end_ - next_) > size_ / 2 || !fill()) {
        return;
      }
      begin = next_;
      filled = true;
    }
  }

  // The parser's places in messages count what it has seen; this is the rest.
  void hide(std::string_view text) {
    if (text.empty()) {
      return;
    }
    const std::int64_t lines = line_breaks(text);
    const auto size = std::ssize(text);
    if (lines > 0) { // columns count from the last line break
      const auto behind = static_cast<std::int64_t>(text.rfind('\n')) + 1;
      hidden_.columns = size - behind - column_;
    } else {
      hidden_.columns = size + (hidden_.line == line_ ? hidden_.columns : 0);
    }
    hidden_.lines += lines;
    hidden_.line = line_;
    sax_.set_hidden(hidden_);
  }

  const TextChunks& chunks_;
  KinetoSax& sax_;
  const std::string& file_;
  std::size_t size_;         // of the text that is in memory at a time
  std::vector<char> window_; // and the zero bytes behind the text
  std::string_view chunk_;   // what of it is not in the window yet
  bool ended_ = false;       // there are no more chunks
  const char* next_;         // in the window
  const char* end_;
  RawEvent event_;
  std::uint64_t values_{};
  std::size_t without_value_{};
  std::int64_t line_ = 1, column_ = 0; // as the parser counts them
  KinetoSax::Hidden hidden_;
};

class CursorIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CursorIterator() = default; // the end
  explicit CursorIterator(Cursor* cursor) : cursor_(cursor) {}
  char operator*() const { return cursor_->value(); }
  CursorIterator& operator++() { return cursor_->advance(), *this; }
  CursorIterator operator++(int) { return cursor_->advance(), *this; }
  // Only comparison with the end is asked for.
  friend bool operator==(const CursorIterator& a, const CursorIterator& b) {
    return a.done() == b.done();
  }

private:
  [[nodiscard]] bool done() const { return cursor_ == nullptr || cursor_->at_end(); }
  Cursor* cursor_ = nullptr;
};

} // namespace

KinetoRecording read_kineto(const TextChunks& chunks, const std::string& file,
                            const KinetoReadOptions& options) {
  KinetoRecording recording;
  recording.file = file;
  recording.most_events = options.most_events;
  if (options.most_events <= kMostReserved) {
    recording.events.reserve(options.most_events + 1); // memory that is not used costs nothing
  }
  KinetoSax sax(recording);
  Cursor cursor(chunks, sax, file, options.window);
  nlohmann::json::sax_parse(CursorIterator(&cursor), CursorIterator(), &sax);
  sax.finish();
  return recording;
}

} // namespace stepsim::io
