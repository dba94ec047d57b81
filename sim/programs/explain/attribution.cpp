#include "programs/explain/binding_path.hpp"

#include "base/collected.hpp"

#include <map>

namespace stepsim::programs {

namespace {

class Sums {
public:
  void add(const std::string& name, double seconds) { sums_[name] += seconds; }

  [[nodiscard]] Shares sorted() const {
    Shares shares;
    for (const auto& [name, seconds] : sums_) {
      if (seconds != 0) {
        shares.push_back({name, seconds});
      }
    }
    std::ranges::stable_sort(shares, std::ranges::greater(), &Share::seconds);
    return shares;
  }

private:
  std::map<std::string, double> sums_;
};

double weight_of(const UnitLayer& part, Kind kind) {
  return kind == Kind::forward    ? part.forward_s
         : kind == Kind::backward ? part.backward_s
                                  : part.bytes;
}

std::string layer_name(const ProgramLabels& labels, std::size_t layer) {
  return layer < labels.layers.size() ? labels.layers[layer] : "layer " + std::to_string(layer);
}

// An operation of a unit is divided by the weights of the unit's layers, equally if all of them are
// 0; any other has equal parts of its own layers.
void add_layers(const Operation& operation, const ProgramLabels& labels, double seconds,
                Sums& sums) {
  const auto unit = static_cast<std::size_t>(operation.unit);
  const bool divided =
      operation.unit >= 0 && unit < labels.unit_parts.size() && !labels.unit_parts[unit].empty();
  if (!divided && operation.first_layer >= 0) {
    const auto first = static_cast<std::size_t>(operation.first_layer);
    const auto last = static_cast<std::size_t>(operation.last_layer);
    for (std::size_t layer = first; layer <= last; ++layer) {
      sums.add(layer_name(labels, layer), seconds / static_cast<double>(last - first + 1));
    }
    return;
  }
  if (!divided) {
    sums.add("no layer", seconds);
    return;
  }
  const std::vector<UnitLayer>& parts = labels.unit_parts[unit];
  const double whole = base::sum_of<double>(
      parts, [&](const UnitLayer& part) { return weight_of(part, operation.kind); });
  for (const UnitLayer& part : parts) {
    const double share = whole > 0 ? weight_of(part, operation.kind) / whole
                                   : 1.0 / static_cast<double>(parts.size());
    sums.add(layer_name(labels, part.layer), seconds * share);
  }
}

} // namespace

Attribution attribution(const Program& program, const BindingPath& path,
                        const ProgramLabels& labels) {
  Sums kinds;
  Sums units;
  Sums layers;
  Sums links;
  const auto add_everywhere = [&](std::string_view name, double seconds) {
    for (Sums* sums : {&kinds, &units, &layers, &links}) {
      sums->add(std::string(name), seconds);
    }
  };
  for (const PathStep& step : path.steps) {
    const Operation& operation = program.operations[step.operation];
    const double own = (step.startup_s + step.data_s) / path.iterations;
    kinds.add(std::string(kKinds[operation.kind]), own);
    units.add(labels.unit_name(operation.unit), own);
    add_layers(operation, labels, own, layers);
    if (operation.type == OperationType::exchange) {
      const std::string group =
          operation.group == kAllRanks ? "" : program.groups[operation.group].name + " ";
      links.add(group + "start-up", step.startup_s / path.iterations);
      links.add(group + std::string(labels.transfer), step.data_s / path.iterations);
    } else {
      links.add("no exchange", own);
    }
    const bool fifo = program.streams[operation.stream].discipline == Discipline::fifo;
    add_everywhere(fifo ? kInterferenceShare : kContentionShare, step.stretch_s / path.iterations);
  }
  add_everywhere(kWaitingShare, path.waiting_s / path.iterations);
  return {kinds.sorted(), units.sorted(), layers.sorted(), links.sorted()};
}

Explanation explain(const Program& given, const ExplainOptions& options) {
  const Evaluation& evaluation = options.evaluation;
  const bool equal = evaluation.factors.compute.empty();
  const Program program = equal ? one_rank(given) : given;
  Explanation result;
  result.evaluator = evaluator_of(program, evaluation);
  std::optional<SteadyState> state;
  if (result.evaluator == Evaluator::closed_form) {
    state = steady_state(program);
    result.path = critical_cycle(program, *state);
  } else {
    const Evaluation steady = settled(program, evaluation);
    result.path = binding_path(program, evaluate(program, steady, Record::all), steady.factors,
                               steady.discard);
  }
  const double period = result.path.period_s;
  result.exposed_s = beyond_s(without_exchanges(program), evaluation, period);
  if (program.interference.any()) {
    Program alone = program;
    alone.interference = {};
    result.interference_s = beyond_s(alone, evaluation, period);
  }
  result.attribution = attribution(program, result.path, options.labels);

  std::vector<Parameter> parameters = parameters_of(program, options.links);
  std::vector<PathStep> steps = result.path.steps;
  std::ranges::stable_sort(steps, std::ranges::greater(), &PathStep::seconds);
  for (std::size_t i = 0; i < std::min(options.operations, steps.size()); ++i) {
    if (steps[i].seconds() > 0) {
      parameters.push_back(seconds_of(program, steps[i].operation));
    }
  }
  // Differences of periods that are found in the same way.
  const double centre = state ? period : period_s(program, evaluation);
  for (const Parameter& parameter : parameters) {
    result.sensitivities.push_back(
        state ? exact_sensitivity(*state, parameter)
              : numeric_sensitivity(program, parameter, evaluation, centre));
  }
  return result;
}

} // namespace stepsim::programs
