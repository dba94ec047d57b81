#pragma once
// Parses the records of a sweep (JSON Lines) into outcomes of points; the inverse of
// Records::append().
#include <string_view>
#include <vector>

#include "sweep/sweep_file.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

class RecordParser {
public:
  explicit RecordParser(const Sweep& sweep); // must be a sweep of scenarios

  // Parses `row`, which must have no line end. Returns false, with an undefined `outcome`, if this
  // version would not write such a line; values that are not part of an outcome, as the point and
  // the varied fields, may be any.
  [[nodiscard]] bool parse(std::string_view row, PointOutcome& outcome) const;

private:
  struct Member {
    std::string prefix; // text before the value: separator and key
    const SummaryField* field = nullptr;
    Records::Source source{};
  };
  std::vector<Member> members_;
};

} // namespace stepsim::study
