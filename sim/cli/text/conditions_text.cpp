#include "cli/text/conditions_text.hpp"

#include <algorithm>

#include "base/number_text.hpp"
#include "base/printable.hpp"
#include "scenario/conditions.hpp"

namespace stepsim::cli {

std::string conditions_text(const study::Scenario& scenario) {
  if (!scenario.nominal) {
    return "ideal: nothing is lost; real steps are longer (docs/accuracy.md)";
  }
  const study::Nominal& nominal = *scenario.nominal;
  std::string text = "typical: ";
  if (const double more = scenario.training.sync.value - nominal.training.sync.value; more > 0) {
    text += "a message costs " + base::readable_seconds(more) + " more, ";
  }
  const double longer =
      scenario.workload.forward().value / std::max(1e-300, nominal.workload.forward().value);
  text += "computing takes " + base::significant(longer) + " times as long";
  const double beside = scenario.training.overlap.compute.front();
  return beside == 1
             ? text
             : text + ", and beside an exchange " + base::significant(beside) + " times that";
}

std::string measured_text(const study::MeasuredTotal& total) {
  const auto ms = [](double seconds) { return base::significant(seconds * 1e3) + " ms"; };
  std::string at;
  for (const std::string& each : total.at) {
    at += (at.empty() ? " with " : ", ") + base::printable(each);
  }
  return "one step of " + ms(total.measured_s) + at + ", predicted " + ms(total.predicted_s) +
         ": " + ms(total.step_s) + " here" +
         (total.low_s
              ? " (" + ms(*total.low_s) + " to " + ms(*total.high_s) + " hold 80 % of real runs)"
              : "");
}

std::string part_text(std::string_view factor) {
  const auto known = study::kFactors.find(factor);
  return known ? std::string(factor) + " (" + std::string(study::meaning(*known)) + ")"
         : factor == study::kEstimateOfInterval ? std::string("the estimate of computing")
         : factor == study::kLibraryOfInterval  ? std::string("the model of the library")
                                                : std::string("what differs between equal runs");
}

} // namespace stepsim::cli
