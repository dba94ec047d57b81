#include "calibrate/mpi/link_estimate.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <filesystem>

#include "calibrate/mpi/fabric_estimate.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/record.hpp"
#include "document/json_text.hpp"
#include "run/collective_file.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::mpi;
using collectives::AlgorithmId;
using collectives::Op;
using testing::within;

namespace {

constexpr double kGamma = 3e-10;
constexpr double kTau = 3.1e-4;
constexpr double kBlock = 32768;
constexpr double kBeta = 9e-9;

double pp(double n) { return 2e-5 + 1e-8 * n; }
double ex(double n) { return 3e-5 + 1.1e-8 * n; }
double sh(double n) { return 4e-5 + 1.2e-8 * n; }

// Straight lines; a block follows the one before by kTau, a reply takes t_pp(0).
Predictor costs() {
  const auto line = [](double (*time)(double)) {
    return std::vector<links::CurveSegment>{{.from_bytes = 0,
                                             .to_bytes = 1e7,
                                             .startup_s = time(0),
                                             .per_byte_s = (time(1e7) - time(0)) / 1e7}};
  };
  collectives::MeasuredSteps steps{.one_way = line(pp),
                                   .exchange = line(ex),
                                   .shift = line(sh),
                                   .reply_s = pp(0),
                                   .block_latency_s = kTau - kBlock * kBeta,
                                   .per_byte_s = kBeta};
  return {
      std::make_shared<const collectives::MeasuredSteps>(steps), {2e-5, 2e-5, kBeta}, kGamma, 0};
}

Predictor without_replies() {
  Predictor predictor = costs();
  collectives::MeasuredSteps steps = *predictor.steps;
  steps.reply_s.reset();
  predictor.steps = std::make_shared<const collectives::MeasuredSteps>(steps);
  return predictor;
}

double predicted(Op op, AlgorithmId algorithm, std::uint32_t ranks, std::int64_t bytes,
                 const Predictor& predictor = costs()) {
  return predict({op, algorithm}, ranks, bytes,
                 {.segment_bytes = static_cast<std::int64_t>(kBlock)}, predictor);
}

} // namespace

TEST_CASE("prediction: mst takes L (t_pp(n) + t_pp(0)) out and L (t_pp(n) + n gamma) in") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 16U}) {
    CAPTURE(ranks);
    const std::int64_t bytes = 1 << 20;
    const auto n = static_cast<double>(bytes);
    const double rounds = std::bit_width(ranks - 1);
    const double out = rounds * (pp(n) + pp(0));
    const double in = rounds * (pp(n) + n * kGamma);
    CHECK(predicted(Op::broadcast, AlgorithmId::mst, ranks, bytes) == within(out, 1e-12));
    CHECK(predicted(Op::reduce, AlgorithmId::mst, ranks, bytes) == within(in, 1e-12));
    CHECK(predicted(Op::broadcast, AlgorithmId::mst, ranks, bytes, without_replies()) ==
          within(rounds * pp(n), 1e-12));
    // The rank that ends the reduction is the one that starts the broadcast.
    CHECK(predicted(Op::allreduce, AlgorithmId::mst, ranks, bytes) == within(in + out, 1e-12));
  }
}

TEST_CASE("prediction: messages to all children at once share the port of their parent") {
  Predictor library = without_replies();
  library.children_at_once = true;
  const auto broadcast = [&](std::uint32_t ranks, double n) {
    return predicted(Op::broadcast, AlgorithmId::mst, ranks, static_cast<std::int64_t>(n), library);
  };
  // 4 ranks: the root sends twice, its second child once. 8: three, two and one. 6: rank 0 has
  // the children 1, 2 and 4, rank 1 has 3 and 5.
  for (const double n : {8.0, 1e6}) {
    CHECK(broadcast(2, n) == within(pp(n), 1e-12));
    CHECK(broadcast(4, n) == within(pp(2 * n) + pp(n), 1e-12));
    CHECK(broadcast(6, n) == within(pp(3 * n) + pp(2 * n), 1e-12));
    CHECK(broadcast(8, n) == within(pp(3 * n) + pp(2 * n) + pp(n), 1e-12));
  }
  CHECK(predicted(Op::allreduce, AlgorithmId::mst, 4, 1000, library) ==
        predicted(Op::allreduce, AlgorithmId::mst, 4, 1000, without_replies()));
}

TEST_CASE("prediction: ring allreduce takes 2(P-1) t_sh(n/P) + (P-1)/P n gamma") {
  for (const std::uint32_t ranks : {3U, 4U, 8U}) {
    const std::int64_t bytes = std::int64_t{ranks} * 40'000;
    CHECK(predicted(Op::allreduce, AlgorithmId::ring, ranks, bytes) ==
          within(2 * (ranks - 1) * sh(40'000) + (ranks - 1) * 40'000 * kGamma, 1e-12));
  }
}

TEST_CASE("prediction: two ranks of a ring exchange") {
  CHECK(predicted(Op::allreduce, AlgorithmId::ring, 2, 80'000) ==
        within(2 * ex(40'000) + 40'000 * kGamma, 1e-12));
}

TEST_CASE("prediction: over a topology messages share links, and bytes cost nothing else") {
  // Two switches of two ranks with an uplink of one rank's rate. Shifted by two all ranks cross.
  const FabricEstimate fabric{
      .access_Bps = {1e8, 1e8, 1e8, 5e7}, .switches = {0, 0, 1, 1}, .uplink_Bps = {1e8, 1e8}};
  Predictor predictor = costs();
  predictor.fabric = fabric_of(topology_tree(fabric), 4);
  predictor.gamma = 0;
  const double latency = predictor.link.latency_s;
  // A binomial broadcast: first to the other switch, then two messages at once, one to rank 3.
  CHECK(predicted(Op::broadcast, AlgorithmId::mst, 4, 1'000'000, predictor) ==
        within(2 * latency + 1e6 / 1e8 + 1e6 / 5e7, 1e-9));
  // Every step of a ring waits for the messages into and out of rank 3.
  CHECK(predicted(Op::allreduce, AlgorithmId::ring, 4, 4'000'000, predictor) ==
        within(6 * (latency + 1e6 / 5e7), 1e-9));
  CHECK(bound_of({Op::allreduce, AlgorithmId::ring}, 4, 4'000'000, {.segment_bytes = 32768},
                 predictor) == "bandwidth");
}

TEST_CASE("prediction: a late rank holds up those that wait for it") {
  Predictor late = costs();
  late.enter_s = {0, 0, 0.5, 0};
  for (const AlgorithmId algorithm : {AlgorithmId::ring, AlgorithmId::mst, AlgorithmId::be}) {
    const double together = predicted(Op::allreduce, algorithm, 4, 40'000);
    const double held_up = predicted(Op::allreduce, algorithm, 4, 40'000, late);
    CHECK(held_up > 0.5);
    CHECK(held_up <= 0.5 + together * (1 + 1e-12));
  }
  // Kinds that the simulator has no schedule for wait, too.
  CHECK(predicted(Op::broadcast, AlgorithmId::ring, 4, 40'000, late) > 0.5);
}

TEST_CASE(
    "prediction: ring broadcast and reduce take 2P - 2 steps, the first and the last one-way") {
  // P = 4: step 0 and step 5 are one message alone; in step 1 rank 0 only sends, but rank 1 does
  // both, and the slower end counts.
  const double n = 10'000;
  CHECK(predicted(Op::broadcast, AlgorithmId::ring, 4, 40'000) ==
        within(2 * pp(n) + 4 * sh(n), 1e-12));
}

TEST_CASE("prediction: be allreduce exchanges halves, and folds") {
  const std::int64_t bytes = 1 << 20;
  const auto n = static_cast<double>(bytes);
  for (const std::uint32_t core : {4U, 8U}) {
    double both = 0;
    for (double part = n / 2; part >= n / core; part /= 2) {
      both += 2 * ex(part);
    }
    const double expected = both + (core - 1.0) / core * n * kGamma;
    CHECK(predicted(Op::allreduce, AlgorithmId::be, core, bytes) == within(expected, 1e-12));
    CHECK(predicted(Op::allreduce, AlgorithmId::be, core + 1, bytes) ==
          within(expected + 2 * pp(n) + n * kGamma, 1e-12));
  }
}

TEST_CASE("prediction: recursive doubling exchanges everything log2 P times") {
  const std::int64_t bytes = 1 << 20;
  const auto n = static_cast<double>(bytes);
  const double eight = 3 * (ex(n) + n * kGamma);
  CHECK(predicted(Op::allreduce, AlgorithmId::recursive_doubling, 8, bytes) ==
        within(eight, 1e-12));
  CHECK(predicted(Op::allreduce, AlgorithmId::recursive_doubling, 13, bytes) ==
        within(eight + 2 * pp(n) + n * kGamma, 1e-12));
}

TEST_CASE("prediction: blocks of lp follow each other by tau") {
  const std::int64_t bytes = 64 * 32768;
  const double m = 64;
  for (const std::uint32_t ranks : {2U, 4U, 100U}) {
    CAPTURE(ranks);
    const double first = (ranks - 1) * pp(kBlock);
    const double adding = (ranks - 1) * kBlock * kGamma;
    const double rest = (m - 1) * kTau;
    CHECK(predicted(Op::broadcast, AlgorithmId::lp, ranks, bytes) == within(first + rest, 1e-12));
    CHECK(predicted(Op::reduce, AlgorithmId::lp, ranks, bytes) ==
          within(first + rest + adding, 1e-12));
    CHECK(predicted(Op::allreduce, AlgorithmId::lp, ranks, bytes) ==
          within(ranks * pp(kBlock) + (std::max(m, double(ranks)) + m - 2) * kTau + adding, 1e-12));
  }
}

TEST_CASE("prediction: a short last block of lp takes its part of tau") {
  const auto bytes = static_cast<std::int64_t>(7.25 * kBlock);
  CHECK(predicted(Op::broadcast, AlgorithmId::lp, 4, bytes) ==
        within(3 * pp(kBlock) + 6.25 * kTau, 1e-12));
  CHECK(predicted(Op::allreduce, AlgorithmId::lp, 4, bytes) ==
        within(4 * pp(kBlock) + 2 * 6.25 * kTau + 3 * kBlock * kGamma, 1e-12));
  double before = 0; // also where the blocks become as many as the ranks
  for (std::int64_t size = 4; size < bytes; size += 4096) {
    const double now = predicted(Op::allreduce, AlgorithmId::lp, 4, size);
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("prediction: a message below a block of lp is one smaller block") {
  const std::int64_t bytes = 8192;
  CHECK(predicted(Op::broadcast, AlgorithmId::lp, 4, bytes) == within(3 * pp(8192), 1e-12));
  const double tau = kTau - (kBlock - 8192) * kBeta;
  CHECK(predicted(Op::allreduce, AlgorithmId::lp, 4, bytes) ==
        within(4 * pp(8192) + (4 + 1 - 2) * tau + 3 * 8192 * kGamma, 1e-12));
}

TEST_CASE("prediction: gtopk_tree merges on the way up and acknowledges on the way down") {
  Predictor with_merge = costs();
  with_merge.merge_s = 7e-3;
  const double n = 8 * 1000;
  CHECK(predict({Op::allreduce, AlgorithmId::mst, true}, 8, 8000, {}, with_merge) ==
        within(3 * (pp(n) + 7e-3) + 3 * (pp(n) + pp(0)), 1e-12));
}

TEST_CASE("prediction: one rank and no bytes take no time") {
  for (const Kind& kind : kinds()) {
    CHECK(predict(kind, 1, 1 << 20, {}, costs()) == 0);
    CHECK(predict(kind, 4, 0, {}, costs()) == 0);
  }
}

TEST_CASE("prediction: the largest part binds") {
  const Kind ring{Op::allreduce, AlgorithmId::ring};
  CHECK(bound_of(ring, 4, 64, {}, costs()) == "latency");
  CHECK(bound_of(ring, 4, 1 << 22, {}, costs()) == "bandwidth");
  Predictor slow = costs();
  slow.gamma = 1e-6;
  CHECK(bound_of(ring, 4, 1 << 22, {}, slow) == "reduction");
  CHECK(bound_of({Op::broadcast, AlgorithmId::lp}, 4, 1 << 22, {}, slow) == "bandwidth");
}

TEST_CASE("prediction: what a calibration predicts is what `stepsim collective` computes from it") {
  study::Files files(STEPSIM_SOURCE_DIR);
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STEPSIM_SOURCE_DIR "/topologies")) {
    const std::string file = entry.path().string();
    if (file.find("testbed-") == std::string::npos) {
      continue;
    }
    CAPTURE(file);
    const Predictor predictor = predictor_of(io::read_json(file));
    const std::uint32_t ranks = file.find("8x") != std::string::npos ? 8 : 4;
    for (const Kind& kind : kinds()) {
      if (kind.sparse || collectives::find_algorithm(kind.op, kind.algorithm) == nullptr) {
        continue; // the simulator has no such operation
      }
      CAPTURE(name(kind));
      for (const std::int64_t bytes : {4096, 100'000, 1 << 20, 5 << 20}) {
        io::Object options{{"element_bytes", kElement}};
        if (kind.algorithm == AlgorithmId::lp) {
          options.emplace_back("block_bytes", std::min<std::int64_t>(bytes, 32768));
        }
        const io::Json tree(io::Object{{"kind", "collective"},
                                       {"op", collectives::name(kind.op)},
                                       {"algorithm", collectives::name(kind.algorithm)},
                                       {"ranks", std::int64_t{ranks}},
                                       {"bytes", bytes},
                                       {"network", io::Object{{"calibration", file}}},
                                       {"options", std::move(options)}});
        const study::CollectiveFile collective = study::parse_collective(tree, files);
        const collectives::CollectiveRecord record =
            collectives::make_record(collective.collective, collective.method);
        CHECK(record.method == collectives::Method::max_plus);
        CHECK(record.seconds == within(predict(kind, ranks, bytes, {}, predictor), 1e-12));
        ++compared;
      }
    }
  }
  CHECK(compared >= 8 * 9 * 4);
}
