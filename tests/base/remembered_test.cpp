#include "base/shared_value.hpp"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>
#include <string>

using stepsim::base::remembered;

TEST_CASE("remembered: a value is made once for a key") {
  std::map<int, std::string> map;
  int made = 0;
  const auto make = [&] { return std::to_string(++made); };
  CHECK(remembered(map, 7, make) == "1");
  CHECK(remembered(map, 7, make) == "1");
  CHECK(remembered(map, 8, make) == "2");
  remembered(map, 7, make) = "changed";
  CHECK(map.at(7) == "changed");
}

TEST_CASE("remembered: nothing is kept of a value that could not be made") {
  std::map<int, double> map;
  bool fails = true;
  const auto make = [&] { return fails ? throw std::runtime_error("no") : 3.0; };
  CHECK_THROWS_AS((void)remembered(map, 1, make), std::runtime_error);
  CHECK(map.empty());
  fails = false;
  CHECK(remembered(map, 1, make) == 3.0);
}
