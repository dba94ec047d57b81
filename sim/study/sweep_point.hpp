#pragma once
// One point of a sweep: scenario fields set, parsed, run, summarised. What goes wrong becomes the
// point's error text. One object per thread.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "study/files.hpp"
#include "study/sweep_file.hpp"
#include "study/sweep_records.hpp"

namespace stepsim::study {

class PointRunner {
public:
  // Both must outlive the object.
  PointRunner(const Sweep& sweep, Files& files) : sweep_(sweep), files_(files) {}

  // Valid until the next call.
  [[nodiscard]] const PointOutcome& run(std::int64_t point);
  // Warnings of all points so far: text -> number of points.
  [[nodiscard]] const std::map<std::string, std::int64_t>& warnings() const { return warnings_; }

private:
  const Sweep& sweep_;
  Files& files_;
  PointOutcome outcome_;
  std::map<std::string, std::int64_t> warnings_;
};

// Throws the InputError of the first point if none of a sample of points can be parsed: then the
// scenario is wrong, not some of its points.
void check_some_point(const Sweep& sweep, Files& files);

} // namespace stepsim::study
