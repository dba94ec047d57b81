// All times are read from the third iteration of an event pass and the forward of the fourth: the
// first iteration starts from idle streams, and the last ones are disturbed by none after them.
#include "run/stretched_step.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "buckets/planners.hpp"
#include "programs/event_pass.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

namespace {

using programs::Kind;
using programs::Operation;

constexpr std::int64_t kIterations = 6;
constexpr std::int64_t kSteady = 2; // from 0

class Reader {
public:
  explicit Reader(const programs::Program& program)
      : program_(program),
        times_(programs::event_pass(program, kIterations, {}, programs::Record::all)) {}

  [[nodiscard]] double start(std::uint32_t operation, std::int64_t iteration) const {
    return times_.start[times_.at(iteration, operation, 0)];
  }
  [[nodiscard]] double end(std::uint32_t operation, std::int64_t iteration) const {
    return times_.end[times_.at(iteration, operation, 0)];
  }
  // When everything that the operation waits for has ended.
  [[nodiscard]] double ready(std::uint32_t operation, std::int64_t iteration) const {
    double ready = 0;
    for (const programs::Wait& wait : program_.waits_of(operation)) {
      ready = std::max(ready, end(wait.operation, iteration - wait.distance));
    }
    return ready;
  }
  [[nodiscard]] double makespan() const { return times_.makespan_s; }

private:
  const programs::Program& program_;
  programs::OperationTimes times_;
};

bool sends(Kind kind) {
  return kind == Kind::allreduce || kind == Kind::reduce_scatter || kind == Kind::reduce;
}
bool sends_back(Kind kind) { return kind == Kind::allgather || kind == Kind::broadcast; }

// `seconds`, or its value without slowdown where the two differ by the rounding of times up to
// `end`.
double unless_equal(double free, double seconds, double end) {
  constexpr double kRounding = 1e-13;
  return std::abs(seconds - free) <= kRounding * end ? free : seconds;
}

// Forward and backward of every layer from end to end of what the compute stream does for it;
// selecting and encoding belong to the backward before them. Returns the start of backward.
double stretch_layers(const programs::Program& program, const Reader& reader,
                      const std::vector<double>& updates, programs::StepInput& input) {
  const programs::StepInput free = input;
  double backward_start = -1;
  double done = 0;
  std::vector<double> update_start(input.forward_s.size(), -1);
  std::size_t layer = 0;
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const Operation& operation = program.operations[o];
    if (operation.type != programs::OperationType::compute) {
      continue;
    }
    const bool follows = operation.kind == Kind::select || operation.kind == Kind::encode;
    if (operation.kind == Kind::update && operation.first_layer >= 0) {
      update_start[static_cast<std::size_t>(operation.first_layer)] = reader.start(o, kSteady + 1);
    } else if (operation.kind == Kind::forward) {
      layer = static_cast<std::size_t>(operation.first_layer);
      const double start =
          update_start[layer] >= 0 ? update_start[layer] : reader.start(o, kSteady + 1);
      const double update = update_start[layer] >= 0 ? updates[layer] : 0;
      input.forward_s[layer] = reader.end(o, kSteady + 1) - start - update;
    } else if (operation.kind == Kind::backward || follows) {
      if (backward_start < 0) {
        backward_start = done = reader.start(o, kSteady);
      }
      if (operation.kind == Kind::backward) {
        layer = static_cast<std::size_t>(operation.first_layer);
        input.backward_s[layer] = 0;
      }
      input.backward_s[layer] += reader.end(o, kSteady) - done;
      done = reader.end(o, kSteady);
    }
  }
  for (std::size_t l = 0; l < input.forward_s.size(); ++l) {
    input.forward_s[l] = unless_equal(free.forward_s[l], input.forward_s[l], reader.makespan());
    input.backward_s[l] = unless_equal(free.backward_s[l], input.backward_s[l], reader.makespan());
  }
  return backward_start;
}

// When messages are ready, and how long they take where computing slows them. A start-up phase that
// other messages do not slow keeps its length.
void stretch_messages(const programs::Program& program, const Reader& reader, double backward_start,
                      programs::StepInput& input) {
  std::vector<double> reduced(input.messages.size(), 0);
  const bool slowed = program.interference.exchange > 1;
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const Operation& operation = program.operations[o];
    if (operation.type != programs::OperationType::exchange) {
      continue;
    }
    const auto unit = static_cast<std::size_t>(operation.unit);
    if (sends(operation.kind)) {
      reduced[unit] = reader.end(o, kSteady);
      input.messages[unit].ready_s = reader.ready(o, kSteady) - backward_start;
      if (slowed) {
        input.messages[unit].seconds = reduced[unit] - reader.start(o, kSteady);
      }
    }
  }
  for (std::uint32_t o = 0; slowed && o < program.iteration_size(); ++o) {
    const Operation& operation = program.operations[o];
    if (sends_back(operation.kind)) { // at the end of this iteration, or at the head of the next
      const auto unit = static_cast<std::size_t>(operation.unit);
      const bool now = reader.start(o, kSteady) >= reduced[unit];
      const std::int64_t iteration = now ? kSteady : kSteady + 1;
      input.messages[unit].broadcast_s = reader.end(o, iteration) - reader.start(o, iteration);
    }
  }
}

} // namespace

StretchedStep stretched_step(const Scenario& scenario, programs::StepInput input) {
  const programs::StepTimes free = programs::run_step(input);
  programs::Program program = scenario_program(scenario).program;
  program.ranks = 1; // for all, as they are equal
  const Reader reader(program);
  const std::vector<double> updates = programs::layer_updates(input);
  const double backward = stretch_layers(program, reader, updates, input);
  stretch_messages(program, reader, backward, input);
  StretchedStep result{.input = std::move(input)};
  result.period_s = reader.end(program.marker, kSteady + 1) - reader.end(program.marker, kSteady);
  const programs::StepTimes step = programs::run_step(result.input);
  // The two evaluations must agree; a difference would be a wrong result.
  constexpr double kSame = 1e-9;
  if (std::abs(step.period_s - result.period_s) > kSame * result.period_s) {
    throw SimulationError("/training/overlap is not modelled for this step: its stages overlap "
                          "with more than one iteration");
  }
  // Programs begin with an update, which a run does not count.
  program.interference = {};
  const double counted = Reader(program).makespan() - programs::makespan_s(free, kIterations);
  result.first_shift_s =
      std::max(0.0, programs::makespan_s(step, kIterations) - (reader.makespan() - counted));
  return result;
}

} // namespace stepsim::study
