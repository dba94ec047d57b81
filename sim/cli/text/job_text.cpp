#include "cli/text/run_text.hpp"

#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::cli {

// The interval of the step carries over in proportion.
std::string job_text(const study::Result& result) {
  const study::Summary& summary = result.summary;
  const study::Job& job = result.scenario.job;
  constexpr std::size_t kLabel = 14;
  std::string out;
  if (summary.time_to_finish_s) {
    auto band = study::band_of(summary);
    if (band) {
      const double steps = *summary.time_to_finish_s / *summary.iteration_time_s;
      band->low *= steps;
      band->high *= steps;
    }
    std::string text =
        base::readable_amount(static_cast<double>(job.tokens ? *job.tokens : *job.samples)) +
        (job.tokens ? " tokens: " : " samples: ") +
        base::readable_duration(*summary.time_to_finish_s, band);
    if (summary.cost_usd) {
      text += ", " + base::readable_amount(*summary.cost_usd) + " USD at " +
              base::shortest(base::rounded_to(*job.price_per_gpu_hour, 4)) + " USD per GPU hour";
    }
    append_labelled(out, "to finish", kLabel, text);
  }
  if (summary.goodput) {
    append_labelled(out, "failures", kLabel,
                    "goodput " + base::significant(*summary.goodput) + ", a checkpoint every " +
                        base::readable_duration(*summary.checkpoint_interval_s));
  }
  return out;
}

} // namespace stepsim::cli
