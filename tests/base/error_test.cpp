#include "base/error.hpp"

#include <doctest/doctest.h>

#include <string>

using stepsim::InputError;
using stepsim::base::Problem;
using stepsim::base::shown_value;

TEST_CASE("a problem at a JSON pointer is FILE: POINTER: MESSAGE") {
  const Problem problem{"cluster.json", "/links/3/latency_s", "must be >= 0, got -1"};
  CHECK(problem.text() == "cluster.json: /links/3/latency_s: must be >= 0, got -1");
}

TEST_CASE("a problem at a line is FILE:LINE: MESSAGE") {
  CHECK(Problem{"a.log", "17", "bad"}.text() == "a.log:17: bad");
  CHECK(Problem{"a.json", "12:7", "bad"}.text() == "a.json:12:7: bad");
  CHECK(Problem{"a.json", "", "empty"}.text() == "a.json: empty");
}

TEST_CASE("an input error says its first problem and keeps all") {
  const InputError error({{"f", "/a", "one"}, {"f", "/b", "two"}});
  CHECK(std::string(error.what()) == "f: /a: one");
  CHECK(error.problems().size() == 2);
}

TEST_CASE("a shown value is cut outside of UTF-8 sequences and has no control characters") {
  CHECK(shown_value("abc") == "abc");
  const std::string shown = shown_value(std::string(50, 'x'));
  CHECK(shown.substr(0, 40) == std::string(40, 'x'));
  CHECK(shown.substr(40) == "...");
  CHECK(shown_value("a\nb") == "a\\nb");
  CHECK(shown_value("\xC3\xA4\xC3\xA4", 3) == "\xC3\xA4...");
}
