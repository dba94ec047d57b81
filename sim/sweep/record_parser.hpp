#pragma once
// Reads lines of a sweep's JSON Lines back into outcomes of points: the inverse of Records::append.
#include <string_view>
#include <vector>

#include "sweep/sweep_file.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

class RecordParser {
public:
  explicit RecordParser(const Sweep& sweep); // of scenarios

  // `row` without its line end. False where it is not a line that this version writes; `outcome`
  // then means nothing.
  [[nodiscard]] bool parse(std::string_view row, PointOutcome& outcome) const;

private:
  struct Member {
    std::string prefix; // of the value: separator and key
    const SummaryField* field = nullptr;
    Records::Source source{};
  };
  std::vector<Member> members_;
};

} // namespace stepsim::study
