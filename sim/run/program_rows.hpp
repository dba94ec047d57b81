#pragma once
// The keys of a result about its program: the sharding units, and the size of the program.
#include <array>

#include "document/fields/written.hpp"
#include "run/result.hpp"

namespace stepsim::study {

inline constexpr std::array kUnitLayer{
    io::rows::integer("layers", "Number of a layer.").in(io::at_least(1))};
inline constexpr auto kUnit = std::to_array<io::Written<UnitResult>>({
    io::row<&UnitResult::index>("index", "Forward order, from 0."),
    {io::rows::list("layers", kUnitLayer, "First and last layer, from 1 in forward order.")
         .sizes(2, 2)
         .required(),
     [](const UnitResult& u) -> io::Json {
       return io::Array{u.first, u.last};
     }},
    io::row<&UnitResult::parameters>(
        "parameters", "Parameters, rounded up to a multiple of the ranks that share them."),
    io::row<&UnitResult::gather_s>("gather_s", "All-gather of its parameters, s."),
    io::row<&UnitResult::reduce_s>("reduce_s", "Reduce-scatter of its gradients, s."),
    io::row<&UnitResult::live_from_s>(
        "live_from_s",
        "When its parameters are gathered first, s from the start of the iteration."),
    io::row<&UnitResult::live_to_s>("live_to_s", "When they are freed last, s."),
});

inline constexpr auto kProgramSize = std::to_array<io::Written<programs::Program>>({
    {io::rows::integer("operations", "Operations of an iteration.").required(),
     [](const programs::Program& p) -> io::Json {
       return static_cast<std::int64_t>(p.iteration_size());
     }},
    {io::rows::integer("streams", "Streams that they run on.").required(),
     [](const programs::Program& p) -> io::Json {
       return static_cast<std::int64_t>(p.streams.size());
     }},
    {io::rows::integer("waits", "Waits between operations.").required(),
     [](const programs::Program& p) -> io::Json {
       return static_cast<std::int64_t>(p.waits.size());
     }},
});

} // namespace stepsim::study
