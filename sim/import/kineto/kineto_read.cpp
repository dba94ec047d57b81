// nlohmann's parser pulls characters one at a time through this iterator, so that only the current
// chunk of the file is in memory. It keeps a whole string, whose length is therefore limited.
#include "import/kineto/kineto_read.hpp"

#include <cstddef>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "import/kineto/kineto_sax.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kLongestValue = std::size_t{16} << 20; // one string or number, bytes

// The chunks as one sequence of characters. All copies of the iterator share one cursor.
class Cursor {
public:
  Cursor(const TextChunks& chunks, const KinetoSax& sax, const std::string& file)
      : chunks_(chunks), sax_(sax), file_(file) {}

  [[nodiscard]] bool at_end() { return next_ == end_ && !refill(); }
  [[nodiscard]] char value() const { return *next_; }
  void advance() { ++next_; }

private:
  bool refill() {
    const std::string_view chunk = chunks_();
    next_ = chunk.data();
    end_ = next_ + chunk.size();
    if (sax_.values() != values_) {
      values_ = sax_.values();
      without_value_ = 0;
    }
    // A string without end would be collected for ever: bytes are counted since the last value.
    without_value_ += chunk.size();
    if (without_value_ > kLongestValue + chunk.size()) {
      throw InputError(file_, "", "a string is longer than 16 MiB");
    }
    return !chunk.empty();
  }

  const TextChunks& chunks_;
  const KinetoSax& sax_;
  const std::string& file_;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t values_{};
  std::size_t without_value_{};
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

KinetoRecording read_kineto(const TextChunks& chunks, const std::string& file) {
  KinetoRecording recording;
  recording.file = file;
  KinetoSax sax(recording);
  Cursor cursor(chunks, sax, file);
  nlohmann::json::sax_parse(CursorIterator(&cursor), CursorIterator(), &sax);
  sax.finish();
  return recording;
}

} // namespace stepsim::io
