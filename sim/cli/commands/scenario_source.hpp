#pragma once
// Where the tree of a scenario comes from: a file of kind scenario, the scenario inside a result,
// or one point of a sweep's output.
#include <optional>
#include <string>

#include "json/json.hpp"

namespace stepsim::cli {

struct ScenarioSource {
  io::Json tree; // short forms expanded
  // Of a point of a sweep: its record (null if the file lacks it or is CSV) and the replication
  // that it is of, from 0.
  io::Json record;
  std::int64_t replication = 0;
  // Of a result or a point: the digests of the files it was made from (scenario/named_files.hpp).
  io::Json files{};
};

// `point`: the number of a point of a sweep's output, from 0, as typed; "" = not given. Throws
// InputError `FILE: this is a Kineto trace: stepsim import kineto FILE -o T.json` for what another
// command reads first, UsageError for a point that is missing, surplus or out of range.
[[nodiscard]] ScenarioSource read_scenario_source(const std::string& file,
                                                  const std::string& point);

} // namespace stepsim::cli
