#include "study/breakeven_file.hpp"

#include <fmt/core.h>

#include "document/fields/written.hpp"
#include "run/figure_key.hpp"

namespace stepsim::study {

namespace {

io::Json row_of(std::string_view algorithm, std::string assumes) {
  return io::Object{{"algorithm", algorithm}, {"assumes", std::move(assumes)}, {"error", nullptr}};
}

void set_gain(const programs::CompressionGain& gain, const std::string& suffix, io::Json& row) {
  io::Array wins;
  for (const programs::BandwidthInterval& each : gain.wins) {
    wins.push_back(io::Object{{"from_Bps", each.from_Bps}, {"to_Bps", io::or_null(each.to_Bps)}});
  }
  row.set("break_even" + suffix + "_Bps",
          io::Array(gain.break_even_Bps.begin(), gain.break_even_Bps.end()));
  row.set("compression_wins" + suffix, std::move(wins));
}

// The row of compressed training, without what depends on the bandwidth.
io::Json compressed_row(const BreakEvenFile& file) {
  using programs::DenseBaseline;
  const programs::BreakEvenProblem& problem = file.problem;
  io::Json row =
      row_of(file.method,
             fmt::format("compressing, merging and scattering {}; exchange {} + {} / bandwidth",
                         base::readable_seconds(problem.encode_decode_s),
                         base::readable_seconds(problem.startup_s),
                         base::readable_bytes(problem.sent_bytes)));
  row.set("encode_decode_s", problem.encode_decode_s);
  row.set("exchange_startup_s", problem.startup_s);
  row.set("exchange_bytes", problem.sent_bytes);
  set_gain(programs::compression_gain(problem, DenseBaseline::overlapped), "", row);
  set_gain(programs::compression_gain(problem, DenseBaseline::sequential), "_sequential", row);
  return row;
}

} // namespace

Comparison breakeven_rows(const BreakEvenFile& file) {
  const programs::BreakEvenProblem& problem = file.problem;
  const programs::Buckets buckets = programs::buckets_of(problem);
  io::Json compressed = compressed_row(file);
  Comparison comparison;
  comparison.varied = {"algorithm"};
  comparison.warnings = file.warnings;
  if (file.bandwidth_Bps.empty()) {
    comparison.rows.push_back(std::move(compressed));
    return comparison;
  }
  constexpr std::string_view kRate = io::key_of<&BreakEvenFile::bandwidth_Bps>();
  comparison.varied.emplace_back(kRate);
  for (const double bandwidth : file.bandwidth_Bps) {
    const double overlapped = programs::dense_overlapped_s(problem, bandwidth);
    const double sequential = programs::dense_sequential_s(problem, bandwidth);
    const double seconds = programs::compressed_s(problem, bandwidth);
    compressed.set("speedup_vs_dense_overlapped", overlapped / seconds);
    compressed.set("speedup_vs_dense_sequential", sequential / seconds);
    std::array<std::pair<double, io::Json>, 3> rows{
        {{seconds, compressed},
         {overlapped,
          row_of("dense_overlapped",
                 fmt::format("{}, the last of {}", base::counted(buckets.count, "bucket"),
                             base::readable_bytes(static_cast<double>(buckets.last_bytes))))},
         {sequential, row_of("dense_sequential", "one exchange after backward")}}};
    std::ranges::stable_sort(rows, {}, &std::pair<double, io::Json>::first);
    for (auto& [time_s, row] : rows) {
      row.set(kRate, bandwidth);
      row.set(kIterationTime, time_s);
      row.set("exposed_communication_s", time_s - problem.forward_s - problem.backward_s);
      row.set("ratio", time_s / rows.front().first);
      comparison.rows.push_back(std::move(row));
    }
  }
  return comparison;
}

} // namespace stepsim::study
