#include "programs/job/network_job_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/event_pass.hpp"
#include "programs/factors.hpp"
#include "programs/network_job_scenes.hpp"
#include "programs/program_draft.hpp"

using stepsim::base::RandomStream;

namespace stepsim::programs {

namespace {

using programs::Kind;
using programs::Operation;
using programs::OperationType;
using programs::Program;
using programs::ProgramDraft;

constexpr double kExact = 1e-9;
constexpr double kLatency = 2e-5;

collectives::Collective
collective_of(collectives::Op op, std::int64_t bytes,
              collectives::AlgorithmId algorithm = collectives::AlgorithmId::ring) {
  collectives::Collective collective;
  collective.op = op;
  collective.algorithm = algorithm;
  collective.bytes = static_cast<double>(bytes);
  return collective;
}

collectives::Op op_of(Kind kind) {
  return kind == Kind::allgather        ? collectives::Op::allgather
         : kind == Kind::reduce_scatter ? collectives::Op::reduce_scatter
                                        : collectives::Op::allreduce;
}

// Every exchange of the program sends bytes[unit]; ranks are on hosts 0, 1, ..
NetworkJob job_of_program(Program program, std::uint32_t ranks,
                          const std::vector<std::int64_t>& bytes, std::int64_t iterations,
                          collectives::AlgorithmId algorithm = collectives::AlgorithmId::ring) {
  NetworkJob job;
  job.workers = ranks;
  job.iterations = iterations;
  job.hosts.resize(ranks);
  std::iota(job.hosts.begin(), job.hosts.end(), 0U);
  job.pieces.resize(bytes.size());
  JobProgram& spec = job.program.emplace();
  program.ranks = ranks;
  spec.program = std::move(program);
  for (const Operation& operation : spec.program.operations) {
    const auto unit = static_cast<std::size_t>(std::max(operation.unit, 0));
    const bool sent = operation.type == OperationType::exchange && bytes[unit] > 0 && ranks > 1;
    spec.exchange_of.push_back(sent ? static_cast<std::uint32_t>(spec.exchanges.size())
                                    : JobProgram::kNotSent);
    if (sent) {
      spec.exchanges.push_back({{collective_of(op_of(operation.kind), bytes[unit], algorithm)}});
    }
  }
  return job;
}

double end_of(const JobResult& run, std::int64_t iteration, std::uint32_t operation) {
  const std::size_t at = run.times.at(iteration, operation, 0);
  return *std::max_element(run.times.end.begin() + static_cast<std::ptrdiff_t>(at),
                           run.times.end.begin() + static_cast<std::ptrdiff_t>(at) +
                               run.times.ranks);
}

// One exchange of `bytes` on each of the streams, all from time 0.
Program parallel_exchanges(std::size_t streams, Kind kind = Kind::allgather) {
  ProgramDraft draft;
  std::uint32_t last = 0;
  for (std::size_t s = 0; s < streams; ++s) {
    const std::uint32_t stream = draft.stream("s" + std::to_string(s));
    last = draft.exchange("X" + std::to_string(s), stream, kind, {0}, {0});
    draft.last().unit = 0;
  }
  return draft.finish(last);
}

} // namespace

TEST_CASE("synchronous programs on a crossbar: the times of the rings' formulas") {
  RandomStream random({.seed = 81});
  for (int instance = 0; instance < 80; ++instance) {
    CAPTURE(instance);
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 6));
    const auto layers = static_cast<std::size_t>(random.integer(1, 7));
    std::vector<double> forward, backward;
    std::vector<std::int64_t> bytes;
    for (std::size_t l = 0; l < layers; ++l) {
      forward.push_back(random.uniform(1e-5, 1e-3));
      backward.push_back(random.uniform(1e-5, 2e-3));
      bytes.push_back(random.integer(0, 3) == 0 ? 0 : 4 * ranks * random.integer(1, 100'000));
    }
    bytes.front() = std::max<std::int64_t>(bytes.front(), 4 * ranks);
    StepJob step = step_job(ranks, forward, backward, bytes);
    step.iterations = 3;
    step.update_s = random.uniform(0, 1e-3);
    step.overlap_backward = random.integer(0, 3) > 0;
    step.by_layer = random.integer(0, 2) == 0;
    step.credit_bytes = 1; // one at a time
    step.next_forward = random.integer(0, 1) == 0 ? NextForward::barrier : NextForward::per_layer;
    const NetworkJob job = job_of(step);
    // The same with the seconds of the formula, by the evaluator of programs.
    Program by_times = job.program->program;
    for (Operation& operation : by_times.operations) {
      if (operation.type == OperationType::exchange) {
        const auto unit = static_cast<std::size_t>(operation.unit);
        operation.data.value =
            2 * (ranks - 1) *
            (2 * kLatency + static_cast<double>(job.pieces[unit].bytes) / (ranks * kRate));
      }
    }
    const JobResult run = run_job(star_of_flows(ranks, kLatency), job).jobs[0];
    const OperationTimes expected = event_pass(by_times, job.iterations, {}, Record::all);
    for (std::int64_t t = 0; t < step.iterations; ++t) {
      for (std::uint32_t o = 0; o < expected.operations; ++o) {
        CAPTURE(by_times.operations[o].id);
        CHECK(end_of(run, t, o) == within(expected.end[expected.at(t, o, 0)], kExact));
      }
    }
    CHECK(run.iterations.back().end_s ==
          within(latest_marker_end(expected, step.iterations), kExact));
  }
}

TEST_CASE("exchanges of later iterations than the sent ones take no time and no bytes") {
  StepJob step = step_job(3, {1e-3}, {1e-3}, {1'200'000});
  step.iterations = 2;
  const JobsResult run = run_job(star_of_flows(3), job_of(step));
  const double ring = 2 * 2.0 / 3 * 1.2e6 / kRate;
  CHECK(run.jobs[0].iterations.size() == 3);
  CHECK(run.jobs[0].messages.size() == 2 * 2 * 2 * 3);
  CHECK(run.jobs[0].end_s == within(2 * (2e-3 + ring), kExact));
  CHECK(run.jobs[0].times.makespan_s == within(2 * (2e-3 + ring) + 2e-3, kExact));
}

TEST_CASE("collectives over flows: all ranks enter when the last gradient is ready (TRN 2.2)") {
  constexpr std::uint32_t kRanks = 8;
  for (const auto algorithm :
       {collectives::AlgorithmId::ring, collectives::AlgorithmId::recursive_doubling,
        collectives::AlgorithmId::mst, collectives::AlgorithmId::be, collectives::AlgorithmId::lp,
        collectives::AlgorithmId::double_binary_tree}) {
    for (const auto mode :
         {collectives::ReductionMode::overlapped, collectives::ReductionMode::serial}) {
      CAPTURE(static_cast<int>(algorithm));
      StepJob step = step_job(kRanks, {0}, {1e-3}, {800'000});
      step.variability = {.compute_cv = 0.5, .seed = 7};
      step.collective.algorithm = algorithm;
      step.collective.reduction_s_per_byte = 1e-10;
      step.collective.options.block = Bytes{80'000};
      step.collective.options.reduction_mode = mode;
      const JobNetwork network = star_of_flows(kRanks, kLatency);
      const StepIteration run = iteration_of(network, step);

      collectives::Collective alone = step.collective;
      alone.ranks = kRanks;
      alone.bytes = 800'000;
      alone.options.element_bytes = 4;
      auto ranks = std::make_shared<links::RankFabric>();
      ranks->network = network.fabric;
      ranks->hosts = step.hosts;
      alone.links.fabric = ranks;
      double last_s = 0;
      for (std::uint32_t worker = 0; worker < kRanks; ++worker) {
        last_s = std::max(last_s, compute_factor(step.variability, worker, 1) * 1e-3);
      }
      CHECK(run.exchange_end_s == within(last_s + collectives::events(alone).seconds, kExact));
    }
  }
}

TEST_CASE("sharded programs on a crossbar: the times of the rings' formulas") {
  RandomStream random({.seed = 82});
  for (int instance = 0; instance < 40; ++instance) {
    CAPTURE(instance);
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 6));
    const auto count = static_cast<std::size_t>(random.integer(1, 5));
    std::vector<programs::UnitTimes> units;
    std::vector<std::int64_t> bytes;
    for (std::size_t u = 0; u < count; ++u) {
      bytes.push_back(4 * static_cast<std::int64_t>(ranks) * random.integer(1, 100'000));
      const double seconds =
          (ranks - 1) * (2 * kLatency + static_cast<double>(bytes[u]) / (ranks * kRate));
      programs::UnitTimes& unit = units.emplace_back();
      unit.forward = {random.uniform(1e-5, 1e-3)};
      unit.backward = {random.uniform(1e-5, 2e-3)};
      unit.gather.data = {seconds};
      unit.reduce.data = {seconds};
    }
    programs::FsdpOptions options{.micro_batches = static_cast<std::uint32_t>(random.integer(1, 3)),
                                  .update = {random.uniform(0, 1e-4)},
                                  .shards = ranks,
                                  .keep_last = random.integer(0, 1) == 0,
                                  .communicators = 1};
    const Program by_times = programs::fsdp_program(units, options);
    for (programs::UnitTimes& unit : units) {
      unit.gather = unit.reduce = {};
    }
    const JobResult run =
        run_job(star_of_flows(ranks, kLatency),
                job_of_program(programs::fsdp_program(units, options), ranks, bytes, 3))
            .jobs[0];
    const programs::OperationTimes expected =
        programs::event_pass(by_times, 3, {}, programs::Record::all);
    for (std::int64_t t = 0; t < 3; ++t) {
      for (std::uint32_t o = 0; o < expected.operations; ++o) {
        CAPTURE(by_times.operations[o].id);
        CHECK(end_of(run, t, o) == within(expected.end[expected.at(t, o, 0)], kExact));
      }
    }
  }
}

TEST_CASE("exchanges of two streams share the ports; one after the other they do not") {
  const std::int64_t bytes = 1'000'000;
  const double alone = static_cast<double>(bytes) / 2 / kRate; // two ranks, half of it each
  const JobNetwork network = star_of_flows(2);
  const JobResult one =
      run_job(network, job_of_program(parallel_exchanges(1), 2, {bytes}, 1)).jobs[0];
  CHECK(one.times.makespan_s == within(alone, kExact));
  const JobsResult two = run_job(network, job_of_program(parallel_exchanges(2), 2, {bytes}, 1));
  CHECK(end_of(two.jobs[0], 0, 0) == within(2 * alone, kExact));
  CHECK(end_of(two.jobs[0], 0, 1) == within(2 * alone, kExact));
  double up = 0;
  for (const links::LinkUse& link : two.links) {
    up += link.bytes;
  }
  CHECK(up == 2 * 2 * static_cast<double>(bytes)); // two exchanges, bytes in all, two links each
}

TEST_CASE("exchanges on a stream at_once: as many as it has slots") {
  const std::int64_t bytes = 1'000'000;
  const double alone = static_cast<double>(bytes) / 2 / kRate;
  for (const std::int32_t slots : {1, 2}) {
    ProgramDraft draft;
    const std::uint32_t stream = draft.stream(
        {.name = "s", .discipline = programs::Discipline::at_once, .concurrency = slots});
    std::uint32_t last = 0;
    for (const std::string& id : {std::string("a"), std::string("b")}) {
      last = draft.exchange(id, stream, Kind::allgather, {0}, {0});
      draft.last().unit = 0;
    }
    const JobResult run =
        run_job(star_of_flows(2), job_of_program(draft.finish(last), 2, {bytes}, 1)).jobs[0];
    CHECK(end_of(run, 0, 0) == within(slots * alone, kExact));
    CHECK(end_of(run, 0, 1) == within(2 * alone, kExact));
  }
}

TEST_CASE("exchanges at once inside a host share its inner link") {
  const std::int64_t bytes = 1'000'000;
  constexpr double kInner = 1e-10;
  constexpr double kStartup = 1e-6;
  ProgramDraft draft;
  const std::uint32_t stream =
      draft.stream({.name = "s", .discipline = programs::Discipline::at_once, .concurrency = 2});
  for (const std::string& id : {std::string("a"), std::string("b")}) {
    draft.exchange(id, stream, Kind::allgather, {0}, {0});
    draft.last().unit = 0;
  }
  NetworkJob job = job_of_program(draft.finish(1), 2, {bytes}, 1);
  job.hosts = {0, 0};
  for (JobExchange& exchange : job.program->exchanges) {
    exchange.stages[0].links.two_level = collectives::TwoLevel{
        .gpus_per_node = 2, .intra = {.latency_s = kStartup, .per_byte_s = kInner}};
  }
  const JobResult run = run_job(star_of_flows(2), job).jobs[0];
  const double half = static_cast<double>(bytes) / 2;
  CHECK(end_of(run, 0, 0) == within(half * kInner + kStartup, kExact));
  CHECK(end_of(run, 0, 1) == within(2 * half * kInner + kStartup, kExact));
}

TEST_CASE("groups: inside hosts over the inner link, replicas side by side over the ports") {
  // Two hosts with two ranks each. Node gathers of n bytes: one step of n / 2 over the inner link;
  // replicas: two all-reduces at a time, two steps of n / 2 each, through one port of each host.
  const std::int64_t bytes = 1'000'000;
  ProgramDraft draft;
  const std::uint32_t stream = draft.stream("gather");
  const std::uint32_t replica = draft.stream("replica");
  const std::uint32_t node = draft.group({.name = "node", .parts = {{0, 1}, {2, 3}}});
  const std::uint32_t across = draft.group({.name = "replica", .parts = {{0, 2}, {1, 3}}});
  const std::uint32_t gather = draft.exchange("G", stream, Kind::allgather, {0}, {0});
  draft.last().unit = 0;
  draft.last().group = node;
  const std::uint32_t sum = draft.exchange("X", replica, Kind::allreduce, {0}, {0});
  draft.last().unit = 0;
  draft.last().group = across;
  draft.wait(sum, gather, 0);
  NetworkJob job = job_of_program(draft.finish(sum), 4, {bytes}, 1);
  job.hosts = {0, 0, 1, 1};
  constexpr double kInner = 1e-10;
  for (JobExchange& exchange : job.program->exchanges) {
    exchange.stages[0].links.two_level =
        collectives::TwoLevel{.gpus_per_node = 2, .intra = {.latency_s = 0, .per_byte_s = kInner}};
  }
  const JobResult run = run_job(star_of_flows(2), job).jobs[0];
  const double half = static_cast<double>(bytes) / 2;
  CHECK(end_of(run, 0, gather) == within(half * kInner, kExact));
  CHECK(end_of(run, 0, sum) == within(half * kInner + 2 * 2 * half / kRate, kExact));
}

// Two of four ranks share a host; there are latencies, additions and seconds beside the messages.
TEST_CASE("a factor of an exchange is one of its whole time, and not of its bytes (TRN 2.2)") {
  const std::int64_t bytes = 300'000;
  for (const bool packets : {false, true}) {
    for (const links::TransportKind kind :
         {links::TransportKind::raw, links::TransportKind::window, links::TransportKind::pfabric,
          links::TransportKind::dlcp}) {
      for (const double factor : {0.3, 1.0, 4.0}) {
        CAPTURE(packets);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(factor);
        Program program = parallel_exchanges(1, Kind::allreduce);
        program.operations[0].startup = {2e-3};
        NetworkJob job = job_of_program(program, 4, {bytes}, 2);
        job.hosts = {0, 0, 1, 2};
        collectives::Collective& sent = job.program->exchanges[0].stages[0];
        sent.reduction_s_per_byte = 1e-9;
        sent.links.two_level = collectives::TwoLevel{
            .gpus_per_node = 2, .intra = {.latency_s = 1e-5, .per_byte_s = 1e-10}};
        job.program->factors.compute.assign(8, 1);
        job.program->factors.exchange = {1, factor};
        const JobsResult result =
            run_job(packets ? star_of_packets(3, kLatency, kind) : star_of_flows(3, kLatency), job);
        const JobResult& run = result.jobs[0];
        // The pace of dlcp remembers the first iteration; picoseconds are whole.
        const double rounding = kind == links::TransportKind::dlcp ? 1e-4 : 1e-6;
        CHECK(run.iterations[1].period_s ==
              within(factor * run.iterations[0].end_s, packets ? rounding : kExact));
        std::int64_t sizes[2] = {0, 0};
        for (const JobMessage& message : run.messages) {
          sizes[message.iteration] += message.size_bytes;
        }
        CHECK(sizes[0] == sizes[1]);
        if (!packets) {
          // Over an up and a down link each.
          double on_links = 0;
          for (const links::LinkUse& link : result.links) {
            on_links += link.bytes;
          }
          CHECK(on_links == within(2.0 * static_cast<double>(sizes[0] + sizes[1]), kExact));
        }
      }
    }
  }
}

TEST_CASE("stages of an exchange follow each other") {
  const std::int64_t bytes = 1'000'000;
  const double alone = static_cast<double>(bytes) / 2 / kRate;
  NetworkJob job = job_of_program(parallel_exchanges(1), 2, {bytes}, 1);
  job.program->exchanges[0].stages.push_back(collective_of(collectives::Op::allreduce, bytes));
  const JobResult run = run_job(star_of_flows(2), job).jobs[0];
  CHECK(run.times.makespan_s == within(3 * alone, kExact));
}

TEST_CASE("computing next to an exchange on the network is slowed while it is under way") {
  const std::int64_t bytes = 1'000'000;
  const double exchange = static_cast<double>(bytes) / 2 / kRate;
  ProgramDraft draft;
  const std::uint32_t compute =
      draft.compute("c", draft.stream("compute"), Kind::forward, Seconds{3 * exchange});
  draft.exchange("X", draft.stream("s"), Kind::allgather, {0}, {0});
  draft.last().unit = 0;
  draft.settings().interference.compute.fill(2);
  const JobResult run =
      run_job(star_of_flows(2), job_of_program(draft.finish(compute), 2, {bytes}, 1)).jobs[0];
  CHECK(end_of(run, 0, compute) == within(exchange + 2.5 * exchange, kExact));
}

TEST_CASE("programs on packets: every byte arrives, and no port is faster than its rate") {
  const std::int64_t bytes = 60'000;
  for (const links::TransportKind kind :
       {links::TransportKind::raw, links::TransportKind::reno, links::TransportKind::dctcp}) {
    const JobResult run =
        run_job(star_of_packets(3, 1e-6, kind),
                job_of_program(parallel_exchanges(2, Kind::allreduce), 3, {bytes}, 2))
            .jobs[0];
    std::int64_t delivered = 0;
    for (const JobMessage& message : run.messages) {
      delivered += message.delivered_bytes;
    }
    CHECK(delivered == 2 * 2 * 2 * 2 * bytes); // iterations, streams, 2 (N - 1) n / N of N ranks
    CHECK(run.times.makespan_s > static_cast<double>(delivered) / 3 / kRate);
  }
}

TEST_CASE("jobs with programs share the network") {
  const std::int64_t bytes = 1'000'000;
  const double alone = static_cast<double>(bytes) / 2 / kRate;
  const NetworkJob job = job_of_program(parallel_exchanges(1), 2, {bytes}, 1);
  const std::vector<NetworkJob> jobs{job, job};
  const JobsResult run = run_network_jobs(star_of_flows(2), jobs);
  for (const JobResult& each : run.jobs) {
    CHECK(each.iterations[0].end_s == within(2 * alone, kExact));
  }
}

} // namespace stepsim::programs
