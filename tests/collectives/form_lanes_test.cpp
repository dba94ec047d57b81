// Forms on many networks side by side against the form of each network, bit for bit.
#include "collectives/formula/prepared_form.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "collectives/method.hpp"
#include "collectives/point.hpp"

using namespace stepsim::collectives;
using Id = AlgorithmId;
using Lanes = FormLanes::Lanes;

namespace {

using LaneSource = std::mt19937_64;

double any_real(LaneSource& random, double low, double high) {
  return std::uniform_real_distribution(low, high)(random);
}
std::int64_t any_whole(LaneSource& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution(low, high)(random);
}

// Any network, from one without latency to one on which a byte costs nothing.
Collective any_network(LaneSource& random, Id id) {
  const auto ranks = static_cast<std::uint32_t>(any_whole(random, 0, 1) == 0
                                                    ? any_whole(random, 2, 12)
                                                    : std::int64_t{1} << any_whole(random, 1, 12));
  const double beta = any_whole(random, 0, 9) == 0 ? 0 : std::pow(10, any_real(random, -12, -8));
  const double alpha = any_whole(random, 0, 9) == 0 ? 0 : std::pow(10, any_real(random, -8, -3));
  Collective c =
      test::point(Op::allreduce, id, ranks, 1, {.alpha = alpha, .beta = beta, .gamma = 0});
  c.options.chunking = Chunking::real;
  c.reduction_s_per_byte = any_whole(random, 0, 1) == 0 ? 0 : beta * any_real(random, 0, 1);
  c.links.all.block_latency_s *= any_whole(random, 0, 1) == 0 ? any_real(random, 0, 1) : 1;
  return c;
}

} // namespace

TEST_CASE("form lanes: every lane has the form of its network") {
  const unsigned seed = 1;
  CAPTURE(seed);
  LaneSource random(seed);
  for (const Id id : {Id::lp, Id::double_binary_tree, Id::automatic, Id::ring}) {
    CAPTURE(name(id));
    for (int trial = 0; trial < 20; ++trial) {
      FormLanes lanes;
      std::vector<std::optional<PreparedForm>> forms(FormLanes::kLanes);
      std::size_t first = FormLanes::kLanes;
      for (std::size_t k = 0; k < forms.size(); ++k) {
        forms[k] = prepare(any_network(random, id));
        if (forms[k] && lanes.set(k, *forms[k])) {
          first = std::min(first, k);
        } else {
          forms[k].reset();
        }
      }
      REQUIRE(first < forms.size());
      for (std::size_t k = 0; k < forms.size(); ++k) {
        if (!forms[k]) {
          forms[k] = forms[first];
        }
      }
      Lanes seconds;
      Lanes candidate;
      Lanes bound;
      for (int size = 0; size < 30; ++size) {
        const double bytes = std::round(std::pow(10, any_real(random, 0, 10)));
        CAPTURE(bytes);
        lanes.at(bytes, seconds, candidate, bound);
        for (std::size_t k = 0; k < forms.size(); ++k) {
          CAPTURE(k);
          const PreparedForm::Answer answer = forms[k]->at(bytes);
          CHECK(seconds[k] == answer.form.seconds);
          CHECK(lanes.algorithm(static_cast<std::size_t>(candidate[k])) == answer.algorithm);
          CHECK((bound[k] > 0) == answer.form.upper_bound);
        }
      }
    }
  }
}

TEST_CASE("form lanes: forms with a given block size, or of another algorithm, are refused") {
  LaneSource random(1);
  FormLanes lanes;
  Collective c = any_network(random, Id::lp);
  c.links.all.per_byte_s = 1e-9;
  c.reduction_s_per_byte = 0;
  REQUIRE(prepare(c));
  CHECK(lanes.set(0, *prepare(c)));
  Collective other = c;
  other.options.block = stepsim::Bytes{4096};
  CHECK_FALSE(lanes.set(1, *prepare(other)));
  other = c;
  other.algorithm = Id::double_binary_tree;
  CHECK_FALSE(lanes.set(1, *prepare(other)));
  CHECK(lanes.set(1, *prepare(c)));
}
