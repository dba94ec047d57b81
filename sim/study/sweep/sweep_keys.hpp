#pragma once
// The keys of a file of kind sweep, which users write, and of the lines of its output, which
// `stepsim sweep` and `merge` write. The output is read again to resume, to merge, and to run one
// point.

#include "run/summary_fields.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study {

inline constexpr std::array<std::string_view, 2> kAxisScales{"linear", "log"};
// Limit of the values of one axis, because they are kept in memory.
inline constexpr double kMostSteps = 1e7;

namespace keys {

using namespace io::rows;

inline constexpr std::array kScenarioForms{
    text("scenario", "File of kind scenario or collective."),
    object("scenario", {}, "The scenario or collective itself.").open()};

inline constexpr std::array kAxisValue{any("values", "One value.")};
inline constexpr std::array kListedAxis{
    text("field", "JSON pointer into the scenario.", R"("/cluster/nodes")").required(),
    list("values", kAxisValue, "Values, in the order of the points.", "[4, 8, 16]")
        .sizes(1)
        .required()};

// The values of `from` and `to`: numbers, or quantities with a unit of the field, which depends on
// its pointer.
inline constexpr std::array kEndForms{
    number("end", "A number in the unit of the field.").plain(),
    text("end", "A number with a unit of the field, such as 25Gbps.")};
inline constexpr std::array kSpacedAxis{
    text("field", "JSON pointer into the scenario.", R"("/cluster/network/latency_s")").required(),
    either("from", kEndForms, "First value.", "1e-6").required(),
    either("to", kEndForms, "Last value.", "1e-4").required(),
    integer("steps", "Number of values; integers are rounded, and each counts once.",
            io::between(1, kMostSteps), "11")
        .required(),
    word("scale", kAxisScales, "Whether values are equal steps or equal ratios apart.")
        .by_default("linear")};

inline constexpr std::array kAxisForms{object("axes", kListedAxis, "Listed values."),
                                       object("axes", kSpacedAxis, "Values between two ends.")};
inline constexpr std::array kAxis{either("axes", kAxisForms,
                                         "One varied field: listed values, or steps between two.",
                                         R"({"field": "/cluster/nodes", "values": [4, 8, 16]})")};

inline constexpr std::array kZipped{text("zip", "Field of an axis.")};
inline constexpr std::array kZip{
    list("zip", kZipped, "Fields of axes with equally many values.").sizes(2)};

inline constexpr std::array kSweep{
    either("scenario", kScenarioForms, "The scenario or collective, or its file.",
           R"("scenario.json")")
        .required(),
    list("axes", kAxis, "Varied fields; the first varies slowest.",
         R"([{"field": "/cluster/nodes", "values": [4, 8, 16]}])")
        .sizes(1)
        .required(),
    list("zip", kZip, "Groups of fields that move together.", R"([["/cluster/nodes", "/seed"]])"),
    integer("replications", "Runs of each point with different random streams.")
        .in(io::between(1, static_cast<double>(kMostReplications)))
        .by_default(1)};

inline constexpr io::Key kSweepRoot =
    object("sweep", kSweep,
           "A grid of scenarios or collectives: every combination of the values of its axes.");

[[nodiscard]] io::FileKind sweep_file();

// The file kind of one line of a sweep's output.
[[nodiscard]] io::FileKind sweep_record();

} // namespace keys

} // namespace stepsim::study
