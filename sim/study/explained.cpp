#include "study/explained.hpp"

#include <algorithm>
#include <functional>

#include "programs/explain/program_evaluation.hpp"
#include "study/explained_sentences.hpp"
#include "study/step_changes.hpp"

namespace stepsim::study {

using programs::Operation;
using programs::Program;

Explained explained_program(const ProgramFile& file, const programs::ProgramLabels& labels) {
  Explained result;
  result.name = file.name;
  result.program = file.program;
  result.links = file.links;
  result.explanation = programs::explain(
      file.program, {.evaluation = file.evaluation, .labels = labels, .links = file.links});
  result.iterations = file.evaluation.iterations;
  result.makespan_s = programs::evaluate(file.program, file.evaluation).makespan_s;
  result.step_s = result.explanation.path.period_s / file.program.steps;
  result.bottleneck = bottleneck_of(result);
  result.warnings = file.warnings;
  return result;
}

void add_program_changes(const ProgramFile& file, Explained& explained) {
  const auto add = [&](std::string change, const std::function<void(Program&)>& apply) {
    Program changed = file.program;
    apply(changed);
    const double step = programs::period_s(changed, file.evaluation) / changed.steps;
    const double gain = explained.step_s > 0 ? 1 - step / explained.step_s : 0;
    explained.what_if.push_back({std::move(change), {}, step, gain});
  };
  const auto scale = [](Seconds Operation::*part, bool only_compute) {
    return [=](Program& program) {
      for (Operation& operation : program.operations) {
        if (!only_compute || operation.type == programs::OperationType::compute) {
          operation.*part = operation.*part * 0.5;
        }
      }
    };
  };
  add("half the start-up of every exchange", scale(&Operation::startup, false));
  add("twice the bandwidth", scale(&Operation::data, false));
  add("computing twice as fast", scale(&Operation::seconds, true));
  if (file.program.interference.any()) {
    add("no interference of computing and communication",
        [](Program& program) { program.interference = {}; });
  }
  sort_by_gain(explained.what_if);
}

} // namespace stepsim::study
