// Summaries name what a user can check against the tool that measured: numbers of layers, sums of
// times, sizes.
#include "cli/commands/imported.hpp"

#include "base/number_text.hpp"
#include "base/printable.hpp"
#include "base/quantity.hpp"
#include "files/cost_file.hpp"
#include "files/trace_file.hpp"
#include "files/trace_text.hpp"

namespace stepsim::cli {

namespace {

std::string milliseconds(double seconds) { return base::significant(seconds * 1e3) + " ms"; }

} // namespace

// Sums over the layers, with unknown times and sizes as 0. Update and framework time are one number
// here, as a scenario takes them.
Imported imported_trace(const train::Trace& trace) {
  double forward = 0;
  double backward = 0;
  double bytes = 0;
  std::size_t tensors = 0;
  for (const train::Layer& layer : trace.layers) {
    forward += layer.forward.value_or(Seconds{0}).value;
    backward += layer.backward.value_or(Seconds{0}).value;
    bytes += static_cast<double>(layer.gradient_bytes.value_or(Bytes{0}).value);
    tensors += layer.tensors.size();
  }
  std::string text = base::printable(trace.name) + ": " + std::to_string(trace.layers.size()) +
                     " layers, " + std::to_string(tensors) + " gradient tensors, " +
                     base::readable_bytes(bytes) + ", " +
                     std::string(train::kProvenances[trace.provenance]) + "\n";
  text += "forward " + milliseconds(forward) + ", backward " + milliseconds(backward) +
          ", update " + milliseconds((trace.update + trace.framework).value) + ", input " +
          milliseconds(trace.input.value) + "\n";
  if (!trace.buckets.empty()) {
    text += std::to_string(trace.buckets.size()) + " measured buckets";
    if (trace.checks) {
      text += ", " + std::to_string(trace.checks->steps_used) + " steps used, " +
              std::to_string(trace.checks->backward_matched) + " of " +
              std::to_string(trace.checks->backward_nodes) + " backward nodes matched";
    }
    text += "\n";
  }
  std::vector<std::string> warnings = trace.warnings;
  if (bytes == 0) {
    warnings.emplace_back("run refuses this trace: it has no gradient sizes");
  }
  return {io::to_json(trace), text, warnings};
}

// A cost file has one operation and one number of ranks.
Imported imported_cost(const io::OsuLog& log) {
  const io::CostPoints cost = io::cost_of(log);
  return {io::to_json(cost),
          base::printable(cost.name) + ": " + cost.op + " with " + std::to_string(cost.ranks) +
              " ranks, " + std::to_string(cost.table.size()) + " sizes, " +
              base::readable_bytes(cost.table.front().first) + " to " +
              base::readable_bytes(cost.table.back().first) + "\n",
          {}};
}

// One line per set, which is what `fit` will call a group.
Imported imported_samples(const io::Samples& samples) {
  std::string text;
  for (const io::SampleSet& set : samples.sets) {
    text += base::printable(samples.name) + ": " + base::printable(set.op) + " with " +
            std::to_string(set.ranks) + " ranks, " + (set.column.empty() ? "" : set.column + ", ") +
            std::to_string(set.samples.size()) + " times\n";
  }
  return {io::to_json(samples), text, samples.warnings};
}

} // namespace stepsim::cli
