#include "scenario/files/trace_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string problems(std::string_view text) { return problem_text(text, parse_model); }

std::string table(std::string_view layers, std::string_view rest = "",
                  std::string_view input = R"({"sequence_length": 4, "max_sequence_length": 8})") {
  return R"({"name": "m", "input": )" + std::string(input) + R"(, "layers": [)" +
         std::string(layers) + "]" + std::string(rest) + "}";
}

std::string layer(std::string_view name, std::string_view rest, std::string_view shape = "[2, 3]") {
  return R"({"name": ")" + std::string(name) +
         R"(", "kind": "linear", "tensors": [{"name": "weight", "shape": )" + std::string(shape) +
         "}]" + std::string(rest) + "}";
}

layers::ModelTable shipped(const std::string& name) {
  return parse_model(read_json(STEPSIM_SOURCE_DIR "/models/" + name + ".json"));
}

} // namespace

TEST_CASE("every shipped table is read and written back to the same tree") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STEPSIM_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    CAPTURE(entry.path().string());
    const Json json = read_json(entry.path().string());
    CHECK(compact(to_json(parse_model(json))) == compact(json));
    ++count;
  }
  CHECK(count >= 20);
}

TEST_CASE("totals of resnet50 and orders of a BERT with heads") {
  const layers::ModelTable resnet = shipped("resnet50");
  CHECK(resnet.elements() == 25'557'032);
  CHECK(resnet.tensors() == 161);
  CHECK(resnet.macs() == 4'089'184'256);
  const layers::ModelTable bert = shipped("bert_base_pretrain");
  const auto order = bert.execution_order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(bert.layers[order[i]].execution_index == static_cast<std::int64_t>(i) + 1);
  }
}

TEST_CASE("MACs scale exactly with the sequence length") {
  const layers::ModelTable bert = shipped("bert_base");
  const layers::ModelTable longer = with_sequence_length(bert, 256);
  CHECK(longer.macs() == 22'951'821'312);
  CHECK(longer.sequence->sequence_length == 256);
  CHECK(with_sequence_length(longer, 128).macs() == bert.macs());
  CHECK(longer.elements() == bert.elements());
}

TEST_CASE("a correct table is accepted") {
  CHECK(problems(table(layer("a", R"(, "macs": 16, "scales_with": "tokens2")"),
                       R"(, "totals": {"elements": 6, "tensors": 1, "layers": 1, "macs": 16})"))
            .empty());
}

TEST_CASE("wrong tables are refused with pointer and rule") {
  CHECK(problems(table(layer("a", R"(, "macs": 0)"), R"(, "totals": {"elements": 5})")) ==
        "f.json: /totals/elements: 5, but the layers sum to 6\n");
  CHECK(problems(table(layer("a", R"(, "macs": 0)", "[1, 0]"))) ==
        "f.json: /layers/0/tensors/0/shape/1: must be >= 1, got 0\n");
  CHECK(problems(table(layer("a", R"(, "macs": 0)", "[]"))) ==
        "f.json: /layers/0/tensors/0/shape: needs at least one dimension\n");
  CHECK(problems(table(layer("a", R"(, "macs": -1)"))) ==
        "f.json: /layers/0/macs: must be an integer in [0, 9007199254740992], got -1\n");
  CHECK(problems(table(layer("a", R"(, "macs": 0.5)"))) ==
        "f.json: /layers/0/macs: must be an integer in [0, 9007199254740992], got 0.5\n");
  CHECK(problems(table(layer("a", R"(, "macs": 0)") + "," + layer("a", R"(, "macs": 0)"))) ==
        "f.json: /layers/1/tensors/0/name: \"a.weight\" appears twice\n");
  CHECK(problems(table(layer("a", R"(, "macs": 0, "execution_index": 1)") + "," +
                       layer("b", R"(, "macs": 0, "execution_index": 1)"))) ==
        "f.json: /layers/1/execution_index: 1 appears twice\n");
  CHECK(problems(table(layer("a", R"(, "macs": 0, "execution_index": 1)") + "," +
                       layer("b", R"(, "macs": 0)"))) ==
        "f.json: /layers/1/execution_index: required, because other layers have one\n");
  CHECK(problems(table(layer("a", R"(, "macs": 6, "scales_with": "tokens")"))) ==
        "f.json: /layers/0/macs: must be a multiple of 4, got 6\n");
  CHECK(problems(table(layer("a", R"(, "macs": 4, "scales_with": "tokens")"), "",
                       R"({"channels": 3, "height": 2, "width": 2})")) ==
        "f.json: /layers/0/scales_with: the input has no sequence length\n");
  CHECK(problems(table(R"({"name": "a", "kind": "convolution", "macs": 0, "tensors": []})"))
            .starts_with("f.json: /layers/0/kind: unknown kind \"convolution\""));
  CHECK(problems(table(layer("a", R"(, "macs": 0)", "[100000000, 100000000, 100000000]"))) ==
        "f.json: /layers/0/tensors/0/shape: more than 2^53 elements\n");
  CHECK(problems(R"({"name": "m", "layers": []})") ==
        "f.json: /input: required (an image or a sequence)\n"
        "f.json: /layers: needs at least one layer\n");
}
