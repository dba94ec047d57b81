// The feature matrix and the tables of keys name the same keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "coll/compress/compression.hpp"
#include "plan/planners.hpp"
#include "scenario/keys/scenario.hpp"
#include "scenario/rules.hpp"
#include "scenario/rules_table.hpp"

using namespace stepsim;
using namespace stepsim::study;

TEST_CASE("every rule is about a key that exists") {
  for (const KeyRule& rule : key_rules()) {
    CAPTURE(rule.pointer);
    CHECK(io::key_at(keys::kScenario, rule.pointer) != nullptr);
    CHECK(!rule.when.empty());
    const auto all = conditions(rule.pointer);
    CHECK(std::ranges::find(all, rule.when) != all.end());
  }
}

TEST_CASE("every option of a schedule has a row, and every row of a schedule a schedule") {
  for (const plan::Planner& planner : plan::planners()) {
    for (const std::string_view key : planner.keys) {
      CAPTURE(key);
      CHECK(io::find_key(keys::kSchedule, key) != nullptr);
    }
  }
  for (const io::Key& key : keys::kScheduleKeys) {
    CAPTURE(key.name);
    CHECK(
        (key.name == "schedule" || !conditions("/communication/" + std::string(key.name)).empty()));
  }
}

TEST_CASE("every option of a compression has a row, and every row a compression") {
  for (const coll::CompressionRow& row : coll::compression_table()) {
    for (const std::string_view key : row.keys) {
      CAPTURE(key);
      CHECK((key == "shapes" || io::find_key(keys::kCompressionObject, key) != nullptr));
    }
  }
  for (const io::Key& key : keys::kCompression) {
    CAPTURE(key.name);
    CHECK((key.name == "method" ||
           !conditions("/communication/compression/" + std::string(key.name)).empty()));
  }
}

TEST_CASE("every option of a transport has a transport") {
  for (const io::Key& key : keys::kTransport) {
    CAPTURE(key.name);
    CHECK((key.name == "kind" || !transports_with(key.name).empty()));
  }
}

TEST_CASE("conditions of keys that every scenario has are none") {
  CHECK(conditions("/cluster/nodes").empty());
  CHECK(conditions("/training/iterations").empty());
  CHECK(conditions("/training/drain") == std::vector<std::string>{"the algorithm is pipe_sgd"});
}
