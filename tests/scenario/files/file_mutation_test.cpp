// Every mutation of every kind of file: a value or clean problems, never a crash or a hang.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/json_text.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/files/samples_file.hpp"
#include "scenario/files/trace_file.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

Json wrong_value(base::RandomStream& random) {
  switch (random.integer(0, 9)) {
  case 0:
    return nullptr;
  case 1:
    return -1;
  case 2:
    return 0;
  case 3:
    return 1e300;
  case 4:
    return std::numeric_limits<std::int64_t>::max();
  case 5:
    return 0.5;
  case 6:
    return "text";
  case 7:
    return Array{};
  case 8:
    return Object{};
  default:
    return true;
  }
}

// Changes one random place of the tree: another value, a member or element less, or one twice.
void mutate(Json& json, base::RandomStream& random) {
  const auto pick = [&](std::size_t size) { return random.bits() % size; };
  const bool here = random.integer(0, 3) == 0;
  if (json.is_object() && !json.as_object().empty()) {
    Object& object = json.as_object();
    const std::size_t i = pick(object.size());
    if (!here) {
      mutate(object[i].second, random);
    } else if (random.integer(0, 1) == 0) {
      object.erase(object.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      object[i].first += "_";
    }
  } else if (json.is_array() && !json.as_array().empty()) {
    Array& array = json.as_array();
    const std::size_t i = pick(array.size());
    if (!here) {
      mutate(array[i], random);
    } else if (random.integer(0, 1) == 0) {
      array.erase(array.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      array.push_back(Json(array[i]));
    }
  } else {
    json = wrong_value(random);
  }
}

struct Kind {
  std::string name;
  std::function<void(const Json&)> read;
};

} // namespace

TEST_CASE("mutated files of every kind are read or refused with problems") {
  constexpr std::uint64_t kSeed = 19;
  INFO("seed " << kSeed);
  base::RandomStream random({.seed = kSeed});
  const std::vector<Kind> kinds{
      {"trace", [](const Json& json) { (void)to_json(parse_trace(json)); }},
      {"model", [](const Json& json) { (void)to_json(parse_model(json)); }},
      {"cost", [](const Json& json) { (void)to_json(parse_cost(json)); }},
      {"network_calibration", [](const Json& json) { (void)parse_profile(json); }},
      {"measured_training", [](const Json& json) { (void)parse_measured(json); }},
      {"node_preset", [](const Json& json) { (void)parse_node_preset(json); }},
      {"library_calibration",
       [](const Json& json) {
         const LibraryFile file = parse_library_calibration(json);
         (void)compact(to_json(file, nccl::calibration_of(file.fitted)));
       }},
      {"topology", [](const Json& json) { (void)to_json(parse_topology(json)); }},
  };
  for (const Kind& kind : kinds) {
    const Json schema = read_json(STEPSIM_SOURCE_DIR "/schemas/" + kind.name + ".schema.json");
    std::size_t refused = 0;
    for (const Json& example : schema.find("examples")->as_array()) {
      CAPTURE(kind.name);
      CHECK_NOTHROW(kind.read(parse_json(compact(example), "f.json")));
      for (int i = 0; i < 3000; ++i) {
        Json json = example;
        for (std::int64_t n = random.integer(1, 3); n > 0; --n) {
          mutate(json, random);
        }
        const std::string text = compact(json);
        CAPTURE(text);
        try {
          kind.read(parse_json(text, "f.json"));
        } catch (const InputError& error) {
          ++refused;
          for (const base::Problem& problem : error.problems()) {
            REQUIRE(problem.text().starts_with("f.json:"));
          }
        }
      }
    }
    CHECK(refused > 500);
  }
}
