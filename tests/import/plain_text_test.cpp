// The end of the plain part of a text, by all instructions that the scanner may use.
#include "import/kineto/plain_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/random.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

// Byte by byte, as the definition says it.
std::size_t plain_size(const std::string& text) {
  const auto stops = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x80 || c == '"' || c == '\\';
  };
  return static_cast<std::size_t>(std::ranges::find_if(text, stops) - text.begin());
}

void check_all(const std::string& text) {
  CAPTURE(text);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const std::size_t expected = plain_size(text);
  REQUIRE(static_cast<std::size_t>(plain_end(begin, end) - begin) == expected);
  REQUIRE(static_cast<std::size_t>(plain_end_portable(begin, end) - begin) == expected);
}

} // namespace

TEST_CASE("plain text: every byte at every place of texts up to 40 bytes") {
  for (std::size_t size = 0; size <= 40; ++size) {
    check_all(std::string(size, 'a'));
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, '~');
        text[place] = static_cast<char>(byte);
        check_all(text);
      }
    }
  }
}

TEST_CASE("plain text: random bytes, the first of several that are not plain counts") {
  base::RandomStream random({.seed = 5});
  for (int round = 0; round < 20'000; ++round) {
    std::string text(static_cast<std::size_t>(random.integer(0, 100)), ' ');
    const bool rare = random.uniform() < 0.8;
    for (char& c : text) {
      c = static_cast<char>(rare && random.uniform() < 0.97 ? random.integer(0x20, 0x7f)
                                                            : random.integer(0, 255));
    }
    check_all(text);
  }
}
