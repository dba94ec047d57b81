#include "buckets/unit_tables.hpp"

#include <algorithm>

namespace stepsim::buckets {

UnitTables::UnitTables(const UnitProblem& problem)
    : layers_(problem.layers.size()), forward_(1), backward_(1), gather_(layers_ * layers_),
      reduce_(layers_ * layers_), ends_(layers_), rest_(layers_ + 1) {
  for (const ShardedLayer& layer : problem.layers) {
    forward_.push_back(forward_.back() + layer.forward.value);
    backward_.push_back(backward_.back() + layer.backward.value);
  }
  for (std::size_t first = 0; first < layers_; ++first) {
    std::int64_t parameters = 0;
    ends_[first] = first;
    for (std::size_t last = first; last < layers_; ++last) {
      parameters += problem.layers[last].parameters;
      if (!may_be_unit(problem, last - first + 1, parameters)) {
        break;
      }
      gather_[place(first, last)] = parameters > 0 ? problem.gather(parameters) : 0;
      reduce_[place(first, last)] = parameters > 0 ? problem.reduce(parameters) : 0;
      ends_[first] = last + 1;
    }
  }
  fill_rest(problem);
}

bool UnitTables::allowed(const Cuts& cuts) const {
  std::size_t first = 0;
  for (const std::size_t cut : cuts) {
    if (!allowed(first, cut - 1)) {
      return false;
    }
    first = cut;
  }
  return allowed(first, layers_ - 1);
}

UnitSeconds UnitTables::unit(std::size_t first, std::size_t last) const {
  return {.forward = forward_[last + 1] - forward_[first],
          .backward = backward_[last + 1] - backward_[first],
          .gather = gather_[place(first, last)],
          .reduce = reduce_[place(first, last)]};
}

// From the last layer inwards: each bound is the least over the units that can begin here.
void UnitTables::fill_rest(const UnitProblem& problem) {
  for (std::size_t first = layers_; first-- > 0;) {
    RestOfLayers& rest = rest_[first];
    rest = {.forward = forward_[layers_] - forward_[first],
            .backward = backward_[layers_] - backward_[first],
            .gathers = kUnbounded,
            .regathers = kUnbounded,
            .reduces = kUnbounded,
            .stream = kUnbounded,
            .first_gather = kUnbounded,
            .first_reduce = kUnbounded};
    for (std::size_t last = first; last < ends_[first]; ++last) {
      const UnitSeconds now = unit(first, last);
      const RestOfLayers& after = rest_[last + 1];
      const bool kept =
          !problem.reshard_after_forward || (problem.keep_last && last + 1 == layers_);
      const double regather = kept ? 0 : now.gather;
      const auto lower = [](double& bound, double value) { bound = std::min(bound, value); };
      lower(rest.gathers, now.gather + after.gathers);
      lower(rest.regathers, regather + after.regathers);
      lower(rest.reduces, now.reduce + after.reduces);
      lower(rest.stream, now.gather + regather + now.reduce + after.stream);
      lower(rest.first_gather, now.gather);
      lower(rest.first_reduce, now.reduce);
    }
  }
}

} // namespace stepsim::buckets
