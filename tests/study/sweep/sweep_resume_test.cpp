#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <string>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using study::IfExists;
using study::RecordFormat;

namespace {

study::SweepReport run(const study::SweepOptions& options,
                       const study::Sweep& sweep = test::small_sweep()) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::run_sweep(sweep, files, options);
}

} // namespace

TEST_CASE("resume: cut off at any byte, the sweep ends in the same file") {
  const test::Folder folder("resume-cut");
  for (const RecordFormat format : {RecordFormat::jsonl, RecordFormat::csv}) {
    study::SweepOptions options =
        test::options_for(folder.file(format == RecordFormat::csv ? "out.csv" : "out.jsonl"));
    options.format = format;
    (void)run(options);
    const std::string whole = test::read_text(options.output);
    REQUIRE(test::lines_of(whole).size() >= 1 + test::kSmallPoints);
    options.if_exists = IfExists::resume;
    // Every byte of the header and the first record, some of the others: each resumed file is
    // written to the disk.
    constexpr std::size_t kEveryByte = 2000;
    for (std::size_t cut = 0; cut <= whole.size(); cut += cut < kEveryByte ? 1 : 7) {
      // A new name each time: the file system flushes files that are emptied and written again.
      options.output = folder.file("cut-" + std::to_string(cut));
      test::write_text(options.output, whole.substr(0, cut));
      const auto report = run(options);
      const bool same = test::read_text(options.output) == whole;
      std::filesystem::remove(options.output);
      if (!same || report.failed != 2) {
        CAPTURE(cut);
        CHECK(report.failed == 2);
        CHECK(same);
        break;
      }
    }
  }
  CHECK(folder.count() == 2); // no temporary files
}

TEST_CASE("resume: finished points are skipped, failed ones are tried again") {
  const test::Folder folder("resume-failed");
  study::SweepOptions options = test::options_for(folder.file("out.jsonl"));
  (void)run(options);
  const std::string whole = test::read_text(options.output);
  // As if point 1 had failed for a reason that is gone.
  auto lines = test::lines_of(whole);
  lines[2] = R"({"error":"out of memory","point":1,"record":"point","status":"error"})";
  std::string changed;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) { // and the last point is missing
    changed += lines[i] + "\n";
  }
  test::write_text(options.output, changed);
  options.if_exists = IfExists::resume;
  const auto report = run(options);
  CHECK(test::read_text(options.output) == whole);
  CHECK(report.resumed == test::kSmallPoints - 1 - 3); // all but the last and three failed ones
  CHECK(report.failed == 2);
}

TEST_CASE("resume: without a file the sweep starts, with a finished one nothing changes") {
  const test::Folder folder("resume-fresh");
  study::SweepOptions options = test::options_for(folder.file("out.jsonl"));
  options.if_exists = IfExists::resume;
  CHECK(run(options).resumed == 0);
  const std::string whole = test::read_text(options.output);
  CHECK(run(options).resumed == test::kSmallPoints - 2);
  CHECK(test::read_text(options.output) == whole);
}

TEST_CASE("resume: another sweep's file, another shard's, a changed one are refused and kept") {
  const test::Folder folder("resume-other");
  study::SweepOptions options = test::options_for(folder.file("out.jsonl"));
  (void)run(options);
  const std::string whole = test::read_text(options.output);
  options.if_exists = IfExists::resume;

  study::Sweep other = test::small_sweep();
  other.grid.axes[0].values.push_back(io::Json(16));
  CHECK_THROWS_WITH_AS((void)run(options, other), doctest::Contains("belongs to another sweep"),
                       InputError);
  study::SweepOptions shard = options;
  shard.shard = {1, 2};
  CHECK_THROWS_WITH_AS((void)run(shard), doctest::Contains("holds shard 0/1, not 1/2"), InputError);
  study::SweepOptions csv = options;
  csv.format = RecordFormat::csv;
  CHECK_THROWS_AS((void)run(csv), InputError);
  CHECK(test::read_text(options.output) == whole);

  const auto lines = test::lines_of(whole);
  const std::string swapped = lines[0] + "\n" + lines[2] + "\n" + lines[1] + "\n";
  test::write_text(options.output, swapped);
  CHECK_THROWS_WITH_AS((void)run(options), doctest::Contains("record 1 is not that of point 0"),
                       InputError);
  for (const std::string notes : {"my notes", "{\"axes\":5"}) {
    test::write_text(options.output, notes);
    CHECK_THROWS_WITH_AS(
        (void)run(options),
        (options.output + ": belongs to another sweep, or is no sweep output").c_str(), InputError);
    CHECK(test::read_text(options.output) == notes);
  }
  for (const std::string notes : {"my notes\n", "{}\n", "[1]\n", "5\n", "# {}\n# {}\n"}) {
    test::write_text(options.output, notes);
    CHECK_THROWS_WITH_AS((void)run(options),
                         (options.output + ": is no sweep output of this format").c_str(),
                         InputError);
  }
  // A header of CSV alone is not that of JSON Lines.
  test::write_text(options.output, "# " + lines[0] + "\n");
  CHECK_THROWS_AS((void)run(options), InputError);
  test::write_text(options.output, "# " + lines[0] + "\na,b\n");
  CHECK_THROWS_WITH_AS((void)run(options), doctest::Contains("was written by another version"),
                       InputError);
}

TEST_CASE("resume: a file of CSV has rows of several lines, and a folder is no file") {
  const test::Folder folder("resume-rows");
  test::write_text(folder.file("rows.csv"), "a,\"b\nc\"\n1,\"\"\"\"\nrest \"\n");
  study::RowReader reader(folder.file("rows.csv"));
  std::string_view row;
  REQUIRE(reader.next(row, RecordFormat::csv));
  CHECK(row == "a,\"b\nc\"");
  CHECK(reader.offset() == 8);
  REQUIRE(reader.next(row, RecordFormat::csv));
  CHECK(row == "1,\"\"\"\"");
  CHECK_FALSE(reader.next(row, RecordFormat::csv));
  CHECK(reader.rest() == "rest \"\n");
  CHECK(reader.offset() == 15);
  CHECK_THROWS_WITH_AS((void)study::RowReader(folder.file(".")),
                       (folder.file(".") + ": cannot read: is a directory").c_str(), InputError);
  CHECK_THROWS_WITH_AS((void)study::RowReader(folder.file("absent")),
                       (folder.file("absent") + ": cannot read: no such file or directory").c_str(),
                       InputError);
}

TEST_CASE("sweep: a header whose zip joins axes of unequal lengths is refused") {
  study::Sweep sweep = test::small_sweep();
  REQUIRE(sweep.grid.axes[0].values.size() != sweep.grid.axes[1].values.size());
  const std::string text = test::sweep_text(sweep, RecordFormat::jsonl);
  io::Json header = io::parse_json(text.substr(0, text.find('\n')), "out.jsonl");
  header.set("scenario", sweep.base);
  CHECK(study::sweep_of_header(header).grid.zips.empty());
  header.set("zip", io::Array{io::Array{0, 1}});
  CHECK_THROWS_WITH_AS((void)study::sweep_of_header(header),
                       doctest::Contains("zipped axes need equal lengths"), InputError);
}

TEST_CASE("sweep: an existing output is refused unless it is to be overwritten") {
  const test::Folder folder("exists");
  study::SweepOptions options = test::options_for(folder.file("out.jsonl"));
  test::write_text(options.output, "precious");
  CHECK_THROWS_WITH_AS((void)run(options),
                       (options.output + " exists: use --resume or --force").c_str(), UsageError);
  CHECK(test::read_text(options.output) == "precious");
  options.if_exists = IfExists::overwrite;
  (void)run(options);
  CHECK(test::lines_of(test::read_text(options.output)).size() == 1 + test::kSmallPoints);
}

TEST_CASE("sweep: interrupted, it keeps the finished points and can be resumed") {
  const test::Folder folder("interrupt");
  study::SweepOptions options = test::options_for(folder.file("whole.jsonl"));
  (void)run(options);
  const std::string whole = test::read_text(options.output);
  for (const int jobs : {1, 2}) {
    options = test::options_for(folder.file("cut-" + std::to_string(jobs) + ".jsonl"));
    options.jobs = jobs;
    std::atomic<int> asked = 0;
    options.interrupted = [&] { return ++asked > 1; };
    const auto report = run(options);
    const std::string part = test::read_text(options.output);
    CHECK(whole.starts_with(part));
    if (jobs == 1) { // the first question comes before the first point
      CHECK(report.interrupted);
      CHECK(test::lines_of(part).size() == 1 + 1);
    }
    options.interrupted = nullptr;
    options.if_exists = IfExists::resume;
    (void)run(options);
    CHECK(test::read_text(options.output) == whole);
  }
  // Interrupted while failed points are tried again: the file stays as it was.
  options = test::options_for(folder.file("whole.jsonl"));
  options.if_exists = IfExists::resume;
  options.interrupted = [] { return true; };
  CHECK(run(options).interrupted);
  CHECK(test::read_text(options.output) == whole);
}

TEST_CASE("sweep: a full disk ends it with the points that are safe") {
  const test::Folder folder("full");
  study::SweepOptions options = test::options_for("/dev/full");
  CHECK_THROWS_WITH_AS((void)run(options),
                       "/dev/full: write failed: No space left on device (no point is safe)",
                       SimulationError);

  // A limit on the size of files, inside the record of point 2.
  options = test::options_for(folder.file("out.jsonl"));
  (void)run(options);
  const std::string whole = test::read_text(options.output);
  const auto lines = test::lines_of(whole);
  const rlim_t limit = lines[0].size() + lines[1].size() + lines[2].size() + 3 + 20;
  options.if_exists = IfExists::overwrite;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{limit, before.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  try {
    (void)run(options);
  } catch (const SimulationError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(message == options.output + ": write failed: File too large (points 0..1 are safe)");
  options.if_exists = IfExists::resume;
  (void)run(options);
  CHECK(test::read_text(options.output) == whole);
}

TEST_CASE("sweep: a target that cannot be written is named") {
  CHECK_THROWS_WITH_AS((void)run(test::options_for("/nowhere/out.jsonl")),
                       doctest::Contains("/nowhere/out.jsonl: write failed"), SimulationError);
}
