// Runs whose schedules do more than decide what is merged: asc_wfbp, priority, dear, omgs, buckets
// that are sent at once; and runs whose workers differ.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/random.hpp"
#include "document/json_text.hpp"
#include "run/result_file.hpp"
#include "run/run_timeline.hpp"
#include "scenario/scenario_schedule.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

struct LayerText {
  double forward, backward;
  std::int64_t bytes;
};

std::string workload(const std::vector<LayerText>& layers) {
  std::string text = R"("workload": {"layers": [)";
  for (const LayerText& layer : layers) {
    text += std::string(text.back() == '[' ? "" : ",") + R"({"name": "l", "forward_s": )" +
            io::compact(io::Json(layer.forward)) + R"(, "backward_s": )" +
            io::compact(io::Json(layer.backward)) + R"(, "gradient_bytes": )" +
            std::to_string(layer.bytes) + "}";
  }
  return text + "]}";
}

// MER 14, G3 and F: 4 bytes a parameter would be too many here, so keys are given in bytes.
const std::vector<LayerText> kG3{{1, 2, 4}, {2, 2, 8}, {1, 2, 12}, {1, 2, 16}};
const std::vector<LayerText> kF{{1, 1, 16}, {1, 1, 2}, {1, 1, 4}, {1, 1, 8}};

std::string with_cost(const std::vector<LayerText>& layers, const std::string& cost,
                      const std::string& communication, const std::string& more = "") {
  return "{" + workload(layers) + R"(, "cluster": {"nodes": 4, "network": {"cost": )" + cost +
         R"(}}, "communication": )" + communication + more + "}";
}

std::string g3(const std::string& communication, const std::string& more = "") {
  return with_cost(kG3, R"({"startup_s": 0.5, "per_byte_s": 0.25})", communication, more);
}

double period_of(const std::string& text) { return *run_text(text).summary.iteration_time_s; }

// A ring of 4 with latency, bandwidth and reduction, 5 layers.
std::string on_ring(const std::string& communication, const std::string& more = "",
                    const std::string& method = "auto") {
  return R"({"method": ")" + method + R"(", )" +
         workload({{.004, .005, 3'000'000},
                   {.003, .006, 500'000},
                   {.002, .004, 0},
                   {.005, .007, 9'000'000},
                   {.001, .002, 40'000}}) +
         R"(, "training": {"update_s": 0.002}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-4,
            "bandwidth_Bps": 1e9, "reduction_Bps": 2e10}}, "communication": )" +
         communication + more + "}";
}

const std::array<std::string, 8> kSchedules{
    R"({"schedule": "wfbp", "concurrency": 2, "channel_shares": "by_size", "reduction_mode": "serial"})",
    R"({"schedule": "asc_wfbp", "reduction_mode": "serial"})",
    R"({"schedule": "priority", "partition_bytes": 700000, "credit_bytes": 1, "reduction_mode": "serial"})",
    R"({"schedule": "priority", "preset": "tictac", "reduction_mode": "serial"})",
    R"({"schedule": "dear", "bucket_bytes": 1000000, "reduction_mode": "serial"})",
    R"({"schedule": "dear", "dear_layers": 2, "prefetch": "one", "reduction_mode": "serial"})",
    R"({"schedule": "dear", "bucket_bytes": 1000000, "collective": "be"})",
    R"({"schedule": "asc_wfbp", "concurrency": 3, "contention": 0.2, "collective": "be"})"};

} // namespace

// Chunks overtake each other's start-up, so that it has to be that of the schedule that is run.
TEST_CASE("run: priority counts the start-ups of the ring that it runs, not of a printed form") {
  const std::string text =
      R"({"method": "max_plus", "workload": {"layers": [
      {"name": "a", "forward_s": 1e-4, "backward_s": 2e-4, "gradient_bytes": 40000000},
      {"name": "b", "forward_s": 1e-4, "backward_s": 2e-4, "gradient_bytes": 80000000}]},
      "cluster": {"nodes": 5, "network": {"latency_s": 5e-5, "bandwidth_Bps": 7.56e9}},
      "communication": {"schedule": "priority", "ring_startup": ")";
  const Summary printed = run_text(text + "2P" + R"("}})").summary;
  const Summary ring = run_text(text + "2(P-1)" + R"("}})").summary;
  CHECK(*printed.iteration_time_s == *ring.iteration_time_s);
  CHECK(*printed.iteration_time_s >= *printed.lower_bound_s);
}

TEST_CASE("run: priority sends chunks of the first layers first (MER G3)") {
  const Result result =
      run_text(g3(R"({"schedule": "priority", "partition_bytes": 6, "credit_bytes": 1})"));
  CHECK(*result.summary.iteration_time_s == 17);
  CHECK(*result.summary.exposed_communication_s == 17 - 8 - 5);
  REQUIRE(result.buckets.size() == 8); // in the order of their dispatch
  const double backward = result.layers[3].backward_start_s;
  const std::array<std::int64_t, 8> items{1, 2, 3, 4, 3, 2, 1, 1};
  const std::array<double, 8> starts{2, 4, 6, 8, 9.5, 10.5, 12.5, 14.5};
  for (std::size_t b = 0; b < 8; ++b) {
    CHECK(result.buckets[b].first == items[b]);
    CHECK(result.buckets[b].start_s == within(backward + starts[b], 1e-12));
    CHECK(result.buckets[b].index == static_cast<std::int64_t>(b));
  }
  CHECK(result.buckets[3].bytes.value == 4);
  CHECK(result.layers[3].gradient_done_s - result.layers[3].backward_end_s == 16 - 2);
  CHECK(period_of(g3(R"({"schedule": "priority", "partition_bytes": 6, "credit_bytes": 12})")) ==
        16);
  CHECK(period_of(g3(R"({"schedule": "priority", "preset": "tictac"})")) == 16);
  CHECK(period_of(
            g3(R"({"schedule": "priority", "preset": "tictac", "credit_bytes": 1000000000})")) ==
        17.5);
  CHECK(period_of(g3(R"({"schedule": "wfbp"})")) == 19);
}

TEST_CASE("run: dear puts all-gathers behind the next forward (MER G3)") {
  const Result all = run_text(g3(R"({"schedule": "dear", "bucket_bytes": 1})"));
  CHECK(*all.summary.iteration_time_s == 15.75);
  CHECK(all.buckets.size() == 4);
  const double backward = all.layers[3].backward_start_s;
  CHECK(all.buckets[3].start_s == within(backward + 8, 1e-12));
  CHECK(all.buckets[3].end_s == within(backward + 9.5, 1e-12));
  CHECK(period_of(g3(R"({"schedule": "dear", "bucket_bytes": 1, "prefetch": "one"})")) == 16);
  CHECK(period_of(g3(R"({"schedule": "dear", "dear_layers": 2})")) == 17.25);
  CHECK(period_of(g3(R"({"schedule": "dear"})")) == 23.5);
}

TEST_CASE("run: several all-reduces at once (MER F)") {
  const std::string cost = R"({"startup_s": 1, "per_byte_s": 0.25})";
  const Result result = run_text(with_cost(kF, cost, R"({"schedule": "asc_wfbp"})"));
  CHECK(*result.summary.iteration_time_s == within(4 + 9.25, 1e-9));
  REQUIRE(result.buckets.size() == 3);
  CHECK(result.buckets[1].first == 2);
  CHECK(result.buckets[1].last == 3);
  CHECK(*result.summary.merge_optimal_iteration_time_s == within(4 + 10.5, 1e-9));
  CHECK_FALSE(result.summary.merge_gap_to_optimal);
  CHECK(period_of(with_cost(kF, cost, R"({"schedule": "asc_wfbp", "concurrency": 1})")) ==
        within(4 + 10.5, 1e-9));
}

TEST_CASE("run: buckets of wfbp that are sent two at a time share the link") {
  // 8 s of data from 1 s on and 4 s from 3 s on: 2 s alone, then each at half the rate until the
  // second one ends at 3 + 2 * 4; of the first one 8 - 2 - 4 s are left, and it ends at 13.
  const std::vector<LayerText> layers{{1, 2, 4}, {1, 1, 8}};
  const std::string cost = R"({"startup_s": 0, "per_byte_s": 1})";
  const Result alone = run_text(with_cost(layers, cost, R"({"schedule": "wfbp"})"));
  const Result both =
      run_text(with_cost(layers, cost, R"({"schedule": "wfbp", "concurrency": 2})"));
  const auto end = [](const Result& result, std::size_t bucket) {
    return result.buckets[bucket].end_s - result.layers.back().backward_start_s;
  };
  CHECK(end(alone, 0) == within(9, 1e-12));
  CHECK(end(alone, 1) == within(13, 1e-12));
  CHECK(end(both, 0) == within(13, 1e-12));
  CHECK(end(both, 1) == within(11, 1e-12));
  CHECK(both.buckets[1].start_s == both.buckets[1].ready_s);
  CHECK(*both.summary.communication_s == within(12, 1e-12));
  CHECK_FALSE(both.summary.merge_gap_to_optimal);
  // A start-up of 1 s each is slowed by nobody: data of the first from 2 s on, of the second from
  // 4 s on until 4 + 2 * 4; the first has 8 - 2 - 4 s left and ends at 14, one start-up earlier
  // than one message after the other.
  const std::string startups = R"({"startup_s": 1, "per_byte_s": 1})";
  const Result late =
      run_text(with_cost(layers, startups, R"({"schedule": "wfbp", "concurrency": 2})"));
  CHECK(end(late, 0) == within(14, 1e-12));
  CHECK(end(late, 1) == within(12, 1e-12));
  CHECK(end(run_text(with_cost(layers, startups, R"({"schedule": "wfbp"})")), 1) ==
        within(15, 1e-12));
  // Nor is the time that every exchange has on top, whatever the data cost: 8 and 4 s by a table.
  const Result synced = run_text(with_cost(layers, R"({"table": [[4, 4], [8, 8]]})",
                                           R"({"schedule": "wfbp", "concurrency": 2})",
                                           R"(, "training": {"sync_s": 1})"));
  CHECK(end(synced, 0) == within(14, 1e-12));
  CHECK(end(synced, 1) == within(12, 1e-12));
  // By size the rates are 8 / 12 and 4 / 12 from 3 s on: the 6 s that are left of the first message
  // take 9 s, and the second one, of which 3 s are done by then, moves its last second alone.
  const Result by_size = run_text(with_cost(
      layers, cost, R"({"schedule": "wfbp", "concurrency": 2, "channel_shares": "by_size"})"));
  CHECK(end(by_size, 0) == within(12, 1e-12));
  CHECK(end(by_size, 1) == within(13, 1e-12));
  const events::Timeline drawn = timeline(both, {.nodes = {0}});
  std::vector<std::uint32_t> lanes;
  for (const events::Span& span : drawn.spans) {
    if (span.category == "communication") {
      lanes.push_back(span.track.lane);
    }
  }
  CHECK(std::ranges::count(lanes, lanes.front()) < std::ssize(lanes)); // they overlap
}

namespace {

struct Sent {
  double ready, startup, work; // seconds alone: its start-up, then what is shared
};

// Processor sharing by its definition: between two events messages behind their start-up each do
// their share of what one does alone, 1 of their number or `by_size` their work of that of all, and
// `places` messages are under way at most, in order.
std::vector<double> shared_ends(std::vector<Sent> sent, std::size_t places, bool by_size) {
  std::vector<double> ends(sent.size());
  std::vector<double> weight;
  for (const Sent& each : sent) {
    weight.push_back(by_size ? each.work : 1);
  }
  std::vector<std::size_t> under_way;
  std::size_t next = 0;
  double now = 0;
  while (next < sent.size() || !under_way.empty()) {
    while (next < sent.size() && under_way.size() < places && sent[next].ready <= now) {
      under_way.push_back(next++);
    }
    const auto starts = [&](std::size_t i) { return sent[i].startup > 0; };
    double all = 0;
    for (const std::size_t i : under_way) {
      all += starts(i) ? 0 : weight[i];
    }
    const bool waits = next < sent.size() && under_way.size() < places;
    double step = waits ? sent[next].ready - now : 1e300;
    for (const std::size_t i : under_way) {
      step = std::min(step, starts(i) ? sent[i].startup : sent[i].work * all / weight[i]);
    }
    now += step;
    for (const std::size_t i : under_way) {
      double& left = starts(i) ? sent[i].startup : sent[i].work;
      left -= &left == &sent[i].startup ? step : step * weight[i] / all;
      left = left < 1e-12 ? 0 : left;
      ends[i] = now;
    }
    std::erase_if(under_way, [&](std::size_t i) { return sent[i].startup + sent[i].work == 0; });
  }
  return ends;
}

} // namespace

TEST_CASE("run: messages at once end as by processor sharing, equal or by size, of any cost") {
  base::RandomStream random({.seed = 1964});
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<LayerText> layers;
    for (std::int64_t l = random.integer(1, 9); l > 0; --l) {
      layers.push_back({random.uniform(0, 3), random.uniform(0.01, 5), random.integer(1, 8)});
    }
    const bool table = trial % 2 == 0;
    std::vector<double> seconds{random.uniform(0.1, 3)}; // of a table, of 1 to 8 bytes
    std::string points = "[1, " + io::compact(io::Json(seconds[0])) + "]";
    for (int bytes = 2; bytes <= 8; ++bytes) {
      seconds.push_back(seconds.back() + random.uniform(0, 2));
      points += ", [" + std::to_string(bytes) + ", " + io::compact(io::Json(seconds.back())) + "]";
    }
    const double startup = random.uniform(0, 2);
    const double per_byte = random.uniform(0.01, 0.9);
    const std::string cost = table ? R"({"table": [)" + points + "]}"
                                   : R"({"startup_s": )" + io::compact(io::Json(startup)) +
                                         R"(, "per_byte_s": )" + io::compact(io::Json(per_byte)) +
                                         "}";
    const std::int64_t places = random.integer(2, 4);
    const bool by_size = random.integer(0, 1) == 0;
    const std::string text =
        with_cost(layers, cost,
                  R"({"schedule": "wfbp", "concurrency": )" + std::to_string(places) +
                      (by_size ? R"(, "channel_shares": "by_size"})" : "}"));
    CAPTURE(text);
    std::vector<Sent> sent;
    double ready = 0;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
      ready += layer->backward;
      const auto bytes = static_cast<double>(layer->bytes);
      const double alone = table ? seconds[static_cast<std::size_t>(layer->bytes) - 1] : 0;
      sent.push_back({ready, table ? 0 : startup, table ? alone : per_byte * bytes});
    }
    const auto ends = shared_ends(sent, static_cast<std::size_t>(places), by_size);
    const Result result = run_text(text);
    const double backward = result.layers.back().backward_start_s;
    REQUIRE(result.buckets.size() == sent.size());
    for (std::size_t b = 0; b < sent.size(); ++b) {
      CHECK(result.buckets[b].end_s == within(backward + ends[b], 1e-9));
    }
    if (table) { // all of a message is shared: the link is busy as long as with one at a time
      const Result alone = run_text(with_cost(layers, cost, R"({"schedule": "wfbp"})"));
      CHECK(*result.summary.communication_s == within(*alone.summary.communication_s, 1e-9));
      CHECK(*std::ranges::max_element(ends) ==
            within(alone.buckets.back().end_s - alone.layers.back().backward_start_s, 1e-9));
    }
  }
}

TEST_CASE("run: a concurrency of 1 changes no bit") {
  for (const char* schedule : {"wfbp", "ddp", "caps"}) {
    CAPTURE(schedule);
    const std::string key = std::string(R"({"schedule": ")") + schedule + "\"";
    CHECK(io::compact(result_tree(run_text(on_ring(key + R"(, "concurrency": 1})")))) ==
          io::compact(result_tree(run_text(on_ring(key + "}")))));
  }
}

TEST_CASE("run: where buckets cannot be sent at once") {
  const auto problem = [](const std::string& communication, const std::string& training = "") {
    const std::string asked = R"({"concurrency": 2, )" + communication + "}";
    return problem_of(training.empty() ? on_ring(asked)
                                       : g3(asked, R"(, "training": )" + training));
  };
  const std::string none = "test.json: /communication/concurrency: concurrency has no meaning for ";
  CHECK(problem(R"("schedule": "ddp")").empty());
  CHECK(problem(R"("schedule": "optimal")") == none + "schedule optimal");
  CHECK(problem(R"("schedule": "single")") == none + "schedule single");
  CHECK(
      problem_of(on_ring(R"({"schedule": "ddp", "channel_shares": "by_size"})")) ==
      "test.json: /communication/channel_shares: channel_shares has no meaning for one message at "
      "a time");
  CHECK(problem(R"("schedule": "wfbp", "collective": "mst", "exchange": "reduce_broadcast")") ==
        none + "exchange reduce_broadcast");
  CHECK(problem(R"("schedule": "wfbp", "collective": "parameter_server")") ==
        none + "collective parameter_server");
  CHECK(problem(R"("schedule": "wfbp")", R"({"algorithm": "od_sgd"})") == none + "od_sgd");
  CHECK(problem(R"("schedule": "ddp")", R"({"sharding": "zero1"})") == none + "sharding zero1");
  CHECK(problem(R"("schedule": "ddp")", R"({"overlap": {"exchange": 1.5}})")
            .ends_with("/training/overlap/exchange: is defined for fifo streams only"));
}

TEST_CASE("run: a bucket of dear ends with its all-gather, also in the next iteration") {
  for (const std::string prefetch : {"all", "one"}) {
    CAPTURE(prefetch);
    const Result result = run_text(
        g3(R"({"schedule": "dear", "bucket_bytes": 1, "prefetch": ")" + prefetch + R"("})"));
    double together = 0; // at least both halves of every bucket
    for (const Bucket& bucket : result.buckets) {
      together += bucket.end_s - bucket.start_s;
    }
    CHECK(together >= *result.summary.communication_s * (1 - 1e-12));
    for (const LayerResult& layer : result.layers) {
      CHECK(layer.gradient_done_s > layer.backward_end_s);
    }
  }
}

TEST_CASE("run: dear on a ring is its reduce-scatter and its all-gather") {
  // One group of n bytes: (P-1) alpha + (P-1)/P (beta + gamma) n, and the same without gamma.
  const Result result = run_text(on_ring(R"({"schedule": "dear", "reduction_mode": "serial"})"));
  REQUIRE(result.buckets.size() == 1);
  const double n = 12'540'000;
  const double first = 3 * 1e-4 + 0.75 * (1e-9 + 1 / 2e10) * n;
  const double second = 3 * 1e-4 + 0.75 * 1e-9 * n;
  CHECK(*result.summary.communication_s == within(first + second, 1e-12));
  CHECK(result.buckets[0].end_s ==
        within(result.layers.back().backward_start_s + 0.024 + first + second, 1e-12));
  CHECK(*result.summary.iteration_time_s ==
        within(period_of(on_ring(R"({"schedule": "single", "reduction_mode": "serial"})")), 1e-12));
}

TEST_CASE("run: the evaluators agree on every schedule, and with its plan, to 1e-9") {
  for (const std::string& communication : kSchedules) {
    CAPTURE(communication);
    const Result events = run_text(on_ring(communication, "", "events"));
    CHECK(events.method == "events");
    const Result planned = run_text(on_ring(communication, "", "closed_form"));
    CHECK(*planned.summary.iteration_time_s == within(*planned.summary.closed_form_s, 1e-12));
    CHECK(*planned.summary.iteration_time_s == within(*events.summary.iteration_time_s, 1e-9));
    CHECK(*run_text(on_ring(communication, "", "max_plus")).summary.iteration_time_s ==
          within(*events.summary.iteration_time_s, 1e-9));
  }
}

TEST_CASE("run: parts of these schedules add up, periods are equal, bounds hold") {
  base::RandomStream random({.seed = 71});
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<LayerText> layers;
    for (std::int64_t l = random.integer(1, 9); l > 0; --l) {
      layers.push_back({random.uniform(0, 3), random.uniform(0, 5),
                        random.integer(0, 1) * random.integer(1, 40)});
    }
    const std::array<std::string, 5> schedules{
        R"("wfbp", "concurrency": )" + std::to_string(random.integer(2, 4)),
        R"("asc_wfbp", "concurrency": )" + std::to_string(random.integer(1, 4)),
        R"("priority", "partition_bytes": )" + std::to_string(random.integer(1, 50)) +
            R"(, "credit_bytes": )" + std::to_string(random.integer(1, 50)),
        R"("dear", "bucket_bytes": )" + std::to_string(random.integer(1, 90)),
        R"("dear", "prefetch": "one", "dear_layers": )" + std::to_string(random.integer(1, 4))};
    const std::string text =
        with_cost(layers,
                  R"({"startup_s": )" + io::compact(io::Json(random.uniform(0, 2))) +
                      R"(, "per_byte_s": )" + io::compact(io::Json(random.uniform(0, 0.4))) + "}",
                  R"({"schedule": )" + schedules[static_cast<std::size_t>(trial) % 5] + "}",
                  R"(, "training": {"update_s": 0.5})");
    CAPTURE(text);
    const Result result = run_text(text);
    const Summary& summary = result.summary;
    CHECK(*summary.iteration_time_s ==
          within(*summary.compute_s + *summary.exposed_communication_s, 1e-12));
    CHECK(*summary.iteration_time_s >= *summary.lower_bound_s * (1 - 1e-9));
    const double rounding = 1e-12 * *summary.iteration_time_s;
    CHECK(*summary.exposed_communication_s <= *summary.communication_s + rounding);
    CHECK_FALSE(summary.merge_gap_to_optimal);
    double exposed = 0;
    for (const Bucket& bucket : result.buckets) {
      CHECK(bucket.start_s >= bucket.ready_s);
      CHECK(bucket.end_s >= bucket.start_s);
      exposed += bucket.exposed_s;
    }
    CHECK(exposed >= *summary.exposed_communication_s - rounding);
    CHECK(std::ranges::is_sorted(result.buckets, {}, &Bucket::start_s));
    for (const Iteration& iteration : result.iterations) {
      CHECK(iteration.iteration_time_s == within(*summary.iteration_time_s, 1e-12));
      CHECK(iteration.exchange_end_s >= iteration.exchange_start_s);
    }
    const io::Json tree = scenario_tree(*result.scenario);
    const Result again = run_text(io::pretty(tree));
    CHECK(*again.summary.iteration_time_s == *summary.iteration_time_s);
    CHECK(io::compact(scenario_tree(*again.scenario)) == io::compact(tree));
  }
}

TEST_CASE("run: exposed parts of buckets are those of the slowest worker, whatever its number") {
  for (const char* worker : {"0", "3"}) {
    const Result result = run_text(
        with_cost({{0.5, 1, 4}, {0.5, 1, 4}}, R"({"startup_s": 1, "per_byte_s": 0.25})",
                  R"({"schedule": "wfbp"})",
                  std::string(R"(, "variability": {"stragglers": [{"factor": 2, "worker": )") +
                      worker + "}]}"));
    CHECK(result.buckets[0].exposed_s == 0);
    CHECK(result.buckets[1].exposed_s == within(*result.summary.exposed_communication_s, 1e-12));
  }
}

TEST_CASE("run: computing waits once for messages of a bucket that are under way at once") {
  // Seven messages of one bucket, two at a time: the bucket is all that is waited for.
  const Result result = run_text(with_cost(
      {{0.01, 0.02, 4}}, R"({"startup_s": 1, "per_byte_s": 0.5})", R"({"schedule": "asc_wfbp"})",
      R"(, "training": {"micro_batches": 7, "accumulation_exchange": "each"})"));
  REQUIRE(result.buckets.size() == 1);
  CHECK(result.buckets.front().exposed_s == within(*result.summary.exposed_communication_s, 1e-12));
}

TEST_CASE("run: nothing waits for a gradient of 0 bytes") {
  // The first layer sends nothing: its forward starts with the end of backward, whatever the
  // channel does.
  for (const char* schedule : {"wfbp", "single", "mg_wfbp", "dear", "asc_wfbp", "priority"}) {
    CAPTURE(schedule);
    const Result result =
        run_text(with_cost({{4, 1, 0}, {1, 1, 8}}, R"({"startup_s": 1, "per_byte_s": 0.5})",
                           std::string(R"({"schedule": ")") + schedule + R"("})"));
    CHECK(result.layers[0].gradient_done_s == 0);
    CHECK(*result.summary.iteration_time_s == 2 + 4 + 1); // 5 s from 1 on, behind 1 + 4 of work
  }
}

TEST_CASE("run: presets count parameters of the workload's type") {
  const auto resolved = [](const std::string& dtype, const std::string& preset) {
    return scenario(
               R"({"workload": {"layers": [{"name": "l", "forward_s": 1, "backward_s": 1,
        "gradient_bytes": 8, "dtype": ")" +
               dtype +
               R"("}]}, "cluster": {"nodes": 2, "network": {"latency_s": 1, "bandwidth_Bps": 1000}},
        "communication": {"schedule": "priority", "preset": ")" +
               preset + R"("}})")
        .communication.schedule_options;
  };
  CHECK(resolved("float32", "bytescheduler").partition_bytes->value == 4'000'000);
  CHECK(resolved("float32", "bytescheduler").credit_bytes.value == 16'000'000);
  CHECK(resolved("float16", "p3").partition_bytes->value == 100'000);
  CHECK(resolved("float16", "p3").credit_bytes.value == 1);
  CHECK_FALSE(resolved("float32", "tictac").partition_bytes);
}

TEST_CASE("run: what these schedules cannot be combined with") {
  const auto problem = [](const std::string& communication, const std::string& more = "") {
    return problem_of(on_ring(communication, more));
  };
  CHECK(problem(R"({"schedule": "omgs"})") ==
        "test.json: /communication/schedule: schedule omgs needs a sparse compression");
  CHECK(problem(R"({"schedule": "priority", "collective": "auto"})") ==
        "test.json: /communication/schedule: schedule priority needs a linear cost (startup_s, "
        "per_byte_s)");
  CHECK(problem(R"({"schedule": "asc_wfbp", "copy_bandwidth_Bps": 1e9})") ==
        "test.json: /communication/schedule: schedule asc_wfbp needs a linear cost (startup_s, "
        "per_byte_s)");
  CHECK(problem(R"({"schedule": "priority", "copy_bandwidth_Bps": 1e9})").empty());
  CHECK(problem(R"({"schedule": "dear", "collective": "mst", "exchange": "reduce_broadcast"})") ==
        "test.json: /communication/exchange: reduce_broadcast is not defined for schedule dear");
  CHECK(problem(R"({"schedule": "dear", "prefetch": "one", "next_forward": "barrier"})") ==
        "test.json: /communication/prefetch: one needs next_forward per_layer");
  CHECK(problem(R"({"schedule": "priority", "partition_bytes": 1})") ==
        "test.json: /communication/partition_bytes: 1 cuts the gradients into 12540000 chunks; at "
        "most 1000000 are possible");
  CHECK(problem(R"({"schedule": "dear", "contention": 1})") ==
        "test.json: /communication/contention: contention has no meaning for schedule dear");
}

TEST_CASE("run: OMGS merges sparse layers, LAGS sends each, both as their recurrence says") {
  const std::string compression =
      R"("compression": {"method": "topk", "density": 0.01, "costs": {"select_s_per_element": 1e-9}})";
  const auto sparse = [&](const std::string& schedule) {
    std::string text = on_ring(R"({"schedule": ")" + schedule + R"(", )" + compression + "}");
    const std::string latency = "1e-4"; // start-ups of several layers
    return run_text(text.replace(text.find(latency), latency.size(), "2e-2"));
  };
  const Result omgs = sparse("omgs");
  const Result lags = sparse("wfbp");
  CHECK(lags.buckets.size() == 4);
  CHECK(omgs.buckets.size() < 4);
  for (const Result* result : {&omgs, &lags}) {
    double free = 0;
    for (const Bucket& bucket : result->buckets) {
      CHECK(bucket.start_s >= free * (1 - 1e-12));
      free = bucket.end_s;
    }
    // Everything is one stream of computing: 15 + 24 + 2 ms and selection of 3.135 M elements.
    CHECK(*result->summary.select_s == within(12'540'000 / 4 * 1e-9, 1e-9));
    CHECK(
        *result->summary.iteration_time_s ==
        within(0.041 + *result->summary.select_s + *result->summary.exposed_communication_s, 1e-9));
  }
}

TEST_CASE("run: a slow worker is waited for, not communicated with") {
  const std::string slow = R"(, "variability": {"stragglers": [{"worker": 2, "factor": 2}]})";
  const Result result = run_text(g3(R"({"schedule": "single"})", slow));
  const Summary& summary = result.summary;
  // 13 s of computing twice as slow, a message of 0.5 + 0.25 * 40 s.
  CHECK(*summary.iteration_time_s == 26 + 10.5);
  CHECK(*summary.compute_s == 26);
  CHECK(*summary.forward_s == 10);
  CHECK(*summary.exposed_communication_s == 10.5);
  CHECK(*summary.straggler_wait_s == within(13 * 3 / 4.0, 1e-12));
  CHECK(summary.bottleneck == "straggler");
  REQUIRE(result.workers.size() == 4);
  CHECK(result.workers[2].compute_s == 26);
  CHECK(result.workers[2].straggler_wait_s == 0);
  CHECK(result.workers[0].straggler_wait_s == 13);
  CHECK(result.workers[0].transfer_s == 10.5);
  REQUIRE(result.iterations.size() == 10);
  CHECK(result.iterations[1].start_s == 36.5);
  CHECK(result.iterations[1].exchange_start_s == 36.5 + 26);
  CHECK(*summary.makespan_s == 10 * 36.5);
  CHECK_FALSE(summary.iteration_time_low_s); // nothing is random
  CHECK_FALSE(summary.closed_form_s);
  // Other schedules: as if all were slow.
  const auto slowed = [&](std::vector<LayerText> layers, const std::string& communication) {
    for (LayerText& layer : layers) {
      layer.forward *= 2;
      layer.backward *= 2;
    }
    return period_of(with_cost(layers, R"({"startup_s": 0.5, "per_byte_s": 0.25})", communication));
  };
  for (const std::string communication :
       {R"({"schedule": "wfbp"})", R"({"schedule": "priority", "partition_bytes": 6})",
        R"({"schedule": "dear", "bucket_bytes": 1, "prefetch": "one"})"}) {
    CAPTURE(communication);
    CHECK(period_of(g3(communication, slow)) == within(slowed(kG3, communication), 1e-12));
  }
}

TEST_CASE("run: jitter leaves out the first iteration, and its mean is that of the others") {
  const std::string jitter =
      R"(, "seed": 5, "variability": {"compute_cv": 0.3, "exchange_cv": 0.2})";
  for (const std::string communication :
       {R"({"schedule": "wfbp"})", R"({"schedule": "priority", "partition_bytes": 6})",
        R"({"schedule": "dear", "bucket_bytes": 1})", R"({"schedule": "asc_wfbp"})"}) {
    CAPTURE(communication);
    const Result result = run_text(g3(communication, jitter));
    double mean = 0;
    for (std::size_t k = 1; k < 10; ++k) {
      mean += result.iterations[k].iteration_time_s / 9;
    }
    CHECK(*result.summary.iteration_time_s == within(mean, 1e-12));
    CHECK(result.iterations[1].iteration_time_s != result.iterations[2].iteration_time_s);
    CHECK(*result.summary.iteration_time_low_s <= mean);
    CHECK(*result.summary.iteration_time_high_s >= mean);
    CHECK(io::pretty(result_tree(result)) ==
          io::pretty(result_tree(run_text(g3(communication, jitter)))));
  }
  // The mean of the slowest of four workers is above that of one.
  CHECK(period_of(g3(R"({"schedule": "single"})", jitter)) >
        period_of(g3(R"({"schedule": "single"})")));
}

TEST_CASE("own schedules: caps [1, 25] are the buckets of PyTorch, one large cap is one message") {
  const auto run_with = [](const std::string& communication) {
    return run_text(R"({"workload": {"trace": "traces/resnet50.ddp.2xa100.json"}, "cluster": )"
                    R"({"nodes": 8, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}}, )"
                    R"("communication": {"collective": "ring", )" +
                    communication + "}}");
  };
  const Result ddp = run_with(R"("schedule": "ddp")");
  const Result caps = run_with(R"("schedule": {"name": "mine", "caps": [1, 25]})");
  CHECK(schedule_name(caps.scenario->communication) == "mine");
  CHECK(caps.summary.iteration_time_s == ddp.summary.iteration_time_s);
  CHECK(caps.buckets.size() == ddp.buckets.size());
  const Result single = run_with(R"("schedule": "single")");
  CHECK(run_with(R"("schedule": {"caps": [1e6]})").summary.iteration_time_s ==
        single.summary.iteration_time_s);
  // Keys next to the schedule are the same, and what a run resolves runs again.
  const io::Json resolved = scenario_tree(*caps.scenario);
  CHECK(io::resolve(resolved, "/communication/schedule")->as_string() == "caps");
  CHECK(run(parse_scenario(resolved, shipped_files())).summary.iteration_time_s ==
        caps.summary.iteration_time_s);
}

TEST_CASE("own schedules: groups of layers, by place or name, are the messages") {
  const auto period = [](const std::string& schedule) {
    return period_of(g3(R"({"schedule": )" + schedule + "}"));
  };
  CHECK(period(R"({"groups": [[3], [2], [1], [0]]})") == period(R"("wfbp")"));
  CHECK(period(R"({"groups": [[0, 1, 2, 3]]})") == period(R"("single")"));
  // Forward takes 5: layers 3 and 2 are ready at 9, 1 and 0 at 13. T(x) = 0.5 + x / 4.
  const Result two = run_text(g3(R"({"schedule": {"groups": [[2, 3], [1, 0]]}})"));
  REQUIRE(two.buckets.size() == 2);
  CHECK(two.buckets[0].ready_s == 9);
  CHECK(two.buckets[0].end_s == 9 + 0.5 + 28 * 0.25);
  CHECK(two.buckets[1].end_s == 16.5 + 0.5 + 12 * 0.25);
  // Sent in the order of the lists: nothing before the first list is ready.
  const Result late =
      run_text(g3(R"({"schedule": {"groups": [[1, 0], [2, 3]]}, "next_forward": "barrier"})"));
  CHECK(late.buckets[0].ready_s == 13);
  CHECK(late.buckets[1].ready_s == 13);
  const Scenario nothing = scenario( // no gradient: no groups, and none in what is written
      R"({"workload": {"layers": [{"name": "l", "forward_s": 1, "backward_s": 1, "gradient_bytes": 0}]}, )"
      R"("cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}}, )"
      R"("communication": {"schedule": "groups"}})");
  CHECK(io::resolve(scenario_tree(nothing), "/communication/groups") == nullptr);
  const Scenario named = scenario(
      R"({"workload": {"model": "alexnet", "gpu": "h100", "batch_size": 8, "accept_estimate": true}, )"
      R"("cluster": {"nodes": 4, )"
      R"("network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}}, "communication": {"schedule": )"
      R"({"groups": [["fc8", "fc7", "fc6"], ["conv5", "conv4", "conv3", "conv2", "conv1"]]}}})");
  CHECK(run(named).buckets.size() == 2);
}

TEST_CASE("own schedules: what is wrong is named") {
  const auto problem = [](const std::string& schedule) {
    return problem_of(g3(R"({"schedule": )" + schedule + "}"));
  };
  CHECK(problem(R"({"groups": [[3, 2], [1]]})").find("layer 0 (l) is in no group") !=
        std::string::npos);
  CHECK(problem(R"({"groups": [[3, 2], [2, 1, 0]]})").find("layer 2 (l) is in two groups") !=
        std::string::npos);
  CHECK(problem(R"({"groups": [[3, 2, 1, 4], [0]]})").find("[0, 3]") != std::string::npos);
  CHECK(problem(R"({"groups": [["l"], [0]]})").find("several layers are called l") !=
        std::string::npos);
  CHECK(problem(R"({"groups": [["x"], [0]]})").find("no layer is called x") != std::string::npos);
  CHECK(problem(R"({"groups": [3]})").find("must be a list") != std::string::npos);
  CHECK(problem(R"({"caps": [0]})").find("> 0") != std::string::npos);
  CHECK(problem(R"({"caps": []})").find("at least one") != std::string::npos);
  CHECK(problem(R"("groups")").find("/communication/groups: layer 0") != std::string::npos);
  CHECK(problem(R"({"caps": [1], "groups": [[0]]})").find("exactly one of caps and groups") !=
        std::string::npos);
  CHECK(problem(R"({"name": "mine"})").find("exactly one of caps and groups") != std::string::npos);
  CHECK(problem(R"({"caps": [1], "size": 3})").find("exactly one of caps and groups") !=
        std::string::npos);
}
