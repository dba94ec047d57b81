#include "cli/report/answer.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::cli {

namespace {

struct Limit {
  std::string_view word, sentence;
};
constexpr std::array kLimits{Limit{"compute", "Computing limits it."},
                             Limit{"latency", "The latency of messages limits it."},
                             Limit{"bandwidth", "The bandwidth of the network limits it."},
                             Limit{"reduction", "Adding gradients limits it."},
                             Limit{"straggler", "The slowest worker limits it."},
                             Limit{"compression", "Compression limits it."},
                             Limit{"input", "Reading batches limits it."},
                             Limit{"server", "The parameter server limits it."}};

std::string percent(double share) { return base::significant(100 * share, 3) + " %"; }

} // namespace

std::string answer_of(const study::Result& result) {
  const study::Summary& summary = result.summary;
  if (!summary.iteration_time_s) {
    return "The run has no steady step.";
  }
  std::string out = "A step takes " + base::readable_seconds(*summary.iteration_time_s);
  if (summary.iteration_time_low_s && summary.iteration_time_high_s) {
    out += " (95 % interval " + base::readable_seconds(*summary.iteration_time_low_s) + " to " +
           base::readable_seconds(*summary.iteration_time_high_s) + ")";
  }
  out += " on " + base::counted(result.scenario.cluster.ranks(), "worker");
  if (summary.samples_per_s) {
    out += ", " + base::significant(*summary.samples_per_s, 4) + " samples/s";
  }
  if (summary.scaling_efficiency) {
    out += ", an efficiency of " + percent(*summary.scaling_efficiency);
  }
  out += ".";
  const auto* limit = std::ranges::find(kLimits, summary.bottleneck, &Limit::word);
  return limit == kLimits.end() ? out : out + " " + std::string(limit->sentence);
}

} // namespace stepsim::cli
