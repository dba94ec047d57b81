#pragma once
// A few fixed words and what they stand for, found with one multiplication and one comparison of
// up to 24 bytes: the compiler finds a multiplier that gives every word a place of its own.
//     constexpr WordTable kTable(std::array{WordRow{"ts", 1}, WordRow{"dur", 2}});
//     *kTable.find("dur")    2
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace stepsim::io {

template <class Value> struct WordRow {
  std::string_view word; // 1 to 24 bytes
  Value value;
};
template <class Value> WordRow(const char*, Value) -> WordRow<Value>;

template <class Value, std::size_t N> class WordTable {
public:
  // Does not compile if a word is empty, too long, or listed twice.
  consteval explicit WordTable(std::array<WordRow<Value>, N> rows) : rows_(rows) {
    for (std::size_t row = 0; row < N; ++row) {
      if (rows_[row].word.empty() || rows_[row].word.size() > kLongest) {
        throw "a word has 1 to 24 bytes"; // the compiler stops here
      }
      bytes_[row] = bytes_of(rows_[row].word);
    }
    for (multiplier_ = kFirstMultiplier; !places_differ(); multiplier_ *= kFirstMultiplier) {}
  }

  // The value of a word; null for a text that is none.
  [[nodiscard]] const Value* find(std::string_view text) const {
    if (text.empty() || text.size() > kLongest) {
      return nullptr;
    }
    const Bytes bytes = bytes_of(text);
    const std::size_t row = row_at_[place(bytes)];
    return row < N && bytes_[row] == bytes ? &rows_[row].value : nullptr;
  }

private:
  static constexpr std::size_t kLongest = 24;
  static constexpr int kPlaceBits = 6;
  static constexpr std::uint64_t kFirstMultiplier = 0x9E3779B97F4A7C15;
  // With more words too many multipliers have to be tried.
  static_assert(N > 0 && N <= (std::size_t{1} << kPlaceBits) / 4);

  // Everything of a text: its size, the first and the last eight bytes, and those between.
  struct Bytes {
    std::uint64_t size{}, first{}, middle{}, last{};
    [[nodiscard]] constexpr bool operator==(const Bytes&) const = default;
  };

  template <class Word> static constexpr std::uint64_t load(const char* at) {
    if (std::is_constant_evaluated() || std::endian::native != std::endian::little) {
      std::uint64_t word = 0;
      for (std::size_t i = sizeof(Word); i-- > 0;) {
        word = word << 8U | static_cast<unsigned char>(at[i]);
      }
      return word;
    }
    Word word{};
    std::memcpy(&word, at, sizeof(Word));
    return word;
  }

  // The loads of a short text overlap, so that no byte outside the text is read.
  static constexpr Bytes bytes_of(std::string_view text) {
    const std::size_t size = text.size();
    const char* const at = text.data();
    if (size >= 8) {
      return {size, load<std::uint64_t>(at), size > 16 ? load<std::uint64_t>(at + 8) : 0,
              load<std::uint64_t>(at + size - 8)};
    }
    if (size >= 4) {
      return {size, load<std::uint32_t>(at), 0, load<std::uint32_t>(at + size - 4)};
    }
    return {size, load<std::uint8_t>(at), load<std::uint8_t>(at + size / 2),
            load<std::uint8_t>(at + size - 1)};
  }

  [[nodiscard]] constexpr std::size_t place(const Bytes& bytes) const {
    return ((bytes.first + std::rotl(bytes.last, 29) + (bytes.size << 50)) * multiplier_) >>
           (64 - kPlaceBits);
  }

  constexpr bool places_differ() {
    row_at_.fill(N);
    for (std::size_t row = 0; row < N; ++row) {
      std::uint8_t& at = row_at_[place(bytes_[row])];
      if (at != N) {
        return false;
      }
      at = static_cast<std::uint8_t>(row);
    }
    return true;
  }

  std::array<WordRow<Value>, N> rows_;
  std::array<Bytes, N> bytes_{};
  std::array<std::uint8_t, std::size_t{1} << kPlaceBits> row_at_{}; // N: none
  std::uint64_t multiplier_{};
};

} // namespace stepsim::io
