#pragma once
// Makes the lists of a result: buckets, layers, iterations and links.
#include <span>
#include <vector>

#include "buckets/problem.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// The buckets of a plan, without times.
[[nodiscard]] std::vector<Bucket> plain_buckets(const Scenario& scenario, const buckets::Plan& plan,
                                                std::span<const ProgramUnit> units);

// Sets result.links, the use of every link by all iterations, and result.heat, if buckets were
// exchanged over a fabric one after the other. The makespan must be set.
void fill_links(const Scenario& scenario, std::span<const ProgramUnit> units, Result& result);

} // namespace stepsim::study
