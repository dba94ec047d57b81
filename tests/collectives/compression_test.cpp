#include "collectives/compress/compression.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace stepsim::collectives;

namespace {
Compression with_density(double density) {
  Compression compression;
  compression.method = CompressionMethod::topk;
  compression.density = density;
  return compression;
}
} // namespace

TEST_CASE("compression: every method has one row, a name that is found and a summary") {
  std::set<std::string_view> names;
  for (const CompressionRow& each : compression_table()) {
    CHECK(names.insert(each.name).second);
    CHECK(find_compression(each.name) == &each);
    CHECK(&row(each.method) == &each);
    CHECK(!each.summary.empty());
  }
  CHECK(names.size() == 21); // interface: none, fp16, 3 codecs, custom, 15 sparse and low-rank
  CHECK(find_compression("") == nullptr);
  CHECK(find_compression("gtopk") == nullptr);
}

TEST_CASE("compression: no key twice in a row, none has no keys") {
  for (const CompressionRow& each : compression_table()) {
    CAPTURE(each.name);
    const std::set<std::string_view> keys(each.keys.begin(), each.keys.end());
    CHECK(keys.size() == each.keys.size());
    CHECK(has_key(each, "density") ==
          (each.kind == CompressionKind::sparse || each.method == CompressionMethod::custom));
    CHECK(has_key(each, "k") == (each.kind == CompressionKind::sparse));
    CHECK(has_key(each, "ratio") == (each.kind == CompressionKind::codec));
  }
  CHECK(row(CompressionMethod::none).keys.empty());
}

TEST_CASE("compression: an unknown word names what begins with it, else what is near, else all") {
  CHECK(unknown_compression("gtopk") ==
        R"(unknown compression method "gtopk"; did you mean "gtopk_tree"?)");
  CHECK(unknown_compression("signsdg") ==
        R"(unknown compression method "signsdg"; did you mean "signsgd"?)");
  CHECK(unknown_compression("zip").starts_with(
      R"(unknown compression method "zip"; one of none, fp16, truncate16)"));
  CHECK(unknown_compression("").starts_with(R"(unknown compression method "")"));
}

TEST_CASE("compression: k = max(1, floor(density m)) in double arithmetic") {
  CHECK(selected_entries(with_density(0.001), 25'557'032) == 25'557);
  CHECK(selected_entries(with_density(0.001), 269'722) == 269); // ResNet-20, SPA 3
  CHECK(selected_entries(with_density(0.001), 999) == 1);
  CHECK(selected_entries(with_density(1), 7) == 7);
  CHECK(selected_entries(with_density(0.5), 0) == 0);
  const double product = 0.29 * 100; // 28.999..., as doubles multiply
  CHECK(selected_entries(with_density(0.29), 100) == static_cast<std::int64_t>(product));
  Compression given;
  given.k = 12;
  CHECK(selected_entries(given, 100) == 12);
  CHECK(selected_entries(given, 0) == 0);
}

TEST_CASE("compression: the ratio of a codec") {
  CHECK(codec_ratio(CompressionMethod::truncate16) == 2);
  CHECK(codec_ratio(CompressionMethod::quantize8) == 4);
  CHECK(codec_ratio(CompressionMethod::custom_codec) == 1);
}

TEST_CASE("compression: a warm-up gives the density of its epochs, k has none") {
  Compression compression = with_density(0.001);
  CHECK(density_at(compression, 5) == 0.001);
  compression.density_warmup = {0.25, 0.0625};
  compression.iterations_per_epoch = 3;
  CHECK(density_at(compression, 0) == 0.25);
  CHECK(density_at(compression, 2) == 0.25);
  CHECK(density_at(compression, 3) == 0.0625);
  CHECK(density_at(compression, 6) == 0.001);
  compression.k = 4;
  CHECK(density_at(compression, 0) == std::nullopt);
}
