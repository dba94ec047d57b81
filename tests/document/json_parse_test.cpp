#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/file.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string error(std::string_view text, ParseLimits limits = {}) {
  try {
    (void)parse_json(text, "x.json", limits);
  } catch (const InputError& caught) {
    return caught.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("every value knows its file, pointer and line") {
  const Json json = parse_json("{\n  \"a\": [1,\n 2.5\n, \"x\" ],\n\"b/c\": {\"d~\": null},\n"
                               "\"e\": true}\n",
                               "f.json");
  CHECK(json.pointer().empty());
  CHECK(json.line() == 1);
  const Array& a = json.find("a")->as_array();
  CHECK(a[0].line() == 2);
  CHECK(a[1].line() == 3);
  CHECK(a[2].line() == 4);
  CHECK(a[1].pointer() == "/a/1");
  CHECK(a[1].file() == "f.json");
  const Json& deep = *json.find("b/c")->find("d~");
  CHECK(deep.pointer() == "/b~1c/d~0");
  CHECK(deep.line() == 5);
  CHECK(json.find("e")->line() == 6);
}

TEST_CASE("numbers keep whether they were integers") {
  const Json json = parse_json("[1, -7, 1.0, 1e2, 9223372036854775807, 9223372036854775808]", "");
  const Array& a = json.as_array();
  CHECK(a[0].is_integer());
  CHECK(a[1].as_integer() == -7);
  CHECK(!a[2].is_integer());
  CHECK(a[3].as_double() == 100.0);
  CHECK(a[4].as_integer() == 9223372036854775807);
  CHECK(a[5].as_double() == 0x1p63);
  CHECK(!a[5].is_integer());
}

TEST_CASE("a syntax error is at the line and column where the wrong word starts") {
  CHECK(error("{\"a\": 1,\n  \"b\" 22}") == "x.json:2:7: unexpected number literal; expected ':'");
  CHECK(error("[1\n 234]") == "x.json:2:2: unexpected number literal; expected ']'");
  CHECK(error("[1, ]") == "x.json:1:5: JSON allows no comma before the closing bracket");
  CHECK(error("[tru]") == "x.json:1:2: not a JSON value: tru");
  CHECK(error("[@]") == "x.json:1:2: not a JSON value: @");
  CHECK(error("[\xFF]") == "x.json:1:2: not JSON: byte 255");
  CHECK(error("[-]") == "x.json:1:2: not a JSON value: -");
  CHECK(error("[1, nul]") == "x.json:1:5: not a JSON value: nul");
  CHECK(error("[1.\n]") == "x.json:1:2: not a JSON value: 1.");
  CHECK(error("{\"a\": \"b\" \"c\"}") == "x.json:1:11: unexpected string literal; expected '}'");
  CHECK(error("[1] 2") == "x.json:1:5: unexpected text after the value");
  CHECK(error("[1]]") == "x.json:1:4: unexpected text after the value");
  CHECK(error("[\"a\nb\"]").starts_with("x.json:1:4: invalid string: control character"));
}

TEST_CASE("a truncated text ends unexpectedly") {
  CHECK(error("{\"a\":\n [1,") == "x.json:2:5: unexpected end of input");
  CHECK(error("{\"a") == "x.json:1:4: unexpected end of input");
  CHECK(error("[1, tr") == "x.json:1:7: unexpected end of input");
  CHECK(error("[-") == "x.json:1:3: unexpected end of input");
  CHECK(error("") == "x.json: empty");
  CHECK(error(" \n ") == "x.json: empty");
}

TEST_CASE("duplicate keys are refused in small and large objects") {
  CHECK(error("{\"a\": 1,\n \"a\": 2}") == "x.json:2:2: duplicate key \"a\"");
  std::string large = "{";
  for (int i = 0; i < 100; ++i) {
    large += "\"k" + std::to_string(i) + "\": 0,\n";
  }
  CHECK(error(large + "\"k3\": 1}") == "x.json:101:1: duplicate key \"k3\"");
  CHECK(error(large + "\"k99\": 1}") == "x.json:101:1: duplicate key \"k99\"");
  CHECK(error(large + "\"k100\": 1}") == "no error");
}

TEST_CASE("NaN, infinities and numbers out of range are refused") {
  for (const char* text : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-NaN"}) {
    CHECK(error(std::string("[") + text + "]") ==
          "x.json:1:2: NaN and infinity are not allowed in JSON");
  }
  CHECK(error("[1, 1e400]") == "x.json:1:5: number out of range: 1e400");
  CHECK(error("-1e400") == "x.json:1:1: number out of range: -1e400");
}

TEST_CASE("depth, text length, number length and the count of values are limited") {
  const ParseLimits limits{.max_depth = 3, .max_string = 5, .max_values = 4};
  CHECK(error("[[[1]]]", limits) == "no error");
  CHECK(error("[[[[1]]]]", limits) == "x.json:1:4: nested deeper than 3 levels");
  CHECK(error("[\"12345\"]", limits) == "no error");
  CHECK(error("[\"123456\"]", limits) == "x.json:1:2: text longer than 5 bytes");
  CHECK(error("[1,2,3]", limits) == "no error");
  CHECK(error("[1,2,3,4]", limits) == "x.json:1:8: more than 4 values");
  CHECK(error("[1,     2]", limits) == "no error");
  CHECK(error("[1,      2]", limits) == "x.json:1:9: more than 5 blanks in a row");
  CHECK(error("[" + std::string(5000, '1') + "]") ==
        "x.json:1:2: number longer than 4096 characters");
  CHECK(error(std::string(300, '[')) == "x.json:1:257: nested deeper than 256 levels");
}

TEST_CASE("files are read through chunks and gzip, with their name in errors") {
  const TemporaryFolder folder;
  std::string text = "[";
  for (int i = 0; i < 50'000; ++i) {
    text += std::to_string(i) + ",\n";
  }
  text += "50000]";
  write_file(folder.file("a.json.gz"), text);
  for (const std::string& path : {folder.put("a.json", text), folder.file("a.json.gz")}) {
    const Json json = read_json(path);
    REQUIRE(json.as_array().size() == 50'001);
    for (std::size_t i = 0; i <= 50'000; ++i) {
      REQUIRE(json.as_array()[i].as_integer() == static_cast<std::int64_t>(i));
      REQUIRE(json.as_array()[i].line() == static_cast<std::int64_t>(i + 1));
    }
  }
  CHECK_THROWS_WITH_AS((void)read_json(folder.put("empty.json", "")),
                       (folder.file("empty.json") + ": empty").c_str(), InputError);
  CHECK_THROWS_WITH_AS(
      (void)read_json(folder.file("none.json")),
      (folder.file("none.json") + ": cannot read: no such file or directory").c_str(), InputError);
}

TEST_CASE("any mutation of a text parses or fails cleanly") {
  constexpr std::uint64_t kSeed = 5;
  INFO("seed " << kSeed);
  base::RandomStream random({.seed = kSeed});
  const std::string good =
      R"({"a": [1, -2.5e3, "x\u00e4\n", true, null], "b": {"c": {}, "d": []}})";
  std::size_t failed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good.substr(
        0, static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(good.size()))));
    for (std::int64_t n = random.integer(0, 3); n > 0 && !text.empty(); --n) {
      text[random.bits() % text.size()] = static_cast<char>(random.bits());
    }
    try {
      const Json json = parse_json(text, "m.json");
      REQUIRE(compact(parse_json(compact(json), "")) == compact(json));
    } catch (const InputError& caught) {
      ++failed;
      REQUIRE(std::string(caught.what()).starts_with("m.json:"));
    }
  }
  CHECK(failed > 1000);
}

TEST_CASE("a tree takes memory in proportion to its file, whatever stands below a long key") {
  const std::string key(100'000, 'k');
  std::string text = "{\"" + key + "\": [";
  for (int i = 0; i < 10'000; ++i) { // 1 GB of pointers
    text += i == 0 ? "0" : ",0";
  }
  const Json json = parse_json(text + "]}", "a.json");
  const Json& last = json.as_object()[0].second.as_array()[9'999];
  CHECK(last.pointer() == "/" + key + "/9999");
  CHECK(last.file() == "a.json");
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < 700'000); // kB
}
