#pragma once
// Finds the tree of a scenario in a file of kind scenario, in a result, or at one point of a
// sweep's output.
#include <string>
#include <string_view>

#include "document/json.hpp"

namespace stepsim::cli {

struct ScenarioSource {
  io::Json tree; // short forms expanded
  // For a point of a sweep: its record (null if the file lacks it or is CSV) and its replication,
  // from 0.
  io::Json record;
  std::int64_t replication = 0;
  // For a result or a point: the digests of the files it was made from (scenario/named_files.hpp).
  io::Json files{};
};

// `point`: number of a point of a sweep's output, from 0, as typed; "" = not given. Throws
// UsageError for a point that is missing, not allowed or out of range, and InputError for a file
// that must be imported first: `FILE: this is a Kineto trace: stepsim import kineto FILE -o
// T.json`, and for a file of a kind that is not a scenario, unless it is `other_kind`. Files that a
// result or a point names are found again (find_named_files()).
[[nodiscard]] ScenarioSource read_scenario_source(const std::string& file, const std::string& point,
                                                  const std::string& data_folder,
                                                  std::string_view other_kind = {});

} // namespace stepsim::cli
