#pragma once
// A small sweep for the tests: two layers, six points, one of which fails (0 nodes).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "document/json_text.hpp"
#include "study/sweep/sweep.hpp"
#include "testing/paths.hpp"

namespace stepsim::test {

inline constexpr std::string_view kScenario = R"({
  "kind": "scenario", "name": "small",
  "workload": {"layers": [
    {"name": "one", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000},
    {"name": "two", "forward_s": 3e-3, "backward_s": 1e-3, "gradient_bytes": 1000000}]},
  "cluster": {"nodes": 4, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}},
  "communication": {"schedule": "wfbp"}
})";

inline constexpr std::string_view kNodesError =
    "/cluster/nodes: must be an integer in [1, 1048576], got 0";

inline io::Json scenario() { return io::parse_json(kScenario, "scenario.json"); }

using Random = std::mt19937_64;

inline double real(Random& random, double low, double high) {
  return std::uniform_real_distribution(low, high)(random);
}
inline std::int64_t whole(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution(low, high)(random);
}

// nodes 2, 0 (fails), 8 x schedule wfbp, single.
inline study::Sweep small_sweep() {
  return study::sweep_over(
      scenario(), {study::Axis{"/cluster/nodes", {io::Json(2), io::Json(0), io::Json(8)}},
                   study::Axis{"/communication/schedule", {io::Json("wfbp"), io::Json("single")}}});
}
inline constexpr std::int64_t kSmallPoints = 3 * 2;

inline study::SweepOptions options_for(const std::string& output) {
  study::SweepOptions options;
  options.output = output;
  options.tool = "stepsim test";
  return options;
}

inline std::string sweep_text(const study::Sweep& sweep, study::RecordFormat format,
                              const study::Shard& shard = {}, int jobs = 1) {
  study::Files files(STEPSIM_SOURCE_DIR);
  study::SweepOptions options = options_for("");
  options.format = format;
  options.shard = shard;
  options.jobs = jobs;
  std::string text;
  (void)study::run_sweep(sweep, files, options, text);
  return text;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// A fresh folder under the build folder, named after the test.
class Folder {
public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::path(STEPSIM_BINARY_DIR) / "test-files" / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

private:
  std::filesystem::path path_;
};

// Records of two ways of running a point: numbers as they come out of sums in another order, all
// else alike.
inline bool same_record(std::string_view one, std::string_view other) {
  const io::Json a = io::parse_json(one, "one");
  const io::Json b = io::parse_json(other, "other");
  const io::Json* period = a.find("iteration_time_s");
  const double scale = period != nullptr && period->is_number() ? period->as_double() : 0;
  return std::ranges::all_of(a.as_object(), [&](const auto& member) {
    const io::Json* found = b.find(member.first);
    if (found == nullptr || !found->is_number() || !member.second.is_number()) {
      return found != nullptr && io::compact(*found) == io::compact(member.second);
    }
    const double x = member.second.as_double();
    return std::abs(x - found->as_double()) <= 1e-11 * std::max(std::abs(x), scale);
  });
}

inline void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace stepsim::test
