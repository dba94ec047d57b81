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

StateLayout::StateLayout(const UnitProblem& problem)
    : one_stream(problem.communicators == 1), regathers(problem.reshard_after_forward),
      keeps_last(problem.keep_last) {
  const auto limit = [&](std::optional<std::uint32_t> value) {
    return value && *value < 2 * problem.layers.size() ? std::optional<std::size_t>(*value)
                                                       : std::nullopt;
  };
  forward = limit(problem.ahead_forward);
  backward = limit(problem.ahead_backward);
  flying = limit(problem.reduces_in_flight);
  back_computes = std::max<std::size_t>(backward.value_or(1), 1);
  computes = std::max({forward.value_or(0) + 1, backward.value_or(0) + 1, back_computes});
  reductions = flying ? *flying + 1 : one_stream ? 0 : 1;
  x_size = 1 + computes;
  size = x_size + 2 + back_computes + reductions;
}

namespace {

// The backward of the first unit is the last of all: it ends with its reduction.
void first_functional(const StateLayout& layout, const UnitSeconds& unit, std::span<double> now) {
  std::fill(now.begin() + static_cast<std::ptrdiff_t>(layout.x_size), now.end(), -kUnbounded);
  const double from_start = unit.backward + unit.reduce;
  now[layout.compute(0)] = from_start;
  now[layout.own_gather()] = from_start;
  now[layout.one_stream ? layout.stream() : layout.reduction(0)] = unit.reduce;
  if (layout.flying) {
    double& oldest = now[layout.reduction(*layout.flying)];
    oldest = std::max(oldest, from_start);
  }
}

// The backward of `unit` and the gather of the unit before it, in front of the functional of
// `old`.
void functional(const StateLayout& layout, const UnitSeconds& unit, double regather,
                std::span<const double> old, std::span<double> now) {
  const double from_reduction =
      std::max(layout.one_stream ? old[layout.stream()] : -kUnbounded,
               layout.reductions > 0 ? old[layout.reduction(0)] : -kUnbounded);
  // After the gather the stream is free: for the reduction, or for the next gather.
  const double from_stream =
      layout.one_stream ? unit.reduce + from_reduction : old[layout.stream()];
  const double to_gather =
      layout.regathers ? regather + std::max(old[layout.own_gather()], from_stream) : -kUnbounded;
  double from_end = std::max(old[layout.compute(0)], unit.reduce + from_reduction);
  if (layout.backward == std::size_t{0}) {
    from_end = std::max(from_end, to_gather);
  }
  const double from_start = unit.backward + from_end;
  now[layout.stream()] = layout.regathers ? to_gather : from_stream;
  now[layout.own_gather()] = from_start;
  for (std::size_t i = 0; i < layout.back_computes; ++i) {
    const double older = i + 1 < layout.back_computes ? old[layout.compute(i + 1)] : -kUnbounded;
    const bool gates = layout.backward == i + 1;
    now[layout.compute(i)] = std::max(older, gates ? to_gather : -kUnbounded);
  }
  double& newest = now[layout.compute(0)];
  newest = std::max(newest, from_start);
  for (std::size_t i = 0; i < layout.reductions; ++i) {
    const double older = i + 1 < layout.reductions ? old[layout.reduction(i + 1)] : -kUnbounded;
    now[layout.reduction(i)] = std::max(older, layout.flying == i ? from_start : -kUnbounded);
  }
  if (!layout.one_stream) {
    double& reduction = now[layout.reduction(0)];
    reduction = std::max(reduction, unit.reduce + from_reduction);
  }
}

} // namespace

void add_unit(const StateLayout& layout, const UnitSeconds& unit, double regather,
              std::span<const double> label, std::span<double> now) {
  const auto of = [&](std::size_t i) { return label.empty() ? 0 : label[i]; };
  now[0] = std::max(of(0), layout.forward ? of(1 + *layout.forward) : 0) + unit.gather;
  now[1] = std::max(of(1), now[0]) + unit.forward;
  for (std::size_t i = 1; i < layout.computes; ++i) {
    now[1 + i] = of(i);
  }
  if (label.empty()) {
    first_functional(layout, unit, now);
  } else {
    functional(layout, unit, regather, label, now);
  }
}

// The whole model: backward begins where forward ends.
double finish_of(const StateLayout& layout, double gather, std::span<const double> now) {
  double stream = now[0];
  double own = 0;
  if (layout.regathers && !layout.keeps_last) {
    const double before = layout.backward ? now[1 + *layout.backward] : 0;
    own = stream = std::max(stream, before) + gather;
  }
  double end = std::max(now[layout.stream()] + stream, now[layout.own_gather()] + own);
  for (std::size_t i = 0; i < layout.back_computes; ++i) {
    end = std::max(end, now[layout.compute(i)] + now[1 + i]);
  }
  return end;
}

// The state before the backward of the newest unit comes at the earliest when the layers behind
// it have done the least they can do.
double bound_of(const StateLayout& layout, double gather, const RestOfLayers& rest,
                const ShardedLayer& end, std::span<const double> now) {
  const double gathered = now[0] + rest.gathers;
  const double forward = std::max({now[1] + rest.forward, now[0] + rest.first_gather + rest.forward,
                                   gathered + end.forward.value});
  const double compute = forward + rest.backward;
  const double again = layout.regathers ? rest.regathers + gather : 0;
  const double reduced =
      std::max(compute + rest.first_reduce, forward + end.backward.value + rest.reduces);
  const double stream =
      layout.one_stream ? std::max(gathered + again + rest.reduces, reduced) : gathered + again;
  double bound =
      std::max({now[layout.stream()] + stream, now[layout.own_gather()] + gathered + again,
                now[layout.compute(0)] + compute});
  if (layout.reductions > 0) {
    bound = std::max(bound, now[layout.reduction(0)] + reduced);
  }
  return bound;
}

} // namespace stepsim::buckets
