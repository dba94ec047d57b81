#pragma once
// The timeline of a run, for people to look at: spans on tracks, arrows between spans, and
// counters. plot/chrome_trace.hpp writes it as a Chrome trace. Times count from the start of the
// run. Spans of one track nest or are disjoint (a test checks every exported file).
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace stepsim::events {

struct Track {
  std::uint32_t node{}; // every node is a process in the trace
  // A row of the node. Training runs: 0 compute, 1 communication, from 2 on transfers that overlap
  // others. Programs: the number of the stream. Flows: the first lane that is free.
  std::uint32_t lane{};
};

struct Span {
  Track track;
  Seconds start;
  Seconds end;
  std::string name;
  std::string category; // such as "forward", "backward", "update", "communication"
  std::vector<std::pair<std::string, std::string>> texts{}; // shown on click
  std::vector<std::pair<std::string, double>> numbers{};    // shown on click
};

// An arrow from the instant at which a gradient is ready to the bucket that contains it.
struct Arrow {
  Track from;
  Seconds from_time;
  Track to;
  Seconds to_time;
  std::string name;
};

// The counter `name` of the node has this value from `time` until its next point.
struct CounterPoint {
  std::uint32_t node{};
  std::string name;
  Seconds time;
  double value{};
};

struct Timeline {
  std::vector<std::string> node_names; // [node]
  std::vector<std::pair<Track, std::string>> lane_names;
  std::vector<Span> spans;
  std::vector<Arrow> arrows;
  std::vector<CounterPoint> counters;
};

} // namespace stepsim::events
