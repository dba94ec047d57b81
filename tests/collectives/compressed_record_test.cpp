// Records of compressed exchanges, and what is refused of one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/point.hpp"
#include "collectives/record.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;

using Id = CompressionMethod;

Compression topk(std::int64_t k, Id method = Id::topk) {
  Compression compression;
  compression.method = method;
  compression.k = k;
  return compression;
}

Collective base_of(std::uint32_t ranks, double bytes = 4e6) {
  return test::point(Op::allreduce, AlgorithmId::ring, ranks, bytes, {50e-6, 8e-10, 0});
}

CollectiveRecord record_of(const Compression& compression, const Collective& base,
                           AskedMethod asked = AskedMethod::automatic, bool with_ranks = false) {
  const GradientPart gradient{.elements = static_cast<std::int64_t>(base.bytes / 4), .shapes = {}};
  return make_record(compression, gradient, base, asked, with_ranks);
}

TEST_CASE("compressed record: dense bytes over the time, no bus bandwidth, no bound") {
  const CollectiveRecord record = record_of(topk(10'000), base_of(16));
  CHECK(record.method == Method::closed_form);
  CHECK(*record.closed_form_s == within(1.16e-3, 1e-12));
  CHECK(*record.algbw_Bps == within(4e6 / 1.16e-3, 1e-12));
  CHECK(!record.busbw_Bps);
  CHECK(!record.gap_ratio);
  CHECK(!record.max_plus_s);
  CHECK(!record.events_s);
  REQUIRE(record.compressed.has_value());
  CHECK(record.compressed->method == Id::topk);
  CHECK(record.compressed->elements == 1'000'000);
  CHECK(record.compressed->k == 10'000);
  CHECK(record.compressed->density == 0.01); // k / m
  CHECK(record.warnings.empty());
  Compression quantised;
  quantised.method = Id::qsgd;
  CHECK(!record_of(quantised, base_of(16)).compressed->k);
  CHECK(!record_of(quantised, base_of(16)).compressed->density);
}

TEST_CASE("compressed record: all evaluators, or those that the method has") {
  const CollectiveRecord tree = record_of(topk(1000, Id::gtopk_tree), base_of(6), AskedMethod::all);
  CHECK(tree.method == Method::events);
  REQUIRE(tree.max_plus_s.has_value());
  REQUIRE(tree.events_s.has_value());
  CHECK(*tree.relative_difference < 1e-12);
  const CollectiveRecord formula =
      record_of(topk(1000, Id::topk_dsa), base_of(6), AskedMethod::all);
  CHECK(formula.method == Method::closed_form);
  CHECK(!formula.max_plus_s);
  CHECK(!formula.events_s);
  REQUIRE(formula.compressed->closed_form_range_s.has_value());
  CHECK(formula.compressed->closed_form_range_s->second == *formula.closed_form_s);
  const CollectiveRecord folded = record_of(topk(1000, Id::sparcml_rd), base_of(6));
  CHECK(folded.method == Method::max_plus);
  CHECK(!folded.closed_form_s);
}

TEST_CASE("compressed record: per rank, over the stages") {
  // P = 3, T = alpha + k E beta: 1>0 to T, 2>0 to 2T, 0>1 to 3T, 0>2 to 4T.
  const double T = 50e-6 + 8000 * 8e-10;
  const CollectiveRecord record =
      record_of(topk(1000, Id::gtopk_tree), base_of(3), AskedMethod::automatic, true);
  REQUIRE(record.per_rank.has_value());
  const std::vector<double> finish{4 * T, 3 * T, 4 * T};
  const std::vector<double> transfer{4 * T, 2 * T, 2 * T};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(record.per_rank->finish_s[rank] == within(finish[rank], 1e-12));
    CHECK(record.per_rank->transfer_s[rank] == within(transfer[rank], 1e-12));
    CHECK(record.per_rank->wait_s[rank] == within(finish[rank] - transfer[rank], 1e-12));
  }
}

TEST_CASE("compressed record: barriers are in the ends of ranks and in the times of messages") {
  for (const Id method : {Id::gtopk_tree, Id::gtopk_butterfly}) {
    for (const std::uint32_t ranks : {3U, 6U, 8U}) {
      CAPTURE(ranks);
      Compression compression = topk(1000, method);
      const GradientPart gradient{.elements = 1'000'000, .shapes = {}};
      const Collective base = base_of(ranks);
      const CompressedExchange free = compressed_exchange(compression, gradient, base);
      compression.round_barriers = true;
      const CompressedExchange exchange = compressed_exchange(compression, gradient, base);
      REQUIRE(exchange.fixed_s > 0);
      const CollectiveRecord record = record_of(compression, base, AskedMethod::automatic, true);
      CHECK(std::ranges::max(record.per_rank->finish_s) == within(record.seconds, 1e-12));
      const std::vector<TransferRecord> without = exchange_transfers(free, 1000);
      const std::vector<TransferRecord> with = exchange_transfers(exchange, 1000);
      REQUIRE(with.size() == without.size());
      CHECK(with.front().start_s == without.front().start_s);
      const double barrier = exchange.fixed_s / exchange.stages.front().rounds;
      double latest = 0;
      for (std::size_t i = 0; i < with.size(); ++i) {
        const double later = with[i].start_s - without[i].start_s;
        CHECK(later == within(barrier * std::round(later / barrier), 1e-9));
        latest = std::max(latest, with[i].end_s);
      }
      // The last round of the tree and of a power of two is not the last to be waited for.
      const bool after = method == Id::gtopk_butterfly && ranks == 8;
      CHECK(latest == within(record.seconds - (after ? barrier : 0), 1e-12));
    }
  }
}

TEST_CASE("compressed record: a sparse exchange that is no faster than dense warns") {
  // 8 ranks: 7 k E against 2 * 7/8 * M, equal where k = M / 32.
  Collective base = base_of(8);
  base.links.all.latency_s = 0;
  const std::vector<std::string> slower{"sparse exchange is slower than dense at this density"};
  CHECK(record_of(topk(4'000'000 / 32 - 1), base).warnings.empty());
  CHECK(record_of(topk(4'000'000 / 32 + 1), base).warnings == slower);
  base.ranks = 1;
  CHECK(record_of(topk(1'000'000), base).warnings.empty());
}

std::string finding(const Compression& compression, const Collective& base,
                    AskedMethod asked = AskedMethod::automatic,
                    const std::vector<MatrixShape>& shapes = {}) {
  const std::vector<Finding> findings = validate(compression, shapes, base, asked);
  return findings.empty() ? "" : findings.front().what + ": " + findings.front().message;
}

TEST_CASE("validate compressed: what SPA 14 refuses") {
  CHECK(finding(topk(1000), base_of(8)).empty());
  CHECK(finding(topk(0), base_of(8)) == "k: must be in [1, 1000000], got 0");
  CHECK(finding(topk(1'000'001), base_of(8)) == "k: must be in [1, 1000000], got 1000001");
  CHECK(finding(topk(1), base_of(8, 4'000'001)) ==
        "bytes: 4000001 bytes is not a whole number of 4-byte values");
  CHECK(finding(topk(1), base_of(8, 4 * 4294967297.0)) ==
        "index_bytes: 4294967297 elements need index_bytes 8");
  CHECK(finding(topk(1), base_of(8, 4 * 4294967296.0)).empty());
  Compression doubling = topk(1);
  doubling.allgather = SparseAllgather::recursive_doubling;
  CHECK(finding(doubling, base_of(6)) ==
        "allgather: recursive_doubling needs a power-of-two rank count, got 6; use bruck, ring or "
        "auto");
  CHECK(finding(doubling, base_of(8)).empty());
  CHECK(finding(topk(1), base_of(8, 0x1p54)) ==
        "bytes: must be at most 2^53 bytes, got 18014398509481984");
}

TEST_CASE("validate compressed: two levels, formulas, shapes") {
  const Compression hierarchical = topk(100, Id::hierarchical_topk);
  Collective levels = base_of(8);
  const std::string needs =
      "gpus_per_node: hierarchical_topk needs at least 2 nodes and 2 GPUs per node";
  CHECK(finding(hierarchical, levels) == needs);
  levels.links.two_level = TwoLevel{8, 1, {1e-6, 1e-6, 1e-10}};
  CHECK(finding(hierarchical, levels) == needs);
  levels.links.two_level->gpus_per_node = 3;
  CHECK(finding(hierarchical, levels) == "gpus_per_node: 8 ranks are no multiple of 3 per node");
  levels.links.two_level->gpus_per_node = 4;
  CHECK(finding(hierarchical, levels).empty());
  CHECK(finding(hierarchical, levels, AskedMethod::closed_form).empty());

  const Compression formula = topk(100, Id::ok_topk);
  CHECK(finding(formula, base_of(8), AskedMethod::events) ==
        "method: ok_topk: only the closed form is available");
  CHECK(finding(formula, base_of(8), AskedMethod::all).empty());
  CHECK(finding(formula, levels).empty());
  // A formula knows one level: every rank has its share of an interface.
  Collective shares = base_of(8);
  shares.links.all.per_byte_s *= 4; // four GPUs behind one interface
  const auto seconds_of = [&](const Collective& base) {
    return *compressed_exchange(formula, {1000, {}}, base).formula_s;
  };
  CHECK(seconds_of(levels) == within(seconds_of(shares), 1e-12));
  levels.links.two_level->nics_per_node = 4;
  CHECK(seconds_of(levels) == within(seconds_of(base_of(8)), 1e-12));
  CHECK(finding(topk(100, Id::sparcml_rd), base_of(6), AskedMethod::closed_form) ==
        "method: sparcml_rd has no closed form at these values; use --method max_plus");

  Compression low_rank;
  low_rank.method = Id::powersgd;
  low_rank.rank = 2;
  CHECK(finding(low_rank, base_of(8), AskedMethod::automatic, {{1000, 999}}) ==
        "shapes: the shapes hold 999000 values, the bytes 1000000");
  CHECK(finding(low_rank, base_of(8), AskedMethod::automatic, {{1000, 999}, {1000, 1}}).empty());
}

} // namespace
} // namespace stepsim::collectives
