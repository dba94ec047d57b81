#include "buckets/unit_planner.hpp"

#include <algorithm>
#include <cmath>

#include "buckets/unit_tables.hpp"

namespace stepsim::buckets {

namespace {

// Ends of the computes of the iteration so far, and the wait "the end of the compute at position
// q - 1 - ahead"; 0 where there is no such wait.
double ahead_of(const std::vector<double>& computes, std::size_t position,
                std::optional<std::uint32_t> ahead) {
  return ahead && position >= std::size_t{1} + *ahead ? computes[position - 1 - *ahead] : 0;
}

UnitSeconds unit_of(const UnitProblem& problem, std::size_t first, std::size_t end) {
  UnitSeconds unit;
  std::int64_t parameters = 0;
  for (; first < end; ++first) {
    unit.forward += problem.layers[first].forward.value;
    unit.backward += problem.layers[first].backward.value;
    parameters += problem.layers[first].parameters;
  }
  unit.gather = parameters > 0 ? problem.gather(parameters) : 0;
  unit.reduce = parameters > 0 ? problem.reduce(parameters) : 0;
  return unit;
}

// `unit_from` gives the seconds of the unit of layers first .. end - 1.
template <class UnitFrom>
std::vector<UnitSeconds> units_of(const Cuts& cuts, std::size_t layers, UnitFrom unit_from) {
  std::vector<UnitSeconds> units;
  units.reserve(cuts.size() + 1);
  std::size_t first = 0;
  for (std::size_t u = 0; u <= cuts.size(); ++u) {
    const std::size_t end = u < cuts.size() ? cuts[u] : layers;
    units.push_back(unit_from(first, end));
    first = end;
  }
  return units;
}

// Operations in the issue order of TRN 4.5. With ahead_backward 0 the gather of unit u - 1 waits
// for the backward of unit u, although it is issued before it.
double period_of(const UnitProblem& problem, const std::vector<UnitSeconds>& units) {
  const std::size_t count = units.size();
  double gather = 0; // ends of the streams
  double reduce = 0;
  std::vector<double> computes; // ends, by position
  const auto last_compute = [&] { return computes.empty() ? 0 : computes.back(); };
  for (std::size_t u = 0; u < count; ++u) {
    gather = std::max(gather, ahead_of(computes, u, problem.ahead_forward)) + units[u].gather;
    computes.push_back(std::max(last_compute(), gather) + units[u].forward);
  }
  std::vector<double> regathers(count, 0);
  std::vector<double> reduces(count, 0);
  const auto regather = [&](std::size_t u, std::size_t position) {
    gather = std::max(gather, ahead_of(computes, position, problem.ahead_backward));
    regathers[u] = gather += units[u].gather;
  };
  if (problem.reshard_after_forward && !problem.keep_last) {
    regather(count - 1, count);
  }
  for (std::size_t u = count; u-- > 0;) {
    const bool prefetches = problem.reshard_after_forward && u > 0;
    const bool waits = problem.ahead_backward == 0U;
    if (prefetches && !waits) {
      regather(u - 1, computes.size() + 1);
    }
    double start = std::max(last_compute(), regathers[u]);
    if (problem.reduces_in_flight && u + 1 + *problem.reduces_in_flight < count) {
      start = std::max(start, reduces[u + 1 + *problem.reduces_in_flight]);
    }
    computes.push_back(start + units[u].backward);
    if (prefetches && waits) {
      regather(u - 1, computes.size());
    }
    double& stream = problem.communicators == 1 ? gather : reduce;
    reduces[u] = stream = std::max(stream, computes.back()) + units[u].reduce;
  }
  return reduces[0] + problem.update.value;
}

} // namespace

double UnitPlan::gap() const {
  if (certified || period.value <= lower_bound.value) {
    return 0;
  }
  return lower_bound.value > 0 ? period.value / lower_bound.value - 1 : kUnbounded;
}

double unit_period(const UnitProblem& problem, const Cuts& cuts) {
  return period_of(problem,
                   units_of(cuts, problem.layers.size(), [&](std::size_t first, std::size_t end) {
                     return unit_of(problem, first, end);
                   }));
}

double unit_period(const UnitProblem& problem, const UnitTables& tables, const Cuts& cuts) {
  if (!tables.allowed(cuts)) {
    return kUnbounded;
  }
  return period_of(problem,
                   units_of(cuts, tables.layers(), [&](std::size_t begin, std::size_t end) {
                     return tables.unit(begin, end - 1);
                   }));
}

bool may_be_unit(const UnitProblem& problem, std::size_t layers, std::int64_t parameters) {
  return layers == 1 || parameters <= problem.max_unit_parameters.value_or(parameters);
}

double unit_lower_bound(const UnitProblem& problem, std::int64_t micro_batches) {
  return unit_lower_bound(problem, UnitTables(problem), micro_batches);
}

double unit_lower_bound(const UnitProblem& problem, const UnitTables& tables,
                        std::int64_t micro_batches) {
  const RestOfLayers& all = tables.rest(0);
  const double first_backward = problem.layers.front().backward.value;
  const double last_forward = problem.layers.back().forward.value;
  const double last_backward = problem.layers.back().backward.value;
  // The first unit is gathered before anything and reduced after everything.
  double around = kUnbounded;
  for (std::size_t last = 0; last < tables.layers() && tables.allowed(0, last); ++last) {
    const UnitSeconds unit = tables.unit(0, last);
    around = std::min(around, unit.gather + unit.reduce);
  }
  double bound = around + static_cast<double>(micro_batches) * (all.forward + all.backward);
  if (problem.communicators == 1) {
    bound = std::max(bound, all.stream);
  }
  bound = std::max({bound, all.gathers + last_forward + all.backward + all.first_reduce,
                    all.gathers + all.regathers + first_backward + all.first_reduce,
                    all.first_gather + all.forward + last_backward + all.reduces,
                    all.gathers + last_forward + last_backward + all.reduces});
  return bound + problem.update.value;
}

std::optional<std::int64_t> largest_unit(const UnitMemory& memory) {
  double free = memory.limit_bytes - memory.fixed_bytes;
  double per_parameter = 0;
  const auto add = [&](std::optional<std::uint32_t> units, double more, double bytes) {
    if (units) {
      per_parameter += (*units + more) * bytes;
    } else {
      free -= static_cast<double>(memory.parameters) * bytes;
    }
  };
  add(memory.ahead_forward, 2, memory.parameter_bytes);
  add(memory.reduces_in_flight, 1, memory.reduce_bytes);
  if (free < 0) {
    return std::nullopt;
  }
  const auto all = static_cast<double>(memory.parameters);
  return static_cast<std::int64_t>(
      per_parameter > 0 ? std::min(all, std::floor(free / per_parameter)) : all);
}

} // namespace stepsim::buckets
