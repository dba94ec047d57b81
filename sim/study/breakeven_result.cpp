// One table of rows per object of the result, from the innermost outwards.
#include "study/breakeven_result.hpp"

#include <array>
#include <string_view>

#include "collectives/compress/compression.hpp"
#include "document/fields/written.hpp"
#include "programs/step/compression_gain.hpp"

namespace stepsim::study {

namespace {

using namespace io::rows;
using io::Json;
using io::Key;
using io::Written;
using programs::BreakEvenProblem;
using programs::CompressionGain;

constexpr Key duration(std::string_view name, std::string_view sentence) {
  return number(name, sentence).in(io::at_least(0)).required();
}

constexpr auto kInterval = std::to_array<Written<programs::BandwidthInterval>>({
    {number("from_Bps", "Where the interval begins, bytes/s; 0 means the slowest network.")
         .in(io::at_least(0))
         .required(),
     [](const programs::BandwidthInterval& each) { return Json(each.from_Bps); }},
    {number("to_Bps", "Where the interval ends, bytes/s; null means that it does not.")
         .in(io::above(0))
         .nullable()
         .required(),
     [](const programs::BandwidthInterval& each) { return io::or_null(each.to_Bps); }},
});
constexpr std::array kIntervalKeys = io::written_keys(kInterval);
constexpr std::array kIntervalObject{
    object("compression_wins", kIntervalKeys, "Bandwidths between two ends, without the ends.")};

// Against both ways of dense training.
struct Gains {
  CompressionGain overlapped, sequential;
};

Json bandwidths_tree(const CompressionGain& gain) {
  return io::Array(gain.break_even_Bps.begin(), gain.break_even_Bps.end());
}

constexpr std::array kBreakEvenPoint{
    number("break_even_Bps", "A bandwidth, bytes/s.").in(io::above(0)).plain()};

constexpr auto kBreakEvenPoints = std::to_array<Written<Gains>>({
    {list("overlapped", kBreakEvenPoint, "Against an exchange that hides behind the backward pass.")
         .required(),
     [](const Gains& gains) { return bandwidths_tree(gains.overlapped); }},
    {list("sequential", kBreakEvenPoint, "Against an exchange after the backward pass.").required(),
     [](const Gains& gains) { return bandwidths_tree(gains.sequential); }},
});
constexpr std::array kBreakEvenPointsKeys = io::written_keys(kBreakEvenPoints);

Json intervals_tree(const CompressionGain& gain) {
  return io::write_each(gain.wins, [](const auto& each) { return io::write(kInterval, each); });
}

constexpr auto kWins = std::to_array<Written<Gains>>({
    {list("overlapped", kIntervalObject, "Against an exchange that hides behind the backward pass.")
         .required(),
     [](const Gains& gains) { return intervals_tree(gains.overlapped); }},
    {list("sequential", kIntervalObject, "Against an exchange after the backward pass.").required(),
     [](const Gains& gains) { return intervals_tree(gains.sequential); }},
});
constexpr std::array kWinsKeys = io::written_keys(kWins);

constexpr auto kExchange = std::to_array<Written<BreakEvenProblem>>({
    {duration("startup_s", "Time of the compressed exchange without its bytes, s."),
     [](const BreakEvenProblem& problem) { return Json(problem.startup_s); }},
    {number("bytes", "Bytes that are divided by the bandwidth.").in(io::at_least(0)).required(),
     [](const BreakEvenProblem& problem) { return Json(problem.sent_bytes); }},
});
constexpr std::array kExchangeKeys = io::written_keys(kExchange);

// The problem at one bandwidth; its times are computed when they are written.
struct AtBandwidth {
  const BreakEvenProblem& problem;
  double bandwidth_Bps;
};

constexpr auto kTimes = std::to_array<Written<AtBandwidth>>({
    {number("bandwidth_Bps", "Bytes per second and direction.").in(io::above(0)).required(),
     [](const AtBandwidth& at) { return Json(at.bandwidth_Bps); }},
    {duration("dense_overlapped_s",
              "Time of an iteration of dense training whose exchange hides behind the backward "
              "pass, s."),
     [](const AtBandwidth& at) {
       return Json(programs::dense_overlapped_s(at.problem, at.bandwidth_Bps));
     }},
    {duration("dense_sequential_s",
              "Time of an iteration of dense training that exchanges after the backward pass, s."),
     [](const AtBandwidth& at) {
       return Json(programs::dense_sequential_s(at.problem, at.bandwidth_Bps));
     }},
    {duration("compressed_s", "Time of an iteration of compressed training, s."),
     [](const AtBandwidth& at) {
       return Json(programs::compressed_s(at.problem, at.bandwidth_Bps));
     }},
    {number("exposed_dense_s",
            "Time of the overlapped dense iteration that is neither forward nor backward pass, s.")
         .required(),
     [](const AtBandwidth& at) {
       return Json(programs::dense_overlapped_s(at.problem, at.bandwidth_Bps) -
                   at.problem.forward_s - at.problem.backward_s);
     }},
});
constexpr std::array kTimesKeys = io::written_keys(kTimes);
constexpr std::array kTimesObject{object("points", kTimesKeys, "Times at one bandwidth.")};

struct Evaluated {
  const BreakEvenFile& file;
  programs::Buckets buckets;
  Gains gains;
};

constexpr std::array kBreakEvenWarning{text("warnings", "A warning.")};

constexpr auto kBreakEvenRows = std::to_array<Written<Evaluated>>({
    {integer("buckets", "Buckets of the dense gradient.").in(io::at_least(1)).required(),
     [](const Evaluated& all) { return Json(all.buckets.count); }},
    {integer("last_bucket_bytes", "Bytes of the last of them.").in(io::at_least(1)).required(),
     [](const Evaluated& all) { return Json(all.buckets.last_bytes); }},
    {word("method", collectives::compression_names, "Compression method.").required(),
     [](const Evaluated& all) { return Json(all.file.method); }},
    {duration("encode_decode_s", "Time to compress, stage, merge and scatter in an iteration, s."),
     [](const Evaluated& all) { return Json(all.file.problem.encode_decode_s); }},
    {object("exchange", kExchangeKeys,
            "The compressed exchange: startup_s + bytes / bandwidth, by its closed form.")
         .required(),
     [](const Evaluated& all) { return io::write(kExchange, all.file.problem); }},
    {object("break_even_Bps", kBreakEvenPointsKeys,
            "Bandwidths at which both ways are equally fast, ascending, at most two.")
         .required(),
     [](const Evaluated& all) { return io::write(kBreakEvenPoints, all.gains); }},
    {object("compression_wins", kWinsKeys,
            "Intervals of bandwidths at which compressed training is faster, ascending.")
         .required(),
     [](const Evaluated& all) { return io::write(kWins, all.gains); }},
    {list("points", kTimesObject, "Times at the bandwidths of the file, in its order.").required(),
     [](const Evaluated& all) {
       return Json(io::write_each(all.file.bandwidth_Bps, [&](double bandwidth_Bps) {
         return io::write(kTimes, AtBandwidth{all.file.problem, bandwidth_Bps});
       }));
     }},
    {list("warnings", kBreakEvenWarning, "What to know about the result.").required(),
     [](const Evaluated& all) {
       return Json(io::Array(all.file.warnings.begin(), all.file.warnings.end()));
     }},
});
constexpr std::array kBreakEvenRowKeys = io::written_keys(kBreakEvenRows);
constexpr Key kBreakEvenObject =
    object("result", kBreakEvenRowKeys, "What stepsim breakeven --json writes.");

constexpr std::array<std::string_view, 1> kBreakEvenResultExamples{
    R"({"break_even_Bps":{"overlapped":[1764824526.0185556],"sequential":[]},"buckets":4,"compression_wins":{"overlapped":[{"from_Bps":0,"to_Bps":1764824526.0185556}],"sequential":[{"from_Bps":0,"to_Bps":null}]},"encode_decode_s":0,"exchange":{"bytes":87500000,"startup_s":0.00014000000000000001},"last_bucket_bytes":21356800,"method":"fp16","points":[{"bandwidth_Bps":1e+09,"compressed_s":0.15764,"dense_overlapped_s":0.19555999999999998,"dense_sequential_s":0.24514,"exposed_dense_s":0.12556}],"warnings":[]})"};

} // namespace

Json breakeven_tree(const BreakEvenFile& file) {
  using programs::DenseBaseline;
  return io::write(
      kBreakEvenRows,
      Evaluated{file,
                programs::buckets_of(file.problem),
                {programs::compression_gain(file.problem, DenseBaseline::overlapped),
                 programs::compression_gain(file.problem, DenseBaseline::sequential)}});
}

io::FileKind breakeven_result_kind() {
  return {"compression_breakeven_result", &kBreakEvenObject, kBreakEvenResultExamples, false};
}

} // namespace stepsim::study
