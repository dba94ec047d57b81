// Sparse layers: LAGS and OMGS; MER 6.4, MER 14 S, SPA 5.
#include "buckets/omgs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

Tolerance near(double value) { return within(value, 1e-9); }

// From forward order, as published.
std::vector<SparseItem> items_of(std::vector<double> elements, std::vector<double> backward) {
  std::vector<SparseItem> items;
  for (std::size_t l = elements.size(); l-- > 0;) {
    items.push_back({backward[l], elements[l]});
  }
  return items;
}

// P = 4, density 0.01: selection n log2 n, two start-ups and 16 bytes per entry sent.
SparseCost published() {
  return {.select_s = [](double x) { return 2.18896957e-10 * x * std::log2(x); },
          .exchange_s =
              [](double x) {
                const double k = std::max(1.0, std::floor(0.01 * x));
                return 2 * (2.7e-3 + 1.3e-8 * 16 * k);
              }};
}

struct SparseMessage {
  double selected_s{}; // selection ends
  double start_s{}, end_s{};
};

struct SparseTimes {
  std::vector<SparseMessage> messages; // one per group
  double backward_end_s{};             // of the last layer, its selection on `compute` included
  double finish_s{};
};

// The recursion of MER 6.4 for runs of items. A group without elements sends nothing.
SparseTimes sparse_times(const std::vector<SparseItem>& items,
                         const std::vector<std::size_t>& firsts, const SparseCost& cost,
                         SelectStream stream) {
  SparseTimes times;
  double backward = 0; // on the compute stream
  double selected = 0;
  double channel = 0;
  for (std::size_t g = 0; g < firsts.size(); ++g) {
    double elements = 0;
    const std::size_t end = g + 1 < firsts.size() ? firsts[g + 1] : items.size();
    for (std::size_t i = firsts[g]; i < end; ++i) {
      backward += items[i].backward_s;
      elements += items[i].elements;
    }
    SparseMessage message{backward, backward, backward};
    if (elements > 0) {
      message.selected_s =
          (stream == SelectStream::side ? std::max(selected, backward) : backward) +
          cost.select_s(elements);
      message.start_s = std::max(channel, message.selected_s);
      message.end_s = message.start_s + cost.exchange_s(elements);
      selected = message.selected_s;
      channel = message.end_s;
      backward = stream == SelectStream::compute ? selected : backward;
    }
    times.messages.push_back(message);
  }
  times.backward_end_s = backward;
  times.finish_s = std::max({backward, selected, channel});
  return times;
}

// Items from 1, in backward order.
std::string text_of(const std::vector<std::size_t>& firsts, std::size_t items) {
  std::string text;
  for (std::size_t g = 0; g < firsts.size(); ++g) {
    const std::size_t end = g + 1 < firsts.size() ? firsts[g + 1] : items;
    const std::string first = std::to_string(firsts[g] + 1);
    text += "{" + first + (end == firsts[g] + 1 ? "" : "-" + std::to_string(end)) + "}";
  }
  return text;
}

struct Best {
  double finish = 1e300;
  std::vector<std::size_t> firsts;
};

Best exhaustive(const std::vector<SparseItem>& items, const SparseCost& cost, SelectStream stream) {
  Best best;
  for (std::size_t marks = 0; marks < std::size_t{1} << (items.size() - 1); ++marks) {
    std::vector<std::size_t> firsts{0};
    for (std::size_t i = 1; i < items.size(); ++i) {
      if ((marks >> (i - 1)) & 1U) {
        firsts.push_back(i);
      }
    }
    const double finish = sparse_times(items, firsts, cost, stream).finish_s;
    if (finish < best.finish) {
      best = {finish, firsts};
    }
  }
  return best;
}

struct Case {
  std::vector<SparseItem> items;
  double lags;
  std::string omgs_groups;
  double omgs;
  double best;
};

} // namespace

TEST_CASE("lags and omgs: the published costs on three networks (MER S1 to S3)") {
  const std::vector<double> four{100000, 500000, 2000000, 50000};
  const std::vector<Case> cases{{items_of(four, {5e-3, 5e-3, 5e-3, 5e-3}), 0.04635055847, "{1-4}",
                                 0.04880142697, 0.04095055847},
                                {items_of({40000, 300000, 1000000, 20000, 600000, 10000},
                                          {1e-3, 2e-3, 4e-3, 1e-3, 2e-3, 3e-3}),
                                 0.04362428640, "{1-6}", 0.03561205500, 0.03257335164},
                                {items_of(four, {8e-3, 8e-3, 8e-3, 8e-3}), 0.05235055847,
                                 "{1}{2}{3-4}", 0.05175154258, 0.05175154258}};
  const SparseCost cost = published();
  for (const Case& each : cases) {
    CAPTURE(each.omgs_groups);
    const auto finish = [&](const std::vector<std::size_t>& firsts) {
      return sparse_times(each.items, firsts, cost, SelectStream::compute).finish_s;
    };
    CHECK(finish(lags_groups(each.items)) == near(each.lags));
    const std::vector<std::size_t> merged = omgs_groups(each.items, cost, SelectStream::compute);
    CHECK(text_of(merged, each.items.size()) == each.omgs_groups);
    CHECK(finish(merged) == near(each.omgs));
    CHECK(exhaustive(each.items, cost, SelectStream::compute).finish == near(each.best));
  }
  CHECK(text_of(exhaustive(cases[0].items, cost, SelectStream::compute).firsts, 4) ==
        "{1}{2}{3-4}");
}

TEST_CASE("lags: selection delays backward, or runs beside it (SPA V29)") {
  // Elements stand for layers: times by hand, (backward, select, exchange) ms.
  const std::vector<SparseItem> items{{4, 3}, {2, 2}, {3, 1}};
  SparseCost cost{.select_s = [](double l) { return l == 3 ? 2.0 : 1.0; },
                  .exchange_s = [](double l) { return l == 3   ? 6.0
                                                      : l == 2 ? 3.0
                                                               : 4.0; }};
  const std::vector<std::size_t> firsts = lags_groups(items);
  const SparseTimes times = sparse_times(items, firsts, cost, SelectStream::compute);
  CHECK(times.messages[0].selected_s == 4 + 2);
  CHECK(times.messages[1].selected_s == 6 + 2 + 1);
  CHECK(times.messages[2].selected_s == 9 + 3 + 1);
  CHECK(times.messages[1].start_s == 6 + 6);
  CHECK(times.finish_s == 6 + 6 + 3 + 4);
  CHECK(times.backward_end_s == 4 + 2 + 2 + 1 + 3 + 1);
  cost.exchange_s = [](double) { return 1.0; };
  CHECK(sparse_times(items, firsts, cost, SelectStream::compute).finish_s == 13 + 1);
  const SparseTimes side = sparse_times(items, firsts, cost, SelectStream::side);
  CHECK(side.finish_s == 4 + 2 + 3 + 1 + 1);
  CHECK(side.backward_end_s == 4 + 2 + 3);
}

namespace {

// The published form: scans l = L..2 and computes all starts anew after every merge.
std::vector<std::size_t> published_omgs(const std::vector<SparseItem>& items,
                                        const SparseCost& cost, SelectStream stream) {
  std::vector<std::size_t> firsts(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    firsts[i] = i;
  }
  for (std::size_t g = 0; g + 1 < firsts.size();) {
    const SparseTimes times = sparse_times(items, firsts, cost, stream);
    double open = 0;
    for (std::size_t i = firsts[g]; i < firsts[g + 1]; ++i) {
      open += items[i].elements;
    }
    const SparseItem& next = items[firsts[g + 1]];
    const auto ts = cost.select_s;
    const auto tc = cost.exchange_s;
    const double both = open + next.elements;
    const double wait = next.backward_s + ts(both) - ts(open) - ts(next.elements) -
                        (times.messages[g].start_s - times.messages[g].selected_s);
    if (wait < tc(open) + tc(next.elements) - tc(both)) {
      firsts.erase(firsts.begin() + static_cast<std::ptrdiff_t>(g) + 1);
    } else {
      ++g;
    }
  }
  return firsts;
}

} // namespace

TEST_CASE("omgs: one pass equals the published scan; no grouping beats exhaustive search") {
  stepsim::base::RandomStream random({.seed = 51});
  int loses_to_lags = 0;
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    std::vector<SparseItem> items;
    const auto count = random.integer(1, 9);
    for (std::int64_t i = 0; i < count; ++i) {
      items.push_back({random.uniform(0, 2), std::floor(random.uniform(1, 100))});
    }
    const double startup = random.uniform(0, 2);
    const double select = random.uniform(0, 0.5);
    const double per_element = random.uniform(0, 0.1);
    const SparseCost cost{
        .select_s = [=](double x) { return select + per_element * x * std::log2(x + 1) / 8; },
        .exchange_s = [=](double x) { return startup + per_element * x; }};
    const auto stream = random.integer(0, 1) == 0 ? SelectStream::compute : SelectStream::side;
    const std::vector<std::size_t> merged = omgs_groups(items, cost, stream);
    CHECK(merged == published_omgs(items, cost, stream));
    const double best = exhaustive(items, cost, stream).finish;
    const double omgs = sparse_times(items, merged, cost, stream).finish_s;
    const double lags = sparse_times(items, lags_groups(items), cost, stream).finish_s;
    CHECK(omgs >= best);
    CHECK(lags >= best);
    loses_to_lags += omgs > lags * (1 + 1e-9) ? 1 : 0;
  }
  CHECK(loses_to_lags > 0); // a heuristic
}

TEST_CASE("omgs: layers without elements send nothing and delay nothing") {
  const std::vector<SparseItem> items{{1, 0}, {1, 50}, {1, 0}, {1, 60}, {1, 0}};
  const SparseCost cost{.select_s = [](double) { return 0.25; },
                        .exchange_s = [](double) { return 0.5; }};
  CHECK(lags_groups(items) == std::vector<std::size_t>{0, 2, 4});
  const SparseTimes times = sparse_times(items, lags_groups(items), cost, SelectStream::compute);
  CHECK(times.messages[0].selected_s == 2.25);
  CHECK(times.messages[1].end_s == 2.25 + 2 + 0.25 + 0.5);
  CHECK(times.messages[2].end_s == 2.25 + 2 + 0.25 + 1); // its backward, no message
  CHECK(times.finish_s == 5.5);
  CHECK(omgs_groups(items, cost, SelectStream::compute) == std::vector<std::size_t>{0, 2, 4});
  CHECK(omgs_groups({}, cost, SelectStream::compute).empty());
}
