#include "calibrate/mpi/link_estimate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::mpi;
using testing::within;

namespace {

constexpr double kAlpha = 24e-6;
constexpr double kGap = 7e-6; // of small messages back to back
constexpr double kBeta = 4.187e-8;
constexpr double kBlock = 32768;

// Small messages pass at eight times the rate, as through a token bucket.
double small_and_large(double n, double factor) {
  return kAlpha + factor * kBeta * (n <= 4096 ? n / 8 : n);
}

std::vector<stepsim::io::Sample> samples(double factor) {
  std::vector<stepsim::io::Sample> list;
  for (const double n : {4.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 8388608.0}) {
    for (const std::int64_t pass : {0, 1, 2}) {
      list.push_back({n, small_and_large(n, factor), pass});
    }
  }
  return list;
}

ProbeTimes probes(double exchange, double shift) {
  ProbeTimes times;
  times.pingpong = samples(1);
  times.exchange = samples(exchange);
  times.shift = samples(shift);
  for (const double n : {65536.0, 1048576.0, 8388608.0}) {
    times.reduce.push_back({n, 2e-10 * n, 0});
  }
  times.block_bytes = kBlock;
  const double tau = kBlock * kBeta + 5e-6;
  times.short_stream_s = kAlpha + kShortStream * tau;
  times.long_stream_s = kAlpha + kLongStream * tau;
  times.short_small_s = kAlpha + kShortStream * (kGap + 4 * kBeta);
  times.long_small_s = kAlpha + kLongStream * (kGap + 4 * kBeta);
  return times;
}

} // namespace

TEST_CASE("link estimate: slopes come from large messages, the latency from the smallest") {
  const LinkEstimate link = estimate_link(probes(1.05, 1.1));
  CHECK(link.beta == within(kBeta, 1e-9));
  CHECK(link.duplex_exchange == within(1.05, 1e-9));
  CHECK(link.duplex_shift == within(1.1, 1e-9));
  CHECK(link.gamma == within(2e-10, 1e-9));
  CHECK(link.alpha == within(kAlpha + 4 * kBeta / 8 - 4 * kBeta, 1e-9));
  CHECK(link.block_latency_s == within(5e-6, 1e-9));
  CHECK_FALSE(link.host_bound());
}

// A ping-pong gives latency and delay together, a stream of small messages the latency alone.
TEST_CASE("link estimate: what a stream does not wait for is delay") {
  const LinkEstimate link = estimate_link(probes(1, 1));
  CHECK(link.latency_s() == within(kGap, 1e-9));
  CHECK(link.latency_s() + link.delay_s == within(link.alpha, 1e-12));
  ProbeTimes busy = probes(1, 1); // a message holds the ports for longer than a round trip says
  busy.long_small_s = busy.short_small_s + (kLongStream - kShortStream) * 2 * kAlpha;
  CHECK(estimate_link(busy).delay_s == 0);
  ProbeTimes noise = probes(1, 1);
  noise.long_small_s = noise.short_small_s;
  CHECK(estimate_link(noise).delay_s == 0);
  CHECK(estimate_link(noise).warnings.size() == 1);
  ProbeTimes quick = probes(1, 1); // less than a block of a stream
  quick.long_small_s = quick.short_small_s + (kLongStream - kShortStream) * 8e-9;
  CHECK(estimate_link(quick).latency_s() == within(link.block_latency_s, 1e-9));
}

TEST_CASE("link estimate: above 1.3 both ways at once, the host is the limit") {
  CHECK(estimate_link(probes(1.31, 1)).host_bound());
  CHECK(estimate_link(probes(1, 1.31)).host_bound());
  CHECK_FALSE(estimate_link(probes(1.29, 1.29)).host_bound());
}

TEST_CASE("link estimate: times that do not grow are refused") {
  ProbeTimes flat = probes(1, 1);
  for (stepsim::io::Sample& sample : flat.pingpong) {
    sample.time_s = sample.bytes < 1e6 ? 2.0 : 1.0;
  }
  CHECK_THROWS_WITH_AS((void)estimate_link(flat),
                       "pingpong: time does not grow with size; bandwidth not identifiable",
                       SimulationError);
}

TEST_CASE("link estimate: a stream that noise hides takes its time from the bandwidth") {
  ProbeTimes times = probes(1, 1);
  times.long_stream_s = times.short_stream_s;
  const LinkEstimate link = estimate_link(times);
  CHECK(link.block_latency_s == 0);
  CHECK(link.warnings.size() == 1);
  CHECK(estimate_link(probes(1, 1)).warnings.empty());
}

TEST_CASE("link estimate: the calibration file is one that scenarios take") {
  const ProbeTimes times = probes(1.05, 1.1);
  const LinkEstimate link = estimate_link(times);
  const std::uint32_t ranks = 4;
  const io::Json tree =
      calibration_of(times, link, ranks, {}, {"bed", "test 1", "2026-01-31", io::Object{}, {}});
  const links::NetworkProfile profile =
      io::parse_profile(io::parse_json(io::pretty(tree), "bed.calibration.json"));
  REQUIRE(profile.latency_s);
  CHECK(*profile.latency_s == within(link.latency_s(), 1e-9));
  CHECK(profile.delay_s == within(link.delay_s, 1e-9));
  CHECK(*profile.bandwidth_Bps == within(1 / kBeta, 1e-9));
  CHECK(*profile.reduction_Bps == within(1 / 2e-10, 1e-9));
  for (const Kind& kind : kinds()) {
    if (kind.op != collectives::Op::allreduce || kind.sparse) {
      continue;
    }
    CAPTURE(name(kind));
    const auto curve = std::ranges::find_if(profile.collectives, [&](const auto& each) {
      return each.op == "allreduce" && each.algorithm == algorithm_name(kind);
    });
    REQUIRE(curve != profile.collectives.end());
    CHECK(curve->ranks == ranks);
    for (const std::int64_t bytes : {32, 1024, 4096, 262144, 1048576, 8388608}) {
      const double predicted = predict(kind, ranks, bytes, {}, predictor_of(tree));
      const double used = links::curve_seconds(curve->segments, static_cast<double>(bytes));
      CHECK(used == within(predicted, 1e-12));
    }
  }
}
