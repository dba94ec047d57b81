// Reads the problem and reduces the compressed exchange to a line: a start-up and bytes that are
// divided by the bandwidth. Everything else about the method is time on the device and does not
// change with the network.

#include "study/breakeven_file.hpp"

#include "document/json_text.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "study/breakeven_keys.hpp"

namespace stepsim::study {

namespace {

// A number of bytes, > 0 and whole; 1 after a problem.
// Two checks, since a fraction above zero would pass the first: bytes of a gradient are whole.
std::int64_t positive_bytes(io::Fields& fields, std::string_view key) {
  const io::Key& row = fields.row(key);
  const double* fallback = std::get_if<double>(&row.fallback);
  const io::Range positive = io::above(0);
  const double bytes =
      fallback != nullptr ? fields.number(key, positive, *fallback) : fields.number(key, positive);
  if (!(bytes > 0)) {
    return 1; // reported
  }
  if (bytes != std::floor(bytes) || bytes > row.range.high) {
    fields.refuse(key, "must be a whole number of bytes, at most 2^53, got " +
                           io::shown(*fields.any(key)));
    return 1;
  }
  return static_cast<std::int64_t>(bytes);
}

// At least 2, also after a problem.
// One rank has nothing to exchange and no break-even; two are put in its place after the problem
// was reported, so that reading can go on.
std::int64_t parse_ranks(io::Fields& fields) {
  const io::Range range = fields.row("ranks").range;
  const std::int64_t ranks = fields.integer("ranks", io::Range{.high = range.high});
  const auto least = static_cast<std::int64_t>(range.low);
  if (fields.has("ranks") && fields.any("ranks")->is_number() && ranks < least) {
    fields.refuse("ranks", fmt::format("needs at least {} ranks, got {}", least,
                                       io::shown(*fields.any("ranks"))));
  }
  return std::max(ranks, least);
}

// What compression makes of an iteration, apart from forward and backward.
struct CompressedTimes {
  double startup_s{};
  double bytes{};
  double work_s{}; // compressing, staging, merging, scattering
};

// Takes the closed form at three costs per byte: the first two give the line, and the third must
// lie on it. Throws SimulationError where it does not, or where there is no closed form.
CompressedTimes exchange_of(const collectives::Compression& compression,
                            const programs::BreakEvenProblem& problem) {
  collectives::Collective base;
  base.ranks = static_cast<std::uint32_t>(problem.ranks);
  // Parts of exactly n / P: with whole elements the time would have small steps and no line would
  // fit it.
  base.options.chunking = collectives::Chunking::real;
  base.links.all = {problem.latency_s, problem.latency_s, 0};
  const collectives::GradientPart gradient{.elements =
                                               problem.gradient_bytes / compression.value_bytes};
  const auto seconds = [&](double per_byte_s) {
    base.links.all.per_byte_s = per_byte_s;
    const auto form = collectives::closed_form_seconds(
        collectives::compressed_exchange(compression, gradient, base));
    if (!form) {
      throw SimulationError(fmt::format("{} has no closed form on {} ranks",
                                        collectives::row(compression.method).name, problem.ranks));
    }
    return *form;
  };
  const double startup = seconds(0);
  // At one second per byte the time without start-up is the number of bytes on the longest path.
  const double bytes = seconds(1) - startup;
  constexpr double kBetween = 1e-9; // 1 GB/s
  const double on_line = startup + bytes * kBetween;
  if (std::abs(seconds(kBetween) - on_line) > 1e-9 * on_line) {
    throw SimulationError(std::string(collectives::row(compression.method).name) +
                          ": its time is not linear in the bytes sent");
  }
  // Taken once: selecting, staging, merging and scattering do not depend on the bandwidth.
  const collectives::CompressTimes work = collectives::compress_times(
      compression, collectives::compressed_exchange(compression, gradient, base), base.ranks);
  const auto dense = static_cast<double>(problem.gradient_bytes);
  const double codec = (compression.encode_Bps > 0 ? dense / compression.encode_Bps : 0) +
                       (compression.decode_Bps > 0 ? dense / compression.decode_Bps : 0);
  return {startup, bytes,
          work.compress_s() + work.staging_s + work.merge_s + work.scatter_s + codec};
}

io::Json row_of(std::string_view algorithm, std::string assumes) {
  return io::Object{{"algorithm", algorithm}, {"assumes", std::move(assumes)}, {"error", nullptr}};
}

void set_gain(const programs::CompressionGain& gain, const std::string& suffix, io::Json& row) {
  row.set("break_even" + suffix + "_Bps",
          io::Array(gain.break_even_Bps.begin(), gain.break_even_Bps.end()));
  row.set("compression_wins" + suffix, io::write_each(gain.wins, [](const auto& each) {
            return io::Object{{"from_Bps", each.from_Bps}, {"to_Bps", io::or_null(each.to_Bps)}};
          }));
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

// A given `encode_decode_s` replaces all costs of the compression, for measured values that are one
// number.
BreakEvenFile parse_breakeven(const io::Json& tree, Files& files) {
  io::FileFields fields(tree, keys::kBreakEven);
  BreakEvenFile file;
  programs::BreakEvenProblem& problem = file.problem;
  problem.ranks = parse_ranks(fields);
  problem.latency_s = fields.number("latency_s");
  problem.gradient_bytes = positive_bytes(fields, "gradient_bytes");
  problem.forward_s = fields.number("forward_s");
  problem.backward_s = fields.number("backward_s");
  problem.overlap_slowdown = fields.number("overlap_slowdown");
  problem.bucket_bytes = positive_bytes(fields, "bucket_bytes");
  const auto encode_decode = fields.optional_number("encode_decode_s");
  file.bandwidth_Bps = fields.numbers(io::key_of<&BreakEvenFile::bandwidth_Bps>());

  collectives::Compression compression;
  if (const io::Json* json = fields.given("compression"); json == nullptr) {
    fields.refuse("compression", "required");
  } else {
    CompressionUse use;
    if (fields.problems().empty()) { // else they would be reported twice
      use.gradient_bytes = problem.gradient_bytes;
      use.ranks = problem.ranks;
    }
    std::vector<std::string> warnings;
    if (const io::Json* baseline = io::resolve(*json, "/baseline")) {
      fields.problems().add(*baseline,
                            "has no meaning here: bucket_bytes says what is compared with");
    }
    compression =
        parse_compression(*json, {fields.problems(), files, Leftovers::refuse}, {}, use, warnings);
    if (!encode_decode) { // else nothing is free
      file.warnings = std::move(warnings);
    }
  }
  fields.finish();

  file.method = collectives::row(compression.method).name;
  try {
    const CompressedTimes exchange = exchange_of(compression, problem);
    problem.startup_s = exchange.startup_s;
    problem.sent_bytes = exchange.bytes;
    problem.encode_decode_s = encode_decode.value_or(exchange.work_s);
  } catch (const SimulationError& error) {
    throw InputError(std::string(tree.file()), "/compression", error.what());
  }
  return file;
}

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
