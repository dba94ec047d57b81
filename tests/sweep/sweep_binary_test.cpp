// Sweeps into binary files: the same records as JSON Lines, whatever happens in between.
#include "sweep/sweep_binary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "sweep/column_reader.hpp"
#include "sweep/record_parser.hpp"
#include "sweep/sweep_helpers.hpp"
#include "sweep/sweep_merge.hpp"

using namespace stepsim;
using study::RecordFormat;

namespace {

study::SweepOptions binary_options(const std::string& output, const study::Shard& shard = {},
                                   int jobs = 1) {
  study::SweepOptions options = test::options_for(output);
  options.format = RecordFormat::npz;
  options.shard = shard;
  options.jobs = jobs;
  return options;
}

study::SweepReport write_binary(const study::Sweep& sweep, const study::SweepOptions& options) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::run_sweep(sweep, files, options);
}

// What a text sweep into a file of the same folder holds.
std::string whole_text(const study::Sweep& sweep, const test::Folder& folder) {
  study::Files files(STEPSIM_SOURCE_DIR);
  const std::string path = folder.file("whole.jsonl");
  study::SweepOptions options = test::options_for(path);
  options.if_exists = study::IfExists::overwrite;
  (void)study::run_sweep(sweep, files, options);
  return test::read_text(path);
}

std::string text_of(const std::string& binary, const test::Folder& folder) {
  const std::string path = folder.file("back.jsonl");
  CHECK(study::merge_sweeps({binary}, path, RecordFormat::jsonl).missing.empty());
  return test::read_text(path);
}

// Figures of every kind: words, flags, lists, columns that begin late, replications, zipped axes
// and axes of texts and of mixed values.
std::vector<study::Sweep> sweeps_of_all_kinds() {
  std::vector<study::Sweep> sweeps{test::small_sweep()};
  const auto add = [&](std::vector<study::Axis> axes) {
    sweeps.push_back(study::sweep_over(test::scenario(), std::move(axes)));
  };
  add({study::Axis{"/communication/schedule",
                   {io::Json("wfbp"), io::Json("mg_wfbp"), io::Json("optimal")}},
       study::Axis{"/cluster/network/latency_s", {io::Json(1e-5), io::Json(2e-4)}}});
  add({study::Axis{"/training/algorithm",
                   {io::Json("sync_sgd"), io::Json("pipe_sgd"), io::Json("parameter_server")}},
       study::Axis{"/variability/compute_cv", {io::Json(0), io::Json(0.1)}}});
  add({study::Axis{"/communication/compression/method", {io::Json("none"), io::Json("topk")}},
       study::Axis{"/cluster/nodes", {io::Json(1), io::Json("many"), io::Json(4)}}});
  sweeps.back().grid.replications = 3;
  add({study::Axis{"/cluster/nodes", {io::Json(2), io::Json(3), io::Json(4)}},
       study::Axis{"/seed", {io::Json(1), io::Json(2), io::Json(3)}}});
  sweeps.back().grid.zips = {{0, 1}};
  return sweeps;
}

} // namespace

TEST_CASE("binary sweep: becomes the JSON Lines of the sweep byte for byte, and back") {
  for (const study::Sweep& sweep : sweeps_of_all_kinds()) {
    CAPTURE(sweep.grid.axes.front().pointer);
    const test::Folder folder("binary-round");
    const std::string whole = whole_text(sweep, folder);
    const std::string binary = folder.file("out.npz");
    const study::SweepReport report = write_binary(sweep, binary_options(binary));
    CHECK(report.points == sweep.grid.points());
    CHECK(text_of(binary, folder) == whole);
    CHECK(study::merge_sweeps({folder.file("whole.jsonl")}, folder.file("again.npz"),
                              RecordFormat::npz)
              .missing.empty());
    CHECK(test::read_text(folder.file("again.npz")) == test::read_text(binary));
  }
}

TEST_CASE("binary sweep: the bytes do not depend on threads and shards") {
  for (const study::Sweep& sweep : sweeps_of_all_kinds()) {
    const test::Folder folder("binary-jobs");
    (void)write_binary(sweep, binary_options(folder.file("one.npz")));
    const std::string one = test::read_text(folder.file("one.npz"));
    (void)write_binary(sweep, binary_options(folder.file("four.npz"), {}, 4));
    CHECK(test::read_text(folder.file("four.npz")) == one);
    std::vector<std::string> shards;
    for (std::int64_t i = 0; i < 5; ++i) { // some of them without points
      shards.push_back(folder.file("shard" + std::to_string(i) + ".npz"));
      (void)write_binary(sweep, binary_options(shards.back(), {i, 5}, 2));
    }
    std::reverse(shards.begin(), shards.end());
    CHECK(
        study::merge_sweeps(shards, folder.file("merged.npz"), RecordFormat::npz).missing.empty());
    CHECK(test::read_text(folder.file("merged.npz")) == one);
    shards.pop_back();
    const auto report = study::merge_sweeps(shards, folder.file("none.npz"), RecordFormat::npz);
    CHECK(!report.missing.empty());
    CHECK(!std::filesystem::exists(folder.file("none.npz")));
  }
}

TEST_CASE("binary sweep: interrupted after any point and resumed, it is the file of one run") {
  for (const study::Sweep& sweep : sweeps_of_all_kinds()) {
    const test::Folder folder("binary-resume");
    (void)write_binary(sweep, binary_options(folder.file("one.npz")));
    const std::string one = test::read_text(folder.file("one.npz"));
    for (std::int64_t stop = 1; stop < 6; ++stop) { // chunks, of more and more points
      CAPTURE(stop);
      study::SweepOptions options = binary_options(folder.file("part.npz"));
      std::int64_t asked = 0;
      options.interrupted = [&] { return asked++ >= stop; };
      const study::SweepReport part = write_binary(sweep, options);
      CHECK((part.interrupted || stop > 1));
      CHECK(study::ColumnReader(options.output).points() > 0);
      options.interrupted = nullptr;
      options.if_exists = study::IfExists::resume;
      const study::SweepReport rest = write_binary(sweep, options);
      CHECK(!rest.interrupted);
      CHECK(rest.resumed > 0);
      CHECK(test::read_text(options.output) == one);
      std::filesystem::remove(options.output);
    }
    // Once more when everything is there: nothing changes.
    study::SweepOptions again = binary_options(folder.file("one.npz"));
    again.if_exists = study::IfExists::resume;
    CHECK(write_binary(sweep, again).points == sweep.grid.points());
    CHECK(test::read_text(again.output) == one);
  }
}

TEST_CASE("binary sweep: an unfinished file that was damaged goes on from its last safe state") {
  const study::Sweep sweep = test::small_sweep();
  const test::Folder folder("binary-damage");
  (void)write_binary(sweep, binary_options(folder.file("one.npz")));
  study::SweepOptions options = binary_options(folder.file("part.npz"));
  std::int64_t asked = 0;
  options.interrupted = [&] { return asked++ >= 2; };
  (void)write_binary(sweep, options);
  // A value of the first column, as a crash of the machine may leave it.
  {
    std::fstream file(options.output, std::ios::binary | std::ios::in | std::ios::out);
    std::string begin(1 << 14, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    constexpr std::size_t kBeforeValues = 9 + 20 + 128; // name, sizes, head of the array
    file.seekp(static_cast<std::streamoff>(begin.find("point.npy") + kBeforeValues));
    file.put('\x55').put('\x55');
  }
  options.interrupted = nullptr;
  options.if_exists = study::IfExists::resume;
  const study::SweepReport report = write_binary(sweep, options);
  CHECK(report.resumed == 0); // no state was on the disk before
  CHECK(test::read_text(options.output) == test::read_text(folder.file("one.npz")));
}

TEST_CASE("binary sweep: damaged files are refused") {
  const study::Sweep sweep = test::small_sweep();
  const test::Folder folder("binary-refuse");
  (void)write_binary(sweep, binary_options(folder.file("one.npz")));
  const std::string one = test::read_text(folder.file("one.npz"));
  const std::string bad = folder.file("bad.npz");
  const auto read = [&] {
    study::ColumnReader reader(bad);
    study::PointOutcome outcome;
    for (std::int64_t point = 0; reader.next(outcome, point);) {}
  };
  const unsigned seed = 1;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    std::string text = one;
    const std::size_t at = random() % text.size();
    if (i % 3 == 0) {
      text.resize(at);
    } else {
      text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    }
    test::write_text(bad, text);
    try {
      read(); // what nobody looks at, such as dates, may change
    } catch (const InputError& error) {
      CHECK(error.problems().front().file == bad);
    }
  }
  CHECK_THROWS_WITH_AS((void)study::merge_sweeps({folder.file("one.npz")}, "-", RecordFormat::npz),
                       doctest::Contains("needs a file"), UsageError);
}

TEST_CASE("binary sweep: collectives, pipes and other sweeps are refused") {
  const test::Folder folder("binary-other");
  CHECK_THROWS_AS((void)write_binary(test::small_sweep(), binary_options("/dev/null")), UsageError);
  const study::SweepOptions options = binary_options(folder.file("a.npz"));
  (void)write_binary(test::small_sweep(), options);
  CHECK_THROWS_AS((void)write_binary(test::small_sweep(), options), UsageError); // exists
  study::Sweep other = test::small_sweep();
  other.grid.axes[1].values.pop_back();
  study::SweepOptions resume = options;
  resume.if_exists = study::IfExists::resume;
  CHECK_THROWS_WITH_AS((void)write_binary(other, resume), doctest::Contains("another sweep"),
                       InputError);
}
