// Slopes come from large messages alone, where rates have settled; the latency is what the smallest
// message takes beyond its bytes.
#include "calibrate/mpi/link_estimate.hpp"

#include <cmath>

#include "calibrate/core/calibration_file.hpp"

namespace stepsim::calibrate::mpi {

namespace {

// Medians by size, ascending.
std::vector<Datum> curve_through(std::span<const io::Sample> samples) {
  std::vector<Datum> curve;
  for (const auto& [bytes, seconds] : seconds_by_size(samples)) {
    curve.push_back({bytes, base::median(seconds)});
  }
  return curve;
}

double slope(const std::vector<Datum>& curve, const char* what) {
  std::vector<Datum> large;
  std::ranges::copy_if(curve, std::back_inserter(large), [](const Datum& datum) {
    return datum.bytes >= static_cast<double>(kSlopeFrom);
  });
  const double per_byte = large.size() < 2 ? 0 : fit_line(large).line.per_byte_s;
  if (per_byte <= 0) {
    throw SimulationError(std::string(what) +
                          ": time does not grow with size; bandwidth not identifiable");
  }
  return per_byte;
}

io::SampleSet sample_set(const std::vector<io::Sample>& samples, std::string_view op,
                         std::string algorithm, std::uint32_t ranks) {
  io::SampleSet set;
  set.op = op;
  set.algorithm = std::move(algorithm);
  set.ranks = ranks;
  set.samples = samples;
  return set;
}

// Sizes of the predicted curves: where the time of an algorithm bends, which is at sizes whose
// parts are as large as a message that was measured. Straight lines between them are then the
// prediction, up to parts of unequal length.
std::vector<std::int64_t> curve_sizes(std::span<const io::Sample> probes, std::uint32_t ranks) {
  std::set<std::int64_t> sizes;
  const double most = std::ranges::max(probes, {}, &io::Sample::bytes).bytes;
  const auto add = [&](double bytes) {
    const std::int64_t whole = std::llround(bytes) / kElement * kElement;
    if (whole > 0 && bytes <= most) {
      sizes.insert(whole);
    }
  };
  for (const io::Sample& probe : probes) {
    add(probe.bytes * ranks);
    for (double parts = 1; parts <= ranks; parts *= 2) {
      add(probe.bytes * parts);
    }
  }
  return {sizes.begin(), sizes.end()};
}

// Curves of collectives that nobody measured: a scenario that names one runs with full-duplex links
// and block times as they were probed.
io::Array predicted_curves(const ProbeTimes& times, const Predictor& predictor, std::uint32_t ranks,
                           const MessageOptions& options) {
  io::Array curves;
  for (const Kind& kind : kinds()) {
    if (kind.op != collectives::Op::allreduce || kind.sparse) {
      continue;
    }
    std::vector<links::CurvePoint> points;
    for (const std::int64_t bytes : curve_sizes(times.pingpong, ranks)) {
      const double before = points.empty() ? 0 : points.back().seconds;
      const double seconds = predict(kind, ranks, bytes, options, predictor);
      points.push_back({static_cast<double>(bytes), std::max(before, seconds)});
    }
    curves.push_back(io::Object{{"op", collectives::name(kind.op)},
                                {"algorithm", algorithm_name(kind)},
                                {"ranks", std::int64_t{ranks}},
                                {"points", points_tree(points)}});
  }
  return curves;
}

} // namespace

// A block of a stream follows the one before by tau; what its bytes do not explain is its latency.
LinkEstimate estimate_link(const ProbeTimes& times) {
  LinkEstimate link;
  const std::vector<Datum> pingpong = curve_through(times.pingpong);
  link.beta = slope(pingpong, "pingpong");
  link.duplex_exchange = slope(curve_through(times.exchange), "exchange") / link.beta;
  link.duplex_shift = slope(curve_through(times.shift), "shift") / link.beta;
  link.gamma = slope(curve_through(times.reduce), "reduce");
  const Datum& smallest = pingpong.front();
  link.alpha = std::max(0.0, smallest.seconds - link.beta * smallest.bytes);
  link.reply_s = smallest.seconds;
  double block_s = (times.long_stream_s - times.short_stream_s) / (kLongStream - kShortStream);
  if (block_s <= 0) { // noise: what the blocks would take back to back
    block_s = times.block_bytes * link.beta;
    link.warnings.emplace_back("stream: time does not grow with the number of blocks; the time of "
                               "a block is taken from the bandwidth");
  }
  link.block_latency_s = std::clamp(block_s - times.block_bytes * link.beta, 0.0, link.alpha);
  // A block holds the ports, too, so that no message holds them for less.
  const double small_s = (times.long_small_s - times.short_small_s) / (kLongStream - kShortStream);
  if (small_s > 0) {
    const double port_s = std::max(small_s - link.beta * smallest.bytes, link.block_latency_s);
    link.delay_s = std::max(0.0, link.alpha - port_s);
  } else {
    link.warnings.emplace_back(
        "stream of small messages: time does not grow with their number; all "
        "of the latency is taken to hold the ports");
  }
  return link;
}

// The file is that of `fit` with the link replaced: here it is known from probes and not from
// curves.
io::Json calibration_of(const ProbeTimes& times, const LinkEstimate& link, std::uint32_t ranks,
                        const MessageOptions& options, const FileText& text) {
  io::Samples samples;
  samples.name = text.name;
  samples.source.format = "stepsim-calibrate mpi";
  samples.sets = {sample_set(times.pingpong, "pingpong", "pingpong", 2),
                  sample_set(times.exchange, "sendrecv", "exchange", ranks),
                  sample_set(times.shift, "sendrecv", "shift", ranks)};
  const std::size_t probes = samples.sets.size();
  for (const LibrarySamples& each : text.library) {
    samples.sets.push_back(sample_set(each.samples, collectives::name(each.op), "library", ranks));
  }
  samples.warnings = text.warnings;
  const std::array files{samples};
  std::vector<GroupFit> fits;
  for (const Group& group : group_samples(files)) {
    fits.push_back(fit_group(group, {.keep_points = fits.size() < probes}));
  }
  CalibrationText words;
  words.name = text.name;
  words.importer = text.importer;
  io::Json tree = calibration_tree(files, fits, std::nullopt, words);
  tree.set("label", "calibrated"); // measured are the probes only
  tree.set(
      "note",
      "point-to-point probes; all-reduce curves of named algorithms are predicted from them, not "
      "measured");
  tree.find("source")->set("date", text.date);
  tree.find("source")->set("options", text.options);
  io::Json network(io::Object{{"model", "alpha_beta"}, {"reduction_Bps", 1 / link.gamma}});
  if (text.link_class == "network") { // memory of one host is no network between nodes
    network = network_tree(link.latency_s(), 1 / link.beta, 1 / link.gamma);
    network.set("delay_s", link.delay_s);
    network.set("block_latency_s", link.block_latency_s);
  }
  tree.set("network", std::move(network));
  io::Json of_class = link_tree(text.link_class, link.latency_s(), link.beta, link.duplex_exchange,
                                link.duplex_shift);
  of_class.set("delay_s", link.delay_s);
  of_class.set("block_latency_s", link.block_latency_s);
  of_class.set("reduction_Bps", 1 / link.gamma);
  of_class.set("reply_s", options.acknowledge ? io::Json(link.reply_s) : io::Json());
  tree.set("links", io::Array{std::move(of_class)});
  io::Array& collectives = tree.find("collectives")->as_array();
  for (io::Json& curve : predicted_curves(times, predictor_of(tree), ranks, options)) {
    collectives.push_back(std::move(curve));
  }
  tree.set("identifiable", io::Object{{"latency", true}, {"bandwidth", true}, {"reduction", true}});
  return tree;
}

} // namespace stepsim::calibrate::mpi
