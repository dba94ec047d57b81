#include "nccl/tuner_table.hpp"

#include <cmath>
#include <map>

#include "base/error.hpp"

namespace stepsim::nccl {

namespace {

// The plug-in's words where they differ from ours.
std::string_view plug_in_word(Operation operation) {
  return operation == Operation::reduce_scatter ? "reducescatter" : kOperations[operation];
}

// NCCL has two forms of CollNet; on nodes with a switch between GPUs it takes the direct one.
std::string_view plug_in_word(Algorithm algorithm) {
  return algorithm == Algorithm::collnet ? "collnet_direct" : kAlgorithms[algorithm];
}

// `best` where it gains enough over `published`, else that.
TunerSize decided(double bytes, Pair published, std::optional<double> published_s, Pair best,
                  double best_s, double least_gain) {
  const std::optional<double> gain =
      published_s ? std::optional(*published_s / best_s - 1) : std::nullopt;
  if (best == published || (gain && (*gain <= 0 || *gain < least_gain))) {
    return {.bytes = bytes, .pair = published, .gain = 0.0, .differs = false};
  }
  return {.bytes = bytes, .pair = best, .gain = gain, .differs = true};
}

} // namespace

std::vector<TunerSize> tuner_sizes(const LibraryModel& model, const Layout& layout,
                                   Operation operation, std::span<const double> sizes,
                                   double least_gain) {
  LibraryModel published = model;
  published.choice = Choice::published;
  LibraryModel calibrated = model;
  calibrated.choice = Choice::calibrated;
  const auto seconds_of = [&](double bytes, Pair pair) {
    return operation_time(layout, operation, bytes, pair, model.multipliers).seconds;
  };
  std::vector<TunerSize> result;
  for (const double bytes : sizes) {
    const Pair usual = choose_pair(published, layout, operation, bytes).chosen;
    const Pair best = choose_pair(calibrated, layout, operation, bytes).chosen;
    result.push_back(
        decided(bytes, usual, seconds_of(bytes, usual), best, seconds_of(bytes, best), least_gain));
  }
  return result;
}

std::vector<TunerSize> tuner_sizes(std::span<const ForcedTime> times, const Layout& layout,
                                   Operation operation, const Restrictions& restrictions,
                                   double least_gain) {
  std::map<double, std::vector<const ForcedTime*>> by_size;
  for (const ForcedTime& time : times) {
    if (time.operation == operation) {
      by_size[time.bytes].push_back(&time);
    }
  }
  const LibraryModel published{.multipliers = published_multipliers(),
                               .choice = Choice::published,
                               .restrictions = restrictions};
  std::vector<TunerSize> result;
  for (const auto& [bytes, measured] : by_size) {
    const Pair usual = choose_pair(published, layout, operation, bytes).chosen;
    const auto faster = [](const ForcedTime* a, const ForcedTime* b) {
      return a->seconds < b->seconds;
    };
    const ForcedTime& best = **std::min_element(measured.begin(), measured.end(), faster);
    std::optional<double> usual_s;
    for (const ForcedTime* time : measured) {
      if (time->pair == usual) {
        usual_s = std::min(usual_s.value_or(time->seconds), time->seconds);
      }
    }
    result.push_back(decided(bytes, usual, usual_s, best.pair, best.seconds, least_gain));
  }
  return result;
}

std::vector<TunerLine> tuner_lines(Operation operation, std::span<const TunerSize> sizes,
                                   std::uint64_t last_byte) {
  std::vector<TunerLine> lines;
  double gains = 0;
  int with_gain = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const TunerSize& size = sizes[i];
    if (size.bytes > static_cast<double>(last_byte)) {
      break;
    }
    if (lines.empty() || !(lines.back().pair == size.pair)) {
      std::uint64_t first = 0;
      if (!lines.empty()) {
        const double mean = std::floor(std::sqrt(sizes[i - 1].bytes * size.bytes));
        lines.back().last_byte = static_cast<std::uint64_t>(mean);
        first = lines.back().last_byte + 1;
      }
      lines.push_back({.operation = operation,
                       .first_byte = first,
                       .last_byte = last_byte,
                       .pair = size.pair,
                       .differs = false});
      gains = 0;
      with_gain = 0;
    }
    TunerLine& line = lines.back();
    line.differs = line.differs || size.differs;
    if (size.gain) {
      gains += *size.gain;
      ++with_gain;
      line.gain = gains / with_gain;
    }
  }
  return lines;
}

std::string tuner_text(std::span<const TunerLine> lines, Shape shape, std::string_view comment) {
  std::string text = "# " + std::string(comment) +
                     "\n# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,"
                     "nRanks,numPipeOps,regBuff\n";
  const std::string nodes = std::to_string(shape.nodes);
  const std::string ranks = std::to_string(std::uint64_t{shape.nodes} * shape.gpus);
  for (const TunerLine& line : lines) {
    text += std::string(plug_in_word(line.operation)) + "," + std::to_string(line.first_byte) +
            "," + std::to_string(line.last_byte) + "," +
            std::string(plug_in_word(line.pair.algorithm)) + "," +
            std::string(kProtocols[line.pair.protocol]) + ",-1," + nodes + "," + ranks + ",-1,-1\n";
  }
  return text;
}

} // namespace stepsim::nccl
