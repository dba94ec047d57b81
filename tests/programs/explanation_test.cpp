// Explanations: expected values of TRN 11.1 and 11.7, and sums over random programs.
#include "programs/explain/binding_path.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "programs/builders/fsdp_program.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/instances.hpp"
#include "programs/layers_g3.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

double share_of(const Shares& shares, const std::string& name) {
  for (const Share& share : shares) {
    if (share.name == name) {
      return share.seconds;
    }
  }
  return 0;
}

double sum(const Shares& shares) {
  double seconds = 0;
  for (const Share& share : shares) {
    seconds += share.seconds;
  }
  return seconds;
}

void check_sums(const Explanation& found) {
  const double period = found.path.period_s;
  CHECK(sum(found.attribution.by_kind) == within(period, 1e-12));
  CHECK(sum(found.attribution.by_unit) == within(period, 1e-12));
  CHECK(sum(found.attribution.by_layer) == within(period, 1e-12));
  CHECK(sum(found.attribution.by_link) == within(period, 1e-12));
}

std::vector<std::string> path_of(const Program& program, const Explanation& found) {
  std::vector<std::string> ids;
  for (const PathStep& step : found.path.steps) {
    ids.push_back(program.operations[step.operation].id);
  }
  return ids;
}

Sensitivity sensitivity_of(const Explanation& found, const std::string& parameter) {
  for (const Sensitivity& each : found.sensitivities) {
    if (each.parameter == parameter) {
      return each;
    }
  }
  return {"none", -1, -1, false};
}

ExplainOptions recorded(std::int64_t iterations, std::int64_t discard) {
  ExplainOptions options;
  options.evaluation.iterations = iterations;
  options.evaluation.discard = discard;
  return options;
}

// One layer whose bucket is applied `width` iterations later.
Program pipelined(double compute, double exchange, std::int32_t width) {
  const std::vector<LayerTimes> layers{{{0}, {compute}, 1}};
  const std::vector<BucketTimes> buckets{
      {.layers = {0}, .reduce = {.startup = {}, .data = {exchange}}, .gather = {}}};
  return pipe_sgd_program(layers, buckets, {.width = width});
}

UnitTimes unit(double f, double b, double a, double r) {
  return {.forward = {f},
          .backward = {b},
          .gather = {.startup = {}, .data = {a}},
          .reduce = {.startup = {}, .data = {r}},
          .replicate = {}};
}
const std::vector<UnitTimes> kSetA{unit(2, 4, 1, 1), unit(3, 6, 2, 2), unit(4, 8, 3, 3)};
const std::vector<UnitTimes> kSetB{unit(2, 4, 5, 6), unit(3, 6, 6, 8), unit(4, 8, 7, 9)};

} // namespace

TEST_CASE("explain: shares of a cycle over two iterations (row P1)") {
  const Program program = alternating();
  const Explanation found = explain(program, {});
  CHECK(found.path.exact);
  CHECK(found.path.period_s == (3.0 + 4 + 5) / 2);
  CHECK(found.path.iterations == 2);
  CHECK(path_of(program, found) == std::vector<std::string>{"a", "b", "c"});
  CHECK(found.path.steps[1].iteration == 0); // b waits for a of its own iteration
  CHECK(found.path.steps[2].iteration == 1); // c waits for b of the one before
  CHECK(share_of(found.attribution.by_kind, "step") == 1.5);
  CHECK(share_of(found.attribution.by_kind, "forward") == 2);
  CHECK(share_of(found.attribution.by_kind, "backward") == 2.5);
  CHECK(sensitivity_of(found, "seconds of b").left == 0.5);
  CHECK(sensitivity_of(found, "seconds of b").right == 0.5);
  check_sums(found);
}

TEST_CASE("explain: a pipelined step is bound by computing, by its exchange or by both "
          "(rows P5, P6)") {
  const auto explained = [](double compute, double exchange, std::int32_t width) {
    return explain(pipelined(compute, exchange, width), {});
  };
  const auto check = [&](double compute, double exchange, std::int32_t width, double period,
                         double left, double right) {
    const Explanation found = explained(compute, exchange, width);
    CHECK(found.path.period_s == period);
    const Sensitivity speed = sensitivity_of(found, "compute_factor");
    CHECK(speed.left == left * compute);
    CHECK(speed.right == right * compute);
    CHECK(speed.exact);
    check_sums(found);
  };
  check(100, 60, 1, 160, 1, 1);
  check(100, 60, 2, 100, 1, 1);
  check(60, 100, 2, 100, 0, 0);
  check(60, 100, 3, 100, 0, 0);
  check(100, 100, 2, 100, 0, 1);
  CHECK(explained(100, 100, 2).path.other_cycles);
  CHECK(explained(100, 60, 1).exposed_s == 60);
}

TEST_CASE("explain: sharded training (rows E1, E2)") {
  const FsdpOptions options{.keep_last = true, .communicators = 2};
  const Program a = fsdp_program(kSetA, options);
  ExplainOptions labelled;
  labelled.labels.layers = {"embed", "block", "head", "norm"};
  labelled.labels.unit_parts = {
      {{0, 2, 4, 1}}, {{1, 3, 6, 1}}, {{2, 1, 6, 3}, {3, 3, 2, 1}}}; // the third has two layers
  const Explanation first = explain(a, labelled);
  CHECK(path_of(a, first) == std::vector<std::string>{"GF1_1", "GF1_2", "GF1_3", "F1_3", "B1_3",
                                                      "B1_2", "B1_1", "R1_1", "U"});
  CHECK(share_of(first.attribution.by_kind, "allgather") == 1 + 2 + 3);
  CHECK(share_of(first.attribution.by_kind, "forward") == 4);
  CHECK(share_of(first.attribution.by_kind, "backward") == 8 + 6 + 4);
  CHECK(share_of(first.attribution.by_kind, "reduce_scatter") == 1);
  CHECK(share_of(first.attribution.by_unit, "unit 2") == 3 + 4 + 8);
  CHECK(share_of(first.attribution.by_unit, "no unit") == 0);
  // Bytes divide the gather, seconds the forward and the backward.
  CHECK(share_of(first.attribution.by_layer, "head") == 3 * 3.0 / 4 + 4 * 1.0 / 4 + 8 * 6.0 / 8);
  CHECK(share_of(first.attribution.by_layer, "norm") == 3 * 1.0 / 4 + 4 * 3.0 / 4 + 8 * 2.0 / 8);
  CHECK(share_of(first.attribution.by_link, "bandwidth") == 7);
  CHECK(share_of(first.attribution.by_link, "no exchange") == 22);
  check_sums(first);

  const Program b = fsdp_program(kSetB, options);
  const Explanation second = explain(b, {});
  CHECK(share_of(second.attribution.by_kind, "allgather") == 18);
  CHECK(share_of(second.attribution.by_kind, "forward") == 4);
  CHECK(share_of(second.attribution.by_kind, "backward") == 8);
  CHECK(share_of(second.attribution.by_kind, "reduce_scatter") == 23);
  CHECK(second.path.period_s == 53);
  CHECK(second.exposed_s == 26);
  check_sums(second);
}

TEST_CASE("explain: a tie of two ends has two derivatives (row E3)") {
  const std::vector<LayerTimes> layers{{{1}, {2}, 1}, {{1}, {2}, 1}};
  const std::vector<BucketTimes> buckets{
      {.layers = {1}, .reduce = {.startup = {}, .data = {2}}, .gather = {}},
      {.layers = {0}, .reduce = {.startup = {}, .data = {1}}, .gather = {}}};
  const Program program = sync_sgd_program(layers, buckets, {});
  ExplainOptions options;
  options.operations = 10;
  const Explanation found = explain(program, options);
  CHECK(found.path.period_s == 7);
  CHECK(found.path.other_cycles);
  const Sensitivity all = sensitivity_of(found, "compute_factor");
  CHECK(all.left == 1 + 1 + 2); // F1 F2 B2 when the first exchange binds
  CHECK(all.right == 1 + 1 + 2 + 2);
  // The exchange of layer 2 and the backward of layer 1 end together; either may be on the path.
  const bool by_exchange = sensitivity_of(found, "seconds of B1_1").parameter == "none";
  const Sensitivity tied =
      sensitivity_of(found, by_exchange ? "seconds of X1_1" : "seconds of B1_1");
  CHECK(tied.left == 0);
  CHECK(tied.right == 1);
}

TEST_CASE("explain: synchronous steps (rows E4, E5)") {
  const Program wfbp = sync_sgd_program(g3_layers(), g3_per_layer());
  ExplainOptions options;
  options.links = {.latency_s = 0.5, .seconds_per_byte = 0.25};
  options.labels.unit_noun = "bucket";
  const Explanation found = explain(wfbp, options);
  CHECK(share_of(found.attribution.by_kind, "forward") == 5);
  CHECK(share_of(found.attribution.by_kind, "backward") == 2);
  CHECK(share_of(found.attribution.by_kind, "allreduce") == 12);
  CHECK(share_of(found.attribution.by_link, "start-up") == 4 * 0.5);
  CHECK(share_of(found.attribution.by_link, "bandwidth") == 40 * 0.25);
  CHECK(share_of(found.attribution.by_unit, "bucket 0") == 0.5 + 16 * 0.25);
  CHECK(share_of(found.attribution.by_unit, "no bucket") == 7);
  CHECK(sensitivity_of(found, "latency_s").left == 4);
  CHECK(sensitivity_of(found, "latency_s").right == 4);
  CHECK(sensitivity_of(found, "seconds_per_byte").left == 40);
  CHECK(sensitivity_of(found, "seconds_per_byte").right == 40);
  CHECK(found.exposed_s == 6);
  check_sums(found);

  const Explanation dear = explain(dear_program(g3_layers(), g3_per_layer(0.5), {}), {});
  CHECK(share_of(dear.attribution.by_kind, "allgather") == 6);
  CHECK(share_of(dear.attribution.by_kind, "forward") == 1);
  CHECK(share_of(dear.attribution.by_kind, "backward") == 8);
  CHECK(share_of(dear.attribution.by_kind, "reduce_scatter") == 0.75);
  CHECK(dear.path.period_s == 15.75);
}

TEST_CASE("explain: walking back through recorded events finds the shares of the cycle") {
  const Program program = alternating();
  const OperationTimes times = evaluate(program, recorded(400, 200).evaluation, Record::all);
  const BindingPath path = binding_path(program, times, {}, 200);
  CHECK(!path.exact);
  CHECK(path.period_s == 6);
  const Attribution found = attribution(program, path);
  // c ends together with b in every other iteration: the walk goes along the stream there, once.
  CHECK(share_of(found.by_kind, "step") == within(1.5, 0.02));
  CHECK(share_of(found.by_kind, "forward") == within(2.0, 0.02));
  CHECK(share_of(found.by_kind, "backward") == within(2.5, 0.02));
  CHECK(path.waiting_s == 0);
}

TEST_CASE("explain: interference is a line of its own") {
  // Computing of 100 s and exchanges of 60 s, two iterations apart: 60 s of the exchange slow 40 s
  // of computing to 1 / 1.5 (row I1).
  const Program slowed = with_interference(pipelined(100, 60, 2), 1.5, 1);
  const Explanation found = explain(slowed, recorded(400, 200));
  CHECK(found.evaluator == Evaluator::events);
  CHECK(found.path.period_s == within(120.0, 1e-9));
  CHECK(share_of(found.attribution.by_kind, "interference") == within(20.0, 1e-9));
  CHECK(share_of(found.attribution.by_kind, "allreduce") == 0);
  CHECK(found.interference_s == within(20.0, 1e-9));
  CHECK(share_of(found.attribution.by_kind, "waiting") == 0);
  const Sensitivity speed = sensitivity_of(found, "compute_factor");
  CHECK(!speed.exact);
  CHECK(speed.right == within(100.0, 1e-4));
  check_sums(found);
}

TEST_CASE("explain: a period by events does not depend on the number of iterations (rows I3, I4)") {
  // The marker is the exchange: it is slowed by computing of the next iteration, which the last
  // iteration of a run does not have.
  const auto check = [](double compute, double exchange, double slowed, double stretched,
                        double expected) {
    const Program program = with_interference(pipelined(compute, exchange, 2), slowed, stretched);
    for (const std::int64_t iterations : {2, 10, 30, 100}) {
      CAPTURE(iterations);
      const Explanation found = explain(program, recorded(iterations, iterations / 2));
      CHECK(found.path.period_s == within(expected, 1e-9));
      CHECK(found.exposed_s == within(expected - compute, 1e-9));
      CHECK(period_s(program, recorded(iterations, 1).evaluation) == within(expected, 1e-9));
      check_sums(found);
    }
  };
  check(80, 50, 2.5, 1.2, 80 + 50 * 1.2 * (1 - 1 / 2.5));
  check(100, 60, 1.5, 1.25, 100 + 60 * 1.25 * (1 - 1 / 1.5));
  check(60, 100, 2, 1.5, 60 * 2 + (100 - 60 * 2 / 1.5));
}

TEST_CASE("explain: ranks that differ change over at exchanges") {
  // The slow rank binds: its computing and every exchange are the period.
  ProgramDraft draft;
  const auto step = draft.compute("S", draft.stream("compute"), Kind::step, Seconds{2});
  const auto exchange =
      draft.exchange("X", draft.stream("reduce"), Kind::allreduce, Seconds{1}, Seconds{3});
  draft.wait(exchange, step, 0);
  draft.wait(step, exchange, 1);
  draft.settings().ranks = 3;
  const Program program = draft.finish(step);
  ExplainOptions options = recorded(20, 10);
  for (int t = 0; t < 20; ++t) {
    options.evaluation.factors.compute.insert(options.evaluation.factors.compute.end(),
                                              {1, t % 2 == 0 ? 3.0 : 1.0, t % 2 == 0 ? 1.0 : 3.0});
  }
  const Explanation found = explain(program, options);
  CHECK(found.evaluator == Evaluator::max_plus);
  CHECK(share_of(found.attribution.by_kind, "step") == within(2 * 3.0, 1e-12));
  CHECK(share_of(found.attribution.by_link, "start-up") == within(1.0, 1e-12));
  CHECK(share_of(found.attribution.by_link, "bandwidth") == within(3.0, 1e-12));
  check_sums(found);
}

TEST_CASE("explain: shares add up to the period on random programs, exact and recorded") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 61, .point = seed});
    const Program program = random_program(random, seed % 2 == 0 ? 1 : 4);
    ExplainOptions options = recorded(60, 20);
    check_sums(explain(program, options));
    options.evaluation.factors = random_factors(random, program.ranks, 60);
    const Explanation varied = explain(program, options);
    check_sums(varied);
    CHECK(varied.path.waiting_s == plus_minus(0.0, 1e-9));
  }
}

TEST_CASE("explain: shares of programs with interference, priority and at_once add up") {
  int seen = 0;
  for (const stepsim::io::Json& instance : instances()) {
    const std::string& kind = instance.find("kind")->as_string();
    if (kind != "interference" && kind != "priority" && kind != "at_once") {
      continue;
    }
    CAPTURE(instance.find("id")->as_string());
    const Program program = program_of(*instance.find("program"));
    const Explanation found = explain(program, recorded(60, 20));
    check_sums(found);
    CHECK(found.path.waiting_s <= 1e-9 * found.path.period_s * found.path.iterations);
    ++seen;
  }
  CHECK(seen == 25 + 10 + 10);
}

TEST_CASE("explain: differences lie between or at the exact derivatives") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 62, .point = seed});
    Program program = random_program(random, 1);
    for (Operation& operation : program.operations) {
      operation.seconds += Seconds{1};
      operation.startup += Seconds{1};
    }
    ExplainOptions options;
    options.links = {.latency_s = 0.5, .seconds_per_byte = 0.125};
    const Explanation found = explain(program, options);
    for (const Parameter& parameter : parameters_of(program, options.links)) {
      const Sensitivity exact = sensitivity_of(found, parameter.name);
      const Sensitivity numeric = numeric_sensitivity(program, parameter, {}, found.path.period_s);
      CHECK(numeric.left == plus_minus(exact.left, 1e-5 * found.path.period_s));
      CHECK(numeric.right == plus_minus(exact.right, 1e-5 * found.path.period_s));
    }
  }
}
