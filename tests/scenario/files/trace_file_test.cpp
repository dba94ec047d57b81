#include "scenario/files/trace_file.hpp"

#include <doctest/doctest.h>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string problems(std::string_view text) { return problem_text(text, parse_trace); }

constexpr std::string_view kFull = R"({
  "schema_version": 1, "kind": "trace", "name": "resnet50.a100", "provenance": "imported",
  "source": {"format": "kineto", "files": [{"name": "a.json.gz", "bytes": 7, "sha256": "00"}],
             "importer": "stepsim 0.1.0", "options": {"skip-steps": "1"}, "attribution": null,
             "licence": "MIT"},
  "device": "NVIDIA A100", "ranks": 2, "batch_size": null, "time_basis": "kernel", "time_scale": 1.5,
  "layers": [
    {"name": "conv2d_1", "forward_s": 7e-4, "backward_s": 4e-4, "gradient_bytes": 37632,
     "tensors": [{"elements": 9408, "dtype": "float32", "bytes": 37632, "bucket": 4}],
     "operation": "aten::conv2d"},
    {"name": "relu_1", "forward_s": 1e-4, "backward_s": null, "gradient_bytes": null,
     "tensors": []}],
  "update_s": 6e-4, "input_s": 0.0, "other_s": 0.0, "framework_s": 5e-4,
  "buckets": [{"index": 0, "elements": 9408, "bytes": 37632, "dtype": "float32", "tensors": 1,
               "min_s": 2e-3, "median_s": 4e-3, "max_s": null}],
  "collectives": [{"op": "broadcast", "elements": 53120, "bytes": 212480, "dtype": "float32",
                   "per_step": 1, "min_s": 2.9e-5}],
  "steps": [{"name": "ProfilerStep#5", "used": true, "wall_s": 0.2, "gpu_busy_s": 0.05}],
  "checks": {"steps_used": 2, "backward_nodes": 181, "backward_matched": 181,
             "gradient_nodes": 161, "unattributed_fraction": 0.0, "gpu_busy_fraction": 0.24},
  "warnings": ["the GPU was idle"]})";

std::string one_layer(std::string_view rest) {
  return R"({"provenance": "assumed", "layers": [{"name": "a", "forward_s": 1, "backward_s": 2)" +
         std::string(rest) + "}]}";
}

} // namespace

TEST_CASE("a trace is read with every part") {
  const layers::Trace trace = parse_trace(parse_json(kFull, "t.json"));
  CHECK(trace.provenance == layers::Provenance::imported);
  CHECK(trace.time_scale == 1.5);
  CHECK(!trace.batch_size);
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].gradient_bytes == Bytes{9408 * 4});
  CHECK(trace.layers[0].tensors[0].bucket == 4);
  CHECK(!trace.layers[1].backward);
  CHECK(!trace.layers[1].gradient_bytes);
  CHECK(trace.buckets[0].median == Seconds{4e-3});
  CHECK(!trace.buckets[0].max);
  CHECK(trace.collectives[0].bytes == Bytes{212480});
  CHECK(trace.steps[0].gpu_busy == Seconds{0.05});
  CHECK(trace.checks->gradient_nodes == 161);
  CHECK(trace.source->options[0].second == "1");
  CHECK(trace.source->licence == "MIT");
}

TEST_CASE("a trace that is written and read again stays the same") {
  const Json once = to_json(parse_trace(parse_json(kFull, "t.json")));
  const Json twice = to_json(parse_trace(parse_json(pretty(once), "t.json")));
  CHECK(pretty(once) == pretty(twice));
  const Json given = parse_json(kFull, "");
  for (const auto& [key, value] : given.as_object()) {
    CHECK_MESSAGE(once.find(key) != nullptr, key);
  }
}

TEST_CASE("sums that do not fit are named") {
  CHECK(problems(one_layer(R"(, "gradient_bytes": 100, "tensors": [{"bytes": 120}])")) ==
        "f.json: /layers/0/gradient_bytes: 100, but the tensors sum to 120\n");
  CHECK(
      problems(one_layer(R"(, "tensors": [{"elements": 30, "dtype": "float16", "bytes": 100}])")) ==
      "f.json: /layers/0/tensors/0/bytes: 100, but 30 elements of float16 are 60\n");
  CHECK(problems(one_layer(R"(, "gradient_bytes": 100, "tensors": [{"bytes": null}])")).empty());
}

TEST_CASE("wrong traces are refused with pointer and rule") {
  CHECK(problems(R"({"layers": [{"name": "a"}]})") == "f.json: /provenance: required (a word)\n");
  CHECK(problems(R"({"provenance": "guess", "layers": [{"name": "a"}]})")
            .starts_with("f.json: /provenance: unknown provenance \"guess\"; one of measured"));
  CHECK(problems(R"({"provenance": "measured", "layers": []})") ==
        "f.json: /layers: needs at least one layer\n");
  CHECK(problems(one_layer(R"(, "gradient_bytes": -1)")) ==
        "f.json: /layers/0/gradient_bytes: must be an integer in [0, 9007199254740992], got -1\n");
  CHECK(problems(one_layer(R"(, "foward_s": 1)")) ==
        "f.json: /layers/0/foward_s: unknown key, did you mean forward_s?\n");
  CHECK(
      problems(one_layer(R"(, "tensors": [{"dtype": "float31"}])")) ==
      "f.json: /layers/0/tensors/0/dtype: unknown dtype \"float31\"; did you mean \"float32\"?\n");
  CHECK(problems(R"({"provenance": "measured", "layers": [{"name": "a"}], "update_s": "1ms"})") ==
        "");
}

TEST_CASE("sizes of dtypes") {
  CHECK(layers::dtype_bytes("float32") == 4);
  CHECK(layers::dtype_bytes("bfloat16") == 2);
  CHECK(layers::dtype_bytes("int64") == 8);
  CHECK(layers::dtype_bytes("bool") == 1);
  CHECK(layers::dtype_bytes("text") == 0);
}
