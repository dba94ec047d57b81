#include "scenario/compression/scenario_compression.hpp"

#include <doctest/doctest.h>

#include "document/json_text.hpp"
#include "scenario/files/network_files.hpp"

using namespace stepsim;
using namespace stepsim::study;
using collectives::CompressionMethod;

namespace {

links::NetworkProfile profile(std::string_view costs) {
  return io::parse_profile(io::parse_json(
      R"({"kind": "network_calibration", "name": "n", "label": "calibrated", "network": {},
          "compression_costs": )" +
          std::string(costs) + "}",
      "p.json"));
}

} // namespace

TEST_CASE("a method's own costs add to those of any method and override them, key by key") {
  const auto lab = profile(R"({"topk": {"select_s_per_element": 3, "scatter_s": 4},
                               "any": {"select_s_per_element": 1, "merge_s": 2}})");
  const collectives::CompressCosts topk = costs_of(lab, CompressionMethod::topk);
  CHECK(topk.select_s_per_element == 3);
  CHECK(topk.merge_s == 2);
  CHECK(topk.scatter_s == 4);
  const collectives::CompressCosts other = costs_of(lab, CompressionMethod::powersgd);
  CHECK(other.select_s_per_element == 1);
  CHECK(other.merge_s == 2);
  CHECK(other.scatter_s == 0);
}

TEST_CASE("what selects nothing gets nothing of any method's costs") {
  const auto lab = profile(R"({"any": {"select_s": 1}})");
  CHECK(costs_of(lab, CompressionMethod::none) == collectives::CompressCosts{});
  CHECK(costs_of(lab, CompressionMethod::quantize8) == collectives::CompressCosts{});
  CHECK(costs_of(lab, CompressionMethod::fp16) == collectives::CompressCosts{});
}

TEST_CASE("every cost of a profile reaches the member of its name") {
  const auto lab = profile(R"({"any": {"form": "n_log_n", "select_s": 1,
      "select_s_per_element": 2, "select_s_per_entry": 3, "select_s_per_element_log2": 4,
      "residual_s_per_element": 5, "staging_s_per_element": 6, "merge_s": 7,
      "merge_s_per_entry": 8, "scatter_s": 9, "scatter_s_per_entry": 10}})");
  CHECK(costs_of(lab, CompressionMethod::gtopk_tree) ==
        collectives::CompressCosts{.n_log_n = true,
                                   .select_s = 1,
                                   .select_s_per_element = 2,
                                   .select_s_per_entry = 3,
                                   .select_s_per_element_log2 = 4,
                                   .residual_s_per_element = 5,
                                   .staging_s_per_element = 6,
                                   .merge_s = 7,
                                   .merge_s_per_entry = 8,
                                   .scatter_s = 9,
                                   .scatter_s_per_entry = 10});
  const auto linear = profile(R"({"any": {"form": "n_log_n"}, "topk": {"form": "linear"}})");
  CHECK_FALSE(costs_of(linear, CompressionMethod::topk).n_log_n);
  CHECK(costs_of(linear, CompressionMethod::dgc).n_log_n);
}
