#include "study/sweep/sweep.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "study/sweep/sweep_helpers.hpp"

using namespace stepsim;
using study::RecordFormat;
using study::Shard;

namespace {

// Files with the texts of the given shards of n.
std::vector<std::string> write_shards(const test::Folder& folder, const study::Sweep& sweep,
                                      RecordFormat format, const std::vector<std::int64_t>& indices,
                                      std::int64_t n) {
  std::vector<std::string> paths;
  for (const std::int64_t i : indices) {
    paths.push_back(folder.file(study::shard_file_name("s.jsonl", {i, n})));
    test::write_text(paths.back(), test::sweep_text(sweep, format, {i, n}));
  }
  return paths;
}

std::vector<std::int64_t> up_to(std::int64_t n) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < n; ++i) {
    indices.push_back(i);
  }
  return indices;
}

} // namespace

TEST_CASE("merge: shards in any order give the file of the unsharded run") {
  const study::Sweep sweep = test::small_sweep();
  const unsigned seed = 1;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const RecordFormat format : {RecordFormat::jsonl, RecordFormat::csv}) {
    const std::string whole = test::sweep_text(sweep, format);
    for (const std::int64_t n : {1, 2, 3, 5, 6, 7, 16}) { // more shards than points too
      CAPTURE(n);
      const test::Folder folder("merge-any");
      auto paths = write_shards(folder, sweep, format, up_to(n), n);
      std::shuffle(paths.begin(), paths.end(), random);
      const auto report = study::merge_sweeps(paths, folder.file("out"));
      CHECK(report.points == test::kSmallPoints);
      CHECK(report.failed == 2);
      CHECK(report.missing.empty());
      CHECK(test::read_text(folder.file("out")) == whole);
      CHECK(folder.count() == static_cast<std::size_t>(n) + 1);
    }
  }
}

TEST_CASE("merge: more shards than a process usually has files open") {
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  constexpr rlim_t kFew = 64;
  REQUIRE(usual.rlim_max > 4 * kFew);
  const test::Folder folder("merge-many");
  const study::Sweep sweep = test::small_sweep();
  const auto paths = write_shards(folder, sweep, RecordFormat::jsonl, up_to(2 * kFew), 2 * kFew);
  const rlimit few{kFew, usual.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const auto report = study::merge_sweeps(paths, folder.file("out"));
  CHECK(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(report.missing.empty());
  CHECK(test::read_text(folder.file("out")) == test::sweep_text(sweep, RecordFormat::jsonl));
}

TEST_CASE("merge: missing points are listed as ranges with their shards, and nothing is written") {
  const test::Folder folder("merge-missing");
  const study::Sweep sweep = test::small_sweep();
  auto paths = write_shards(folder, sweep, RecordFormat::jsonl, {1, 2}, 3);
  // Shard 2 holds points 2 and 5; the record of 5 is incomplete.
  const std::string text = test::read_text(paths[1]);
  test::write_text(paths[1], text.substr(0, text.size() - 1));
  const auto report = study::merge_sweeps(paths, folder.file("out"));
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(report.missing == Ranges{{0, 0}, {3, 3}, {5, 5}});
  CHECK(report.shards_to_run == std::vector<Shard>{{0, 3}, {2, 3}});
  CHECK(folder.count() == 2);

  const auto one = study::merge_sweeps({paths[0]}, folder.file("out"));
  CHECK(one.missing == Ranges{{0, 0}, {2, 3}, {5, 5}});
}

TEST_CASE("merge: a point twice must be the same twice") {
  const test::Folder folder("merge-twice");
  const study::Sweep sweep = test::small_sweep();
  auto paths = write_shards(folder, sweep, RecordFormat::jsonl, {0, 1}, 2);
  const std::string copy = folder.file("copy.jsonl");
  std::string text = test::read_text(paths[0]);
  test::write_text(copy, text);
  CHECK(study::merge_sweeps({paths[0], paths[1], copy}, folder.file("out")).missing.empty());
  CHECK(test::read_text(folder.file("out")) == test::sweep_text(sweep, RecordFormat::jsonl));

  text.replace(text.find("\"method\":\"closed_form\""), 22, "\"method\":\"closed-form\"");
  test::write_text(copy, text);
  CHECK_THROWS_WITH_AS((void)study::merge_sweeps({paths[0], paths[1], copy}, folder.file("out2")),
                       (copy + ": point 0 differs between " + paths[0] + " and " + copy).c_str(),
                       InputError);
  CHECK(folder.count() == 4);
}

TEST_CASE("merge: files of different sweeps, shardings or formats are refused") {
  const test::Folder folder("merge-mixed");
  const study::Sweep sweep = test::small_sweep();
  study::Sweep other = sweep;
  other.grid.axes[1].values.pop_back();
  const std::string a = folder.file("a");
  const std::string b = folder.file("b");
  test::write_text(a, test::sweep_text(sweep, RecordFormat::jsonl, {0, 2}));
  test::write_text(b, test::sweep_text(other, RecordFormat::jsonl, {1, 2}));
  CHECK_THROWS_WITH_AS((void)study::merge_sweeps({a, b}, folder.file("out")),
                       doctest::Contains("not the same sweep"), InputError);
  test::write_text(b, test::sweep_text(sweep, RecordFormat::jsonl, {1, 3}));
  CHECK_THROWS_WITH_AS((void)study::merge_sweeps({a, b}, folder.file("out")),
                       doctest::Contains("is one of 3 shards"), InputError);
  test::write_text(b, test::sweep_text(sweep, RecordFormat::csv, {1, 2}));
  CHECK_THROWS_AS((void)study::merge_sweeps({a, b}, folder.file("out")), InputError);
  for (const char* text : {"", "{", "{}\n", "[1]\n", "{\"grid_hash\":\"0\"}\n", "hello\n"}) {
    CAPTURE(text);
    test::write_text(b, text);
    CHECK_THROWS_AS((void)study::merge_sweeps({b}, folder.file("out")), InputError);
  }
  CHECK_THROWS_AS((void)study::merge_sweeps({folder.file("absent")}, folder.file("out")),
                  InputError);
  CHECK(folder.count() == 2);
}

TEST_CASE("merge: a point of another shard than the header's is an error of its file") {
  const test::Folder folder("merge-foreign");
  const study::Sweep sweep = test::small_sweep();
  const std::string first = test::sweep_text(sweep, RecordFormat::jsonl, {0, 2});
  const std::string second = test::sweep_text(sweep, RecordFormat::jsonl, {1, 2});
  const std::string path = folder.file("s");
  test::write_text(path, first.substr(0, first.find('\n')) + second.substr(second.find('\n')));
  CHECK_THROWS_WITH_AS((void)study::merge_sweeps({path}, folder.file("out")),
                       (path + ": point 1 is not of shard 0/2").c_str(), InputError);
  CHECK(folder.count() == 1);
}

TEST_CASE("merge: a header that no sweep writes is an error of its file") {
  const test::Folder folder("merge-header");
  const study::Sweep sweep = test::small_sweep();
  const std::string whole = test::sweep_text(sweep, RecordFormat::jsonl);
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = whole;
    text.replace(text.find(before), before.size(), after);
    test::write_text(folder.file("bad"), text);
  };
  const std::string huge = "9000000000000000000";
  for (const auto& [before, after] :
       {std::pair<std::string, std::string>{"\"shards\":1", "\"shards\":0"},
        {"\"shards\":1", "\"shards\":" + huge},
        {"\"shard\":0", "\"shard\":1"},
        {"\"points_total\":6", "\"points_total\":0"},
        {"\"points_total\":6", "\"points_total\":" + huge},
        {"\"axes\":", "\"axis\":"}}) {
    CAPTURE(after);
    with(before, after);
    CHECK_THROWS_WITH_AS((void)study::merge_sweeps({folder.file("bad")}, folder.file("out")),
                         doctest::Contains((folder.file("bad") + ":1: ").c_str()), InputError);
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("merge: of many missing points and shards only the first are listed") {
  const test::Folder folder("merge-many");
  std::string text = test::sweep_text(test::small_sweep(), RecordFormat::jsonl);
  text.replace(text.find("\"points_total\":6"), 16, "\"points_total\":1000000000");
  text.replace(text.find("\"shards\":1"), 10, "\"shards\":1000000");
  // The header and point 0, the only one here of shard 0.
  test::write_text(folder.file("first"), text.substr(0, text.find('\n', text.find('\n') + 1) + 1));
  const auto report = study::merge_sweeps({folder.file("first")}, folder.file("out"));
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(report.missing == Ranges{{1, 999'999'999}});
  CHECK(report.shards_to_run.size() == 100);
  CHECK(report.more_shards_to_run == 1'000'000 - 100);
  CHECK(folder.count() == 1);
}
