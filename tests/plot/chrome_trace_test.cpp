#include "plot/chrome_trace.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"

namespace {

using namespace stepsim;

std::string text_of(const events::Timeline& timeline) {
  std::string text;
  plot::write_timeline(timeline, [&](std::string_view block) { text += block; });
  return text;
}

// Spans of one track that nest: a span, then inside it spans of a shorter stretch.
void add_nested(events::Timeline& timeline, events::Track track, double start, double end,
                int depth, base::RandomStream& random) {
  timeline.spans.push_back(
      {track, {start}, {end}, "s\"" + std::to_string(depth), "forward", {}, {}});
  double at = start;
  for (int child = 0; depth < 4 && child < 3; ++child) {
    const double from = at + (end - at) * random.uniform(0, 0.5);
    const double to = from + (end - from) * random.uniform();
    add_nested(timeline, track, from, to, depth + 1, random);
    at = to;
  }
}

events::Timeline random_timeline(std::uint64_t seed) {
  base::RandomStream random({.seed = seed});
  events::Timeline timeline;
  timeline.node_names = {"node 0", "node 1", "node 2"};
  for (std::uint32_t node = 0; node < 3; ++node) {
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      timeline.lane_names.push_back({{node, lane}, lane == 0 ? "compute" : "communication"});
      double at = 0;
      for (int i = 0; i < 4; ++i) {
        const double end = at + random.uniform(0, 1e-6);
        add_nested(timeline, {node, lane}, at, end, 0, random);
        at = end;
      }
      timeline.arrows.push_back({{node, 0}, {random.uniform()}, {node, 1}, {1.0}, "bucket 0"});
      timeline.counters.push_back({node, "link", {random.uniform()}, random.uniform()});
    }
  }
  return timeline;
}

struct Slice {
  std::int64_t start, end; // whole nanoseconds
};

std::int64_t nanoseconds(const io::Json& event, std::string_view key) {
  return std::llround(event.find(key)->as_double() * 1e3);
}

bool nest_or_disjoint(const Slice& a, const Slice& b) {
  const bool disjoint = a.end <= b.start || b.end <= a.start;
  const bool a_in_b = b.start <= a.start && a.end <= b.end;
  const bool b_in_a = a.start <= b.start && b.end <= a.end;
  return disjoint || a_in_b || b_in_a;
}

} // namespace

TEST_CASE("timeline: valid JSON, names first, slices nest or are disjoint, arrows are paired") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const events::Timeline timeline = random_timeline(seed);
    const io::Json tree = io::parse_json(text_of(timeline), "timeline.json");
    CHECK(tree.find("displayTimeUnit")->as_string() == "ms");
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Slice>> tracks;
    std::map<std::int64_t, std::string> flows; // id -> phases
    bool names_over = false;
    std::size_t slices = 0;
    for (const io::Json& event : tree.find("traceEvents")->as_array()) {
      const std::string phase = event.find("ph")->as_string();
      REQUIRE((phase == "M" ? !names_over : true));
      names_over = phase != "M";
      if (phase == "M") {
        continue;
      }
      REQUIRE(event.find("ts")->as_double() >= 0);
      if (phase == "X") {
        REQUIRE(event.find("dur")->as_double() >= 0);
        const std::int64_t start = nanoseconds(event, "ts");
        tracks[{event.find("pid")->as_integer(), event.find("tid")->as_integer()}].push_back(
            {start, start + nanoseconds(event, "dur")});
        ++slices;
      } else if (phase == "s" || phase == "f") {
        CHECK((phase == "s" || event.find("bp")->as_string() == "e"));
        flows[event.find("id")->as_integer()] += phase;
      } else {
        CHECK(phase == "C");
      }
    }
    CHECK(slices == timeline.spans.size());
    CHECK(tracks.size() == 6);
    for (const auto& [track, list] : tracks) {
      std::size_t crossing = 0;
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          crossing += nest_or_disjoint(list[i], list[j]) ? 0U : 1U;
        }
      }
      CHECK(crossing == 0);
    }
    CHECK(flows.size() == timeline.arrows.size());
    for (const auto& [id, phases] : flows) {
      CHECK(phases == "sf");
    }
  }
}

TEST_CASE("timeline: microseconds have three decimals and details are kept") {
  events::Timeline timeline;
  timeline.node_names = {"node 0"};
  timeline.spans.push_back({{0, 1},
                            {0.0012345678},
                            {0.0022345678},
                            "bucket 3",
                            "communication",
                            {{"algorithm", "ring"}},
                            {{"bytes", 4096.0}}});
  const std::string text = text_of(timeline);
  CHECK(text.find("\"ts\":1234.568,\"dur\":1000.000") != std::string::npos); // us
  CHECK(text.find("\"args\":{\"algorithm\":\"ring\",\"bytes\":4096") != std::string::npos);
  CHECK(text.find("\"process_name\"") != std::string::npos);
}

TEST_CASE("timeline: a time beyond the format is an error") {
  events::Timeline timeline;
  timeline.spans.push_back({{0, 0}, {0}, {1e10}, "long", "forward", {}, {}});
  CHECK_THROWS_AS(text_of(timeline), SimulationError);
}
