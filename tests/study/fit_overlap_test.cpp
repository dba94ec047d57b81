#include "study/fits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "document/json_text.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

MeasuredSteps read(const std::string& name, const std::string& leave_out = "") {
  Files files(STEPSIM_SOURCE_DIR);
  return read_measured_steps(
      io::read_json(STEPSIM_SOURCE_DIR "/reproduce/overlap/" + name + ".steps.json"), files,
      leave_out);
}

MeasuredSteps from_text(const std::string& rows) {
  Files files(STEPSIM_SOURCE_DIR);
  return read_measured_steps(
      io::parse_json(R"({"kind": "measured_steps", "rows": [)" + rows + "]}", "m.json"), files, "");
}

std::string row(const std::string& schedule, const std::string& more = "") {
  return R"({"schedule": ")" + schedule + R"(", "step_s": 1, "scenario": {
    "workload": {"layers": [
      {"name": "a", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 4000000},
      {"name": "b", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 1000000}]},
    "cluster": {"nodes": 16, "network": {"cost": {"startup_s": 0.01, "per_byte_s": 1e-8}}})" +
         more + "}}";
}

std::string problem_of(const std::string& rows) {
  try {
    (void)from_text(rows);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// Per cent: median, 90th percentile, maximum of |predicted / measured - 1|, and how often the
// schedule that is best by prediction, of equal ones the first, is the best one that was measured.
struct Evidence {
  double median{}, p90{}, max{};
  int right = 0, cases = 0;
};

// Rows of one case follow each other, one per schedule.
Evidence evidence(const std::vector<io::OverlapFit>& fits) {
  constexpr std::size_t kSchedules = 3;
  Evidence result;
  std::vector<double> errors;
  for (const io::OverlapFit& fit : fits) {
    const auto predicted = [](const io::OverlapStep& step) {
      return step.held_out_s.value_or(step.predicted_s);
    };
    for (const io::OverlapStep& step : fit.steps) {
      errors.push_back(100 * std::abs(predicted(step) / step.step_s - 1));
    }
    for (std::size_t i = 0; i < fit.steps.size(); i += kSchedules) {
      const auto first = fit.steps.begin() + static_cast<std::ptrdiff_t>(i);
      const auto last = first + kSchedules;
      ++result.cases;
      result.right += std::min_element(first, last,
                                       [&](const auto& a, const auto& b) {
                                         return predicted(a) < predicted(b) * (1 - 1e-9);
                                       }) == std::min_element(first, last,
                                                              [](const auto& a, const auto& b) {
                                                                return a.step_s < b.step_s;
                                                              })
                          ? 1
                          : 0;
    }
  }
  std::ranges::sort(errors);
  result.median = base::median(errors);
  result.p90 =
      errors[static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size()))) - 1];
  result.max = errors.back();
  return result;
}

constexpr double kPoints = 0.5; // per cent; the optimiser of the specification may differ
const std::string kModel = "/workload/model";

Evidence of_v100(const KeptConstants& kept, const std::string& leave_out) {
  return evidence({fit_overlap(read("v100-10gbe", leave_out), leave_out, kept),
                   fit_overlap(read("v100-ib-56g", leave_out), leave_out, kept)});
}

} // namespace

TEST_CASE("fit_overlap: a message stretches the backward next to it") {
  // 2 s of backward before a message of 3 s, next to which 1.5 s of 4 s are computed.
  MeasuredStep step{.schedule = "wfbp",
                    .step_s = 1,
                    .forward_s = 7,
                    .backward_s = 6,
                    .update_s = 3,
                    .messages = {{.ready_s = 2, .bytes = 3}, {.ready_s = 6, .bytes = 1}}};
  io::OverlapConstants constants{.startup_s = 0, .per_byte_s = 1, .compute = 2};
  CHECK(predicted_s(step, constants) == 10 + 2 + 3 + (6 - 3.5) + 1);
  constants.compute = 1;
  CHECK(predicted_s(step, constants) == 10 + 6 + 1);
  step.messages.clear();
  CHECK(predicted_s(step, constants) == 16);
}

TEST_CASE("fit_overlap: constants that made the steps are found again") {
  MeasuredSteps measured = read("v100-10gbe");
  const io::OverlapConstants truth{.startup_s = 8e-4, .per_byte_s = 2e-9, .compute = 1.9};
  for (MeasuredStep& step : measured.steps) {
    step.step_s = predicted_s(step, truth);
  }
  const io::OverlapFit fit = fit_overlap(measured, "", {});
  CHECK(fit.constants.startup_s == within(truth.startup_s, 1e-3));
  CHECK(fit.constants.per_byte_s == within(truth.per_byte_s, 1e-3));
  CHECK(fit.constants.compute == within(truth.compute, 1e-3));
  CHECK(fit.quality.max_error < 1e-3);
  CHECK(fit.quality.rows == 24);
}

TEST_CASE("fit_overlap: a single message gives the time per byte alone") {
  MeasuredSteps measured = from_text(row("single"));
  const io::OverlapFit fit = fit_overlap(measured, "", {});
  CHECK(fit.constants.startup_s == 0.01);
  CHECK(fit.constants.compute == 1);
  CHECK(fit.constants.per_byte_s == within((1 - 0.6 - 0.01) / 5e6, 1e-12));
  CHECK(fit.steps.front().predicted_s == within(1, 1e-12));
  measured.steps.front().step_s = 0.6;
  CHECK_THROWS_AS((void)fit_overlap(measured, "", {}), UsageError);
}

TEST_CASE("fit_overlap: fewer rows than constants are refused") {
  CHECK_THROWS_WITH_AS((void)fit_overlap(from_text(row("wfbp") + "," + row("single")), "", {}),
                       "needs at least 3 measured steps for 3 constants, got 2", UsageError);
  CHECK_NOTHROW(
      (void)fit_overlap(from_text(row("wfbp") + "," + row("single")), "", {.compute = true}));
}

TEST_CASE("fit_overlap: steps that the model does not describe are refused") {
  const std::string takes = ": it takes dense sync_sgd with one message after the other";
  CHECK(problem_of(row("dear")) ==
        "m.json: /rows/0/scenario: fit-overlap does not describe schedule dear" + takes);
  CHECK(problem_of(row("wfbp", R"(, "training": {"algorithm": "pipe_sgd"})")) ==
        "m.json: /rows/0/scenario: fit-overlap does not describe the algorithm pipe_sgd" + takes);
  CHECK(problem_of(row("wfbp", R"(, "variability": {"compute_cv": 0.1})")) ==
        "m.json: /rows/0/scenario: fit-overlap does not describe workers that differ" + takes);
  std::string other = row("wfbp");
  other.replace(other.find("0.01"), 4, "0.02");
  CHECK(
      problem_of(row("wfbp") + "," + other) ==
      "m.json: /rows/1/scenario: the network differs from that of the first row; fit each network "
      "from a file of its own");
}

TEST_CASE("fit_overlap: evidence on 16 V100, one network left out at a time (TRN 3.4)") {
  const Evidence today = of_v100({.startup = true, .per_byte = true, .compute = true}, "");
  CHECK(today.median == plus_minus(20.7, kPoints));
  CHECK(today.p90 == plus_minus(36.7, kPoints));
  CHECK(today.max == plus_minus(42.0, kPoints));
  CHECK(today.right == 12);
  CHECK(today.cases == 16);
  const Evidence link = of_v100({.compute = true}, kModel);
  CHECK(link.median == plus_minus(9.9, kPoints));
  CHECK(link.p90 == plus_minus(22.9, kPoints));
  CHECK(link.max == plus_minus(36.6, kPoints));
  CHECK(link.right == 16);
  const Evidence overlap = of_v100({}, kModel);
  CHECK(overlap.median == plus_minus(4.8, kPoints));
  CHECK(overlap.p90 == plus_minus(11.0, kPoints));
  CHECK(overlap.max == plus_minus(26.9, kPoints));
  CHECK(overlap.right == 14);
}
