// What the reference evaluator says about every instance of program_instances.json.
#include "program/instances.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "program/operation_times.hpp"
#include "program/program_check.hpp"
#include "program/rank_vectors.hpp"
#include "program/recurrence.hpp"
#include "program/steady_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::program;
using stepsim::io::Json;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Calls `visit` with every instance of the kind, its program and what it expects.
template <class Visit> void each_instance(const std::string& kind, int count, Visit visit) {
  int seen = 0;
  for (const Json& instance : instances()) {
    if (instance.find("kind")->as_string() == kind) {
      CAPTURE(instance.find("id")->as_string());
      const Program program = program_of(*instance.find("program"));
      REQUIRE(problems_of(program, "instance").empty());
      visit(instance, program, *instance.find("expect"));
      ++seen;
    }
  }
  CHECK(seen == count);
}

void check_ends(const OperationTimes& times, const Json& expect) {
  const std::vector<double> ends = numbers(*expect.find("marker_end_s"));
  REQUIRE(times.marker_end.size() == ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    CHECK(times.marker_end[i] == within(ends[i], 1e-9));
  }
}

} // namespace

TEST_CASE("instances: fifo programs of equal ranks: ends, period, exposed, both derivatives") {
  each_instance("fifo", 60, [](const Json& instance, const Program& program, const Json& expect) {
    check_ends(recurrence(program, instance.find("iterations")->as_integer()), expect);
    const SteadyState state = steady_state(program);
    CHECK(state.period.value == within(expect.find("period_s")->as_double(), 1e-9));
    CHECK(exposed_communication(program).value ==
          plus_minus(expect.find("exposed_s")->as_double(), 1e-9));
    std::vector<double> slopes;
    for (const Operation& operation : program.operations) {
      slopes.push_back(operation.data.value > 0 ? 1 : 0);
    }
    const Derivative found = derivative(state, slopes);
    const std::vector<double> both = numbers(*expect.find("d_period_d_exchange_seconds"));
    CHECK(found.left == plus_minus(both[0], 1e-5)); // the file rounds to 5 digits
    CHECK(found.right == plus_minus(both[1], 1e-5));
  });
}

TEST_CASE("instances: ranks with factors of their own") {
  each_instance("ranks", 30, [](const Json& instance, const Program& program, const Json& expect) {
    check_ends(
        rank_vectors(program, instance.find("iterations")->as_integer(), factors_of(instance)),
        expect);
  });
}

TEST_CASE("instances: ranks that enter rings one by one") {
  each_instance("entry_each", 15,
                [](const Json& instance, const Program& program, const Json& expect) {
                  check_ends(rank_vectors(program, instance.find("iterations")->as_integer(),
                                          factors_of(instance), ring_of_equal_steps),
                             expect);
                });
}
