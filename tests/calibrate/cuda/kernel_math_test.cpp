// The arithmetic of the kernels, put together on the host as the kernels do, beside the library
// functions (CAL 7.3).
#include "calibrate/cuda/kernel_math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "collectives/operators/sparse_vector.hpp"

using namespace stepsim;
using namespace stepsim::calibrate::gpu;

namespace {

std::vector<float> some_values(std::size_t n, std::uint64_t seed, bool small_integers) {
  base::RandomStream random({.seed = seed});
  std::vector<float> values(n);
  for (float& value : values) {
    value = small_integers ? static_cast<float>(random.integer(-4, 4))
                           : static_cast<float>(random.uniform(-1, 1) / random.uniform(0.01, 1));
  }
  return values;
}

// Four passes over histograms, from above.
Selection select_threshold(const std::vector<float>& x, std::uint32_t k) {
  std::uint32_t prefix = 0;
  std::uint32_t remaining = k;
  for (int pass = 0; pass < kRadixPasses; ++pass) {
    std::array<std::uint32_t, kRadixBins> bins{};
    for (const float value : x) {
      const std::uint32_t key = magnitude_key(value);
      if (radix_matches(key, prefix, pass)) {
        ++bins[radix_digit(key, pass)];
      }
    }
    std::uint32_t digit = kRadixBins - 1;
    while (bins[digit] < remaining) {
      remaining -= bins[digit--];
    }
    prefix = radix_append(prefix, digit, pass);
  }
  return exact_selection(prefix, remaining);
}

struct HostList {
  std::vector<std::int32_t> indices;
  std::vector<float> values;
};

// Tile by tile, each from the tally before it.
HostList compacted(const std::vector<float>& x, const Selection& selection, std::size_t tile) {
  std::uint64_t total = 0;
  for (const float value : x) {
    total += packed(tally_of(magnitude_key(value), selection));
  }
  const std::uint32_t count = output_position(unpacked(total), selection);
  HostList list{std::vector<std::int32_t>(count, -1), std::vector<float>(count)};
  std::uint64_t before_tile = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += tile) {
    Tally before = unpacked(before_tile);
    for (std::size_t i = begin; i < std::min(begin + tile, x.size()); ++i) {
      const std::uint32_t key = magnitude_key(x[i]);
      if (is_selected(key, selection, before.equal)) {
        const std::uint32_t position = output_position(before, selection);
        REQUIRE(position < count);
        CHECK(list.indices[position] == -1); // nobody else writes there
        list.indices[position] = static_cast<std::int32_t>(i);
        list.values[position] = x[i];
      }
      const Tally here = tally_of(key, selection);
      before_tile += packed(here);
      before.above += here.above;
      before.equal += here.equal;
    }
  }
  return list;
}

collectives::SparseVector as_sparse(const HostList& list) {
  collectives::SparseVector out;
  for (std::size_t i = 0; i < list.indices.size(); ++i) {
    out.indices.push_back(static_cast<std::uint32_t>(list.indices[i]));
    out.values.push_back(list.values[i]);
  }
  return out;
}

} // namespace

TEST_CASE("kernel arithmetic: radix select and compaction give the k largest magnitudes") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const std::size_t n = 1 + seed * 37 % 300;
    const std::vector<float> x = some_values(n, seed, seed % 2 == 0);
    const std::vector<double> exact(x.begin(), x.end());
    for (const std::size_t k : {std::size_t{1}, n / 10 + 1, n / 2 + 1, n}) {
      CAPTURE(k);
      const Selection selection = select_threshold(x, static_cast<std::uint32_t>(k));
      const HostList list = compacted(x, selection, 64);
      CHECK(as_sparse(list) == collectives::select_top_k(exact, static_cast<std::uint32_t>(k)));
    }
  }
}

TEST_CASE("kernel arithmetic: the order of keys is the order of magnitudes") {
  const std::vector<float> rising{0.0F,
                                  std::numeric_limits<float>::denorm_min(),
                                  1e-38F,
                                  1.0F,
                                  std::nextafter(1.0F, 2.0F),
                                  std::numeric_limits<float>::max()};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    CHECK(magnitude_key(rising[i]) == magnitude_key(-rising[i]));
    CHECK(magnitude_of(magnitude_key(-rising[i])) == rising[i]);
    CHECK(is_finite_key(magnitude_key(rising[i])));
    if (i > 0) {
      CHECK(magnitude_key(rising[i - 1]) < magnitude_key(rising[i]));
    }
  }
  CHECK(!is_finite_key(magnitude_key(std::numeric_limits<float>::infinity())));
  CHECK(!is_finite_key(magnitude_key(-std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("kernel arithmetic: merged positions, sums and re-selection are T_k") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    std::array<HostList, 2> lists;
    for (HostList& list : lists) {
      for (std::int32_t index = 0; index < 60; ++index) {
        const auto value = static_cast<float>(random.integer(-3, 3));
        if (random.uniform() < 0.4 && value != 0) {
          list.indices.push_back(index);
          list.values.push_back(value); // equal magnitudes and sums of 0 are frequent
        }
      }
    }
    const auto& [a, b] = lists;
    const auto a_size = static_cast<std::uint32_t>(a.indices.size());
    const auto b_size = static_cast<std::uint32_t>(b.indices.size());
    const std::uint32_t size = a_size + b_size;
    HostList merged{std::vector<std::int32_t>(size, -1), std::vector<float>(size)};
    for (std::uint32_t i = 0; i < a_size; ++i) {
      const std::uint32_t at = merged_position_a(a.indices.data(), i, b.indices.data(), b_size);
      merged.indices[at] = a.indices[i];
      merged.values[at] = a.values[i];
    }
    for (std::uint32_t i = 0; i < b_size; ++i) {
      const std::uint32_t at = merged_position_b(a.indices.data(), a_size, b.indices.data(), i);
      CHECK(merged.indices[at] == -1);
      merged.indices[at] = b.indices[i];
      merged.values[at] = b.values[i];
    }
    CHECK(std::ranges::is_sorted(merged.indices));
    std::vector<float> combined;
    for (std::uint32_t i = 0; i < size; ++i) {
      combined.push_back(combined_value(merged.indices.data(), merged.values.data(), size, i));
    }
    for (const std::uint32_t k : {1U, 5U, size}) {
      HostList got = compacted(combined, select_threshold(combined, k), 16);
      for (std::int32_t& index : got.indices) {
        index = merged.indices[static_cast<std::size_t>(index)];
      }
      CHECK(as_sparse(got) == collectives::merge_top_k(as_sparse(a), as_sparse(b), k));
    }
  }
}

TEST_CASE("kernel arithmetic: groups of four start at 16 bytes and cover what they say") {
  for (std::uintptr_t a = 0; a < 16; a += 4) {
    for (std::uintptr_t b = 0; b < 16; b += 4) {
      for (std::int64_t n = 0; n <= 9; ++n) {
        const VectorSplit split = vector_split(4096 + a, 8192 + b, n);
        CHECK(split.head + 4 * split.vectors <= n);
        if (split.vectors > 0) {
          CHECK((a + 4 * static_cast<std::uintptr_t>(split.head)) % 16 == 0);
          CHECK((b + 4 * static_cast<std::uintptr_t>(split.head)) % 16 == 0);
        }
        if (a == b && n >= 7) { // head <= 3 and then a whole group
          CHECK(split.vectors >= 1);
        }
      }
    }
  }
}

TEST_CASE("kernel arithmetic: windows lie in their region and do not overlap") {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{64}, std::int64_t{1000}}) {
    const std::int64_t region = 10'000;
    std::int64_t before = -1;
    std::int64_t distinct = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      const std::int64_t offset = window_offset(i, n, region);
      CHECK(offset % 64 == 0);
      CHECK(offset >= 0);
      CHECK(offset + n <= region);
      if (offset > before) {
        CHECK((before < 0 || offset >= before + n));
        before = offset;
        ++distinct;
      }
    }
    const std::int64_t stride = (n + 63) / 64 * 64;
    CHECK(distinct == (region - n) / stride + 1);
  }
  CHECK(window_offset(7, 100, 100) == 0);
}
