#pragma once
// The keys of a result about the parts of its interval (CON 4).

#include "document/fields/written.hpp"
#include "run/summary.hpp"

namespace stepsim::study {

inline constexpr auto kIntervalPart = std::to_array<io::Written<IntervalPart>>({
    io::row<&IntervalPart::factor>(
        "Name of the factor; estimate is that of computing for a GPU, library the model of a "
        "library, rest what differs between runs whose factors are known.")
        .example(R"("c_cloud")"),
    io::row<&IntervalPart::share>("Its share of the squared width above the iteration time.")
        .example("0.7"),
    io::row<&IntervalPart::at_high>("Logarithm of the iteration time with the factor one standard "
                                    "deviation above its value, over that with its value.")
        .example("0.21"),
    io::row<&IntervalPart::at_low>("The same one standard deviation below.").example("-0.08"),
});
inline constexpr std::array kOneIntervalPart{
    io::rows::object("interval_parts", io::kKeysOf<kIntervalPart>, "One of them.")};

} // namespace stepsim::study
