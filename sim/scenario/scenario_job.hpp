#pragma once
// Reads /job of a scenario, the whole training, once workload and cluster are known, and says which
// of its keys go together.
#include <vector>

#include "scenario/parse_context.hpp"
#include "scenario/rules_table.hpp"

namespace stepsim::study {

void parse_job(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void add_job_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
