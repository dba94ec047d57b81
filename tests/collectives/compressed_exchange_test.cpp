// Times and messages of compressed exchanges against the formulas of SPA 3, 4, 11 and PIP 6 and
// their expected values. Tolerance 1e-9 relative where all evaluators add the same durations.
#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/method.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/compress/exchange_builder.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::Tolerance;
using stepsim::testing::within;

using Id = CompressionMethod;

constexpr double kAlpha = 4.36e-4; // of the paper (SPA 2)
constexpr double kBandwidth = 111111111.1111111;
constexpr double kExact = 1e-9;

struct Network {
  double alpha = kAlpha;
  double beta = 1 / kBandwidth;
  double gamma = 0;
};

Collective base_of(std::uint32_t ranks, const Network& network = {}) {
  Collective base;
  base.ranks = ranks;
  base.links.all = {network.alpha, network.alpha, network.beta};
  base.reduction_s_per_byte = network.gamma;
  return base;
}

Compression method_of(Id method) {
  Compression compression;
  compression.method = method;
  compression.ratio = codec_ratio(method);
  return compression;
}

Compression dense_share(Id method, double density) {
  Compression compression = method_of(method);
  compression.density = density;
  return compression;
}

Compression entries(Id method, std::int64_t k) {
  Compression compression = method_of(method);
  compression.k = k;
  return compression;
}

CompressedExchange exchange_of(const Compression& compression, std::int64_t elements,
                               const Collective& base) {
  return compressed_exchange(compression, {.elements = elements, .shapes = {}}, base);
}

// Seconds, where every evaluator that the method has agrees.
double seconds_of(const Compression& compression, std::int64_t elements, const Collective& base) {
  const CompressedExchange exchange = exchange_of(compression, elements, base);
  const auto form = closed_form_seconds(exchange);
  REQUIRE(form.has_value());
  CHECK(exchange_time(exchange, compression, Method::closed_form).seconds == *form);
  if (row(compression.method).simulated) {
    for (const Method method : {Method::max_plus, Method::events}) {
      CHECK(exchange_time(exchange, compression, method).seconds == within(*form, kExact));
    }
  }
  return *form;
}

double milliseconds(const Compression& compression, std::int64_t elements, const Collective& base) {
  return 1e3 * seconds_of(compression, elements, base);
}

Tolerance exactly(double value) { return within(value, kExact); }

const std::array kPaperMethods{Id::topk, Id::gtopk_tree, Id::gtopk_butterfly};

TEST_CASE("V1 to V3: ring, topk, gtopk_tree, gtopk_butterfly with the paper's constants, in ms") {
  struct Row {
    std::uint32_t ranks;
    std::int64_t elements;
    std::array<double, 4> milliseconds;
  };
  for (const Row& expected : {Row{4, 1'000'000, {56.616, 1.088, 2.032, 1.016}},
                              Row{32, 1'000'000, {96.782, 4.412, 5.080, 2.540}},
                              Row{8, 25'000'000, {1581.104, 13.908, 13.416, 6.708}}}) {
    CAPTURE(expected.ranks);
    const Collective base = base_of(expected.ranks);
    CHECK(1e3 * dense_ring_seconds({}, {expected.elements, {}}, base) ==
          exactly(expected.milliseconds[0]));
    CHECK(milliseconds({}, expected.elements, base) == exactly(expected.milliseconds[0]));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(milliseconds(dense_share(kPaperMethods[i], 0.001), expected.elements, base) ==
            exactly(expected.milliseconds[i + 1]));
    }
  }
}

TEST_CASE("V4: the curves of SPA 10.3, in ms") {
  struct Row {
    std::uint32_t ranks;
    double elements;
    std::array<double, 4> milliseconds; // the last 0: not listed
  };
  constexpr double kMi = 1 << 20;
  for (const Row& expected :
       {Row{4, 25 * kMi, {1418.194, 6.534, 9.294, 4.647}},
        Row{8, 25 * kMi, {1657.611, 14.520, 13.941, 6.970}},
        Row{16, 25 * kMi, {1782.552, 30.056, 18.587, 9.294}},
        Row{32, 25 * kMi, {1855.486, 60.691, 23.234, 11.617}},
        Row{32, kMi, {100.170, 4.520, 5.115, 0}}, Row{32, 2 * kMi, {173.308, 6.861, 5.870, 0}},
        Row{32, 8 * kMi, {612.137, 20.903, 10.400, 0}},
        Row{32, 128 * kMi, {9388.719, 301.754, 100.997, 0}}}) {
    CAPTURE(expected.ranks);
    CAPTURE(expected.elements);
    const auto elements = static_cast<std::int64_t>(expected.elements);
    const Collective base = base_of(expected.ranks);
    CHECK(1e3 * dense_ring_seconds({}, {elements, {}}, base) ==
          within(expected.milliseconds[0], 1e-3));
    for (std::size_t i = 0; i < 3; ++i) {
      if (expected.milliseconds[i + 1] > 0) {
        const double time =
            *closed_form_seconds(exchange_of(dense_share(kPaperMethods[i], 0.001), elements, base));
        CHECK(1e3 * time == within(expected.milliseconds[i + 1], 1e-3));
      }
    }
  }
}

TEST_CASE("V5: from which k on gtopk_tree beats topk") {
  const auto tree_wins = [](std::uint32_t ranks, std::int64_t k) {
    const Collective base = base_of(ranks);
    const std::int64_t elements = std::int64_t{1} << 40;
    return *closed_form_seconds(exchange_of(entries(Id::gtopk_tree, k), elements, base)) <
           *closed_form_seconds(exchange_of(entries(Id::topk, k), elements, base));
  };
  for (const auto& [ranks, critical] :
       {std::pair{8U, 18166.7}, std::pair{16U, 3460.3}, std::pair{32U, 1441.8}}) {
    CAPTURE(ranks);
    CHECK(!tree_wins(ranks, static_cast<std::int64_t>(std::floor(critical))));
    CHECK(tree_wins(ranks, static_cast<std::int64_t>(std::ceil(critical))));
    // alpha L = k (E/2) beta (2(P-1) - 4L)
    const double L = std::log2(ranks);
    const double by_formula = kAlpha * L / (8.0 / 2 / kBandwidth * (2 * (ranks - 1.0) - 4 * L));
    CHECK(by_formula == within(critical, 1e-5));
  }
  for (const std::int64_t k : {1, 1000, 1'000'000'000}) {
    CHECK(!tree_wins(2, k));
    CHECK(!tree_wins(4, k));
  }
  const std::int64_t k = 25 * (1 << 20) / 1000;
  CHECK(!tree_wins(4, k));
  CHECK(tree_wins(8, k));
}

TEST_CASE("V6: ranks that are no power of two skip, fold and use Bruck's rounds, in ms") {
  struct Row {
    std::uint32_t ranks;
    double tree, butterfly, topk;
  };
  for (const Row& expected :
       {Row{3, 2.032, 1.524, 1.016}, Row{6, 3.048, 2.032, 1.668}, Row{7, 3.048, 2.032, 1.740}}) {
    CAPTURE(expected.ranks);
    const Collective base = base_of(expected.ranks);
    const auto time = [&](Id method) {
      return milliseconds(entries(method, 1000), 1'000'000, base);
    };
    CHECK(time(Id::gtopk_tree) == exactly(expected.tree));
    CHECK(time(Id::gtopk_butterfly) == exactly(expected.butterfly));
    CHECK(time(Id::topk) == exactly(expected.topk));
  }
}

// "1>0 3>2 | 2>0": a step between bars, senders in ascending order.
std::string schedule_text(const CompressedExchange& exchange) {
  std::vector<TransferRecord> transfers = exchange_transfers(exchange, 10'000);
  std::ranges::stable_sort(
      transfers, {}, [](const TransferRecord& each) { return std::pair(each.step, each.src); });
  std::string text;
  std::int64_t step = 0;
  for (const TransferRecord& each : transfers) {
    text += text.empty() ? "" : each.step == step ? " " : " | ";
    text += std::to_string(each.src) + ">" + std::to_string(each.dst);
    step = each.step;
  }
  return text;
}

TEST_CASE("V7: the tree's messages, by step") {
  const auto schedule = [](std::uint32_t ranks) {
    return exchange_of(entries(Id::gtopk_tree, 1000), 1'000'000, base_of(ranks));
  };
  CHECK(schedule_text(schedule(8)) == "1>0 3>2 5>4 7>6 | 2>0 6>4 | 4>0 | "
                                      "0>1 | 0>2 1>3 | 0>4 1>5 2>6 3>7");
  CHECK(schedule_text(schedule(7)) == "1>0 3>2 5>4 | 2>0 6>4 | 4>0 | 0>1 | 0>2 1>3 | 0>4 1>5 2>6");
  CHECK(schedule_text(schedule(6)) == "1>0 3>2 5>4 | 2>0 | 4>0 | 0>1 | 0>2 1>3 | 0>4 1>5");
  CHECK(schedule_text(schedule(3)) == "1>0 | 2>0 | 0>1 | 0>2");
  const Traffic eight = exchange_traffic(schedule(8));
  CHECK(eight.steps == 6);
  CHECK(eight.messages == 14);
  CHECK(eight.min_per_rank == 1 * 8000.0);
  CHECK(eight.max_per_rank == 3 * 8000.0);
  const Traffic seven = exchange_traffic(schedule(7));
  CHECK(seven.steps == 6);
  CHECK(seven.messages == 12);
}

TEST_CASE("schedules: a flat broadcast serves ranks in turn, the butterfly folds") {
  Compression flat = entries(Id::gtopk_tree, 10);
  flat.broadcast = SparseBroadcast::flat;
  const Collective base = base_of(5);
  CHECK(schedule_text(exchange_of(flat, 100, base)) ==
        "1>0 3>2 | 2>0 | 4>0 | 0>1 | 0>2 | 0>3 | 0>4");
  // (H + P-1)(alpha + k E beta)
  CHECK(seconds_of(flat, 100, base) == exactly((3 + 4) * (kAlpha + 80 / kBandwidth)));
  CHECK(schedule_text(exchange_of(entries(Id::gtopk_butterfly, 10), 100, base_of(6))) ==
        "4>0 5>1 | 0>1 1>0 2>3 3>2 | 0>2 1>3 2>0 3>1 | 0>4 1>5");
}

TEST_CASE("V8: topk receives 31 blocks of k entries, whichever all-gather") {
  Compression topk = entries(Id::topk, 25'000);
  const Collective base = base_of(32);
  for (const SparseAllgather allgather :
       {SparseAllgather::automatic, SparseAllgather::recursive_doubling, SparseAllgather::bruck,
        SparseAllgather::ring}) {
    topk.allgather = allgather;
    const CompressedExchange exchange = exchange_of(topk, 25'000'000, base);
    std::vector<double> received(32, 0.0);
    for (const TransferRecord& each : exchange_transfers(exchange, 10'000)) {
      received[each.dst] += each.bytes;
    }
    for (const double bytes : received) {
      CHECK(bytes == 31 * 25'000 * 8.0);
    }
  }
  CHECK(milliseconds(topk, 25'000'000, base) == exactly(69.316)); // the ring, the last one
}

TEST_CASE("topk: values and indices apart cost H start-ups more, the same bytes") {
  Compression topk = entries(Id::topk, 1000);
  const double together = seconds_of(topk, 100'000, base_of(12));
  topk.split_values_indices = true;
  const double apart = seconds_of(topk, 100'000, base_of(12));
  CHECK(apart - together == exactly(4 * kAlpha)); // H = 4
  topk.allgather = SparseAllgather::recursive_doubling;
  CHECK_THROWS_WITH_AS((void)exchange_of(topk, 100'000, base_of(6)),
                       "recursive_doubling needs a power-of-two rank count, got 6; use bruck, "
                       "ring or auto",
                       SimulationError);
}

TEST_CASE("barriers after rounds: H^2 start-ups for the tree, F H for the butterfly") {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 13U}) {
    CAPTURE(ranks);
    const double H = std::ceil(std::log2(ranks));
    const double F = std::floor(std::log2(ranks));
    for (const auto& [method, barriers] :
         {std::pair{Id::gtopk_tree, H * H}, std::pair{Id::gtopk_butterfly, F * H}}) {
      Compression compression = entries(method, 100);
      const double before = seconds_of(compression, 1000, base_of(ranks));
      compression.round_barriers = true;
      CHECK(seconds_of(compression, 1000, base_of(ranks)) == exactly(before + barriers * kAlpha));
    }
  }
}

TEST_CASE("V22: ok_topk is slower than gtopk_tree and faster than topk, in ms") {
  const Collective base = base_of(32);
  CHECK(milliseconds(entries(Id::ok_topk, 25'557), 25'557'032, base) ==
        exactly(32.264 + 5.34780225));
  const double second = milliseconds(entries(Id::ok_topk, 14'728), 14'728'266, base);
  CHECK(second == exactly(35.345834));
  CHECK(milliseconds(entries(Id::topk, 14'728), 14'728'266, base) == exactly(35.052896));
  CHECK(milliseconds(entries(Id::gtopk_tree, 14'728), 14'728'266, base) == exactly(14.96416));
  CHECK(milliseconds(entries(Id::ok_topk, 25'557), 25'557'032, base) <
        milliseconds(entries(Id::topk, 25'557), 25'557'032, base));
}

TEST_CASE("V23: without latency signs cost as much as the dense ring at 64 ranks") {
  const std::int64_t elements = 64 * 1000;
  const auto difference = [&](std::uint32_t ranks) {
    const Collective base = base_of(ranks, {.alpha = 0});
    return seconds_of(method_of(Id::signsgd), elements, base) /
               dense_ring_seconds({}, {elements, {}}, base) -
           1;
  };
  CHECK(std::abs(difference(64)) < kExact);
  CHECK(difference(32) < -0.1);
  CHECK(difference(128) > 0.1);
}

TEST_CASE("V24: the fraction of non-zero blocks at random positions") {
  CHECK(nonzero_blocks(0.001, 256) == within(0.225957, 1e-5));
  CHECK(nonzero_blocks(1, 256) == 1);
  Compression omnireduce = dense_share(Id::omnireduce, 0.001);
  omnireduce.block = 256;
  const double fraction = 1 - std::pow(0.999, 256);
  CHECK(seconds_of(omnireduce, 1'000'000, base_of(16)) ==
        exactly(kAlpha + fraction * 4e6 / kBandwidth));
}

TEST_CASE("V26: all methods at 16 ranks, 10 Gb/s, 50 us, in ms") {
  const Collective base = base_of(16, {.alpha = 50e-6, .beta = 1 / 1.25e9});
  const auto time = [&](const Compression& compression) {
    return milliseconds(compression, 1'000'000, base);
  };
  constexpr std::int64_t kEntries = 10'000;
  const auto near = [](double value) { return within(value, 1e-6); };
  CHECK(time({}) == near(7.5));
  CHECK(time(method_of(Id::fp16)) == near(4.5));
  Compression topk = entries(Id::topk, kEntries);
  CHECK(time(topk) == near(1.16));
  topk.allgather = SparseAllgather::ring;
  CHECK(time(topk) == near(1.71));
  CHECK(time(entries(Id::gtopk_tree, kEntries)) == near(0.912));
  CHECK(time(entries(Id::gtopk_butterfly, kEntries)) == near(0.456));
  Compression sparcml = entries(Id::sparcml_rd, kEntries);
  sparcml.support_overlap = SupportOverlap::full;
  CHECK(time(sparcml) == near(0.456));
  sparcml.support_overlap = SupportOverlap::disjoint;
  CHECK(time(sparcml) == near(1.16));
  sparcml.support_overlap = SupportOverlap::random;
  const CompressedExchange random = exchange_of(sparcml, 1'000'000, base);
  CHECK(1e3 * *closed_form_seconds(random) == near(1.137979));
  Compression split = entries(Id::sparcml_split, kEntries);
  split.support_overlap = SupportOverlap::full;
  CHECK(time(split) == near(1.07));
  split.support_overlap = SupportOverlap::disjoint;
  CHECK(time(split) == near(1.97));
  split.support_overlap = SupportOverlap::random;
  CHECK(time(split) == near(1.901253));
  CHECK(time(entries(Id::ok_topk, kEntries)) == near(2.18));
  Compression qsgd = method_of(Id::qsgd);
  CHECK(time(qsgd) == near(12.843792));
  qsgd.bits = 4;
  CHECK(time(qsgd) == near(6.843792));
  CHECK(time(method_of(Id::signsgd)) == near(2.25));
  const CompressedExchange dsa = exchange_of(entries(Id::topk_dsa, kEntries), 1'000'000, base);
  REQUIRE(dsa.formula_range_s.has_value());
  CHECK(1e3 * dsa.formula_range_s->first == near(1.32));
  CHECK(1e3 * dsa.formula_range_s->second == near(4.26));
  CHECK(1e3 * *closed_form_seconds(dsa) == near(4.26));
}

TEST_CASE("V27: powersgd sends two factors and the 1-D tensors, and counts its arithmetic") {
  const Collective base = base_of(16, {.alpha = 50e-6, .beta = 1 / 1.25e9});
  Compression compression = method_of(Id::powersgd);
  compression.rank = 4;
  const GradientPart matrix{.elements = 1024 * 1024, .shapes = {{1024, 1024}}};
  const CompressedExchange exchange = compressed_exchange(compression, matrix, base);
  CHECK(1e3 * *closed_form_seconds(exchange) == exactly(3.049152));
  const auto flops = [](const LowRankWork& work) {
    return work.encode.flops + work.feedback.flops + work.decode.flops;
  };
  CHECK(flops(low_rank_work(compression, matrix)) == 25'198'592);
  CHECK(exchange.stages.size() == 2);
  // A bias of 10 adds a third all-reduce of 40 bytes, a 2 x 100 matrix has rank 2.
  const GradientPart more{.elements = 1024 * 1024 + 10 + 200,
                          .shapes = {{1024, 1024}, {10, 1}, {2, 100}}};
  const CompressedExchange three = compressed_exchange(compression, more, base);
  REQUIRE(three.stages.size() == 3);
  CHECK(three.stages[0].collective.bytes == 4 * (4 * 1024 + 2 * 2));
  CHECK(three.stages[1].collective.bytes == 4 * (4 * 1024 + 2 * 100));
  CHECK(three.stages[2].collective.bytes == 4 * 10);
  CHECK(flops(low_rank_work(compression, more)) == 25'198'592 + 6 * 2 * 200 + 2 * 2 * 4);
  const CompressedExchange flat = exchange_of(compression, 1000, base);
  REQUIRE(flat.stages.size() == 1);
  CHECK(flat.stages[0].collective.bytes == 4000);
  CHECK(flops(low_rank_work(compression, {.elements = 1000, .shapes = {}})) == 0);
  // 8 x 4 values of 2 bytes, factors of rank 2 in values of 4 bytes.
  compression.rank = 2;
  const LowRankWork small =
      low_rank_work(compression, {.elements = 32, .shapes = {{8, 4}}, .bytes = 64});
  CHECK(small.encode.flops == 4 * 2 * 32 + 2 * 8 * 4);
  CHECK(small.encode.bytes == 2 * 64 + 2 * 2 * (8 + 4) * 4 + 2 * 8 * 2 * 4);
  CHECK(small.feedback.bytes == 5 * 64);
  CHECK(small.decode.flops == 2 * 2 * 32);
  CHECK(small.decode.bytes == 4 * 64 + 2 * (8 + 4) * 4);
}

Collective two_levels(std::uint32_t nodes, std::uint32_t gpus) {
  Collective base = base_of(nodes * gpus, {.alpha = 50e-6, .beta = 8e-10});
  base.links.two_level = TwoLevel{gpus, 1, {5e-6, 5e-6, 1e-11}};
  return base;
}

TEST_CASE("V28: hierarchical_topk is three rings, 45.0 + 198.0 + 17.4 us") {
  const Compression compression = dense_share(Id::hierarchical_topk, 0.01);
  const Collective base = two_levels(4, 4);
  CHECK(1e6 * seconds_of(compression, 1'000'000, base) == exactly(260.4));
  const CompressedExchange exchange = exchange_of(compression, 1'000'000, base);
  CHECK(exchange.k == 2500); // max(1, floor(density m / n))
  CHECK(exchange.searched == 250'000);
  REQUIRE(exchange.stages.size() == 3);
  const std::array stage_us{45.0, 198.0, 17.4};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(1e6 * closed_form(exchange.stages[i].collective)->seconds == exactly(stage_us[i]));
  }
  // Every rank sends 3 shards of M/4, then 3 lists, then 3 gathered shards; all 16 ranks do.
  const Traffic traffic = exchange_traffic(exchange);
  const double sent = 3 * 1e6 + 3 * 2500 * 8 + 3 * (4 * 2500 * 8);
  CHECK(traffic.min_per_rank == sent);
  CHECK(traffic.max_per_rank == sent);
  CHECK(traffic.total == 16 * sent);
  CHECK(traffic.messages == 16 * 9);
  CHECK(traffic.steps == 9);
  for (const TransferRecord& each : exchange_transfers(exchange, 10'000)) {
    const bool inside = each.src / 4 == each.dst / 4;
    CHECK(inside == (each.step < 3 || each.step >= 6));
    CHECK((inside || each.src % 4 == each.dst % 4));
  }
}

TEST_CASE("hierarchical_topk needs two nodes of two, all alike") {
  const Compression compression = dense_share(Id::hierarchical_topk, 0.01);
  constexpr const char* kNeeds = "hierarchical_topk needs at least 2 nodes and 2 GPUs per node";
  for (const Collective& base : {two_levels(1, 4), two_levels(4, 1), base_of(8)}) {
    CHECK_THROWS_WITH_AS((void)exchange_of(compression, 1000, base), kNeeds, SimulationError);
  }
  Collective uneven = two_levels(3, 4);
  uneven.ranks = 10;
  CHECK_THROWS_AS((void)exchange_of(compression, 1000, uneven), SimulationError);
}

TEST_CASE("gaussian_k exchanges sizes of 4 bytes first, then k' entries") {
  Compression compression = entries(Id::gaussian_k, 1000);
  compression.selected_ratio = 1.25;
  const std::uint32_t ranks = 12;
  // (H alpha + (P-1) 4 beta) + H alpha + (P-1) k' E beta
  CHECK(seconds_of(compression, 100'000, base_of(ranks)) ==
        exactly(2 * 4 * kAlpha + 11 * (4 + 1250 * 8) / kBandwidth));
}

TEST_CASE("a list without entries is still sent: start-ups only") {
  Compression compression = entries(Id::gtopk_tree, 1);
  compression.selected_ratio = 0.3; // k' = 0
  CHECK(exchange_of(compression, 100, base_of(8)).entries == 0);
  CHECK(seconds_of(compression, 100, base_of(8)) == exactly(6 * kAlpha));
  compression.method = Id::topk;
  CHECK(seconds_of(compression, 100, base_of(7)) == exactly(3 * kAlpha));
  CHECK(exchange_traffic(exchange_of(compression, 100, base_of(7))).messages == 21);
}

TEST_CASE("codecs: 2(P-1) alpha + 2(P-1)/P n/r beta + (P-1)/P n (gamma + kc + kd)") {
  const Network network{.alpha = 50e-6, .beta = 8e-10, .gamma = 1e-10};
  for (const auto& [method, ratio] : {std::pair{Id::truncate16, 2.0}, std::pair{Id::quantize8, 4.0},
                                      std::pair{Id::custom_codec, 3.0}}) {
    Compression codec = method_of(method);
    codec.ratio = ratio;
    codec.encode_Bps = 1e10;
    codec.decode_Bps = 4e10;
    for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
      CAPTURE(ranks);
      CAPTURE(ratio);
      Collective base = base_of(ranks, network);
      base.options.chunking = Chunking::real;
      const double n = 4 * 240'000.0;
      const double share = (ranks - 1.0) / ranks;
      const double latency = 2 * (ranks - 1) * network.alpha;
      const double wire = 2 * share * n / ratio * network.beta;
      const double hops = share * n * (network.gamma + 1e-10 + 0.25e-10);
      CHECK(seconds_of(codec, 240'000, base) == exactly(latency + wire + hops));

      Compression scaled = codec; // 4 B more in each of 2(P-1) messages
      scaled.count_scale_bytes = true;
      CHECK(seconds_of(scaled, 240'000, base) ==
            exactly(latency + wire + hops + 2 * (ranks - 1) * 4 * network.beta));
      const Traffic plain = exchange_traffic(exchange_of(codec, 240'000, base));
      CHECK(exchange_traffic(exchange_of(scaled, 240'000, base)).max_per_rank ==
            exactly(plain.max_per_rank + 2 * (ranks - 1) * 4));

      Compression agreed = codec; // an all-reduce of 4 B first, codes are added as they are
      agreed.scale_agreement = true;
      CHECK(seconds_of(agreed, 240'000, base) ==
            within(2 * latency + 2 * share * 4 * network.beta + wire + share * n * network.gamma,
                   1e-6)); // parts of 4 bytes
    }
  }
}

TEST_CASE("PIP 18 C and E: exchanges with a codec on the network N4, in ms") {
  Collective base = base_of(4, {.alpha = 50e-6, .beta = 1 / 1.25e9, .gamma = 1e-10});
  base.options.chunking = Chunking::real;
  struct Row {
    std::int64_t bytes;
    double ratio, rate, milliseconds;
  };
  constexpr std::int64_t kAlexNet = 243'860'896;
  for (const Row& expected :
       {Row{2'592'040, 1, 0, 3.604851}, Row{2'592'040, 2, 0, 2.049627},
        Row{2'592'040, 4, 0, 1.272015}, Row{46'758'048, 2, 0, 31.861682},
        Row{kAlexNet, 2, 0, 164.906105}, Row{kAlexNet, 4, 0, 91.747836},
        Row{kAlexNet, 2, 1e10, 201.485239}, Row{kAlexNet, 4, 1e10, 128.326970}}) {
    CAPTURE(expected.bytes);
    CAPTURE(expected.ratio);
    Compression codec = method_of(Id::custom_codec);
    codec.ratio = expected.ratio;
    codec.encode_Bps = codec.decode_Bps = expected.rate;
    CHECK(milliseconds(codec, expected.bytes / 4, base) == within(expected.milliseconds, 1e-6));
  }
}

TEST_CASE("codecs on a parameter server: it decodes P pushes and encodes the sum once") {
  const std::uint32_t ranks = 4;
  Collective base = base_of(ranks, {.alpha = 5e-5, .beta = 8e-10, .gamma = 1e-10});
  base.algorithm = AlgorithmId::parameter_server;
  base.options.chunking = Chunking::real;
  Compression codec = method_of(Id::quantize8);
  codec.encode_Bps = 1e10;
  codec.decode_Bps = 5e9;
  const double n = 4e6;
  const CompressedExchange exchange = exchange_of(codec, 1'000'000, base);
  // 2 alpha + 2 P n/r beta + P n (gamma + kd) + n kc
  CHECK(*closed_form_seconds(exchange) ==
        exactly(2 * 5e-5 + 2 * ranks * n / 4 * 8e-10 + ranks * n * (1e-10 + 2e-10) + n * 1e-10));
}

TEST_CASE("fp16 halves the bytes of the asked all-reduce, auto chooses for the smaller message") {
  const Network network{.alpha = 5e-5, .beta = 8e-10, .gamma = 1e-10};
  for (const AlgorithmId algorithm :
       {AlgorithmId::ring, AlgorithmId::be, AlgorithmId::lp, AlgorithmId::automatic}) {
    Collective base = base_of(8, network);
    base.algorithm = algorithm;
    Collective half = base;
    half.bytes = 2 * 1'000'000;
    const Compression fp16 = method_of(Id::fp16);
    CHECK(exchange_time(exchange_of(fp16, 1'000'000, base), fp16, std::nullopt).seconds ==
          exactly(
              seconds(with_chosen_algorithm(half), automatic_method(with_chosen_algorithm(half)))));
  }
}

// Every method that has messages, with small parameters.
std::vector<Compression> simulated_methods(double density) {
  std::vector<Compression> methods;
  for (const CompressionRow& each : compression_table()) {
    if (each.simulated && each.method != Id::hierarchical_topk) {
      Compression compression = dense_share(each.method, density);
      compression.rank = 2;
      compression.ratio = each.method == Id::custom_codec ? 3 : compression.ratio;
      compression.support_overlap = SupportOverlap::disjoint; // whole bytes
      compression.custom.bytes_per_worker = base::Formula(1000);
      methods.push_back(compression);
    }
  }
  Compression flat = dense_share(Id::gtopk_tree, density);
  flat.broadcast = SparseBroadcast::flat;
  methods.push_back(flat);
  Compression ring = dense_share(Id::topk, density);
  ring.allgather = SparseAllgather::ring;
  methods.push_back(ring);
  return methods;
}

constexpr std::array kRanks{1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 13U, 16U, 24U};

std::vector<std::int64_t> sizes_for(std::uint32_t ranks) {
  return {0, 1, ranks - 1, ranks, 1'000'001};
}

TEST_CASE(
    "SPA 16, item 10: closed form, max_plus and events agree for every method with messages") {
  for (const std::uint32_t ranks : kRanks) {
    for (const std::int64_t elements : sizes_for(ranks)) {
      for (const Compression& compression : simulated_methods(0.01)) {
        CAPTURE(ranks);
        CAPTURE(elements);
        CAPTURE(row(compression.method).name);
        Collective base = base_of(ranks);
        base.options.chunking = Chunking::real;
        const GradientPart gradient{.elements = elements, .shapes = {{elements, 1}}};
        const CompressedExchange exchange = compressed_exchange(compression, gradient, base);
        const double swept = exchange_time(exchange, compression, Method::max_plus).seconds;
        const ExchangeTime run = exchange_time(exchange, compression, Method::events);
        CHECK(run.seconds == exactly(swept));
        if (const auto form = closed_form_seconds(exchange)) {
          CHECK(*form == exactly(swept));
        } else {
          CHECK(compression.method == Id::sparcml_rd); // folds have no form
        }
        const Traffic counted = exchange_traffic(exchange);
        CHECK(counted.messages == exchange_transfers(exchange, 100'000).size());
        SentBytes sent;
        CHECK(most_sent(exchange, sent) == exactly(counted.max_per_rank));
        CHECK(most_sent(exchange, sent) == exactly(counted.max_per_rank)); // from memory
        if (ranks == 1 || elements == 0) {
          CHECK(swept == 0);
          CHECK(counted.messages == 0);
        }
      }
    }
  }
}

TEST_CASE("SPA 16, item 10: rings of unequal chunks lie between the multiples of P around m") {
  for (const std::uint32_t ranks : {3U, 5U, 7U, 13U}) {
    for (const std::int64_t elements : {std::int64_t{100}, std::int64_t{1'000'001}}) {
      Collective base = base_of(ranks);
      base.options.element_bytes = 4;
      const auto time = [&](std::int64_t count) {
        return exchange_time(exchange_of({}, count, base), {}, Method::max_plus).seconds;
      };
      const std::int64_t low = elements / ranks * ranks;
      CHECK(time(elements) >= time(low) * (1 - kExact));
      CHECK(time(elements) <= time(low + ranks) * (1 + kExact));
    }
  }
}

TEST_CASE("sparcml_rd: each message has what its sender holds, folded ranks included") {
  Compression compression = entries(Id::sparcml_rd, 10);
  compression.support_overlap = SupportOverlap::disjoint; // n(c) = min(10 c, m)
  // 6 ranks: 4 and 5 fold into 0 and 1; then 0, 1 hold 2 each, 2, 3 one; then 4 and 2; then 6.
  std::vector<double> lists;
  for (const TransferRecord& each :
       exchange_transfers(exchange_of(compression, 1000, base_of(6)), 100)) {
    lists.push_back(each.bytes / 80);
  }
  CHECK(lists == std::vector<double>{1, 1, 2, 2, 1, 1, 4, 4, 2, 2, 6, 6});
  // 45 elements of 4 bytes: a list of more than 22 entries is sent dense, 180 bytes.
  const CompressedExchange dense = exchange_of(compression, 45, base_of(4));
  std::vector<double> bytes;
  for (const TransferRecord& each : exchange_transfers(dense, 100)) {
    bytes.push_back(each.bytes);
  }
  CHECK(bytes == std::vector<double>{80, 80, 80, 80, 160, 160, 160, 160});
  const CompressedExchange eight = exchange_of(compression, 45, base_of(8));
  CHECK(exchange_transfers(eight, 100).back().bytes == 180);
}

TEST_CASE("sparcml_rd: random positions fill m (1 - (1 - k/m)^c), whole bytes when simulated") {
  Compression compression = entries(Id::sparcml_rd, 1000);
  const Collective base = base_of(16);
  const CompressedExchange exchange = exchange_of(compression, 30'000, base);
  CHECK(held_entries(compression, exchange, 1) == 1000);
  CHECK(held_entries(compression, exchange, 4) ==
        exactly(30'000 * (1 - std::pow(1 - 1.0 / 30, 4))));
  const double form = *closed_form_seconds(exchange);
  const double swept = exchange_time(exchange, compression, Method::max_plus).seconds;
  CHECK(std::abs(swept - form) <= 4 * 0.5 / kBandwidth); // half a byte in each of 4 rounds
  CHECK(swept != form);
  CHECK(exchange_time(exchange, compression, std::nullopt).method == Method::max_plus);
  for (const TransferRecord& each : exchange_transfers(exchange, 1000)) {
    CHECK(each.bytes == std::floor(each.bytes));
  }
  CHECK(std::fmod(held_bytes(compression, exchange, 4), 1) != 0);
}

TEST_CASE("SPA 16, item 11: time does not fall with k, elements, latency or seconds per byte") {
  constexpr std::uint64_t kSeed = 20190419;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 200; ++round) {
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 40));
    const std::int64_t elements = random.integer(10, 5000);
    const double density = random.uniform(0.01, 0.5);
    const Network network{.alpha = random.uniform(0, 1e-3), .beta = random.uniform(1e-9, 1e-6)};
    for (Compression compression : simulated_methods(density)) {
      CAPTURE(round);
      CAPTURE(row(compression.method).name);
      compression.support_overlap = SupportOverlap::random;
      const auto time = [&](const Compression& what, std::int64_t count, const Network& over) {
        return exchange_time(exchange_of(what, count, base_of(ranks, over)), what, Method::max_plus)
            .seconds;
      };
      const double before = time(compression, elements, network) * (1 - kExact);
      Compression more = compression;
      more.density = density + random.uniform(0, 0.5);
      CHECK(time(more, elements, network) >= before);
      CHECK(time(compression, elements + random.integer(1, 1000), network) >= before);
      CHECK(time(compression, elements, {.alpha = 1.1 * network.alpha, .beta = network.beta}) >=
            before);
      CHECK(time(compression, elements, {.alpha = network.alpha, .beta = 1.1 * network.beta}) >=
            before);
    }
  }
}

TEST_CASE("SPA 16, item 12: as many bytes arrive as are sent; a tree has 2(P-1) messages") {
  for (const std::uint32_t ranks : {2U, 3U, 5U, 6U, 8U, 12U, 24U}) {
    for (const Compression& compression : simulated_methods(0.1)) {
      CAPTURE(ranks);
      CAPTURE(row(compression.method).name);
      const CompressedExchange exchange = exchange_of(compression, 1234, base_of(ranks));
      double received = 0;
      for (const TransferRecord& each : exchange_transfers(exchange, 100'000)) {
        received += each.bytes;
      }
      CHECK(received == exactly(exchange_traffic(exchange).total));
    }
    CHECK(exchange_traffic(exchange_of(entries(Id::gtopk_tree, 5), 100, base_of(ranks))).messages ==
          2 * (ranks - 1));
  }
}

TEST_CASE("topk at density 1 is no faster than the dense ring") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U, 24U, 64U}) {
    CAPTURE(ranks);
    const std::int64_t elements = 1'000'000;
    CHECK(seconds_of(dense_share(Id::topk, 1), elements, base_of(ranks, {.alpha = 0})) >=
          dense_ring_seconds({}, {elements, {}}, base_of(ranks, {.alpha = 0})));
  }
}

TEST_CASE("merges as serial additions: the schedule takes wire + rounds * merge") {
  for (const std::uint32_t ranks : kRanks) {
    for (const Id method : {Id::gtopk_tree, Id::gtopk_butterfly, Id::sparcml_rd}) {
      CAPTURE(ranks);
      CAPTURE(row(method).name);
      Compression compression = entries(method, 1000);
      compression.support_overlap = SupportOverlap::full; // lists of equal length
      compression.costs.merge_s = 3e-5;
      compression.costs.merge_s_per_entry = 2e-8;
      const CompressedExchange exchange = exchange_of(compression, 100'000, base_of(ranks));
      const double wire = exchange_time(exchange, compression, Method::max_plus).seconds;
      const double merges = compress_times(compression, exchange, ranks).merge_s;
      CompressedExchange charged = exchange;
      for (ExchangeStage& stage : charged.stages) {
        stage.collective.options.reduction_mode = ReductionMode::serial;
        stage.collective.reduction_s_per_byte = (3e-5 + 1000 * 2e-8) / 8000; // per byte of a list
      }
      for (const Method by : {Method::max_plus, Method::events}) {
        CHECK(exchange_time(charged, compression, by).seconds == exactly(wire + merges));
      }
    }
  }
}

TEST_CASE("work beside the wire: select, residual, staging, merge, scatter") {
  Compression compression = entries(Id::gtopk_tree, 100);
  compression.costs = {.select_s = 1,
                       .select_s_per_element = 2,
                       .select_s_per_entry = 3,
                       .residual_s_per_element = 5,
                       .staging_s_per_element = 7,
                       .merge_s = 11,
                       .merge_s_per_entry = 13,
                       .scatter_s = 17,
                       .scatter_s_per_entry = 19};
  const auto times = [&](std::uint32_t ranks, std::int64_t elements) {
    return compress_times(compression, exchange_of(compression, elements, base_of(ranks)), ranks);
  };
  const CompressTimes six = times(6, 1000);
  CHECK(six.select_s == 1 + 2 * 1000 + 3 * 100);
  CHECK(six.residual_s == 5 * 1000);
  CHECK(six.compress_s() == six.select_s + six.residual_s);
  CHECK(six.staging_s == 7 * 1000);
  CHECK(six.merge_s == 3 * (11 + 13 * 100)); // H = 3
  CHECK(six.scatter_s == 17 + 19 * 100);
  const CompressTimes one = times(1, 1000); // SPA 13, decision 13
  CHECK(one.select_s == six.select_s);
  CHECK(one.residual_s == six.residual_s);
  CHECK(one.staging_s + one.merge_s + one.scatter_s == 0);
  const CompressTimes nothing = times(6, 0);
  CHECK(nothing.select_s + nothing.residual_s + nothing.staging_s + nothing.scatter_s == 0);
  compression.method = Id::gtopk_butterfly;
  CHECK(times(6, 1000).merge_s == (2 + 1) * (11 + 13 * 100)); // F + 1, folded
  CHECK(times(8, 1000).merge_s == 3 * (11 + 13 * 100));
  compression.method = Id::topk;
  CHECK(times(6, 1000).merge_s == 0);
  CHECK(times(6, 1000).scatter_s == 17 + 19 * 6 * 100); // P k
  compression.costs = {.n_log_n = true, .select_s = 1, .select_s_per_element_log2 = 2};
  CHECK(times(6, 1024).select_s == 1 + 2 * 1024 * 10.0);
  CHECK(times(6, 1).select_s == 1);
}

TEST_CASE("formulas: max_plus and events do not exist, other ranks have no formula") {
  for (const Id method : {Id::ok_topk, Id::sparcml_split, Id::topk_dsa, Id::omnireduce}) {
    Compression compression = entries(method, 10);
    compression.block = 4;
    const std::string name(row(method).name);
    for (const std::uint32_t ranks : {1U, 8U}) {
      const CompressedExchange exchange = exchange_of(compression, 100, base_of(ranks));
      CHECK((exchange_time(exchange, compression, std::nullopt).seconds > 0) == (ranks > 1));
      for (const Method by : {Method::max_plus, Method::events}) {
        CHECK_THROWS_WITH_AS((void)exchange_time(exchange, compression, by),
                             (name + ": only the closed form is available").c_str(),
                             SimulationError);
      }
    }
    Collective late = base_of(4);
    late.enter_s = {0, 1, 0, 0};
    CHECK_THROWS_WITH_AS(
        (void)exchange_of(compression, 100, late),
        (name + ": the closed form needs identical ranks entering together").c_str(),
        SimulationError);
  }
}

TEST_CASE("entry times delay the first stage only") {
  Collective base = base_of(8);
  base.enter_s.assign(8, 1.5);
  for (const Id method : {Id::gtopk_tree, Id::gaussian_k}) {
    CHECK(seconds_of(entries(method, 10), 100, base) ==
          exactly(1.5 + seconds_of(entries(method, 10), 100, base_of(8))));
  }
  Collective levels = two_levels(2, 2);
  const Compression compression = dense_share(Id::hierarchical_topk, 0.1);
  const double before = seconds_of(compression, 1000, levels);
  levels.enter_s = {0, 0, 2, 0};
  CHECK(seconds_of(compression, 1000, levels) == exactly(2 + before));
}

} // namespace
} // namespace stepsim::collectives
