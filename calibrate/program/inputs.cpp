// The kind of a file follows from its content and not from its name. Logs are often saved under any
// name, and a name that lies would be found only by a reader that fails in the middle.
#include "calibrate/program/inputs.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "document/file.hpp"
#include "import/import_detect.hpp"
#include "import/import_osu.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate {

namespace {

// Reads one file by the importer of its kind. The ranks of the options are only used where a log
// does not tell them.
io::Samples read_input(const std::string& path, const InputOptions& options) {
  if (path == "-") {
    return io::read_samples(path, options.importer); // cannot be looked at first
  }
  const std::string text = io::read_text(path);
  if (io::looks_like_samples(text)) {
    return io::read_samples(path, options.importer);
  }
  io::ImportOptions common;
  common.importer = options.importer;
  const io::DetectedFormat detected = io::detect_format(text);
  if (detected.format == io::ImportFormat::nccl_tests) {
    return io::import_nccl_tests(path, {common, options.op, options.ranks, options.column});
  }
  if (detected.format == io::ImportFormat::osu) {
    io::OsuOptions osu;
    osu.common = common;
    osu.ranks = options.ranks;
    // The title of a log names its operation. Passing --op on would relabel the log of another
    // operation; without it that log keeps its own, and `select` drops it like those of nccl-tests.
    if (text.find("OSU MPI") == std::string::npos) { // else its title says the operation
      osu.op = options.op;
    }
    return io::samples_of(io::import_osu(path, osu));
  }
  if (detected.format == io::ImportFormat::nccl_inspector) { // several files make one set
    throw InputError(path, "", io::import_first(*detected.format));
  }
  throw InputError(path, "",
                   detected.advice.empty()
                       ? "neither samples (JSON, CSV) nor a log of nccl-tests or OSU"
                       : detected.advice);
}

// Removes the sets of other operations. Of two sets that differ in their column alone, the one that
// was asked for stays: both in one group would mix two experiments.
void select(io::Samples& file, const InputOptions& options) {
  auto& sets = file.sets;
  std::erase_if(sets,
                [&](const io::SampleSet& set) { return options.op && set.op != *options.op; });
  const std::vector<io::SampleSet> all = sets;
  std::erase_if(sets, [&](const io::SampleSet& set) {
    return set.column != io::name(options.column) &&
           std::ranges::any_of(all, [&](const io::SampleSet& other) {
             return other.op == set.op && other.algorithm == set.algorithm &&
                    other.ranks == set.ranks && other.column == io::name(options.column);
           });
  });
}

} // namespace

std::vector<io::Samples> read_inputs(const std::vector<std::string>& paths,
                                     const InputOptions& options) {
  std::vector<io::Samples> files;
  bool any = false;
  for (const std::string& path : paths) {
    files.push_back(read_input(path, options));
    select(files.back(), options);
    any = any || !files.back().sets.empty();
  }
  if (!any) {
    throw InputError(files.front().file, "", "no samples of " + options.op.value_or("anything"));
  }
  return files;
}

} // namespace stepsim::calibrate
