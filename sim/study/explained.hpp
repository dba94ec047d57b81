#pragma once
// The result of `stepsim explain`, and of `stepsim run` for a program: the explanation of the
// program, the gain of possible changes, and possible causes if a measured step takes longer
// (TRN 7, 8.3).

#include "document/fields/schema.hpp"
#include "programs/explain/binding_path.hpp"
#include "run/verdict.hpp"
#include "scenario/program_file.hpp"

namespace stepsim::study {

// What to measure next (CON 5): by how much one measured step would narrow the interval of a
// prediction under typical conditions, by the linear posterior of its factors.

struct MeasureNext {
  std::string what;             // "one step on 2 machines"
  std::vector<std::string> set; // --set values of the run to measure; empty: the scenario as it is
  double low_s{}, high_s{};     // interval of the asked step afterwards
};

// `tree`: the scenario as written, with its short forms expanded; `asked`: its run. The candidates
// are a run on two machines, the run itself and, where computing times are estimated, a run of the
// shipped model with most bytes per computing; the one that narrows most comes first. Empty under
// ideal conditions.
[[nodiscard]] std::vector<MeasureNext> measure_next(const io::Json& tree, const Scenario& scenario,
                                                    const Summary& asked, Files& files);

// What a change is a change of.
enum class ChangeKind {
  network,
  computing,
  conditions,
  sharding,
  rounds,
  collective,
  schedule,
  compression
};

// One change of the program or scenario, and its effect.
struct WhatIf {
  std::string change;           // "twice the bandwidth"
  std::vector<std::string> set; // --set values for it: "/cluster/network/latency_s=1e-5"
  double step_s{};              // step time with the change
  double gain{};                // 1 - new step time / old step time
  ChangeKind kind = ChangeKind::network;
  // The range that holds the gain at 80 % of all sites, and whether it is sure that the step is
  // shorter or longer (CON 4); where asked for, under typical conditions.
  std::optional<std::pair<double, double>> gain_range{};
  bool is_sure = true;
};

// A possible cause for a measured step that is longer than predicted, with the step time of the
// scenario to which only this cause is added.
struct Cause {
  std::string cause;              // in words
  std::vector<std::string> set{}; // --set values that add the cause to the scenario
  double step_s{};
  double explains_s{}; // increase over the step time without the cause
};

struct Measured {
  double step_s{};
  double gap_s{}; // measured minus predicted
  std::vector<Cause> causes{};
  double unexplained_s{}; // gap_s minus explains_s of all causes, at least 0 if gap_s is
};

struct Explained {
  std::string name;
  programs::Program program;
  programs::Explanation explanation;
  programs::LinkConstants links;
  std::int64_t iterations{};
  double makespan_s{};            // total time of `iterations` iterations
  double step_s{};                // period / optimizer steps per iteration
  std::optional<base::Band> band; // its interval, s; of a scenario
  std::string_view bottleneck;    // a word of Summary::bottleneck; of a scenario, that of its run
  std::string exceeds;            // exceeds_text() of its run; of a scenario
  std::string source = "program"; // kind of the explained file: "program" or "scenario"
  std::vector<WhatIf> what_if;    // the largest gain first
  std::optional<Measured> measured;
  std::vector<MeasureNext> measure_next; // under typical conditions
  std::vector<std::string> sentences;    // sentences_of()
  std::vector<std::string> warnings;
};

// Explains the program of a file. `source` is "program"; `what_if`, `measured` and `sentences` are
// empty and left to the caller.
[[nodiscard]] Explained explained_program(const ProgramFile& file,
                                          const programs::ProgramLabels& labels = {});

// Evaluates the changes that are possible without a scenario and adds them to `what_if`: half the
// start-ups, twice the bandwidth, compute twice as fast and, if the program has interference, no
// interference. Their `set` is empty.
void add_program_changes(const ProgramFile& file, Explained& explained);

// Makes the program of a scenario with the input of an explanation: the factors of variability, the
// names of layers and buckets, and the cost of an exchange per start-up and per byte.

struct ExplainableScenario {
  ProgramFile file;
  programs::ProgramLabels labels;
};

// Returns the program with the settings of its evaluation: for a scenario with variability its own
// number of iterations (at least 2), else 400 iterations of which the first 200 are discarded. A
// period that is the ratio of a critical cycle does not depend on them. Throws SimulationError if
// the scenario has no program (run/scenario_program.hpp).
[[nodiscard]] ExplainableScenario explainable(const Scenario& scenario);

// Puts an explanation into sentences that an engineer understands without the tables.

// What bounds the program, by the parts of the binding path (run/verdict.hpp).
[[nodiscard]] std::string_view bottleneck_of(const Explained& explained);

// Returns the sentences, usually three to six: the step time, what bounds it, the exposed
// communication, the interference, the change that helps most, and the difference to a measured
// step.
[[nodiscard]] std::vector<std::string> sentences_of(const Explained& explained);

// The output of `stepsim explain --json`, and of `stepsim run --json` for a file of kind program.
// One table of keys, in explained_tree.cpp, makes both the writer and the JSON Schema of kind
// explanation.

// The output without the key `meta`, which the command adds.
[[nodiscard]] io::Json explained_tree(const Explained& explained);

[[nodiscard]] io::FileKind explanation_kind();

} // namespace stepsim::study
