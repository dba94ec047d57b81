// A window of the file moves over the text. An event, or a string or number outside of the events,
// is read by the scanner (kineto_read.hpp) and read again behind more text if the window ends
// within it. An error is worded by nlohmann's parser, which reads the text from there again.
//     {"traceEvents": [{...},{...},{...}], "deviceProperties": [...]}
//      text          : event ,event ,event
#include "import/kineto/kineto_read.hpp"

#include <nlohmann/json.hpp>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMostReserved = std::size_t{1} << 20;  // events
constexpr std::size_t kLongestValue = std::size_t{16} << 20; // one event, string or number, bytes

struct Reader {
  Reader(const TextChunks& chunks, KinetoRecording& recording, std::size_t window)
      : chunks_(chunks), recording_(recording),
        collector_(recording, [this] { return event_pointer(); }), size_(window),
        window_(window + kTextPadding), at(window_.data()), end_(at) {}

  // A trace is an object with "traceEvents", or the bare list of events.
  void file() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    while (end_ - at < std::ssize(kByteOrderMark) && !ended_) {
      fill();
    }
    at += std::string_view(at, end_).starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    if (peek() == '{') {
      members([this](std::string_view key) { file_member(key); });
    } else if (peek() == '[') {
      events("/");
    } else {
      (void)scalar();
    }
    if (peek(); at != end_) {
      fail();
    }
    collector_.finish();
    if (!found_events_) {
      throw InputError(recording_.file, "", "no traceEvents: not a PyTorch profiler trace");
    }
  }

  // Drops the text before `at` and adds chunks until the window is full, which becomes larger if
  // one value fills it.
  void fill() {
    const auto left = static_cast<std::size_t>(end_ - at);
    const std::string_view read(window_.data(), at);
    columns_ += std::ssize(read);
    for (auto line = read.find('\n'); line != read.npos; line = read.find('\n', line + 1)) {
      ++lines_;
      columns_ = std::ssize(read) - static_cast<std::int64_t>(line) - 1;
    }
    std::memmove(window_.data(), at, left);
    if (left == size_) {
      if (size_ >= kLongestValue) {
        throw InputError(recording_.file, event_pointer(),
                         std::string(in_events_ ? "an event" : "a string") +
                             " is longer than 16 MiB");
      }
      size_ = std::min(2 * size_, kLongestValue);
      window_.resize(size_ + kTextPadding);
    }
    char* to = window_.data() + left;
    char* const room = window_.data() + size_;
    while (to != room && !ended_) {
      if (chunk_.empty()) {
        chunk_ = chunks_();
        ended_ = chunk_.empty();
      }
      const auto count = std::min(chunk_.size(), static_cast<std::size_t>(room - to));
      to = std::copy_n(chunk_.data(), count, to);
      chunk_.remove_prefix(count);
    }
    std::fill_n(to, kTextPadding, '\0');
    at = window_.data();
    end_ = to;
  }

  // The next character that is not blank; 0 at the end.
  char peek() {
    while ((at = behind_blanks(at)) == end_ && !ended_) {
      fill();
    }
    return *at;
  }

  // Passes over the value that `scan` reads here. A number at the end of the window may go on.
  template <class Scan> void value(const Scan& scan) {
    while (true) {
      const Scanned scanned = scan(at);
      const char* const stop = scanned.end == nullptr ? scanned.stop : scanned.end;
      if (scanned.too_deep) {
        fail_depth();
      }
      if (stop >= end_ && !ended_) {
        fill();
        continue;
      }
      if (scanned.end == nullptr) {
        syntax_error(true);
      }
      at = scanned.end;
      return;
    }
  }

  // A string without its quotes, or another value that is not an object or a list as it is written.
  std::string scalar() {
    std::string text;
    value([&](const char* begin) { return scan_scalar(begin, text); });
    return text;
  }

  void skip() {
    if (peek() == '{') {
      members([this](std::string_view) { skip(); });
    } else if (peek() == '[') {
      elements([this] { skip(); });
    } else {
      (void)scalar();
    }
  }

  template <class Read> void members(const Read& read) {
    read_members(*this, [&](std::string_view key) {
      (void)peek();
      read(key);
    });
  }

  template <class Read> void elements(const Read& read) {
    read_parts(*this, ']', [&] {
      (void)peek();
      read();
    });
  }

  // What the file says about its job and its recording.
  void file_member(std::string_view key) {
    if (key == "traceEvents" && *at == '[') {
      events("/traceEvents/");
    } else if (key == "deviceProperties" && *at == '[') {
      elements([this] { *at == '{' ? members([this](auto k) { device_member(k); }) : skip(); });
    } else if (key == "distributedInfo" && *at == '{') {
      members([this](std::string_view name) {
        if (name == "world_size") {
          job_number(1, recording_.world_size);
        } else if (name == "rank") {
          job_number(0, recording_.rank);
        } else {
          skip();
        }
      });
    } else if (key == "record_shapes" && !is_nested_or_text()) {
      const std::string text = scalar();
      const auto number = parse_whole(text);
      recording_.record_shapes = number ? *number != 0 : recording_.record_shapes || text == "true";
    } else {
      skip();
    }
  }

  void device_member(std::string_view key) {
    if (key == "name" && *at == '"' && !recording_.device) {
      recording_.device = scalar();
    } else {
      skip();
    }
  }

  void job_number(std::int64_t least, std::optional<std::int64_t>& to) {
    if (is_nested_or_text()) {
      skip();
    } else if (const auto number = parse_whole(scalar()); number && *number >= least) {
      to = number;
    }
  }

  [[nodiscard]] bool is_nested_or_text() const { return *at == '{' || *at == '[' || *at == '"'; }

  void events(std::string_view pointer) {
    in_events_ = found_events_ = true;
    pointer_ = pointer;
    index_ = -1;
    elements([this] {
      ++index_;
      if (*at != '{') {
        return skip();
      }
      value([this](const char* begin) { return scan_event(begin, depth, event_); });
      collector_.add(event_);
    });
    in_events_ = false;
  }

  // "/traceEvents/17", for errors; empty outside of the events.
  [[nodiscard]] std::string event_pointer() const {
    return in_events_ && index_ >= 0 ? pointer_ + std::to_string(index_) : "";
  }

  std::string key() { return peek() == '"' ? scalar() : (fail(), std::string()); }
  [[noreturn]] void fail() { syntax_error(false); }
  [[noreturn]] void fail_depth() const {
    throw InputError(recording_.file, event_pointer(),
                     "nested deeper than " + std::to_string(kDeepestValue));
  }

  // Reports the text here, where a value should stand or not. nlohmann: "[json.exception.parse_
  // error.101] parse error at line 3, column 7: syntax error while parsing value - unexpected end
  // of input; expected ..." becomes "3:7", "unexpected end of input".
  [[noreturn]] void syntax_error(bool wants_value) {
    const std::string before = wants_value ? "[0," : "0 ";
    std::string message = "unexpected end of input";
    std::optional<std::size_t> place; // in the window, of the last byte that the parser has read
    do {
      fill(); // a number or a string may go on behind the window
      place = static_cast<std::size_t>(end_ - at);
      try {
        const auto unused = nlohmann::json::parse(before + std::string(at, end_));
      } catch (const nlohmann::json::parse_error& error) {
        message = error.what();
        message.erase(0, message.find(" - ") + 3);
        place = error.byte - before.size() - 1;
      } catch (const nlohmann::json::exception& error) { // a number beyond what a double holds
        message = error.what();
        message.erase(0, message.find("] ") + 2);
        place.reset();
      }
    } while (place && at + *place + 1 >= end_ && !ended_);
    std::string where;
    if (place) {
      const std::string_view read = std::string_view(at, end_).substr(0, *place + 1);
      const auto line = static_cast<std::int64_t>(read.rfind('\n')); // -1: none
      where = std::to_string(lines_ + 1 + std::ranges::count(read, '\n')) + ":" +
              std::to_string(static_cast<std::int64_t>(*place) - line + (line < 0 ? columns_ : 0));
    }
    throw InputError(recording_.file, where, message.substr(0, message.find("; ")));
  }

  const TextChunks& chunks_;
  KinetoRecording& recording_;
  KinetoCollector collector_;
  std::size_t size_;         // of the text that is in memory at a time
  std::vector<char> window_; // and the zero bytes behind the text
  const char* at;            // in the window: the next byte
  const char* end_;          // of the text in the window
  std::string_view chunk_;   // what of it is not in the window yet
  bool ended_ = false;       // there are no more chunks
  std::int64_t lines_ = 0;   // before the window
  std::int64_t columns_ = 0; // before the window, in its first line
  int depth = 0;             // objects and lists that are open
  RawEvent event_;
  bool found_events_ = false;
  bool in_events_ = false;
  std::string pointer_; // of the list of events
  std::int64_t index_ = -1;
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
  Reader(chunks, recording, options.window).file();
  return recording;
}

} // namespace stepsim::io
