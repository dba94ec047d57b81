#pragma once
// The answer of `stepsim explain` and of `stepsim run` on a program: the explanation of a program,
// what changes would gain, and what a measured time has on top (TRN 7, 8.3).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/explain/explanation.hpp"
#include "program/training_program.hpp"
#include "programs/program_file.hpp"

namespace stepsim::study {

// One change and what came of it.
struct WhatIf {
  std::string change;           // "twice the bandwidth"
  std::vector<std::string> set; // flags that make it: "/cluster/network/bandwidth_Bps=2.5e9"
  double step_s{};              // with the change
  double gain{};                // 1 - new / old
};

// What may explain that a measured step is longer: the scenario with this cause alone.
struct Cause {
  std::string cause;
  std::vector<std::string> set;
  double step_s{};
  double explains_s{}; // so much longer than the step without it
};

struct Measured {
  double step_s{};
  double gap_s{}; // measured minus predicted
  std::vector<Cause> causes;
  double unexplained_s{}; // gap minus what all causes explain, at least 0
};

struct Explained {
  std::string name;
  program::Program program;
  program::Explanation explanation;
  program::LinkConstants links;
  std::int64_t iterations{};
  double makespan_s{};            // of `iterations`
  double step_s{};                // period / steps
  std::string source = "program"; // "program" or "scenario": what was explained
  std::vector<WhatIf> what_if;    // the largest gain first
  std::optional<Measured> measured;
  std::vector<std::string> sentences; // three to six
  std::vector<std::string> warnings;
};

// Explains the program of a file. What a scenario adds is left to the caller: `source` is
// "program", what_if, measured and sentences are empty.
[[nodiscard]] Explained explained_program(const ProgramFile& file,
                                          const program::ProgramLabels& labels = {});

// Adds the changes that a program itself allows, each evaluated again: start-ups halved, bandwidth
// doubled, computing twice as fast and, where there is any, no interference. `set` is empty.
void add_program_changes(const ProgramFile& file, Explained& explained);

} // namespace stepsim::study
