#pragma once
// The keys of a scenario file, its root object.
#include "document/fields/key.hpp"
#include "scenario/keys/cluster_keys.hpp"
#include "scenario/keys/training_keys.hpp"
#include "scenario/keys/workload_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// The keys of /job of a scenario.

inline constexpr std::array kJobRows{
    of<&Job::samples>(integer("Samples to train on, those of all epochs together.",
                              io::between(1, io::kMostExact), "1.2e8")),
    of<&Job::tokens>(integer("Tokens to train on, in place of samples.",
                             io::between(1, io::kMostExact), "3e11")),
    of<&Job::tokens_per_sample>(
        integer("Tokens of a sample. The default is the sequence length of the model.",
                io::between(1, io::kMostExact), "4096")
            .because("sequence length of the model")),
    of<&Job::price_per_gpu_hour>(number("Price of a GPU, USD per hour. The default is the list "
                                        "price of the node type, where its file has one.",
                                        io::at_least(0), "2.5")
                                     .plain()),
    of<&Job::node_mtbf_s>(number("Mean time between failures of one machine, s. Any machine that "
                                 "fails stops the training.",
                                 io::at_least(1), "1.8e8")),
    of<&Job::checkpoint_s>(
        number("Time for which a checkpoint stops the training, s.", io::above(0), "30")),
    of<&Job::restart_s>(
        number("Time from a failure until the training goes on from its last checkpoint, s.",
               io::at_least(0), "600"))};
inline constexpr auto kJob = io::keys_of(kJobRows);

// The keys of /conditions of a scenario, and of a file of kind conditions (CON 1).

inline constexpr std::array kFactorValueKeys{
    number("value", "The factor.", io::at_least(0), "0.36").plain().required(),
    number("low", "Low end of the range that holds 80 % of all sites.", io::at_least(0), "0.26")
        .plain(),
    number("high", "High end of that range.", io::at_least(0), "0.5").plain(),
    number("tau",
           "Standard deviation between sites instead of low and high: of the logarithm, or "
           "of the value of l_0, l_1, l_low and q.",
           io::at_least(0), "0.25")
        .plain(),
    text("evidence", "What the number was fitted to.", R"("163 rows of 8 sources")")};
inline constexpr std::array kFactorValueForms{
    number("factors", "The factor, taken as known.", io::at_least(0), "0.36").plain(),
    object("factors", kFactorValueKeys, "The factor with its range.",
           R"({"value": 0.36, "low": 0.26, "high": 0.5})")};
inline constexpr std::array kOneFactor{
    either("factors", kFactorValueForms, "One factor, known or with its range.", "0.36")};
inline constexpr io::Key kFactorMap =
    map("factors", kOneFactor, "Factors by name.",
        R"({"e_pcie": {"value": 0.36, "low": 0.26, "high": 0.5}})")
        .named(kFactors);

inline constexpr std::array kConditionsKeys{
    word("kind", kConditionsKinds,
         "ideal: links reach their rate, messages cost their latency, computing is as measured; "
         "typical: what real runs were found to lose.")
        .by_default("ideal", "nothing is lost; real steps are longer"),
    kFactorMap.says("Factors that replace those of the file, by name."),
    text("file", "File of kind conditions with the factors, or the name of a shipped one.",
         R"("mine.conditions.json")")
        .by_default("typical")};

// A string instead of an object is its kind.
inline constexpr std::array kConditionsForms{
    word("conditions", kConditionsKinds, "The kind alone.", R"("typical")"),
    object("conditions", kConditionsKeys, "The kind with factors.", R"({"kind": "typical"})")};

inline constexpr std::array kConditionsFileKeys{
    text("note", "Words for readers.", R"("fitted to our own runs")"),
    kFactorMap.says("The factors; all of them.").required()};
inline constexpr io::Key kConditionsFile =
    object("conditions", kConditionsFileKeys,
           "What real runs lose against nominal rates: factors with their spread between sites.");

[[nodiscard]] io::FileKind conditions_file();

// The keys of /variability of a scenario (PIP 9).

// Measured factors are scaled to a mean of 1: they change the spread of times, not their mean.
inline constexpr std::array kFactor{number(
    "factors", "A factor on the compute or exchange times of an iteration.", io::above(0), "1")};

inline constexpr std::array kStraggler{
    integer("worker", "Number of the worker, from 0.", io::at_least(0), "3").required(),
    number("factor", "Factor on all compute times of the worker.", io::above(0), "2").required()};
// A straggler is slower by a constant factor, in addition to the random ones. Workers are numbered
// through all jobs of a scenario.
inline constexpr std::array kStragglers{
    object("stragglers", kStraggler, "One slow worker.", R"({"worker": 3, "factor": 2})")};

// A coefficient of 0 means that these times do not vary. With the empirical distribution, any other
// value only means that they vary, with the spread of `factors`. Compute and exchange have separate
// coefficients, because only varying compute makes workers wait for each other.
inline constexpr std::array kVariability{
    number("compute_cv",
           "Coefficient of variation of compute times: jitter between steps and workers.",
           io::between(0, 1e3), "0.1")
        .by_default(0, "workers are equal"),
    number("exchange_cv", "Coefficient of variation of exchange times: jitter of the network.",
           io::between(0, 1e3), "0.1")
        .by_default(0, "exchanges are equal"),
    word("distribution", layers::kJitterLaws,
         "Distribution of the random factors; their mean is 1.")
        .by_default("lognormal", "the usual law"),
    list("factors", kFactor,
         "Factors of the empirical distribution, whose own spread counts; a compute_cv or "
         "exchange_cv above 0 switches them on.",
         "[0.9, 1.1]")
        .sizes(1),
    list("stragglers", kStragglers, "Workers that are always slower.",
         R"([{"worker": 3, "factor": 2}])")};

// The words of the key `method`. auto, which comes first, chooses the cheapest exact evaluator.
[[nodiscard]] inline std::vector<std::string_view> evaluators() {
  return {"auto", collectives::name(collectives::Method::closed_form),
          collectives::name(collectives::Method::max_plus),
          collectives::name(collectives::Method::events)};
}

// Guards against scenarios whose numbers lack their unit: such runs last for years of simulated
// time.
inline constexpr std::array kLimits{
    number("simulated_s", "Longest simulated time, s.", io::above(0)).by_default(1000)};

// docs/scenario-keys.md and `stepsim keys` list the keys in this order.
inline constexpr std::array kScenarioKeys{
    either("workload", kWorkloadForms,
           "What one worker computes: exactly one of trace, model, layers. Or a list of jobs that "
           "share a simulated network, each with its nodes.",
           R"({"trace": "../traces/resnet50.json"})")
        .required(),
    object("cluster", kCluster, "Machines and network.", R"({"nodes": 16, "network": "10g-tcp"})")
        .required(),
    object("training", kTraining, "Training algorithm and iterations.", R"({"iterations": 10})")
        .and_also(kLocalTraining),
    object("communication", kCollectiveKeys, "How gradients are exchanged.",
           R"({"collective": "ring", "schedule": "mg_wfbp"})")
        .and_also(kScheduleKeys),
    object("variability", kVariability,
           "How workers differ: random factors with mean 1, and slow workers.",
           R"({"compute_cv": 0.1})"),
    either("conditions", kConditionsForms,
           "What real runs lose against nominal rates, as a kind or with factors of one's own.",
           R"("typical")")
        .by_default("ideal", "nothing is lost; real steps are longer"),
    object("job", kJob,
           "The whole training: how much of it there is, what a GPU costs, how machines fail.",
           R"({"tokens": 3e11, "price_per_gpu_hour": 2.5})"),
    integer("seed", "Seed of all random streams.", io::between(0, io::kMostExact)).by_default(1),
    word("method", evaluators, "Evaluator of collectives.").by_default("auto"),
    object("limits", kLimits, "Bounds of a run.", R"({"simulated_s": 1000})"),
    kAllowUnusual};

// Unknown keys are errors at every level, with the nearest known key, so that no misspelt key is
// replaced by its default.
inline constexpr io::Key kScenario = io::rows::object(
    "scenario", kScenarioKeys,
    "One training run to predict: workload, cluster, training, communication. Times are in "
    "seconds, sizes in bytes, speeds in bytes/s; a file name is relative to this file.");

// The kind of file with its root and its examples, from which the schema is made.
[[nodiscard]] io::FileKind scenario_file();

} // namespace stepsim::study::keys
