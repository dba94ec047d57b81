// What a fit leaves in a file: values that are held at 0 are named.
#include "calibrate/core/calibration_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calibrate/curves.hpp"
#include "document/json_text.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/files/network_files.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;

namespace {

io::Json tree_of(const std::vector<GroupFit>& fits) {
  io::Samples samples;
  samples.source.format = "csv";
  return calibration_tree(std::vector{samples}, fits, std::nullopt, {"lab", "test", "", "network"});
}

const io::Json* at_bound(const io::Json& tree) {
  return io::resolve(tree, "/collectives/0/segments/0/at_bound");
}

} // namespace

TEST_CASE("a start-up that is held at 0 is named in the file, and warned about") {
  // t = 1 ns/B n - 500 ns: the free optimum is below 0.
  const std::vector<GroupFit> fits{fit_group(group_of(powers(13, 26, 1, -0.5e-6, 1e-9)), {})};
  const io::Json tree = tree_of(fits);
  CHECK(fits[0].line.startup_at_bound);
  REQUIRE(at_bound(tree) != nullptr);
  CHECK(io::compact(*at_bound(tree)) == "[\"startup_s\"]");
  const std::vector<std::string> warnings = all_warnings({}, fits, std::nullopt);
  CHECK(std::ranges::count(warnings, "allreduce P=8: the start-up is held at 0, its bound, because "
                                     "the data want less") == 1);
  CHECK(io::parse_profile(tree).collectives[0].segments[0].startup_s == 0); // read back
}

TEST_CASE("a curve that is kept as points is read back as the lines between them") {
  const std::vector<Datum> data{{1, 1}, {2, 2}, {4, 2.1}, {8, 8}, {16, 8.5}, {32, 40}, {64, 41}};
  const std::vector<GroupFit> fits{fit_group(group_of(data), {})};
  const io::Json tree = tree_of(fits);
  CHECK(io::resolve(tree, "/collectives/0/segments") == nullptr);
  const links::CollectiveCurve curve = io::parse_profile(tree).collectives[0];
  CHECK(curve.points.size() == data.size());
  for (double bytes = 0.5; bytes < 200; bytes *= 1.1) {
    CHECK(links::curve_seconds(curve.segments, bytes) ==
          links::curve_seconds(fits[0].curve, bytes));
  }
}

TEST_CASE("a fit inside its bounds names nothing") {
  const std::vector<GroupFit> fits{fit_group(group_of(powers(10, 23, 1, 5e-6, 1e-9)), {})};
  CHECK(at_bound(tree_of(fits)) == nullptr);
  CHECK(all_warnings({}, fits, std::nullopt).empty());
}
