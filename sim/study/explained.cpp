#include "study/explained.hpp"

#include "collectives/algorithms.hpp"
#include "programs/event_pass.hpp"
#include "run/run.hpp"
#include "run/run_figures.hpp"
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
  programs::Evaluation counted = file.evaluation;
  counted.after = 0;
  result.makespan_s = programs::evaluate(file.program, counted).makespan_s;
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

namespace {

programs::ProgramLabels labels_of(const Scenario& scenario, const ScenarioProgram& made) {
  programs::ProgramLabels labels;
  const bool plain_rounds = trains_in_rounds(scenario.training) && !has_islands(scenario.training);
  const bool known =
      !is_compressed(scenario) && !scenario.cluster.network.curve && !scenario.training.exchange;
  const bool adds = is_compressed(scenario) || scenario.cluster.network.reduction_Bps > 0;
  const bool starts = std::ranges::any_of(
      made.program.operations, [](const Operation& each) { return each.startup.value > 0; });
  labels.transfer = programs::kTransfers[!known && !starts ? 2 : adds ? 1 : 0];
  labels.unit_noun = made.sharded ? "unit" : plain_rounds ? "message" : "bucket";
  for (const layers::WorkLayer& layer : scenario.workload.layers) {
    labels.layers.push_back(layer.name);
  }
  for (const ProgramUnit& unit : made.units) {
    if (unit.owner) {
      labels.first_broadcast =
          std::min(labels.first_broadcast, static_cast<std::int32_t>(labels.unit_parts.size()));
    }
    std::vector<programs::UnitLayer> parts;
    for (std::size_t i = 0; i < unit.layers.size(); ++i) {
      const layers::WorkLayer& layer = scenario.workload.layers[unit.layers[i]];
      parts.push_back({.layer = unit.layers[i],
                       .forward_s = layer.forward.value,
                       .backward_s = layer.backward.value,
                       .bytes = unit.layer_bytes[i]});
    }
    labels.unit_parts.push_back(std::move(parts));
  }
  return labels;
}

// Where every byte goes over equal links and nothing else takes time, an exchange is start-ups and
// bytes; elsewhere its parts have no single latency and bandwidth. Nor has an exchange in blocks,
// whose number depends on both, such as broadcasts down a chain, or one of several algorithms.
programs::LinkConstants links_of(const Scenario& given) {
  const Scenario scenario = outer_cluster_of(given);
  const Cluster& cluster = scenario.cluster;
  const bool plain =
      exchanges(scenario) && cluster.has_network && !cluster.fabric && !cluster.network.curve &&
      !scenario.communication.question && !scenario.training.exchange && !is_compressed(scenario) &&
      (cluster.gpus_of_domain() == 1 || cluster.nodes == 1) && !has_islands(given.training) &&
      cluster.network.reduction_Bps == 0 && given.training.local.outer_compression.hop_s(1) == 0 &&
      scenario.training.sync.value == 0 && scenario.training.host_copy_Bps == 0;
  if (!plain) {
    return {};
  }
  const collectives::Collective exchange = exchange_of(scenario);
  using collectives::Op;
  const bool in_blocks =
      exchange.algorithm == collectives::AlgorithmId::automatic ||
      collectives::algorithm(exchange.algorithm).block_streams > 0 ||
      (has_owners(scenario.training.sharding) &&
       collectives::find_algorithm(Op::broadcast, exchange.algorithm) == nullptr);
  const collectives::LinkCost& link = exchange.links.all;
  return in_blocks ? programs::LinkConstants{}
                   : programs::LinkConstants{.latency_s = link.startup_s(),
                                             .seconds_per_byte = link.per_byte_s};
}

void set_factors(const Scenario& scenario, ProgramFile& file) {
  file.evaluation.after = programs::iterations_after(file.program);
  file.evaluation.factors =
      factors_of(scenario, file.program, file.evaluation.iterations + file.evaluation.after);
}

using programs::Share;
using programs::Shares;

// Below this share of the step a number is not worth a sentence.
constexpr double kMentioned = 0.005;

std::string percent(double share) {
  const double value = 100 * share;
  return base::significant(value, value >= 9.95 ? 2 : 1) + " %";
}

double share_of(const Shares& shares, std::string_view name) {
  const auto found = std::ranges::find(shares, name, &Share::name);
  return found == shares.end() ? 0 : found->seconds;
}

double ending_with(const Shares& shares, std::string_view end) {
  return base::sum_of<double>(
      shares, [&](const Share& share) { return share.name.ends_with(end) ? share.seconds : 0; });
}

// The time of exchanges beside their start-ups, and its word.
std::pair<double, std::string_view> transfers(const Shares& shares) {
  std::pair<double, std::string_view> found{0, programs::kTransfers.front()};
  for (const std::string_view word : programs::kTransfers) {
    if (const double seconds = ending_with(shares, word); seconds > 0) {
      found = {found.first + seconds, word};
    }
  }
  return found;
}

std::string length_sentence(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const std::string step = base::readable_seconds(explained.step_s, explained.band);
  const std::string iteration = base::readable_seconds(period);
  return "A training step takes " + step +
         (explained.program.steps > 1
              ? fmt::format(" on average: an iteration of the program, with {} steps, takes {}.",
                            explained.program.steps, iteration)
          : std::abs(explained.step_s - period) > kMentioned * period
              ? " on average; what follows is about the steady state, in which it takes " +
                    iteration + "."
              : ".");
}

// Seconds of the path in which operations wait for time to pass, such as for a batch to be read.
double delay_seconds(const Explained& explained) {
  const programs::BindingPath& path = explained.explanation.path;
  return base::sum_of<double>(path.steps, [&](const programs::PathStep& step) {
    const auto type = explained.program.operations[step.operation].type;
    return type == programs::OperationType::delay ? step.seconds() / path.iterations : 0;
  });
}

// "(2 % start-up, 89 % bandwidth) "; nothing where a run knows exchanges by their whole times. The
// word for what bounds the step counts all exchanges, the hidden ones too; on the path another part
// may be the larger.
std::string split_text(const Shares& links, double period, std::string_view bottleneck) {
  const double startup = ending_with(links, "start-up");
  if (!(startup > 0)) {
    return "";
  }
  const auto [bandwidth, transfer] = transfers(links);
  const std::string all = bottleneck == "bandwidth" && startup > bandwidth
                              ? "; of all exchanges bandwidth is the larger part"
                          : bottleneck == "latency" && bandwidth > startup
                              ? "; of all exchanges start-up is the larger part"
                              : "";
  return "(" + percent(startup / period) + " start-up, " + percent(bandwidth / period) + " " +
         std::string(transfer) + all + ") ";
}

PathParts path_parts(const Explained& explained) {
  const Shares& links = explained.explanation.attribution.by_link;
  const double delay = delay_seconds(explained);
  return {.compute_s = share_of(links, "no exchange") - delay,
          .exchange_s = ending_with(links, "start-up") + transfers(links).first,
          .delay_s = delay};
}

// What bounds the step, and the parts of the path, the largest part first.
std::string bound_sentence(const Explained& explained) {
  const programs::Explanation& found = explained.explanation;
  const double period = found.path.period_s;
  if (!(period > 0)) {
    return "Nothing in it takes time.";
  }
  const PathParts parts = path_parts(explained);
  const Shares& links = found.attribution.by_link;
  const std::string path = found.path.exact
                               ? "the operations of the critical path"
                               : "the operations that delayed each other in the simulated run";
  const std::string sentence =
      std::string(subject_of(explained.bottleneck)) + " bounds it: of " + path + ", ";
  const std::string compute = percent(parts.compute_s / period);
  const std::string exchange = percent(parts.exchange_s / period);
  switch (bound_of(parts)) {
  case Bound::delay:
    return sentence + percent(parts.delay_s / period) + " of the time is delays, " + compute +
           " computing and " + exchange + " exchanges.";
  case Bound::compute:
    return sentence + compute + " of the time is computing" +
           (parts.exchange_s > kMentioned * period ? " and " + exchange + " exchanges." : ".");
  case Bound::exchange:
    return sentence + exchange + " of the time is exchanges " +
           split_text(links, period, explained.bottleneck) + "and " + compute + " computing.";
  }
  return {};
}

std::string largest_sentence(const Explained& explained) {
  const programs::BindingPath& path = explained.explanation.path;
  const auto largest = std::ranges::max_element(path.steps, {}, &programs::PathStep::seconds);
  if (largest == path.steps.end() || !(path.period_s > 0)) {
    return "";
  }
  const programs::Operation& part = explained.program.operations[largest->operation];
  return "The largest part of that is " + part.id + " (" +
         std::string(programs::kKinds[part.kind]) + ") with " +
         percent(largest->seconds() / path.iterations / path.period_s) + ".";
}

std::string exposed_sentence(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const double exposed = explained.explanation.exposed_s;
  const double steps = explained.program.steps;
  const auto& all = explained.program.operations;
  const auto wait = std::ranges::find(all, programs::kWait, &programs::Operation::id);
  const double waited = wait == all.end() ? 0 : std::min(exposed, wait->seconds.value);
  if (!(exposed - waited > kMentioned * period)) {
    const bool delays = delay_seconds(explained) > kMentioned * period;
    return std::string("Communication is hidden behind computing") + (delays ? " and delays" : "") +
           ": free exchanges would gain less than 0.5 %.";
  }
  return fmt::format("With exchanges that take no time a step would take {}: exposed communication "
                     "is {}, {} of the step{}.",
                     base::readable_seconds((period - exposed + waited) / steps),
                     base::readable_seconds(exposed / steps), percent(exposed / period),
                     waited > 0 ? ", and " + base::readable_seconds(waited / steps) +
                                      " of it waiting that no operation explains"
                                : "");
}

std::string interference_sentence(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const double lost = explained.explanation.interference_s;
  return lost > kMentioned * period
             ? "Of that, " + percent(lost / period) +
                   " of the step is what computing and communication lose by slowing each other."
             : "";
}

// What conditions lose is in nobody's hand.
std::string help_sentence(const Explained& explained) {
  const auto found = std::ranges::find_if(explained.what_if, [](const WhatIf& each) {
    return each.set.empty() || !each.set.front().starts_with("/conditions/");
  });
  if (found == explained.what_if.end()) {
    return "";
  }
  const WhatIf& best = *found;
  if (!(best.gain > kMentioned)) {
    return "None of the changes tried gains more than 0.5 %.";
  }
  return "Of the changes tried, " + best.change + " helps most: a step would then take " +
         base::readable_seconds(best.step_s) + ", " + percent(best.gain) + " less" +
         (best.gain_range ? " (" + percent(best.gain_range->first) + " to " +
                                percent(best.gain_range->second) + ", 80 %)"
                          : "") +
         (best.is_sure ? "." : ", which is not told apart from the step as it is.");
}

std::string measured_sentence(const Explained& explained) {
  if (!explained.measured) {
    return "";
  }
  const Measured& measured = *explained.measured;
  const std::string gap = "The measured step of " + base::readable_seconds(measured.step_s) +
                          " is " + base::readable_seconds(std::abs(measured.gap_s));
  if (!(measured.gap_s > 0)) {
    return measured.gap_s < 0
               ? gap + " shorter than predicted, which no cause of longer steps explains."
               : "The measured step is as long as that.";
  }
  if (measured.causes.empty()) {
    return gap + " longer, and none of the causes tried explains it.";
  }
  const Cause& nearest = *std::ranges::min_element(measured.causes, {}, [&](const Cause& each) {
    return std::abs(each.explains_s - measured.gap_s);
  });
  return gap +
         " longer; of the causes tried, the one that comes closest to that is: " + nearest.cause +
         " (" + base::readable_seconds(nearest.explains_s) + ").";
}

std::string tie_sentence(const Explained& explained) {
  if (explained.measured) { // has a sentence of its own
    return "";
  }
  return explained.explanation.path.other_cycles ? "Several chains of operations are equally long: "
                                                   "a shorter operation that is on one of them "
                                                   "alone gains nothing."
                                                 : "";
}

} // namespace

ExplainableScenario explainable(const Scenario& scenario) {
  ScenarioProgram made = scenario_program(scenario);
  ExplainableScenario result;
  result.labels = labels_of(scenario, made);
  ProgramFile& file = result.file;
  file.name = scenario.name;
  file.program = std::move(made.program);
  file.links = links_of(scenario);
  file.evaluation.iterations = 400;
  file.evaluation.discard = 200;
  if (scenario.variability.varies()) {
    const bool pipeline = scenario.training.algorithm == TrainingAlgorithm::pipe_sgd;
    const std::int64_t least = scenario.variability.random() || pipeline ? 1 : 8;
    const Window window = window_of(scenario, file.program);
    file.evaluation.iterations = std::max(2 * least, window.to + 1);
    file.evaluation.discard = std::clamp(window.from + 1, least, file.evaluation.iterations - 1);
    set_factors(scenario, file);
  }
  file.warnings = scenario.workload.warnings;
  file.warnings.insert(file.warnings.end(), scenario.warnings.begin(), scenario.warnings.end());
  return result;
}

std::string_view bottleneck_of(const Explained& explained) {
  const Shares& links = explained.explanation.attribution.by_link;
  switch (bound_of(path_parts(explained))) {
  case Bound::delay:
    return "input";
  case Bound::compute:
    return "compute";
  case Bound::exchange:
    return largest_of(
        {.latency_s = ending_with(links, "start-up"), .bandwidth_s = transfers(links).first});
  }
  return {};
}

// "Measuring one step on 2 machines would narrow its interval to 351.2 to 395.0 ms, .."
std::string measure_sentence(const Explained& explained) {
  std::string text;
  for (const MeasureNext& next : explained.measure_next) {
    text += (text.empty() ? "Measuring " + next.what + " would narrow its interval to "
                          : ", " + next.what + " to ") +
            base::significant(next.low_s * 1e3) + " to " + base::significant(next.high_s * 1e3) +
            " ms";
  }
  return text.empty() ? "" : text + ".";
}

std::vector<std::string> sentences_of(const Explained& explained) {
  const bool empty = !(explained.explanation.path.period_s > 0);
  std::vector<std::string> sentences = {explained.exceeds,
                                        length_sentence(explained),
                                        bound_sentence(explained),
                                        empty ? "" : exposed_sentence(explained),
                                        interference_sentence(explained),
                                        tie_sentence(explained),
                                        help_sentence(explained),
                                        measured_sentence(explained),
                                        measure_sentence(explained)};
  std::erase(sentences, "");
  if (sentences.size() < 4 && !empty) {
    sentences.insert(sentences.begin() + 2, largest_sentence(explained));
  }
  return sentences;
}

} // namespace stepsim::study
