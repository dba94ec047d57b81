#include "base/printable.hpp"

#include <doctest/doctest.h>

#include <string>

using stepsim::base::printable;
using stepsim::base::printable_lines;
using stepsim::base::utf8_length;

TEST_CASE("printable text has no characters that a terminal obeys") {
  CHECK(printable("plain text, \xC3\xA4 and \xE2\x82\xAC") ==
        "plain text, \xC3\xA4 and \xE2\x82\xAC");
  CHECK(printable("a\x1b[31mb\x07\x7f") == "a\\x1b[31mb\\x07\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("a\nb\rc\td") == "a\\nb\\rc\\td");
  CHECK(printable("\xC2\x9B"
                  "31m") == "\\u009b31m");       // the C1 form of ESC [
  CHECK(printable("\xE2\x80\xAE") == "\\u202e"); // right-to-left override
  CHECK(printable("\xE2\x80\xA8") == "\\u2028"); // line separator
  CHECK(printable("\xFF\xC3") == "\\xff\\xc3");  // no UTF-8
}

TEST_CASE("printable text stays what it is when it is made printable again") {
  const std::string once = printable("a\x1b\n\xFF\\");
  CHECK(printable(once) == once);
}

TEST_CASE("lines of printable text keep their line breaks") {
  CHECK(printable_lines("a\nb\x1b\n") == "a\nb\\x1b\n");
}

TEST_CASE("the length of a UTF-8 sequence is 0 where it is cut, overlong or a surrogate") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xC3\xA4") == 2);
  CHECK(utf8_length("\xF0\x9F\x98\x80") == 4);
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFE"}) {
    CAPTURE(bad);
    CHECK(utf8_length(bad) == 0);
  }
}
