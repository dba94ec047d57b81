// Words are found by their bytes; every other text, however near, is not.
#include "import/kineto/word_table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace stepsim::io;

namespace {

constexpr std::array kWords{"a",
                            "ab",
                            "ba",
                            "abc",
                            "acb",
                            "abcd",
                            "abcdefg",
                            "abcdefgh",
                            "abcdXfgh",
                            "Input Dims",
                            "Input dims",
                            "Input type",
                            "0123456789abcdef",
                            "0123456789abcdefg",
                            "0123456789-bcdefg",
                            "0123456789abcdefghijklmn"};

template <std::size_t... I> constexpr auto rows_of(std::index_sequence<I...>) {
  return std::array{WordRow{kWords[I], static_cast<int>(I)}...};
}

constexpr WordTable kTable(rows_of(std::make_index_sequence<kWords.size()>{}));

int found(const std::string& text) {
  const int* const value = kTable.find(text);
  return value == nullptr ? -1 : *value;
}

int expected(const std::string& text) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (text == kWords[i]) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

} // namespace

TEST_CASE("word table: every word, and each text that differs from one in a byte or in its size") {
  CHECK(found("") == -1);
  CHECK(found(std::string(25, 'a')) == -1);
  for (const std::string word : kWords) {
    CAPTURE(word);
    REQUIRE(found(word) == expected(word));
    REQUIRE(found(word) >= 0);
    for (std::size_t place = 0; place < word.size(); ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = word;
        text[place] = static_cast<char>(byte);
        REQUIRE(found(text) == expected(text));
      }
      const std::string without = word.substr(0, place) + word.substr(place + 1);
      REQUIRE(found(without) == expected(without));
      const std::string with = word.substr(0, place) + '\0' + word.substr(place);
      REQUIRE(found(with) == expected(with));
    }
  }
}
