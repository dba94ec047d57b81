// The ends of plain parts and of numbers, by all instructions that the scanner may use.
#include "import/kineto/plain_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
  const std::string padded = text + std::string(kTextPadding, '\0');
  const char* const begin = padded.data();
  const std::size_t expected = plain_size(text);
  REQUIRE(static_cast<std::size_t>(plain_end(begin) - begin) == expected);
  REQUIRE(static_cast<std::size_t>(plain_end_portable(begin) - begin) == expected);
}

// Digit by digit.
void check_digits(const std::string& text) {
  CAPTURE(text);
  const std::string padded = text + std::string(kTextPadding, '\0');
  std::uint64_t value = 0;
  std::size_t size = 0;
  for (; size < text.size() && text[size] >= '0' && text[size] <= '9'; ++size) {
    value = value * 10 + static_cast<std::uint64_t>(text[size] - '0');
  }
  const DigitRun run = digit_run(padded.data());
  REQUIRE(static_cast<std::size_t>(run.end - padded.data()) == size);
  REQUIRE(run.value == value);
}

// Mostly characters of [least, most], sometimes any bytes.
std::string random_text(base::RandomStream& random, int longest, int least, int most) {
  std::string text(static_cast<std::size_t>(random.integer(0, longest)), ' ');
  const bool rare = random.uniform() < 0.8;
  for (char& c : text) {
    c = static_cast<char>(rare && random.uniform() < 0.96 ? random.integer(least, most)
                                                          : random.integer(0, 255));
  }
  return text;
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
    check_all(random_text(random, 100, 0x20, 0x7f));
  }
}

TEST_CASE("digit runs: every byte at every place of numbers up to 20 digits") {
  for (std::size_t size = 0; size <= 20; ++size) {
    for (std::size_t place = 0; place <= size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = std::string("98765432101234567899").substr(0, size) + "x";
        text[place] = static_cast<char>(byte);
        check_digits(text);
      }
    }
  }
}

TEST_CASE("digit runs: random bytes near the digits") {
  base::RandomStream random({.seed = 6});
  for (int round = 0; round < 20'000; ++round) {
    check_digits(random_text(random, 40, '0', '9'));
  }
}
