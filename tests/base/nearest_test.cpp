#include "base/error.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stepsim::base;

TEST_CASE("insert, delete, replace and a swap of neighbours cost one each") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("node", "nodes") == 1);
  CHECK(edit_distance("nodes", "node") == 1);
  CHECK(edit_distance("nodes", "modes") == 1);
  CHECK(edit_distance("nodse", "nodes") == 1);
  CHECK(edit_distance("ca", "abc") == 2);     // swap to "ac", insert b between
  CHECK(edit_distance("dear", "eager") == 3); // without d, then g and e
}

TEST_CASE("nearest words come by distance, ties alphabetical, at most three") {
  constexpr std::array<std::string_view, 6> known{"ring", "rang", "rings", "bring", "king", "mst"};
  CHECK(nearest_words("rinx", known) == std::vector<std::string>{"ring"});
  CHECK(nearest_words("ring", known) == std::vector<std::string>{"ring", "bring", "king"});
  CHECK(nearest_words("x", known).empty());
}

TEST_CASE("a word that lacks its unit is near the one with it") {
  constexpr std::array<std::string_view, 4> known{"bandwidth_Bps", "bandwidths", "k_max",
                                                  "latency_s"};
  CHECK(nearest_words("bandwidth", known) ==
        std::vector<std::string>{"bandwidths", "bandwidth_Bps"});
  CHECK(nearest_words("latency", known) == std::vector<std::string>{"latency_s"});
  CHECK(nearest_words("k", known).empty()); // too short to tell
}

TEST_CASE("the beginning of a word is near it where nothing is nearer") {
  constexpr std::array<std::string_view, 3> known{"speedup", "speeds", "steps"};
  CHECK(nearest_words("speed", known) == std::vector<std::string>{"speeds"});
  CHECK(nearest_words("speed", std::span(known).first(1)) == std::vector<std::string>{"speedup"});
}

TEST_CASE("a name that a framework has for a word is told the word") {
  constexpr std::array<std::string_view, 4> known{"none", "zero1", "zero2", "full_shard"};
  CHECK(nearest_words("zero3", known) == std::vector<std::string>{"full_shard"});
  CHECK(nearest_words("SHARD_GRAD_OP", known) == std::vector<std::string>{"zero2"});
  CHECK(nearest_words("zero3", std::span(known).first(3)) ==
        std::vector<std::string>{"zero1", "zero2"});
}

TEST_CASE("a suggestion names one, two or three words or nothing") {
  constexpr std::array<std::string_view, 3> known{"nodes", "modes", "model"};
  CHECK(did_you_mean("node", std::span(known).first(1)) == ", did you mean nodes?");
  CHECK(did_you_mean("podes", known) == ", did you mean modes or nodes?");
  CHECK(did_you_mean("mode", known) == ", did you mean model or modes?");
  CHECK(did_you_mean("bandwidth", known).empty());
}

TEST_CASE("of a long list the family of a word is named, of a short one every word") {
  std::vector<std::string_view> known{"alexnet", "llama2_13b", "llama2_7b", "llama3_8b",
                                      "llama3_70b"};
  CHECK(unknown_word("model", "llama9", known) ==
        "unknown model \"llama9\"; one of alexnet, llama2_13b, llama2_7b, llama3_8b, llama3_70b");
  known.insert(known.end(), 10, "vgg16");
  CHECK(unknown_word("model", "llama9", known) ==
        "unknown model \"llama9\"; did you mean \"llama2_7b\", \"llama3_8b\" or \"llama2_13b\"?");
  CHECK(unknown_word("model", "xyz", known).starts_with("unknown model \"xyz\"; one of alexnet, "));
}

TEST_CASE("a very long word is compared with nothing") {
  constexpr std::array<std::string_view, 1> known{"nodes"};
  CHECK(nearest_words(std::string(8'000'000, 'n'), known).empty());
}
