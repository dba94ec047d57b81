#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"

using namespace stepsim;
using namespace stepsim::io;

TEST_CASE("a pointer resolves members, elements and escaped keys") {
  const Json json = parse_json(R"({"a": [10, {"b/c": 11, "~": 12, "": 13}]})", "");
  CHECK(resolve(json, "") == &json);
  CHECK(resolve(json, "/a/0")->as_integer() == 10);
  CHECK(resolve(json, "/a/1/b~1c")->as_integer() == 11);
  CHECK(resolve(json, "/a/1/~0")->as_integer() == 12);
  CHECK(resolve(json, "/a/1/")->as_integer() == 13);
  CHECK(resolve(json, "/a/2") == nullptr);
  CHECK(resolve(json, "/a/01") == nullptr);
  CHECK(resolve(json, "/a/0/x") == nullptr);
  CHECK_THROWS_AS((void)resolve(json, "a"), UsageError);
}

TEST_CASE("what is assigned through a list is given back where it stands") {
  Json json = parse_json(R"({"l": [{"a": 1}, {"a": 2}]})", "s.json");
  Json& placed = assign(json, "/l/1/a", 3);
  CHECK(&placed == resolve(json, "/l/1/a"));
  CHECK(placed.pointer() == "/l/1/a");
  Json& appended = assign(json, "/l/-/a", 4);
  CHECK(&appended == resolve(json, "/l/2/a"));
  CHECK(appended.pointer() == "/l/2/a"); // the place it has got, not "-"
  CHECK(compact(json) == R"({"l":[{"a":1},{"a":3},{"a":4}]})");
}

TEST_CASE("tokens and their escapes are inverse") {
  CHECK(pointer_tokens("/a~1b/~0~1/") == std::vector<std::string>{"a/b", "~/", ""});
  CHECK(escape_token("a/b~") == "a~1b~0");
}

TEST_CASE("assigning creates objects, replaces values and appends to lists") {
  Json json = parse_json(R"({"a": {"b": 1}, "l": [1]})", "s.json");
  assign(json, "/a/b", 2);
  assign(json, "/x/y/z", "new");
  assign(json, "/l/0", 5);
  assign(json, "/l/-", 6);
  assign(json, "/l/2", 7);
  CHECK(compact(json) == R"({"a":{"b":2},"l":[5,6,7],"x":{"y":{"z":"new"}}})");
  assign(json, "", 3);
  CHECK(compact(json) == "3");
}

TEST_CASE("an assigned value is named by its pointer") {
  Json json = parse_json(R"({"a": 1})", "s.json");
  assign(json, "/cluster/nodes", 2);
  const Json& value = *resolve(json, "/cluster/nodes");
  CHECK(value.pointer() == "/cluster/nodes");
  CHECK(value.file() == "s.json");
  const Json& created = *resolve(json, "/cluster");
  CHECK(created.pointer() == "/cluster");
  CHECK(created.file() == "s.json");
}

TEST_CASE("assigning below a scalar or beyond a list is a usage error") {
  Json json = parse_json(R"({"a": 1, "l": [1]})", "s.json");
  CHECK_THROWS_WITH_AS(assign(json, "/a/b", 1), "/a/b: /a is a number, not an object", UsageError);
  CHECK_THROWS_WITH_AS(assign(json, "/l/5", 1), "/l/5: /l has 1 elements, no element \"5\"",
                       UsageError);
  CHECK_THROWS_AS(assign(json, "/l/x", 1), UsageError);
}
