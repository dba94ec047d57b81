// Rows of keys: what a reader takes from them, and the schema that is written from them.
#include <doctest/doctest.h>

#include "document/fields/members.hpp"
#include "document/fields/schema.hpp"
#include "document/json_text.hpp"
#include "document/reader.hpp"

using namespace stepsim::io;
using namespace stepsim::io::rows;

namespace {

enum class Color { red, green };
constexpr auto kColors = stepsim::base::words<Color>();
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
constexpr std::array kMore{
    text("extra", "A text.").example(R"("x")"),
    text("title", "A text.").by_default("none"),
    word("shade", kColors, "A color, or none.").nullable(),
    list("marks", kSize, "Marks, or none.").nullable(),
    either("height", kWidths, "A height, or none.").nullable(),
    map("by_ranks", kSize, "Sizes by numbers of ranks.").named_like("^[1-9][0-9]*$").sizes(1)};
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

struct Point {
  double time_s{};
  std::optional<double> loss;
};
constexpr auto kPoint = std::to_array<Written<Point>>(
    {{number("time_s", "Time, s.").required(), [](const Point& p) { return Json(p.time_s); }},
     {number("loss", "Loss.").required(), [](const Point& p) { return or_null(p.loss); }},
     {number("gain", "Gain."), [](const Point& p) { return or_null(p.loss); }}});
constexpr std::array kPointKeys = written_keys(kPoint);

struct Run {
  std::string name;
  stepsim::Seconds wait;
  std::optional<std::int64_t> ranks;
  std::int64_t count{};
};
constexpr std::array kRunRows{of<&Run::name>(text("Name.").required()),
                              of<&Run::wait>(number("Wait, s.", at_least(0)).by_default(0)),
                              of<&Run::ranks>(integer("Ranks.").nullable()),
                              of<&Run::count>(integer("Count.").by_default(0))};
constexpr Key kRunObject = object("run", kRowKeys<kRunRows>, "A run.");
constexpr auto kRunMembers =
    members<&Run::name, &Run::wait, nullable<&Run::ranks>, unless_default<&Run::count>>;
constexpr Key kPointObject = object("point", kPointKeys, "A point.");

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
          CHECK(fields.text("extra").empty());
          CHECK(fields.text("title") == "none");
          CHECK(!fields.optional_text("title"));
          CHECK(!fields.optional_word("shade", kColors));
          CHECK(fields.list("sizes", "size").empty());
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
                   "/color: unknown color \"blue\"; one of red, green\n"); // a problem is said once
}

TEST_CASE("texts, words and lists are read by their rows") {
  CHECK(read(R"({"count": 3, "extra": "a", "title": "b", "shade": "green", "sizes": []})",
             [](Fields& fields) {
               CHECK(fields.text("extra") == "a");
               CHECK(fields.optional_text("title") == "b");
               CHECK(fields.optional_word("shade", kColors) == Color::green);
               CHECK(fields.list("sizes").empty());
               CHECK(fields.list("sizes", "size").empty());
               fields.know_all();
               fields.no_more();
             }) == "/sizes: needs at least one size\n");
  CHECK(read(R"({"extra": 1, "shade": "blue", "sizes": 2})",
             [](Fields& fields) {
               (void)fields.text("extra");
               (void)fields.optional_word("shade");
               (void)fields.list("sizes", "size");
             }) == "/extra: must be a text, got 1\n"
                   "/shade: unknown shade \"blue\"; one of red, green\n"
                   "/sizes: must be a list, got 2\n");
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
  CHECK(at("/properties/shade/enum") == R"(["red","green",null])");
  CHECK(at("/properties/marks/type") == R"(["array","null"])");
  CHECK(at("/properties/height/anyOf/2") == R"({"type":"null"})");
  CHECK(at("/properties/by_ranks/propertyNames") == R"({"pattern":"^[1-9][0-9]*$"})");
  CHECK(at("/properties/by_ranks/minProperties") == "1");
  CHECK(at("/properties/width/anyOf/1/enum") == R"(["best"])");
  CHECK(at("/properties/sizes/minItems") == "1");
  CHECK(at("/properties/sizes/maxItems") == "3");
  CHECK(at("/properties/inner/type") == R"(["object","null"])");
  CHECK(at("/properties/inner/additionalProperties") == "false");
  CHECK(at("/examples/0/count") == "1");
  CHECK(at("/properties/$schema/examples/0") == R"("../schemas/root.schema.json")");
}

TEST_CASE("a row of the kind makes the kind required, in the schema and for the reader") {
  static constexpr std::array kOnlyKind{text("kind", "Kind of the file.").required()};
  static constexpr Key kFile = object("file", kOnlyKind, "A file.");
  const Json made = schema({"root", &kFile, {}});
  CHECK(compact(*made.find("required")) == R"(["kind"])");
  CHECK(compact(*resolve(made, "/properties/kind/const")) == R"("root")");
  const Json json = parse_json("{}", "f.json");
  Problems problems;
  Fields(json, problems, kFile).header("root");
  REQUIRE(problems.list().size() == 1);
  CHECK(problems.list().front().message == "required (a text)");
}

TEST_CASE("in a part of an object no key is required and every value may be null") {
  static constexpr std::array kParts{
      object("part", kKeys, "A part.").exactly_one("flag|count").partial().example("{}")};
  static constexpr Key kWhole = object("whole", kParts, "A file.");
  const Json made = schema({"whole", &kWhole, {}});
  const auto at = [&](std::string_view pointer) {
    return compact(*resolve(made, "/properties/part" + std::string(pointer)));
  };
  CHECK(resolve(made, "/properties/part/required") == nullptr);
  CHECK(resolve(made, "/properties/part/oneOf") == nullptr);
  CHECK(at("/type") == R"(["object","null"])");
  CHECK(at("/properties/count/type") == R"(["integer","null"])");
  CHECK(at("/properties/flag/type") == R"(["boolean","null"])");
  CHECK(at("/properties/color/enum") == R"(["red","green",null])");
  CHECK(at("/properties/sizes/items/type") == R"(["integer","null"])");
  CHECK(at("/properties/width/anyOf/1/enum") == R"(["best",null])");
  CHECK(resolve(made, "/properties/part/properties/inner/required") == nullptr);
}

TEST_CASE("a row that is required is written as null, another is left out") {
  CHECK(compact(write(kPoint, Point{1.5, {}})) == R"({"loss":null,"time_s":1.5})");
  CHECK(compact(write(kPoint, Point{1.5, 2})) == R"({"gain":2,"loss":2,"time_s":1.5})");
}

TEST_CASE("the schema of what is written has the keys of its rows and no others") {
  const Json made = schema({"point", &kPointObject, {}, false});
  const auto at = [&](std::string_view pointer) { return compact(*resolve(made, pointer)); };
  CHECK(at("/required") == R"(["time_s","loss"])");
  CHECK(resolve(made, "/properties")->as_object().size() == kPoint.size());
  CHECK(at("/properties/time_s/type") == R"("number")"); // and not "5us", which is never written
}

TEST_CASE("objects and numbers of a list are read by their rows, an unknown key is named once") {
  static constexpr std::array kShares{object("shares", kInner, "A share.")};
  static constexpr std::array kOwner{object("inner", kInner, "An object.").nullable(),
                                     list("shares", kShares, "Shares."),
                                     list("sizes", kSize, "Sizes.")};
  static constexpr Key kOwnerRoot = object("root", kOwner, "A file.");
  const Json json = parse_json(
      R"({"inner": null, "shares": [{"share": 0.5}, {"share": 1, "sahre": 1}], "sizes": [3, -1]})",
      "f.json");
  Problems problems;
  Fields fields(json, problems, kOwnerRoot);
  fields.object("inner", [](Fields&) { FAIL("null is no object"); });
  const std::vector<double> shares = fields.each("shares", [](Fields& each) {
    const double share = each.number("share");
    each.no_more();
    return share;
  });
  CHECK(shares == std::vector{0.5, 1.0});
  CHECK(fields.numbers("sizes") == std::vector{3.0, 0.0});
  REQUIRE(problems.list().size() == 2);
  CHECK(problems.list()[0].where == "/shares/1/sahre");
  CHECK(problems.list()[1].where == "/sizes/1");
}

TEST_CASE("rows and lists of members have the names of the members, times with their unit") {
  const Json json = parse_json(R"({"name": "a", "wait_s": 0.5, "count": 0})", "f.json");
  Problems problems;
  Fields fields(json, problems, kRunObject);
  const Run run = read_members(kRunMembers, fields);
  fields.no_more();
  CHECK(problems.empty());
  CHECK(run.wait.value == 0.5);
  CHECK(compact(write_members(kRunMembers, kRunObject, run)) ==
        R"({"name":"a","ranks":null,"wait_s":0.5})");
  Json tree;
  write_bound(kRunRows, run, tree);
  CHECK(compact(tree) == R"({"count":0,"name":"a","wait_s":0.5})");
  CHECK(compact(tree_of<&Run::name, &Run::ranks>(run)) == R"({"name":"a","ranks":null})");
  CHECK(row<&Run::count>("Count.").key.name == "count");
  CHECK(pointer_to<&Run::count, "/run/">() == "/run/count");
  CHECK(pointer_to<&Run::wait, "/">() == "/wait_s");
}

TEST_CASE("objects of a list are checked by their rows, maps of numbers too") {
  static constexpr std::array kConstant{number("fit", "A constant.").in(at_least(0))};
  static constexpr std::array kKernel{text("kernel", "A name.").required(),
                                      map("fit", kConstant, "Constants by their names.")};
  static constexpr std::array kKernels{object("kernels", kKernel, "A kernel.")};
  static constexpr std::array kFileKeys{list("kernels", kKernels, "Kernels.")};
  static constexpr Key kFile = object("file", kFileKeys, "A file.");
  const Json json = parse_json(
      R"({"kernels": [{"kernel": "a", "fit": {"c": -1, "d": 1}}, {"kernel": "b", "fits": {}}]})",
      "f.json");
  Problems problems;
  Fields fields(json, problems, kFile);
  fields.check_each("kernels");
  REQUIRE(problems.list().size() == 2);
  CHECK(problems.list()[0].where == "/kernels/0/fit/c");
  CHECK(problems.list()[1].where == "/kernels/1/fits");
}
