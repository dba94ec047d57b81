#include "programs/job/network_job_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/builders/sync_sgd_program.hpp"
#include "programs/event_pass.hpp"
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

// Five hosts of two leaves with one slow uplink each.
JobNetwork narrow_leaf_spine(std::uint32_t leaves, std::uint32_t hosts) {
  return on_flows(links::leaf_spine({.leaves = leaves,
                                     .hosts_per_leaf = hosts,
                                     .spines = 1,
                                     .host = {kLatency, kRate},
                                     .uplink = {kLatency, kRate / 2}}));
}

} // namespace

TEST_CASE("synchronous programs over flows: the times of the job of their pieces") {
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
      bytes.push_back(random.integer(0, 3) == 0 ? 0 : 4 * random.integer(1, 400'000));
    }
    bytes.front() = std::max<std::int64_t>(bytes.front(), 4);
    NetworkJob job = job_of(ranks, forward, backward, bytes);
    job.iterations = 4;
    job.overlap_backward = random.integer(0, 3) > 0;
    job.by_layer = random.integer(0, 2) == 0;
    const bool varies = random.integer(0, 1) == 0;
    if (varies) {
      job.variability = {.compute_cv = 0.3,
                         .stragglers = {{.worker = 1, .factor = 1.3}},
                         .seed = static_cast<std::uint64_t>(instance)};
    } else {
      job.update_s = random.uniform(0, 1e-3);
    }
    job.next_forward = random.integer(0, 1) == 0 ? NextForward::per_layer : NextForward::barrier;
    constexpr std::array kAlgorithms{collectives::AlgorithmId::ring, collectives::AlgorithmId::ring,
                                     collectives::AlgorithmId::mst,
                                     collectives::AlgorithmId::double_binary_tree};
    job.collective.algorithm = kAlgorithms[static_cast<std::size_t>(random.integer(0, 3))];
    std::erase_if(job.pieces, [](const JobPiece& piece) { return piece.bytes == 0; });

    // The same as a program: buckets in launch order, or by urgency.
    std::vector<programs::LayerTimes> times;
    for (std::size_t l = 0; l < layers; ++l) {
      times.push_back({{forward[l]}, {backward[l]}, static_cast<double>(bytes[l])});
    }
    std::vector<JobPiece> pieces = job.pieces;
    if (job.by_layer) {
      std::ranges::sort(pieces, {}, &JobPiece::first_layer);
    }
    std::vector<programs::BucketTimes> buckets;
    std::vector<std::int64_t> sizes;
    for (const JobPiece& piece : pieces) {
      programs::BucketTimes& bucket = buckets.emplace_back();
      bucket.layers = {piece.first_layer};
      bucket.bytes = piece.bytes;
      if (!job.overlap_backward) {
        bucket.ready_after = 0;
      }
      sizes.push_back(piece.bytes);
    }
    programs::SyncSgdOptions options{.update = {job.update_s}};
    options.next_forward = job.next_forward == NextForward::barrier
                               ? programs::NextForward::barrier
                               : programs::NextForward::per_layer;
    options.reduce.discipline =
        job.by_layer ? programs::Discipline::priority : programs::Discipline::fifo;
    NetworkJob twin = job_of_program(programs::sync_sgd_program(times, buckets, options), ranks,
                                     sizes, job.iterations, job.collective.algorithm);
    if (varies) {
      const layers::Jitter jitter(job.variability, ranks);
      for (std::int64_t n = 1; n <= job.iterations; ++n) {
        for (std::uint32_t w = 0; w < ranks; ++w) {
          twin.program->factors.compute.push_back(jitter.compute(w, n));
        }
        twin.program->factors.exchange.push_back(1);
      }
    }
    const JobNetwork network =
        random.integer(0, 1) == 0 ? star_of_flows(ranks, kLatency) : narrow_leaf_spine(2, 3);
    const JobResult expected = run_job(network, job).jobs[0];
    const JobResult run = run_job(network, twin).jobs[0];
    // The first iteration of a program has its update, too; that of the job has none.
    CHECK(run.messages.size() == expected.messages.size());
    for (std::size_t i = 0; i + 1 < expected.iterations.size(); ++i) {
      CAPTURE(i);
      CHECK(run.iterations[i].end_s ==
            within(job.update_s + expected.iterations[i].compute_end_s, kExact));
    }
    for (std::size_t m = 0; m < run.messages.size(); ++m) {
      const JobMessage& message = run.messages[m];
      CHECK(message.iteration == expected.messages[m].iteration);
      CHECK(message.size_bytes == expected.messages[m].size_bytes);
      CHECK(message.end_s == within(job.update_s + expected.messages[m].end_s, kExact));
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

TEST_CASE("the seconds of an operation follow its messages; a factor is one of bytes and seconds") {
  const std::int64_t bytes = 1'000'000;
  const double alone = static_cast<double>(bytes) / 2 / kRate;
  Program program = parallel_exchanges(1);
  program.operations[0].startup = {0.25};
  NetworkJob job = job_of_program(program, 2, {bytes}, 2);
  job.program->factors.compute = {1, 1, 1, 1};
  job.program->factors.exchange = {1, 2};
  const JobResult run = run_job(star_of_flows(2), job).jobs[0];
  CHECK(run.iterations[0].end_s == within(alone + 0.25, kExact));
  CHECK(run.iterations[1].period_s == within(2 * (alone + 0.25), kExact));
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
