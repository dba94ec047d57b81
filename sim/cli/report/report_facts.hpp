#pragma once
// The facts of a page without its markup: the output of `report --json`.
#include <optional>
#include <string>
#include <vector>

#include "cli/report/result_page.hpp"
#include "document/fields/schema.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

// The facts of a page about the records of a sweep.
struct RecordsFacts {
  std::string answer;
  std::int64_t points{}, failed{};
  std::vector<std::string> varied;
  std::optional<plot::Point> knee;
};

[[nodiscard]] io::Json report_facts(const ReportedRun& run);
[[nodiscard]] io::Json report_facts(const RecordsFacts& records);
[[nodiscard]] io::FileKind report_result_kind();  // the kind of file with the facts of a run
[[nodiscard]] io::FileKind report_records_kind(); // the kind of file with the facts of records

} // namespace stepsim::cli
