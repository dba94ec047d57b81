#include "import/chakra/import_chakra.hpp"

namespace stepsim::io {

Samples chakra_samples(const std::string& path, const ImportOptions& options,
                       std::optional<std::int64_t> ranks) {
  const ChakraFile file = read_chakra(path, options.max_bytes);
  Samples samples;
  samples.file = file.name;
  samples.name = result_name(options, path);
  samples.source = make_source("chakra", options);
  samples.source.files.push_back(file.source);
  ranks = ranks ? ranks : file.ranks;
  if (!ranks) {
    throw InputError(file.name, "", "the file does not say how many ranks: give --ranks");
  }
  std::map<std::pair<std::string, std::string>, SampleSet> sets; // by operation and type
  for (const ChakraNode& node : file.nodes) {
    const double seconds = node.duration_us.value_or(0) / 1e6;
    if (node.kind != ChakraKind::collective || !node.bytes || !measured_times().contains(seconds) ||
        std::ranges::find(kSampleOps, word_of(*node.op)) == kSampleOps.end()) {
      continue;
    }
    SampleSet& set = sets[{std::string(word_of(*node.op)), node.dtype}];
    set.op = word_of(*node.op);
    set.dtype = node.dtype;
    set.ranks = *ranks;
    // comm_size has the bytes that a rank gives; a sample of an all-gather has those of all ranks.
    const double parts = *node.op == ChakraOp::all_gather ? static_cast<double>(*ranks) : 1;
    set.samples.push_back(
        {.bytes = parts * static_cast<double>(*node.bytes), .time_s = seconds, .pass = {}});
  }
  if (sets.empty()) {
    throw InputError(file.name, "", "no collective has a size and a duration");
  }
  for (auto& [key, set] : sets) {
    samples.sets.push_back(std::move(set));
  }
  samples.warnings.emplace_back("one rank: communication times contain waiting");
  return samples;
}

} // namespace stepsim::io
