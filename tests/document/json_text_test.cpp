#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string random_string(base::RandomStream& random) {
  static constexpr std::string_view kParts[] = {"a",  "\"",       "\\",           "\n", "\x01",
                                                "/~", "\xC3\xA4", "\xE2\x82\xAC", "",   "\x7F"};
  std::string text;
  for (std::int64_t n = random.integer(0, 4); n > 0; --n) {
    text += kParts[random.bits() % std::size(kParts)];
  }
  return text;
}

Json random_value(base::RandomStream& random, int depth) {
  switch (random.integer(0, depth > 3 ? 4 : 6)) {
  case 0:
    return nullptr;
  case 1:
    return random.integer(0, 1) == 1;
  case 2:
    return static_cast<std::int64_t>(random.bits() >> random.integer(0, 63));
  case 3: {
    const auto value = std::bit_cast<double>(random.bits());
    return std::isfinite(value) ? value : -0.0;
  }
  case 4:
    return random_string(random);
  case 5: {
    Array array;
    for (std::int64_t n = random.integer(0, 4); n > 0; --n) {
      array.push_back(random_value(random, depth + 1));
    }
    return array;
  }
  default: {
    Json object = Object{};
    for (std::int64_t n = random.integer(0, 4); n > 0; --n) {
      object.set(random_string(random), random_value(random, depth + 1));
    }
    return object;
  }
  }
}

// Numbers compare by bits as doubles: 3.0 is written "3" and read as an integer.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    return std::bit_cast<std::uint64_t>(a.as_double()) ==
           std::bit_cast<std::uint64_t>(b.as_double());
  }
  if (a.is_array() && b.is_array()) {
    return std::equal(a.as_array().begin(), a.as_array().end(), b.as_array().begin(),
                      b.as_array().end(), same);
  }
  if (a.is_object() && b.is_object()) {
    return a.as_object().size() == b.as_object().size() &&
           std::all_of(a.as_object().begin(), a.as_object().end(), [&](const Member& member) {
             const Json* other = b.find(member.first);
             return other != nullptr && same(member.second, *other);
           });
  }
  return a == b;
}

} // namespace

TEST_CASE("compact text has sorted keys, shortest numbers and no blanks") {
  Json json;
  json.set("b", Array{1, 2.5, nullptr});
  json.set("a", true);
  json.set("c", Object{});
  CHECK(compact(json) == R"({"a":true,"b":[1,2.5,null],"c":{}})");
}

TEST_CASE("pretty text is indented by two and ends with a new line") {
  Json json;
  json.set("b", Array{1, Object{{"x", "y"}}});
  json.set("a", Array{});
  CHECK(pretty(json) == "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {\n      \"x\": \"y\"\n    }\n"
                        "  ]\n}\n");
}

TEST_CASE("texts are escaped, wrong UTF-8 is replaced") {
  CHECK(compact("a\"\\\n\t\r\x01\x1f") == "\"a\\\"\\\\\\n\\t\\r\\u0001\\u001f\"");
  CHECK(compact("\xC3\xA4\xF0\x9F\x98\x80") == "\"\xC3\xA4\xF0\x9F\x98\x80\"");
  CHECK(compact("\xFFx\xC3") == "\"\xEF\xBF\xBDx\xEF\xBF\xBD\"");
  CHECK(compact("\xED\xA0\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); // a surrogate
}

TEST_CASE("what is written is read back bit-equal") {
  constexpr std::uint64_t kSeed = 17;
  INFO("seed " << kSeed);
  base::RandomStream random({.seed = kSeed});
  for (int i = 0; i < 5000; ++i) {
    const Json json = random_value(random, 0);
    CAPTURE(compact(json));
    CHECK(same(json, parse_json(compact(json), "")));
    CHECK(same(json, parse_json(pretty(json), "")));
    CHECK(compact(parse_json(pretty(json), "")) == compact(json));
  }
}
