#include "links/profile/profile_curve.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace stepsim;
using namespace stepsim::links;
using stepsim::testing::within;

namespace {

// The table of the profile icdcs19 (SPA 9).
NetworkProfile icdcs19() {
  NetworkProfile profile;
  profile.name = "icdcs19";
  profile.label = ProfileLabel::calibrated;
  profile.valid_ranks = {4, 32};
  profile.valid_density = {0.001, 0.001};
  profile.valid_gpus_per_node = 1;
  profile.dense_inflation = {{4, 8, 16, 32}, {1.295, 1.299, 3.228, 10.635}};
  return profile;
}

} // namespace

TEST_CASE("dense inflation is the table at its points and linear in log2 P between (SPA V18)") {
  const NetworkProfile profile = icdcs19();
  CHECK(dense_inflation(profile, 4) == 1.295);
  CHECK(dense_inflation(profile, 16) == 3.228);
  CHECK(dense_inflation(profile, 32) == 10.635);
  const double share = std::log2(12.0) - 3; // of the way from 8 to 16
  CHECK(dense_inflation(profile, 12) == within(1.299 + share * (3.228 - 1.299), 1e-12));
  CHECK(dense_inflation(profile, 12) == within(2.42739, 1e-5));
  CHECK_FALSE(dense_inflation_warning(profile, 12));
}

TEST_CASE("outside its table dense inflation is held, with a warning (SPA V18)") {
  const NetworkProfile profile = icdcs19();
  CHECK(dense_inflation(profile, 2) == 1.295);
  CHECK(dense_inflation_warning(profile, 2) ==
        "icdcs19: ranks=2 outside the calibrated 4..32, gamma held at 1.295");
  CHECK(dense_inflation(profile, 64) == 10.635);
  CHECK(dense_inflation_warning(profile, 64) ==
        "icdcs19: ranks=64 outside the calibrated 4..32, gamma held at 10.635");
}

TEST_CASE("one rank and a profile without a table know no inflation") {
  CHECK(dense_inflation(icdcs19(), 1) == 1);
  CHECK_FALSE(dense_inflation_warning(icdcs19(), 1));
  CHECK(dense_inflation(NetworkProfile{}, 64) == 1);
  CHECK_FALSE(dense_inflation_warning(NetworkProfile{}, 64));
}

TEST_CASE("a run outside what a profile covers is told each point in which it is") {
  const NetworkProfile profile = icdcs19();
  CHECK(outside_warnings(profile, 32, 1, 0.001).empty());
  CHECK(outside_warnings(profile, 32, 1, std::nullopt).empty());
  CHECK(outside_warnings(profile, 1, 1, std::nullopt).empty());
  CHECK(outside_warnings(profile, 64, 4, 0.01) ==
        std::vector<std::string>{"icdcs19: ranks=64 outside the calibrated 4..32",
                                 "icdcs19: gpus_per_node=4 outside the calibrated 1",
                                 "icdcs19: density=0.01 outside the calibrated 0.001"});
  CHECK(outside_warnings(NetworkProfile{}, 64, 4, 0.01).empty());
}
