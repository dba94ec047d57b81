#include "study/semantics_result.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/json_text.hpp"

using namespace stepsim;
using study::SemanticsFile;

namespace {

const std::string kExampleA = R"({"kind": "sparse_semantics", "method": "gtopk_tree", "ranks": 4,
  "dims": 6, "k": 2, "gradients": [[[5, -3, 2, 0, 1, 0], [0, 2, 4, -6, 0, 1], [-4, 0, 3, 1, 0, 5],
  [1, 0, 3, 2, -7, 0]]], "expected": EXPECTED})";
const std::string kExampleB = R"({"schema_version": 1, "kind": "sparse_semantics",
  "name": "example-b", "method": "gtopk_tree", "ranks": 4, "dims": 7, "k": 2,
  "residual_mask": "final", "gradients": [[{"index": [0, 1], "value": [10, 3]},
  {"index": [2, 5], "value": [9, 1]}, {"index": [1, 3], "value": [12, 1]},
  {"index": [4, 6], "value": [7, 2]}]], "expected": EXPECTED})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

SemanticsFile parsed(const std::string& text) {
  return study::parse_semantics(io::parse_json(text, "s.json"));
}

io::Json output_of(const SemanticsFile& file) {
  return study::semantics_tree(file, study::run_semantics(file));
}

// "/pointer: expected 1, got 2", or "" if nothing differs.
std::string difference(const std::string& example, const std::string& expected) {
  const SemanticsFile file = parsed(with(example, "EXPECTED", expected));
  const auto found = study::first_difference(file, output_of(file));
  return found ? found->pointer + ": " + found->message : "";
}

// The pointers and messages of all problems, one per line.
std::string problems(const std::string& text) {
  try {
    (void)parsed(text);
  } catch (const InputError& error) {
    std::string all;
    for (const base::Problem& problem : error.problems()) {
      all += problem.where + ": " + problem.message + "\n";
    }
    return all;
  }
  return "";
}

} // namespace

TEST_CASE("semantics, example A: everything that the output holds") {
  CHECK(difference(kExampleA, R"({"iterations": [{
    "selected": [{"index": [0, 1], "value": [5, -3]}, {"index": [2, 3], "value": [4, -6]},
                 {"index": [0, 5], "value": [-4, 5]}, {"index": [2, 4], "value": [3, -7]}],
    "rounds": [
      {"round": 0, "merges": [{"rank": 0, "from": 1, "result": {"index": [0, 3], "value": [5, -6]}},
                              {"rank": 2, "from": 3, "result": {"index": [4, 5], "value": [-7, 5]}}]},
      {"round": 1, "merges": [{"rank": 0, "from": 2, "result": {"index": [3, 4], "value": [-6, -7]}}]}],
    "final": {"index": [3, 4], "value": [-6, -7]},
    "update": {"index": [3, 4], "value": [-1.5, -1.75]},
    "residual_by_mask": {
      "final": [[5, -3, 2, 0, 1, 0], [0, 2, 4, 0, 0, 1], [-4, 0, 3, 1, 0, 5], [1, 0, 3, 2, 0, 0]],
      "per_round": [[5, -3, 2, 0, 1, 0], [0, 2, 4, 0, 0, 1], [-4, 0, 3, 1, 0, 5],
                    [1, 0, 3, 2, 0, 0]]},
    "lost": [],
    "conservation_error_by_mask": {"final": 0, "per_round": 0},
    "references": {"exact_local_top_k": {"index": [2, 4], "value": [7, -7]},
                   "dense_top_k": {"index": [2, 4], "value": [12, -6]}}}]})") == "");
}

TEST_CASE("semantics, example B: the entry that `final` loses and `per_round` returns") {
  CHECK(difference(kExampleB, R"({"iterations": [{
    "final": {"index": [0, 1], "value": [10, 12]}, "lost": [{"rank": 0, "index": 1, "value": 3}],
    "residual_by_mask": {"final": [[0, 0, 0, 0, 0, 0, 0], null, null, null],
                         "per_round": [{"index": [1], "value": [3]}, null, null, null]},
    "conservation_error_by_mask": {"final": 3, "per_round": 0},
    "references": {"exact_local_top_k": {"index": [0, 1], "value": [10, 15]}}}]})") == "");
}

TEST_CASE("semantics: the one-liners of merging with k = 1, by three ranks in a tree") {
  const std::string text = R"({"method": "gtopk_tree", "ranks": 3, "dims": 4, "k": 1,
    "gradients": [[GRADIENTS]], "expected": EXPECTED})";
  // T(T(x, y), z) with x = {0:4}, y = z = {1:3}; and with the ranks in another order.
  CHECK(difference(with(text, "GRADIENTS", "[4, 0, 0, 0], [0, 3, 0, 0], [0, 3, 0, 0]"),
                   R"({"iterations": [{"final": [4, 0, 0, 0]}]})") == "");
  CHECK(difference(with(text, "GRADIENTS", "[0, 3, 0, 0], [0, 3, 0, 0], [4, 0, 0, 0]"),
                   R"({"iterations": [{"final": [0, 6, 0, 0]}]})") == "");
}

TEST_CASE("semantics: the residual of the chosen mask feeds the next iteration") {
  // Example B, then zero gradients: the residuals alone are merged.
  const std::string zeros =
      R"("value": [7, 2]}], [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0],
         [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]]])";
  const std::string twice = with(kExampleB, R"("value": [7, 2]}]])", zeros);
  CHECK(difference(twice, R"({"iterations": [{}, {"selected": [
      [0, 0, 0, 0, 0, 0, 0], null, null, null]}]})") == "");
  CHECK(difference(
            with(twice, R"("residual_mask": "final")", R"("residual_mask": "per_round")"),
            R"({"iterations": [{}, {"selected": [[0, 3, 0, 0, 0, 0, 0], null, null, null]}]})") ==
        "");
  CHECK(difference(twice, R"({"iterations": [{}]})") == ""); // may end early
  CHECK(difference(twice, R"({"iterations": [{}, {}, {}]})") ==
        "/expected/iterations: expected 3 entries, got 2");
}

TEST_CASE("semantics: an initial residual is added to the first gradient") {
  const std::string text = R"({"method": "topk", "ranks": 2, "dims": 2, "k": 1,
    "gradients": [[[1, 0], [0, 1]]], "initial_residual": [[2, 0], {"index": [1], "value": [-5]}],
    "expected": EXPECTED})";
  CHECK(difference(text, R"({"iterations": [{"final": [3, -4], "update": [1.5, -2]}]})") == "");
}

TEST_CASE("semantics: gathered methods and one rank have no rounds") {
  const std::string text = R"({"method": "METHOD", "ranks": 2, "dims": 3, "k": 1,
    "gradients": [[[1, 2, 0], [0, 3, 4]]], "expected": EXPECTED})";
  CHECK(difference(with(text, "METHOD", "topk"),
                   R"({"iterations": [{"rounds": [], "final": [0, 2, 4]}]})") == "");
  CHECK(difference(with(text, "METHOD", "gtopk_exact"),
                   R"({"iterations": [{"rounds": [], "final": [0, 0, 4],
                      "residual_by_mask": {"final": [[1, 2, 0], [0, 3, 0]]}}]})") == "");
  CHECK(difference(R"({"method": "gtopk_butterfly", "ranks": 1, "dims": 2, "k": 1,
                       "gradients": [[[1, 2]]], "expected": EXPECTED})",
                   R"({"iterations": [{"rounds": [], "update": [0, 2]}]})") == "");
}

TEST_CASE("semantics: differences are named by their place in the file, the first one only") {
  const auto iteration = [](const std::string& text) { return "{\"iterations\": [" + text + "]}"; };
  CHECK(difference(kExampleB, iteration(R"({"final": {"index": [0, 2], "value": [10, 12]}})")) ==
        "/expected/iterations/0/final/index/1: expected 2, got 1");
  CHECK(difference(kExampleB, iteration(R"({"final": [10, 12, 0, 0, 0, 0, 1], "lost": []})")) ==
        "/expected/iterations/0/final/6: expected 1, got 0");
  CHECK(difference(kExampleB, iteration(R"({"final": [10, 12]})")) ==
        "/expected/iterations/0/final: expected 2 entries, got 7");
  CHECK(difference(kExampleB, iteration(R"({"lost": []})")) ==
        "/expected/iterations/0/lost: expected 0 entries, got 1");
  CHECK(difference(kExampleB, iteration(R"({"lost": [{"value": 3.00000000001}]})")) ==
        "/expected/iterations/0/lost/0/value: expected 3.00000000001, got 3");
  CHECK(difference(kExampleB, R"({"method": "topk"})") ==
        "/expected/method: expected \"topk\", got \"gtopk_tree\"");
  CHECK(difference(kExampleB, R"({"k": true})") == "/expected/k: expected true, got 2");
  CHECK(difference(kExampleB, "null") == "");
}

TEST_CASE("semantics: whole numbers are compared exactly, others within 1e-12") {
  const std::string text = R"({"method": "topk", "ranks": 3, "dims": 2, "k": 1,
    "gradients": [[[9007199254740992, 0], [0, 0], [0, 0.1]]], "expected": EXPECTED})";
  CHECK(difference(text, R"({"iterations": [{"final": [9007199254740992, 0.1000000000003]}]})") !=
        "");
  CHECK(difference(
            text, R"({"iterations": [{"final": [9007199254740992, 0.10000000000000001]}]})") == "");
  CHECK(difference(text,
                   R"({"iterations": [{"update": {"value": [null, 0.0333333333333333]}}]})") == "");
  CHECK(difference(text, R"({"iterations": [{"final": [null, 0.1]}]})") == "");
  CHECK(difference(text, R"({"iterations": [{"final": [9007199254740991, null]}]})") ==
        "/expected/iterations/0/final/0: expected 9007199254740991, got 9007199254740992");
}

TEST_CASE("semantics: a key of `expected` that no output has is an error") {
  CHECK_THROWS_WITH_AS((void)difference(kExampleB, R"({"iterations": [{"fina": []}]})"),
                       "s.json: /expected/iterations/0/fina: unknown key, did you mean final?",
                       InputError);
}

TEST_CASE("semantics: what bad files get") {
  const std::string b = with(kExampleB, "EXPECTED", "null");
  const std::string third = R"({"index": [1, 3], "value": [12, 1]})";
  const auto replaced = [&](const std::string& to) { return problems(with(b, third, to)); };
  CHECK(replaced(R"({"index": [1, 9], "value": [12, 1]})") ==
        "/gradients/0/2/index/1: index 9 is not below dims 7\n");
  CHECK(replaced(R"({"index": [4, 4], "value": [12, 1]})") ==
        "/gradients/0/2/index/1: duplicate index 4\n");
  CHECK(replaced(R"({"index": [3, 1], "value": [12, 1]})") ==
        "/gradients/0/2/index/1: index 1 after 3; indices must be ascending\n");
  CHECK(replaced(R"({"index": [1, -3], "value": [12, 1]})") ==
        "/gradients/0/2/index/1: must be an integer >= 0, got -3\n");
  CHECK(replaced(R"({"index": [1, 3], "value": [12, "NaN"]})") ==
        "/gradients/0/2/value/1: value must be finite, got \"NaN\"\n");
  CHECK(replaced(R"({"index": [1, 3], "value": [12]})") ==
        "/gradients/0/2/value: 1 value, but index has 2\n");
  CHECK(replaced(R"({"index": [1, 3]})") == "/gradients/0/2/value: required (a list)\n");
  CHECK(replaced(R"({"indx": [1], "index": [], "value": []})") ==
        "/gradients/0/2/indx: unknown key, did you mean index?\n");
  CHECK(replaced("[1, 2, 3]") == "/gradients/0/2: 3 values, but dims is 7\n");
  CHECK(replaced("[1, 2, 3, null, 5, 6, 7]") ==
        "/gradients/0/2/3: value must be finite, got null\n");
  CHECK(replaced("7") ==
        "/gradients/0/2: must be a list of numbers or {\"index\", \"value\"}, got 7\n");
  CHECK(problems(with(b, third + ",", "")) == "/gradients/0: 3 vectors, but ranks is 4\n");
  CHECK(problems(with(b, "\"k\": 2", "\"k\": 8")) == "/k: must be an integer in [1, 7], got 8\n");
  CHECK(problems(with(b, "\"k\": 2", "\"k\": 0")) == "/k: must be an integer in [1, 7], got 0\n");
  CHECK(problems(with(b, "\"ranks\": 4", "\"ranks\": 0")) ==
        "/ranks: must be an integer in [1, 1048576], got 0\n");
  CHECK(problems(with(b, "\"dims\": 7, ", "")) == "/dims: required (an integer)\n");
  CHECK(problems(with(b, "\"gtopk_tree\"", "\"gtopk\"")) ==
        "/method: unknown compression method \"gtopk\"; did you mean \"gtopk_tree\"?\n");
  CHECK(problems(with(b, "\"gtopk_tree\"", "\"dgc\"")) ==
        "/method: unknown compression method \"dgc\"; one of topk, gtopk_tree, gtopk_butterfly, "
        "gtopk_exact\n");
  CHECK(problems(with(b, "\"final\"", "\"finale\"")) ==
        "/residual_mask: unknown residual_mask \"finale\"; did you mean \"final\"?\n");
  CHECK(problems(with(b, "\"gradients\"", "\"gradient\"")) ==
        "/gradients: required (a list)\n/gradient: unknown key, did you mean gradients?\n");
  CHECK(problems(R"({"method": "topk", "ranks": 1, "dims": 1, "k": 1, "gradients": []})") ==
        "/gradients: needs at least one iteration\n");
  CHECK(problems(R"({"method": "topk", "ranks": 1, "dims": 1, "k": 1, "gradients": [[[1]]],
                     "initial_residual": []})") ==
        "/initial_residual: 0 vectors, but ranks is 1\n");
  CHECK(problems(with(b, "\"sparse_semantics\"", "\"problem\"")) ==
        "/kind: this is a file of kind problem: stepsim plan reads it\n");
}

TEST_CASE("semantics: zeros, few non-zeros and an all-zero gradient are legal") {
  const std::string text = R"({"method": "gtopk_tree", "ranks": 2, "dims": 3, "k": 3,
    "gradients": [[{"index": [0, 2], "value": [0, -0.0]}, [0, 0, 0]]], "expected": EXPECTED})";
  CHECK(difference(text, R"({"iterations": [{"selected": [{"index": []}, {"index": []}],
    "final": {"index": [], "value": []}, "update": [0, 0, 0]}]})") == "");
}

TEST_CASE("semantics: a sum beyond double ends with an error") {
  const SemanticsFile file = parsed(R"({"method": "topk", "ranks": 2, "dims": 1, "k": 1,
    "gradients": [[[1e308], [1e308]]]})");
  CHECK_THROWS_AS((void)study::run_semantics(file), SimulationError);
}

TEST_CASE("semantics: only a per_round mask on a tree warns") {
  const std::string b = with(kExampleB, "EXPECTED", "null");
  CHECK(study::semantics_warnings(parsed(b)).empty());
  const std::string per_round = with(b, "\"final\"", "\"per_round\"");
  CHECK(study::semantics_warnings(parsed(per_round)) ==
        std::vector<std::string>{
            "per_round mask on a tree assumes truncation feedback that is not charged"});
  CHECK(
      study::semantics_warnings(parsed(with(per_round, "gtopk_tree", "gtopk_butterfly"))).empty());
}

TEST_CASE("semantics: 20 random iterations give byte-identical outputs, and expect themselves") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const auto ranks = random.integer(1, 9);
    io::Array gradients;
    for (int iteration = 0; iteration < 20; ++iteration) {
      io::Array vectors;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        io::Array values;
        for (int i = 0; i < 9; ++i) {
          values.push_back(seed % 2 == 0 ? io::Json(random.integer(-6, 6))
                                         : io::Json(random.uniform(-1, 1)));
        }
        vectors.push_back(std::move(values));
      }
      gradients.push_back(std::move(vectors));
    }
    io::Json tree = io::Object{{"method", seed < 5 ? "gtopk_tree" : "gtopk_butterfly"},
                               {"ranks", ranks},
                               {"dims", 9},
                               {"k", 3},
                               {"gradients", std::move(gradients)}};
    const std::string first = io::pretty(output_of(study::parse_semantics(tree)));
    CHECK(io::pretty(output_of(study::parse_semantics(tree))) == first);
    tree.set("expected", io::parse_json(first, ""));
    const SemanticsFile file = study::parse_semantics(tree);
    CHECK_FALSE(study::first_difference(file, output_of(file)));
  }
}
