// An object written member by member has the text of the whole tree.
#include "document/json_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

Json random_value(base::RandomStream& random, int depth) {
  switch (random.integer(depth > 3 ? 3 : 0, 6)) {
  case 0: {
    Object object;
    const auto members = random.integer(0, 4);
    for (std::int64_t i = 0; i < members; ++i) {
      object.emplace_back(std::to_string(random.integer(0, 9)) + "key" + std::to_string(i),
                          random_value(random, depth + 1));
    }
    return object;
  }
  case 1:
  case 2: {
    Array list; // some are longer than what is written in one piece
    const auto size = random.uniform() < 0.1 ? random.integer(60, 200) : random.integer(0, 3);
    for (std::int64_t i = 0; i < size; ++i) {
      list.push_back(random_value(random, depth + (size > 3 ? 3 : 1)));
    }
    return list;
  }
  case 3:
    return "a \"text\"\nof two lines";
  case 4:
    return random.uniform();
  case 5:
    return random.integer(-5, 5);
  default:
    return nullptr;
  }
}

} // namespace

TEST_CASE("object text: members and lists written one by one are the text of the whole tree") {
  base::RandomStream random({.seed = 21});
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    std::string text;
    ObjectText parts([&](std::string_view block) { text += block; });
    Object whole;
    const auto members = random.integer(1, 5);
    for (std::int64_t i = 0; i < members; ++i) {
      const std::string key = std::string(1, static_cast<char>('a' + i)) + "\n\"";
      const Json value = random_value(random, 0);
      if (value.is_array() && random.uniform() < 0.5) {
        parts.list(key, value.as_array().size(),
                   [&](std::size_t element) { return value.as_array()[element]; });
      } else {
        parts.member(key, value);
      }
      whole.emplace_back(key, value);
    }
    parts.end();
    REQUIRE(text == pretty(whole));
  }
}

TEST_CASE("object text: a list below a member, written one by one, is the text of the whole") {
  base::RandomStream random({.seed = 22});
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Array elements;
    const auto size = random.integer(0, 3) == 0 ? random.integer(60, 100) : random.integer(0, 4);
    for (std::int64_t i = 0; i < size; ++i) {
      elements.push_back(random_value(random, 2));
    }
    const bool deep = random.integer(0, 1) == 0; // at /b/lists/a, else at /b
    const Json list = elements;
    const Json value =
        Object{{"c", random_value(random, 1)},
               {"b", deep ? Json(Object{{"z", random_value(random, 1)},
                                        {"lists", Object{{"c", Array{}}, {"a", list}}}})
                          : list},
               {"a", Array{}}};
    Json without = value;
    Json& place = *without.find("b");
    (deep ? *place.find("lists")->find("a") : place) = Array{};
    const Json before = random_value(random, 0);
    std::string text;
    ObjectText parts([&](std::string_view block) { text += block; });
    parts.member("before", before);
    parts.member("m", without, {deep ? "/b/lists/a" : "/b", elements.size(), [&](std::size_t i) {
                                  return elements[i];
                                }});
    parts.end();
    REQUIRE(text == pretty(Object{{"before", before}, {"m", value}}));
  }
}

TEST_CASE("object text: long texts come in blocks, and numbers that are not finite are refused") {
  std::size_t blocks = 0;
  std::size_t largest = 0;
  ObjectText parts([&](std::string_view block) {
    ++blocks;
    largest = std::max(largest, block.size());
  });
  parts.member("a", Array(100'000, Json(1.5)));
  CHECK_THROWS_AS(parts.member("b", std::numeric_limits<double>::infinity()), SimulationError);
  CHECK(blocks > 8);
  CHECK(largest < 70'000);
}
