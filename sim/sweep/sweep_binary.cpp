#include "sweep/sweep_binary.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "sweep/column_file.hpp"
#include "sweep/column_reader.hpp"
#include "sweep/sweep_output.hpp"
#include "sweep/sweep_point.hpp"
#include "sweep/sweep_runner.hpp"

namespace stepsim::study {

namespace {

// What an earlier run left, read to its end: its failed points counted.
struct Earlier {
  std::unique_ptr<ColumnReader> reader;
  std::int64_t failed = 0;
};

Earlier read_earlier(const SweepOptions& options, std::string_view header) {
  Earlier earlier;
  earlier.reader = std::make_unique<ColumnReader>(options.output);
  require_same_header(options.output, earlier.reader->header(), header, options.shard);
  PointOutcome outcome;
  for (std::int64_t point = 0; earlier.reader->next(outcome, point);) {
    earlier.failed += outcome.error.empty() ? 0 : 1;
  }
  return earlier;
}

// Runs the failed points again and writes a copy of the file with what came out, which takes the
// file's place if anything is different now. False where that was interrupted.
bool try_failed_again(const Sweep& sweep, Files& files, const SweepOptions& options,
                      const ColumnLayout& layout, ColumnReader& reader, io::OutputFile& file,
                      SweepReport& report) {
  PointRunner points(sweep, files, options.max_seconds);
  io::OutputFile copy = file.begin_rewrite();
  ColumnFile columns(layout, copy);
  ColumnBlock block;
  PointOutcome outcome;
  bool changed = false;
  reader.rewind();
  std::int64_t point = 0;
  for (std::int64_t i = 0; reader.next(outcome, point); ++i) {
    const PointOutcome* written = &outcome;
    if (!outcome.error.empty()) {
      if (options.interrupted && options.interrupted()) {
        return false;
      }
      written = &points.run(options.shard, i, i + 1).front();
      changed = changed || written->error != outcome.error;
      if (!written->error.empty()) {
        ++report.failed;
        report.first_error = report.first_error.empty() ? written->error : report.first_error;
      }
    }
    layout.columns().resize(block, 1);
    layout.columns().set(block, 0, point, *written);
    columns.add(block);
  }
  columns.flush();
  report.warnings = points.warnings();
  if (changed) {
    file.end_rewrite(std::move(copy));
  }
  return true;
}

} // namespace

void require_binary(const Sweep& sweep, const std::string& output) {
  (void)RecordColumns(sweep);
  if (!io::is_replaceable(output)) {
    throw UsageError("-o " + base::shown_value(output, 200) +
                     ": columns are written at their places, which needs a file");
  }
}

void run_binary(const Sweep& sweep, Files& files, const SweepOptions& options,
                std::string_view header, io::OutputFile& file, SweepReport& report) {
  const RecordColumns columns(sweep);
  std::optional<ColumnLayout> layout(std::in_place, columns, header, report.points);
  std::optional<ColumnFile> out;
  const bool goes_on = options.if_exists == IfExists::resume && file.size() > 0 &&
                       !is_piece_of(options.output, layout->head());
  if (goes_on) {
    Earlier earlier = read_earlier(options, header);
    ColumnReader& reader = *earlier.reader;
    layout.emplace(columns, reader.header(), report.points);
    report.resumed = reader.points() - earlier.failed;
    if (earlier.failed > 0) {
      if (!try_failed_again(sweep, files, options, *layout, reader, file, report)) {
        report.interrupted = true;
        report.failed = earlier.failed;
        return;
      }
      earlier.reader = std::make_unique<ColumnReader>(options.output);
    }
    if (earlier.reader->is_complete()) {
      return;
    }
    out.emplace(*layout, file, earlier.reader->state(), earlier.reader->texts());
  } else {
    out.emplace(*layout, file);
  }
  run_points(sweep, files, options, {.columns = &columns, .file = &*out}, out->written(), report);
  if (report.interrupted) {
    out->flush();
  } else {
    out->finish();
  }
}

} // namespace stepsim::study
