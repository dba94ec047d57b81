// The instances of kind `builder` of program_instances.json: number of operations, ends of the
// marker, period and exposed communication of what every builder makes.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "programs/builders/fsdp_program.hpp"
#include "programs/builders/local_sgd_program.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/instances.hpp"
#include "programs/layers_g3.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::io::Json;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

Seconds seconds_of(const Json& input, const char* key) { return {number_or(input, key, 0)}; }
std::uint32_t count_of(const Json& input, const char* key) {
  return static_cast<std::uint32_t>(number_or(input, key, 1));
}
bool flag_of(const Json& input, const char* key) {
  const Json* found = input.find(key);
  return found != nullptr && found->as_bool();
}
std::optional<std::uint32_t> limit_of(const Json& input, const char* key) {
  const Json* found = input.find(key);
  return found->is_null() ? std::nullopt
                          : std::optional(static_cast<std::uint32_t>(found->as_integer()));
}
ExchangeTime exchange_of(double seconds) { return {.startup = {}, .data = {seconds}}; }

std::vector<LayerTimes> layers_of(const Json& input) {
  const std::vector<double> forward = numbers(*input.find("f"));
  const std::vector<double> backward = numbers(*input.find("b"));
  const Json* bytes = input.find("bytes_");
  std::vector<LayerTimes> layers;
  for (std::size_t l = 0; l < forward.size(); ++l) {
    layers.push_back({.forward = {forward[l]},
                      .backward = {backward[l]},
                      .bytes = bytes != nullptr ? bytes->as_array()[l].as_double() : 0});
  }
  return layers;
}

std::vector<std::vector<std::uint32_t>> sets_of(const Json& list) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (const Json& set : list.as_array()) {
    sets.emplace_back();
    for (const Json& layer : set.as_array()) {
      sets.back().push_back(static_cast<std::uint32_t>(layer.as_integer()));
    }
  }
  return sets;
}

std::vector<BucketTimes> buckets_of(const Json& input, const char* reduce, const char* gather) {
  const std::vector<double> first = numbers(*input.find(reduce));
  const std::vector<double> second = gather != nullptr ? numbers(*input.find(gather)) : first;
  const std::vector<std::vector<std::uint32_t>> sets = sets_of(*input.find("groups"));
  std::vector<BucketTimes> buckets;
  for (std::size_t g = 0; g < sets.size(); ++g) {
    buckets.push_back(
        {.layers = sets[g], .reduce = exchange_of(first[g]), .gather = exchange_of(second[g])});
  }
  return buckets;
}

Program sync_of(const Json& input) {
  const bool barrier = text_or(input, "next_forward", "per_layer") == "barrier";
  return sync_sgd_program(layers_of(input), buckets_of(input, "seconds", nullptr),
                          {.update = seconds_of(input, "update"),
                           .next_forward = barrier ? NextForward::barrier : NextForward::per_layer,
                           .micro_batches = count_of(input, "micro"),
                           .exchange_each = flag_of(input, "exchange_each")});
}

Program dear_of(const Json& input) {
  const bool one = input.find("prefetch")->as_string() == "one";
  return dear_program(layers_of(input), buckets_of(input, "rs", "ag"),
                      {.update = seconds_of(input, "update"),
                       .prefetch = one ? GatherPrefetch::one : GatherPrefetch::all});
}

Program zero_of(const Json& input) {
  const bool barrier = input.find("gather")->as_string() == "barrier";
  return zero_program(layers_of(input), buckets_of(input, "rs", "ag"),
                      {.stage = count_of(input, "stage"),
                       .micro_batches = count_of(input, "micro"),
                       .update = seconds_of(input, "update"),
                       .shards = input.find("N")->as_double(),
                       .gather = barrier ? NextForward::barrier : NextForward::per_layer});
}

Program fsdp_of(const Json& input, bool hybrid) {
  std::vector<UnitTimes> units;
  for (const Json& unit : input.find("units")->as_array()) {
    units.push_back({.forward = seconds_of(unit, "f"),
                     .backward = seconds_of(unit, "b"),
                     .gather = exchange_of(number_or(unit, "A", 0)),
                     .reduce = exchange_of(number_or(unit, "R", 0)),
                     .replicate = exchange_of(number_or(unit, "X", 0))});
  }
  const std::map<std::string, BackwardPrefetch> prefetch{{"pre", BackwardPrefetch::pre},
                                                         {"post", BackwardPrefetch::post},
                                                         {"none", BackwardPrefetch::none}};
  return fsdp_program(units, {.micro_batches = count_of(input, "micro"),
                              .update = seconds_of(input, "update"),
                              .shards = count_of(input, "N"),
                              .reshard_after_forward = flag_of(input, "reshard"),
                              .reshard_after_backward = flag_of(input, "reshard_after_backward"),
                              .keep_last = flag_of(input, "keep_last"),
                              .ahead_forward = limit_of(input, "ahead_forward"),
                              .ahead_backward = limit_of(input, "ahead_backward"),
                              .prefetch = prefetch.at(input.find("backward_prefetch")->as_string()),
                              .reduces_in_flight = limit_of(input, "reduces_in_flight"),
                              .communicators = count_of(input, "channels"),
                              .exchange_each = flag_of(input, "exchange_each"),
                              .hybrid = hybrid});
}

Program pipe_of(const Json& input) {
  std::vector<std::pair<double, double>> pieces;
  for (const Json& piece : input.find("pieces")->as_array()) {
    pieces.emplace_back(piece.as_array()[0].as_double(), piece.as_array()[1].as_double());
  }
  return pipeline(number_or(input, "before", 0), pieces,
                  static_cast<std::int32_t>(count_of(input, "K")));
}

RoundOptions rounds_of(const Json& input) {
  return {.local_steps = count_of(input, "H"),
          .overlap_steps = static_cast<std::uint32_t>(number_or(input, "tau", 0))};
}

Program streaming_of(const Json& input) {
  const std::vector<double> exchange = numbers(*input.find("exch"));
  const std::vector<double> merge = numbers(*input.find("outer"));
  std::vector<FragmentTimes> fragments;
  for (std::size_t p = 0; p < exchange.size(); ++p) {
    fragments.push_back({.exchange = exchange_of(exchange[p]), .merge = {merge[p]}});
  }
  return local_sgd_program(seconds_of(input, "step"), fragments, rounds_of(input));
}

Program layers_gated_of(const Json& input) {
  const std::vector<LayerTimes> layers = layers_of(input);
  const FragmentTimes message{.exchange = exchange_of(number_or(input, "T", 0)), .merge = {}};
  return layered_round_program({.layers = layers,
                                .fragments = sets_of(*input.find("frags")),
                                .gate = OuterGate::layer,
                                .outer = std::vector<FragmentTimes>(layers.size(), message)},
                               rounds_of(input));
}

Program hierarchical_of(const Json& input) {
  return layered_round_program(
      {.layers = layers_of(input),
       .fragments = {{}},
       .outer = {{.exchange = exchange_of(number_or(input, "outer_exchange", 0)),
                  .merge = seconds_of(input, "outer")}},
       .buckets = buckets_of(input, "inner", nullptr)},
      rounds_of(input));
}

Program built(const std::string& builder, const Json& input) {
  if (builder == "dear") {
    return dear_of(input);
  }
  if (builder == "zero") {
    return zero_of(input);
  }
  if (builder == "fsdp" || builder == "hsdp") {
    return fsdp_of(input, builder == "hsdp");
  }
  if (builder == "pipe_sgd") {
    return pipe_of(input);
  }
  if (builder == "streaming") {
    return streaming_of(input);
  }
  if (builder == "streaming_layers") {
    return layers_gated_of(input);
  }
  if (builder == "hierarchical") {
    return hierarchical_of(input);
  }
  REQUIRE((builder == "sync" || builder == "accumulate"));
  return sync_of(input);
}

} // namespace

TEST_CASE("instances: operations, ends, period and exposed of what the builders make") {
  int seen = 0;
  for (const Json& instance : instances()) {
    if (instance.find("kind")->as_string() != "builder") {
      continue;
    }
    ++seen;
    CAPTURE(instance.find("id")->as_string());
    CAPTURE(instance.find("builder")->as_string());
    const Json& expect = *instance.find("expect");
    const Program program = built(instance.find("builder")->as_string(), *instance.find("input"));
    // The reference has no forward of layers in a pipeline.
    std::int64_t operations = 0;
    for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
      const bool left_out = instance.find("builder")->as_string() == "pipe_sgd" &&
                            program.operations[o].kind == Kind::forward;
      operations += left_out ? 0 : 1;
    }
    CHECK(operations == expect.find("operations")->as_integer());
    CHECK(program.steps == instance.find("steps")->as_integer());
    const PeriodAndExposed found = figures(program);
    CHECK(found.period == within(expect.find("period_s")->as_double(), 1e-9));
    CHECK(found.exposed == plus_minus(expect.find("exposed_s")->as_double(), 1e-9));
    const std::vector<double> ends = numbers(*expect.find("marker_end_s"));
    const OperationTimes times = recurrence(program, static_cast<std::int64_t>(ends.size()));
    for (std::size_t t = 0; t < ends.size(); ++t) {
      CHECK(times.marker_end[t] == within(ends[t], 1e-9));
    }
  }
  CHECK(seen == 50);
}
