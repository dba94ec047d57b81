#pragma once
// Sizes of buckets from PyTorch's flight recorder (INP 2): its dump, as JSON, lists the latest
// collectives of a rank with the shapes of their inputs. The times in it come from a thread that
// polls and are not read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/import_source.hpp"

namespace stepsim::io {

struct FlightRecord {
  struct AllReduce {
    std::int64_t elements{};
    std::string dtype;         // "Float", as PyTorch names it
    std::int64_t created_ns{}; // when it was called
  };
  std::string file; // for messages
  train::SourceFile source;
  std::vector<AllReduce> all_reduces; // in order of calls, at least one
};

// Throws InputError: no `entries`, no all-reduce, a shape that is none.
[[nodiscard]] FlightRecord read_flight_record(const std::string& path, std::uint64_t max_bytes);

// The all-reduces of one step of which a trace has `per_step`: the last whole step of the record,
// which repeats every `per_step` all-reduces; a step begins behind the longest pause between two
// of them, in the median of the steps. Throws InputError where the last two steps differ, or the
// record is shorter than that.
[[nodiscard]] std::vector<FlightRecord::AllReduce> step_of(const FlightRecord& record,
                                                           std::size_t per_step);

} // namespace stepsim::io
