#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "buckets/planners.hpp"
#include "document/json_text.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/scenario_text.hpp"

using namespace stepsim;
using namespace stepsim::study;

namespace {

struct Parsed {
  collectives::Compression compression;
  std::vector<std::string> warnings;
  std::string problem; // the first line, "" if there is none
};

struct With {
  CompressionUse use{};
  collectives::CompressCosts defaults{};
  Leftovers leftovers = Leftovers::refuse;
};

Parsed parsed(const std::string& text, const With& with = {}) {
  io::Problems problems;
  const ParseContext context{problems, study::testing::shipped_files(), with.leftovers};
  Parsed result;
  result.compression = parse_compression(io::parse_json(text, "t.json"), context, with.defaults,
                                         with.use, result.warnings);
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    result.problem = error.what();
    result.problem = result.problem.substr(0, result.problem.find('\n'));
  }
  return result;
}

std::string problem_of(const std::string& text, const With& with = {}) {
  return parsed(text, with).problem;
}

With elements(std::int64_t count) { return {.use = {.gradient_bytes = 4 * count}}; }

} // namespace

TEST_CASE("compression: a word stands for the method alone") {
  CHECK(parsed(R"("none")").compression == collectives::Compression{});
  const Parsed fp16 = parsed(R"("fp16")");
  CHECK(fp16.problem.empty());
  CHECK(fp16.compression.method == collectives::CompressionMethod::fp16);
  CHECK(problem_of(R"("topk")") == "t.json: give exactly one of density and k");
  CHECK(problem_of("3") == "t.json: must be the name of a compression method, got 3");
}

TEST_CASE("compression: every default of the interface") {
  const collectives::Compression c =
      parsed(R"({"method": "gtopk_tree", "density": 0.001})").compression;
  CHECK(c.density == 0.001);
  CHECK(!c.k);
  CHECK(c.index_bytes == 4);
  CHECK(c.value_bytes == 4);
  CHECK(c.broadcast == collectives::SparseBroadcast::mst);
  CHECK(c.residual_mask == collectives::ResidualMask::final);
  CHECK(c.select_stream == collectives::SelectStream::compute);
  CHECK(!c.round_barriers);
  CHECK(c.selected_ratio == 1);
  CHECK(c.costs == collectives::CompressCosts{});
  CHECK(parsed(R"({"method": "truncate16"})").compression.ratio == 2);
  CHECK(parsed(R"({"method": "quantize8"})").compression.ratio == 4);
  CHECK(parsed(R"({"method": "quantize8", "ratio": 3})").compression.ratio == 3);
  const collectives::Compression q = parsed(R"({"method": "qsgd"})").compression;
  CHECK(q.bits == 8);
  CHECK(q.bucket == 512);
}

TEST_CASE("compression: keys without a method are errors, an empty object is no compression") {
  CHECK(parsed("{}").compression == collectives::Compression{});
  CHECK(problem_of("{}").empty());
  const std::string density = "t.json: /density: density needs a method beside it";
  CHECK(problem_of(R"({"density": 0.001})") == density);
  CHECK(problem_of(R"({"density": 7})") == density);
  CHECK(problem_of(R"({"method": null, "density": 0.001})") == density);
  CHECK(problem_of(R"({"density": 0.001})", {.leftovers = Leftovers::ignore}) == density);
  CHECK(problem_of(R"({"encode_Bps": 1e9})") ==
        "t.json: /encode_Bps: encode_Bps needs a method beside it");
}

TEST_CASE("compression: values beside none, and leftovers of other methods, must be valid") {
  CHECK(problem_of(R"({"method": "none", "density": 7})") ==
        "t.json: /density: must be in (0, 1], got 7");
  CHECK(problem_of(R"({"method": "none", "bits": 99})") ==
        "t.json: /bits: must be an integer in [1, 32], got 99");
  CHECK(problem_of(R"({"method": "none", "costs": {"select_s": -1}})") ==
        "t.json: /costs/select_s: must be >= 0, got -1");
  const With leftovers{.leftovers = Leftovers::ignore};
  CHECK(problem_of(R"({"method": "fp16", "density": 7})", leftovers) ==
        "t.json: /density: must be in (0, 1], got 7");
  const Parsed codec = parsed(R"({"method": "topk", "density": 0.5, "ratio": 3})", leftovers);
  CHECK(codec.problem.empty());
  CHECK(codec.compression.ratio == 1); // of another method: ignored
}

TEST_CASE("compression: a codec's ratio and the size of halves follow the gradient's type") {
  const auto use = [](double bytes_per_value) {
    return With{.use = {.elements = 1000, .bytes_per_value = bytes_per_value}};
  };
  const auto ratio = [&](const std::string& method, double bytes_per_value) {
    return parsed("\"" + method + "\"", use(bytes_per_value)).compression.ratio;
  };
  CHECK(ratio("truncate16", 4) == 4.0 / 2); // 2 bytes a value are sent
  CHECK(ratio("truncate16", 2) == 2.0 / 2);
  CHECK(ratio("quantize8", 4) == 4.0 / 1); // one byte a value
  CHECK(ratio("quantize8", 2) == 2.0 / 1);
  CHECK(ratio("quantize8", 1) == 1);
  CHECK(parsed(R"({"method": "fp16", "value_bytes": 2})", use(4)).problem.empty());
  CHECK(problem_of(R"({"method": "fp16", "value_bytes": 4})", use(4)) ==
        "t.json: /value_bytes: must be 2: fp16 sends values of 2 bytes, got 4");
}

TEST_CASE("compression: none beside other keys ignores them, unknown ones excepted") {
  const Parsed none = parsed(R"({"method": "none", "density": 0.001, "bits": 4})");
  CHECK(none.problem.empty());
  CHECK(none.compression == collectives::Compression{});
  CHECK(none.warnings.empty());
  CHECK(problem_of(R"({"method": "none", "densty": 1})") ==
        "t.json: /densty: unknown key, did you mean density?");
}

TEST_CASE("compression: an unknown method names what it may stand for") {
  CHECK(problem_of(R"({"method": "gtopk", "density": 0.1})") ==
        "t.json: /method: unknown compression method \"gtopk\"; did you mean \"gtopk_tree\"?");
  CHECK(problem_of(R"("sparcml")") ==
        "t.json: unknown compression method \"sparcml\"; did you mean \"sparcml_rd\"?");
  CHECK(problem_of(R"("topkk")") ==
        "t.json: unknown compression method \"topkk\"; did you mean \"topk\"?");
}

TEST_CASE("compression: density and k and their ranges") {
  const auto topk = [](const std::string& keys) { return R"({"method": "topk", )" + keys + "}"; };
  const With m = elements(25'000'000);
  CHECK(problem_of(topk(R"("density": 1.5)"), m) == "t.json: /density: must be in (0, 1], got 1.5");
  CHECK(problem_of(topk(R"("density": 0)"), m) == "t.json: /density: must be in (0, 1], got 0");
  CHECK(problem_of(topk(R"("k": 0)"), m) == "t.json: /k: must be in [1, 25000000], got 0");
  CHECK(problem_of(topk(R"("k": 25000001)"), m) ==
        "t.json: /k: must be in [1, 25000000], got 25000001");
  CHECK(problem_of(topk(R"("k": 2.5)"), m) == "t.json: /k: must be an integer, got 2.5");
  CHECK(problem_of(topk(R"("k": 5, "density": 0.5)"), m) ==
        "t.json: give exactly one of density and k");
  CHECK(parsed(topk(R"("k": 25000000)"), m).compression.k == 25'000'000);
  With wfbp = m;
  wfbp.use.schedule = buckets::Schedule::wfbp;
  CHECK(problem_of(topk(R"("k": 5)"), wfbp) ==
        "t.json: /k: k is only defined for schedule single; use density");
  CHECK(problem_of(topk(R"("density": 0.5)"), wfbp).empty());
}

TEST_CASE("compression: the gradient must be whole values, with indices that reach") {
  const std::string topk = R"({"method": "topk", "density": 0.5})";
  CHECK(problem_of(topk, {.use = {.gradient_bytes = 4'000'001}}) ==
        "t.json: 4000001 bytes is not a whole number of 4-byte values");
  CHECK(problem_of(topk, elements((std::int64_t{1} << 32) + 1)) ==
        "t.json: /index_bytes: 4294967297 elements need index_bytes 8");
  CHECK(problem_of(topk, elements(std::int64_t{1} << 32)).empty());
  CHECK(problem_of(R"({"method": "topk", "density": 0.5, "index_bytes": 8})",
                   elements((std::int64_t{1} << 32) + 1))
            .empty());
}

TEST_CASE("compression: what ranks and training algorithm allow") {
  CHECK(problem_of(R"({"method": "topk", "density": 0.5, "allgather": "recursive_doubling"})",
                   {.use = {.ranks = 6}}) ==
        "t.json: /allgather: recursive_doubling needs a power-of-two rank count, got 6; use "
        "bruck, ring or auto");
  const std::string two = R"({"method": "hierarchical_topk", "density": 0.5})";
  const std::string needs = "t.json: /method: hierarchical_topk needs at least 2 nodes and 2 GPUs "
                            "per node";
  CHECK(problem_of(two, {.use = {.ranks = 4, .gpus_per_node = 4}}) == needs);
  CHECK(problem_of(two, {.use = {.ranks = 4, .gpus_per_node = 1}}) == needs);
  CHECK(problem_of(two, {.use = {.ranks = 4, .gpus_per_node = 2}}).empty());
  const With servers{.use = {.algorithm = TrainingAlgorithm::parameter_server}};
  const With pipe{.use = {.algorithm = TrainingAlgorithm::pipe_sgd}};
  CHECK(problem_of(R"({"method": "topk", "density": 0.5})", servers) ==
        "t.json: /method: compression topk needs training algorithm sync_sgd, pipe_sgd or od_sgd");
  CHECK(
      problem_of(R"("signsgd")", servers) ==
      "t.json: /method: compression signsgd needs training algorithm sync_sgd, pipe_sgd or od_sgd");
  for (const char* word :
       {R"({"method": "topk", "density": 0.5})", R"("signsgd")", R"("quantize8")", R"("fp16")"}) {
    CHECK(problem_of(word, pipe).empty());
  }
  CHECK(problem_of(R"({"method": "topk", "density": 0.5, "select_stream": "side"})", pipe) ==
        "t.json: /select_stream: side is not defined for training algorithm pipe_sgd");
  CHECK(problem_of(R"({"method": "dgc", "density": 0.5, "density_warmup": [0.9, 0.5],
                       "iterations_per_epoch": 10})",
                   pipe) ==
        "t.json: /density_warmup: a density_warmup is not defined for training algorithm pipe_sgd");
}

TEST_CASE("compression: keys of another method have no meaning, in points they are ignored") {
  CHECK(problem_of(R"({"method": "topk", "density": 0.5, "bits": 4})") ==
        "t.json: /bits: bits has no meaning for compression topk");
  CHECK(problem_of(R"({"method": "fp16", "density": 0.5})") ==
        "t.json: /density: density has no meaning for compression fp16");
  CHECK(problem_of(R"({"method": "gtopk_butterfly", "density": 0.5, "broadcast": "flat"})") ==
        "t.json: /broadcast: broadcast has no meaning for compression gtopk_butterfly");
  const Parsed point = parsed(R"({"method": "quantize8", "density": 0.5, "bits": 4})",
                              {.leftovers = Leftovers::ignore});
  CHECK(point.problem.empty());
  CHECK(!point.compression.density);
  CHECK(point.compression.bits == 8);
}

TEST_CASE("compression: required keys and ranges of single methods") {
  CHECK(problem_of(R"("powersgd")") == "t.json: /rank: required (an integer)");
  CHECK(problem_of(R"({"method": "omnireduce", "density": 0.1})") ==
        "t.json: /block: required (an integer)");
  CHECK(problem_of(R"("custom_codec")") == "t.json: /ratio: required (a number)");
  CHECK(problem_of(R"({"method": "custom_codec", "ratio": 0.5})") ==
        "t.json: /ratio: must be >= 1, got 0.5");
  CHECK(problem_of(R"({"method": "quantize8", "encode_Bps": -1})") ==
        "t.json: /encode_Bps: must be >= 0, got -1");
  CHECK(problem_of(R"({"method": "qsgd", "bits": 0})") ==
        "t.json: /bits: must be an integer in [1, 32], got 0");
  CHECK(problem_of(R"({"method": "sparcml_rd", "density": 0.1, "support_overlap": "ful"})") ==
        "t.json: /support_overlap: unknown support_overlap \"ful\"; did you mean \"full\"?");
  CHECK(problem_of(R"({"method": "fp16", "baseline": "ddp"})") ==
        "t.json: /baseline: must be an object, got \"ddp\"");
}

TEST_CASE("compression: costs override a profile's one by one") {
  With profile;
  profile.defaults.select_s_per_element = 6.1e-9;
  profile.defaults.staging_s_per_element = 4.95e-8;
  const collectives::CompressCosts costs =
      parsed(R"({"method": "topk", "density": 0.1, "costs": {"select_s_per_element": 0,
                 "merge_s": 1e-6}})",
             profile)
          .compression.costs;
  CHECK(costs.select_s_per_element == 0);
  CHECK(costs.staging_s_per_element == 4.95e-8);
  CHECK(costs.merge_s == 1e-6);
  CHECK(parsed(R"({"method": "topk", "density": 0.1})", profile).compression.costs ==
        profile.defaults);
  CHECK(problem_of(R"({"method": "topk", "density": 0.1, "costs": {"select_s": -1}})") ==
        "t.json: /costs/select_s: must be >= 0, got -1");
  CHECK(problem_of(R"({"method": "topk", "density": 0.1, "costs": {"selct_s": 1}})") ==
        "t.json: /costs/selct_s: unknown key, did you mean select_s?");
  CHECK(problem_of(
            R"({"method": "topk", "density": 0.1, "costs": {"select_s_per_element_log2": 1}})") ==
        "t.json: /costs/select_s_per_element_log2: select_s_per_element_log2 has no meaning for "
        "form linear");
}

TEST_CASE("compression: a sparse method without any cost warns that it is free") {
  const std::vector<std::string> free{"compression is free: no select cost given"};
  CHECK(parsed(R"({"method": "topk", "density": 0.1})").warnings == free);
  CHECK(parsed(R"({"method": "topk", "density": 0.1, "costs": {"form": "n_log_n"}})").warnings ==
        free);
  CHECK(
      parsed(R"({"method": "topk", "density": 0.1, "costs": {"scatter_s": 1}})").warnings.empty());
  CHECK(parsed(R"("quantize8")").warnings.empty());
  CHECK(parsed(R"({"method": "gtopk_tree", "density": 0.1, "costs": {"scatter_s": 1},
                   "residual_mask": "per_round"})")
            .warnings ==
        std::vector<std::string>{
            "per_round mask on a tree assumes truncation feedback that is not charged"});
}

TEST_CASE("compression: warm-up densities by epoch, or a preset") {
  const collectives::Compression c =
      parsed(R"({"method": "topk", "density": 0.001, "density_warmup": "dgc",
                 "iterations_per_epoch": 100})")
          .compression;
  CHECK(c.density_warmup == std::vector<double>{0.25, 0.0625, 0.015625, 0.004});
  CHECK(collectives::density_at(c, 0) == 0.25);
  CHECK(collectives::density_at(c, 99) == 0.25);
  CHECK(collectives::density_at(c, 100) == 0.0625);
  CHECK(collectives::density_at(c, 399) == 0.004);
  CHECK(collectives::density_at(c, 400) == 0.001);
  CHECK(problem_of(R"({"method": "topk", "density": 0.001, "density_warmup": [0.5, 2],
                       "iterations_per_epoch": 100})") ==
        "t.json: /density_warmup/1: must be in (0, 1], got 2");
  CHECK(problem_of(R"({"method": "topk", "density": 0.001, "density_warmup": "dgc"})") ==
        "t.json: /iterations_per_epoch: required by density_warmup");
  CHECK(problem_of(R"({"method": "topk", "k": 1, "density_warmup": "dgc",
                       "iterations_per_epoch": 1})") ==
        "t.json: /density_warmup: needs density, not k");
}

TEST_CASE("compression: the resolved tree reads back as the same compression") {
  for (const char* text : {
           R"("none")",
           R"("fp16")",
           R"({"method": "custom_codec", "ratio": 3, "encode_Bps": 1e9, "scale_agreement": true})",
           R"({"method": "topk", "density": 0.25, "allgather": "ring", "density_warmup": "tuned",
               "iterations_per_epoch": 7, "split_values_indices": true,
               "costs": {"form": "n_log_n", "select_s_per_element_log2": 2e-10}})",
           R"({"method": "gtopk_tree", "k": 3, "broadcast": "flat", "residual_mask": "per_round",
               "round_barriers": true, "select_stream": "side",
               "costs": {"select_s_per_entry": 1e-9}})",
           R"({"method": "sparcml_split", "density": 1, "support_overlap": "full"})",
           R"({"method": "ok_topk", "density": 1, "dense_warmup_iterations": 0})",
           R"({"method": "omnireduce", "density": 1, "block": 256})",
           R"({"method": "powersgd", "rank": 4, "value_bytes": 2})",
           R"({"method": "qsgd", "bits": 4, "bucket": 100})",
           R"({"method": "custom", "name": "mine", "bytes_per_worker": "n * density * 8",
               "exchange": "tree", "density": 0.01, "compress_s": "5us", "merge_s": "n / 4e9",
               "decompress_s": 1e-6})",
       }) {
    CAPTURE(text);
    const Parsed first = parsed(text);
    CHECK(first.problem.empty());
    const Parsed second = parsed(io::compact(compression_tree(first.compression)));
    CHECK(second.problem.empty());
    CHECK(second.compression == first.compression);
  }
}

TEST_CASE("compression: every method parses with the keys that its row names") {
  for (const collectives::CompressionRow& row : collectives::compression_table()) {
    CAPTURE(row.name);
    std::string text = R"({"method": ")" + std::string(row.name) + "\"";
    text += row.kind == collectives::CompressionKind::sparse ? R"(, "density": 0.5)" : "";
    for (const auto& [key, value] :
         {std::pair{"rank", "4"}, std::pair{"block", "64"}, std::pair{"ratio", "2"}}) {
      text += collectives::has_key(row, key) ? std::string(", \"") + key + "\": " + value : "";
    }
    if (row.method == collectives::CompressionMethod::custom) {
      text += R"(, "bytes_per_worker": 1000)";
    }
    const Parsed result = parsed(text + "}");
    CHECK(result.problem.empty());
    CHECK(result.compression.method == row.method);
    const io::Json tree = compression_tree(result.compression);
    for (const auto& [key, value] : tree.as_object()) {
      CHECK((key == "method" || collectives::has_key(row, key)));
    }
  }
}

TEST_CASE("compression: a custom compressor is numbers, quantities and formulas") {
  const auto values = [](const std::string& text) {
    const Parsed result = parsed(R"({"method": "custom", )" + text + "}");
    CHECK(result.problem == "");
    const collectives::CustomCompressor& custom = result.compression.custom;
    const auto of = [&](base::Formula collectives::CustomCompressor::*formula) {
      return collectives::custom_value(custom, formula, 1000, 8, 0.5);
    };
    return std::array{of(&collectives::CustomCompressor::bytes_per_worker),
                      of(&collectives::CustomCompressor::compress_s),
                      of(&collectives::CustomCompressor::merge_s)};
  };
  const auto is = [&](const std::string& text, const std::array<double, 3>& expected) {
    CAPTURE(text);
    const std::array<double, 3> found = values(text);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == expected[i]);
    }
  };
  is(R"("bytes_per_worker": "1MB", "compress_s": "5us")", {1e6, 5e-6, 0});
  is(R"x("bytes_per_worker": "4 * n / P", "compress_s": 2, "merge_s": "ceil(log2(P))")x",
     {4 * 1000.0 / 8, 2, 3});
  is(R"("bytes_per_worker": "8 * n * density", "density": 0.5)", {8 * 1000 * 0.5, 0, 0});
}

TEST_CASE("compression: what a custom compressor lacks, and the codec that had its name") {
  const auto problem = [](const std::string& text) {
    return problem_of(R"({"method": "custom", )" + text + "}");
  };
  CHECK(problem_of(R"("custom")") == "t.json: /bytes_per_worker: required: what a worker sends for "
                                     "n elements, a number or a formula");
  CHECK(problem(R"("bytes_per_worker": 1, "ratio": 4)") ==
        "t.json: /ratio: a codec of any ratio in a ring is custom_codec; custom has "
        "bytes_per_worker instead");
  CHECK(problem(R"("bytes_per_worker": "n * density")") ==
        "t.json: /density: required by the formulas");
  CHECK(problem(R"("bytes_per_worker": "n", "density": 0.1)") ==
        "t.json: /density: no formula uses density");
  CHECK(problem(R"("bytes_per_worker": "mm * 8")") ==
        "t.json: /bytes_per_worker: unknown variable \"mm\"; one of n, P, density in \"mm * 8\"");
  CHECK(problem(R"("bytes_per_worker": -1)") == "t.json: /bytes_per_worker: must be >= 0, got -1");
  CHECK(problem(R"("bytes_per_worker": 1, "exchange": "star")") ==
        "t.json: /exchange: unknown exchange \"star\"; one of ring, allgather, server, tree");
}

TEST_CASE("compression: the baseline of speed-ups is ddp in buckets of 25 MiB unless given") {
  CHECK(io::compact(compression_baseline(io::parse_json(R"("topk")", "t"))) ==
        R"({"bucket_bytes":26214400,"schedule":"ddp"})");
  CHECK(io::compact(compression_baseline(
            io::parse_json(R"({"method": "topk", "baseline": {"schedule": "wfbp"}})", "t"))) ==
        R"({"schedule":"wfbp"})");
}
