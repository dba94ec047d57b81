#include "cli/report/result_page.hpp"

#include "run/memory_figures.hpp"

namespace stepsim::cli {

std::string answer_of(const study::Result& result) {
  const study::Summary& summary = result.summary;
  std::string out = study::exceeds_text(summary);
  out += (out.empty() ? "" : ". ") + std::string("A step takes ") +
         base::readable_seconds(study::step_of(summary), study::band_of(summary));
  out += " on " + base::counted(result.scenario->cluster.ranks(), "worker");
  if (summary.samples_per_s) {
    out += ", " + base::significant(*summary.samples_per_s, 4) + " samples/s";
  }
  if (summary.scaling_efficiency) {
    out += ", an efficiency of " + base::percent(*summary.scaling_efficiency);
  }
  out += ".";
  const std::string_view subject = study::subject_of(summary.bottleneck);
  return subject.empty() ? out : out + " " + std::string(subject) + " bounds it.";
}

} // namespace stepsim::cli
