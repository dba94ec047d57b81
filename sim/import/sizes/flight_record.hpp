#pragma once
// Sizes of buckets from PyTorch's flight recorder (INP 2): its dump, as JSON, lists the latest
// collectives of a rank with the shapes of their inputs. Of its times only those of the calls are
// read, which tell steps apart; start and end come from a thread that polls.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

struct FlightRecord {
  struct AllReduce {
    std::int64_t elements{};
    std::string dtype;         // "Float", as PyTorch names it
    std::int64_t created_ns{}; // when it was called, as recorded; 0 = not recorded
  };
  std::string file; // path or "<stdin>", for error messages
  layers::SourceFile source;
  std::vector<AllReduce> all_reduces; // in order of calls, at least one
};

// Throws InputError if the dump has no `entries` or no all-reduce, or if a shape is not a list of
// sizes.
[[nodiscard]] FlightRecord read_flight_record(const std::string& path, std::uint64_t max_bytes);

// The all-reduces of the last whole step of the record, where a step has `per_step` all-reduces. A
// step begins at the place with the longest pause between calls before it (median over the steps),
// the first of several. Throws InputError if this step differs from the one before, if the record
// is shorter than two steps, or if a call has no time.
[[nodiscard]] std::vector<FlightRecord::AllReduce> step_of(const FlightRecord& record,
                                                           std::size_t per_step);

} // namespace stepsim::io
