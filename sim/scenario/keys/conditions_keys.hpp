#pragma once
// The keys of /conditions of a scenario, and of a file of kind conditions (CON 1).

#include "document/fields/schema.hpp"
#include "scenario/conditions.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kFactorValueKeys{
    number("value", "The factor.", io::at_least(0)).plain().example("0.36").required(),
    number("low", "Low end of the range that holds 80 % of all sites.", io::at_least(0))
        .plain()
        .example("0.26"),
    number("high", "High end of that range.", io::at_least(0)).plain().example("0.5"),
    number("tau",
           "Standard deviation between sites instead of low and high: of the logarithm, or "
           "of the value of l_0, l_1, l_low and q.",
           io::at_least(0))
        .plain()
        .example("0.25"),
    text("evidence", "What the number was fitted to.").example(R"("163 rows of 8 sources")")};
inline constexpr std::array kFactorValueForms{
    number("factors", "The factor, taken as known.", io::at_least(0)).plain().example("0.36"),
    object("factors", kFactorValueKeys, "The factor with its range.")
        .example(R"({"value": 0.36, "low": 0.26, "high": 0.5})")};
inline constexpr std::array kOneFactor{
    either("factors", kFactorValueForms, "One factor, known or with its range.").example("0.36")};
inline constexpr io::Key kFactorMap =
    map("factors", kOneFactor, "Factors by name.")
        .named(kFactors)
        .example(R"({"e_pcie": {"value": 0.36, "low": 0.26, "high": 0.5}})");

inline constexpr std::array kConditionsKeys{
    word("kind", kConditionsKinds,
         "ideal: links reach their rate, messages cost their latency, computing is as measured; "
         "typical: what real runs were found to lose.")
        .by_default("ideal")
        .because("nothing is lost; real steps are longer"),
    kFactorMap.says("Factors that replace those of the file, by name."),
    text("file", "File of kind conditions with the factors, or the name of a shipped one.")
        .by_default("typical")
        .example(R"("mine.conditions.json")")};

// A string instead of an object is its kind.
inline constexpr std::array kConditionsForms{
    word("conditions", kConditionsKinds, "The kind alone.").example(R"("typical")"),
    object("conditions", kConditionsKeys, "The kind with factors.")
        .example(R"({"kind": "typical"})")};

inline constexpr std::array kConditionsFileKeys{
    text("note", "Words for readers.").example(R"("fitted to our own runs")"),
    kFactorMap.says("The factors; all of them.").required()};
inline constexpr io::Key kConditionsFile =
    object("conditions", kConditionsFileKeys,
           "What real runs lose against nominal rates: factors with their spread between sites.");

[[nodiscard]] io::FileKind conditions_file();

} // namespace stepsim::study::keys
