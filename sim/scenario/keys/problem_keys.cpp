// A problem file has no model behind it: planners that need forward times or measured buckets are
// no words of it.
#include "scenario/keys/problem_keys.hpp"
#include "buckets/planners.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 1> kProblemExamples{
    R"({"schema_version": 1, "kind": "problem", "ready_s": [0.001, 0.002, 0.004], "bytes": [4000000, 1000, 2000000], "cost": {"startup_s": 0.0009, "per_byte_s": 7.4e-10}, "planners": {"ddp": {"bucket_bytes": 1000000}}})"};

} // namespace

std::vector<std::string_view> problem_schedules() {
  std::vector<std::string_view> words;
  for (const buckets::Planner& planner : buckets::planners()) {
    if (planner.fits_problem_files()) {
      words.push_back(planner.name);
    }
  }
  return words;
}

io::FileKind problem_file() { return {"problem", &kProblem, kProblemExamples}; }

} // namespace stepsim::study::keys
