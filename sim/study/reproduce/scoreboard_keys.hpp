#pragma once
// The keys of the object `predict` of a table, the rules that predict measured speeds (REP 3.6).

#include "document/fields/bound.hpp"
#include "study/reproduce/speed_rules.hpp"

namespace stepsim::reproduce::keys {

using namespace io::rows;

inline constexpr std::array kBusRate{
    number("bandwidth_Bps", "Bytes/s of one ring.").in(io::above(0))};
inline constexpr std::array kFabricRows{
    bound<&FabricRule::latency_s>(
        number("latency_s", "Latency of a message, s.").in(io::at_least(0)).required()),
    bound<&FabricRule::share>(
        number("share", "Share of the line rate that is payload.").in(io::above(0)).required()),
    bound<&FabricRule::slow_Bps>(number("slow_Bps", "Up to this line rate slow_latency_s counts.")
                                     .in(io::at_least(0))
                                     .by_default(0)),
    bound<&FabricRule::slow_latency_s>(
        number("slow_latency_s", "Latency of slow networks, s.").in(io::at_least(0)).by_default(0)),
    bound<&FabricRule::carrier>(
        word("transport", links::kCarriers, "Transport of rows that do not name one.").required())};
inline constexpr auto kFabricKeys = io::keys_of(kFabricRows);
inline constexpr std::array kFabric{object("fabrics", kFabricKeys, "A kind of network.")};
inline constexpr std::array kMethodRows{
    bound<&MethodRule::schedule>(
        text("schedule", "Schedule that sends as the method does.").required()),
    bound<&MethodRule::servers>(
        word("servers", kServerPlaces,
             "Where parameter servers run: one per machine on machines of their own, one on each "
             "worker, or the processor of the one machine.")
            .by_default("none")),
    bound<&MethodRule::host_reduction>(
        boolean("host_reduction", "Whether the host's processor sums the gradients.")
            .by_default(false))};
inline constexpr auto kMethodKeys = io::keys_of(kMethodRows);
inline constexpr std::array kMethod{object("methods", kMethodKeys, "A method of a source.")};
inline constexpr std::array kOptionValue{any("schedules", "Value of a key.")};
inline constexpr std::array kOptions{
    map("schedules", kOptionValue, "Keys of /communication that the schedule is run with.")};
inline constexpr std::array kScaledRows{
    bound<&TableRule::model>(text("model", "Shipped layer table.").required()),
    bound<&TableRule::elements>(number("elements", "Elements that its tensors are scaled to.")
                                    .in(io::above(0))
                                    .required())};
inline constexpr auto kScaledKeys = io::keys_of(kScaledRows);
inline constexpr std::array kScaled{object("tables", kScaledKeys, "A model without a table.")};
inline constexpr std::array kBusKind{
    word("bus_kinds", links::kBuses, "Kind of link between GPUs.")};
inline constexpr std::array kCalled{text("publishers", "What the rows are called in figures.")};
inline constexpr std::array kFamilyName{text("families", "Family of the model.")};

inline constexpr std::array kPredictRows{
    bound<&Scoreboard::bus_latency_s>(
        number("bus_latency_s", "Latency of links inside a machine, s.")
            .in(io::at_least(0))
            .required()),
    bound<&Scoreboard::buses>(
        map("buses", kBusRate, "Links between the GPUs of a machine, by the word of the rows.")
            .required()),
    bound<&Scoreboard::bus_kinds>(
        map("bus_kinds", kBusKind,
            "By the beginning of the rows' word for a bus; the first that fits counts.")
            .required()),
    parts<&Scoreboard::fabrics, kFabricRows>(
        map("fabrics", kFabric, "Networks between machines, by the word of the rows.").required()),
    parts<&Scoreboard::methods, kMethodRows>(
        map("methods", kMethod, "Methods of exchange, by the word of the rows.").required()),
    bound<&Scoreboard::schedules>(map("schedules", kOptions, "Settings of schedules.")),
    parts<&Scoreboard::tables, kScaledRows>(
        map("tables", kScaled, "Layer tables that are made from shipped ones.")),
    bound<&Scoreboard::other_table>(
        text("other_table",
             "Shipped table that inline:NAME:PARAMETERS is made from if NAME is not in tables.")),
    bound<&Scoreboard::interval>(
        number("interval", "Factor by which links are slowed and sped up for the interval of a "
                           "prediction.")
            .in(io::at_least(1))
            .by_default(1)),
    bound<&Scoreboard::publishers>(
        map("publishers", kCalled,
            "By the beginning of the rows' family; the first that fits counts.")),
    bound<&Scoreboard::families>(
        map("families", kFamilyName,
            "By the beginning of the rows' model; the first that fits counts."))};
inline constexpr auto kPredictKeys = io::keys_of(kPredictRows);

} // namespace stepsim::reproduce::keys
