#pragma once
// The keys of the object `predict` of a table, the rules that predict measured speeds (REP 3.6).

#include "document/fields/members.hpp"
#include "study/reproduce/speed_rules.hpp"

namespace stepsim::reproduce::keys {

using namespace io::rows;

inline constexpr std::array kBusRate{
    number("bandwidth_Bps", "Bytes/s of one ring.").in(io::above(0))};
inline constexpr std::array kFabricRows{
    of<&FabricRule::latency_s>(number("Latency of a message, s.").in(io::at_least(0)).required()),
    of<&FabricRule::share>(
        number("Share of the line rate that is payload.").in(io::above(0)).required()),
    of<&FabricRule::slow_Bps>(
        number("Up to this line rate slow_latency_s counts.").in(io::at_least(0)).by_default(0)),
    of<&FabricRule::slow_latency_s>(
        number("Latency of slow networks, s.").in(io::at_least(0)).by_default(0)),
    bound<&FabricRule::carrier>(
        word("transport", links::kCarriers, "Transport of rows that do not name one.").required())};
inline constexpr std::array kFabric{
    object("fabrics", io::kRowKeys<kFabricRows>, "A kind of network.")};
inline constexpr std::array kMethodRows{
    of<&MethodRule::schedule>(text("Schedule that sends as the method does.").required()),
    of<&MethodRule::servers>(
        word(kServerPlaces, "Where parameter servers run: one per machine on machines of their "
                            "own, one on each worker, or the processor of the one machine.")
            .by_default("none")),
    of<&MethodRule::host_reduction>(
        boolean("Whether the host's processor sums the gradients.").by_default(false))};
inline constexpr std::array kMethod{
    object("methods", io::kRowKeys<kMethodRows>, "A method of a source.")};
inline constexpr std::array kOptionValue{any("schedules", "Value of a key.")};
inline constexpr std::array kOptions{
    map("schedules", kOptionValue, "Keys of /communication that the schedule is run with.")};
inline constexpr std::array kScaledRows{
    of<&TableRule::model>(text("Shipped layer table.").required()),
    of<&TableRule::elements>(
        number("Elements that its tensors are scaled to.").in(io::above(0)).required())};
inline constexpr std::array kScaled{
    object("tables", io::kRowKeys<kScaledRows>, "A model without a table.")};
inline constexpr std::array kBusKind{
    word("bus_kinds", links::kBuses, "Kind of link between GPUs.")};
inline constexpr std::array kCalled{text("publishers", "What the rows are called in figures.")};
inline constexpr std::array kFamilyName{text("families", "Family of the model.")};

inline constexpr std::array kPredictRows{
    of<&Scoreboard::bus_latency_s>(
        number("Latency of links inside a machine, s.").in(io::at_least(0)).required()),
    of<&Scoreboard::buses>(
        map(kBusRate, "Links between the GPUs of a machine, by the word of the rows.").required()),
    of<&Scoreboard::bus_kinds>(
        map(kBusKind, "By the beginning of the rows' word for a bus; the first that fits counts.")
            .required()),
    parts<&Scoreboard::fabrics, kFabricRows>(
        map("fabrics", kFabric, "Networks between machines, by the word of the rows.").required()),
    parts<&Scoreboard::methods, kMethodRows>(
        map("methods", kMethod, "Methods of exchange, by the word of the rows.").required()),
    of<&Scoreboard::schedules>(map(kOptions, "Settings of schedules.")),
    parts<&Scoreboard::tables, kScaledRows>(
        map("tables", kScaled, "Layer tables that are made from shipped ones.")),
    of<&Scoreboard::other_table>(
        text("Shipped table that inline:NAME:PARAMETERS is made from if NAME is not in tables.")),
    of<&Scoreboard::interval>(
        number("Factor by which links are slowed and sped up for the interval of a prediction.")
            .in(io::at_least(1))
            .by_default(1)),
    of<&Scoreboard::publishers>(
        map(kCalled, "By the beginning of the rows' family; the first that fits counts.")),
    of<&Scoreboard::families>(
        map(kFamilyName, "By the beginning of the rows' model; the first that fits counts."))};

} // namespace stepsim::reproduce::keys
