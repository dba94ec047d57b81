// Rows of keys: what a reader takes from them, and the schema that is written from them.
#include <doctest/doctest.h>

#include "json/fields/schema.hpp"
#include "json/json_parse.hpp"
#include "json/json_pointer.hpp"
#include "json/json_text.hpp"
#include "json/reader.hpp"

using namespace stepsim::io;
using namespace stepsim::io::rows;

namespace {

enum class Color { red, green };
constexpr auto kColors =
    stepsim::base::words<Color>({{Color::red, "red"}, {Color::green, "green"}});
constexpr std::array<std::string_view, 1> kBest{"best"};
constexpr std::array kWidths{integer("width", "A width.").in(at_least(1)),
                             word("width", kBest, "The best width.")};
constexpr std::array kSize{integer("sizes", "A size.").in(at_least(0))};
constexpr std::array kInner{number("share", "A share.").in(between(0, 1)).required()};
constexpr std::array kKeys{
    number("time_s", "A time, s.").in(above(0)).by_default(2.5),
    integer("count", "A count.").in(between(1, 8)).required(),
    boolean("flag", "A flag.").by_default(true),
    word("color", kColors, "A color.").by_default("green"),
    either("width", kWidths, "A width.").by_default(2),
    list("sizes", kSize, "Sizes.").sizes(1, 3),
    object("inner", kInner, "An object.").nullable(),
};
constexpr std::array kMore{text("extra", "A text.").example(R"("x")")};
constexpr Key kRoot =
    object("root", kKeys, "A file.").and_also(kMore).exactly_one("flag|color,count");

std::string read(std::string_view text, auto reading) {
  const Json json = parse_json(text, "f.json");
  Problems problems;
  Fields fields(json, problems, kRoot);
  reading(fields);
  std::string all;
  for (const auto& problem : problems.list()) {
    all += problem.where + ": " + problem.message + "\n";
  }
  return all;
}

} // namespace

TEST_CASE("a row gives a reader the default of its key") {
  CHECK(read(R"({"count": 3})", [](Fields& fields) {
          CHECK(fields.number("time_s") == 2.5);
          CHECK(fields.integer("count") == 3);
          CHECK(fields.boolean("flag"));
          CHECK(fields.word("color", kColors) == Color::green);
          CHECK(fields.word("color") == "green");
          CHECK(fields.integer("width") == 2);
          CHECK(fields.number_or("time_s", 7) == 7);
          CHECK(fields.word_or("color", "red") == "red");
          CHECK(!fields.optional_number("time_s"));
        }).empty());
}

TEST_CASE("a row gives a reader the range of its key, and says whether it is required") {
  CHECK(read(R"({"time_s": 0, "width": 0, "color": "blue"})",
             [](Fields& fields) {
               (void)fields.number("time_s");
               (void)fields.integer("count");
               (void)fields.integer("width");
               (void)fields.word("color");
               (void)fields.required_number("time_s");
             }) == "/time_s: must be > 0, got 0\n"
                   "/count: required (an integer)\n"
                   "/width: must be an integer >= 1, got 0\n"
                   "/color: unknown color \"blue\"; one of red, green\n"
                   "/time_s: must be > 0, got 0\n");
}

TEST_CASE("keys of both lists of an object are found, others by no pointer") {
  CHECK(find_key(kRoot, "extra")->name == "extra");
  CHECK(keys_of(kRoot).size() == kKeys.size() + kMore.size());
  CHECK(key_at(kRoot, "") == &kRoot);
  CHECK(key_at(kRoot, "/inner/share") == &kInner[0]);
  CHECK(key_at(kRoot, "/sizes/7") == &kSize[0]);
  CHECK(key_at(kRoot, "/inner/other") == nullptr);
  CHECK(key_at(kRoot, "/count/0") == nullptr);
}

TEST_CASE("the schema has ranges, words, forms and required keys of the rows") {
  constexpr std::array<std::string_view, 1> kExamples{R"({"count": 1})"};
  const Json made = schema({"root", &kRoot, kExamples});
  const auto at = [&](std::string_view pointer) { return compact(*resolve(made, pointer)); };
  CHECK(at("/required") == R"(["count"])");
  CHECK(at("/oneOf") == R"([{"required":["flag"]},{"required":["color","count"]}])");
  CHECK(at("/properties/kind/const") == R"("root")");
  CHECK(at("/properties/time_s/oneOf/0") == R"({"exclusiveMinimum":0,"type":"number"})");
  CHECK(at("/properties/count/maximum") == "8");
  CHECK(at("/properties/count/minimum") == "1");
  CHECK(at("/properties/color/enum") == R"(["red","green"])");
  CHECK(at("/properties/color/default") == R"("green")");
  CHECK(at("/properties/width/anyOf/1/enum") == R"(["best"])");
  CHECK(at("/properties/sizes/minItems") == "1");
  CHECK(at("/properties/sizes/maxItems") == "3");
  CHECK(at("/properties/inner/type") == R"(["object","null"])");
  CHECK(at("/properties/inner/additionalProperties") == "false");
  CHECK(at("/examples/0/count") == "1");
  CHECK(at("/properties/$schema/examples/0") == R"("../schemas/root.schema.json")");
}
