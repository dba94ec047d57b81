#include "cli/commands/timeline_flags.hpp"

#include <CLI/CLI.hpp>

#include "cli/shell/flag_values.hpp"
#include "cli/shell/interrupts.hpp"
#include "cli/shell/output.hpp"
#include "document/file.hpp"
#include "plot/chrome_trace.hpp"

namespace stepsim::cli {

void add_timeline_flags(CLI::App& app, TimelineFlags& flags) {
  add_value(app, "--timeline", flags.file, "FILE.json[.gz]",
            "also writes what happened when, as Chrome trace events; .gz compresses")
      ->group(kTimelineGroup);
  add_value(app, "--timeline-nodes", flags.nodes, "LIST",
            "only these, as 0,1 or 0:8:+2; default the first 8; of a program, its ranks")
      ->group(kTimelineGroup);
  add_value(app, "--timeline-iterations", flags.iterations, "A-B",
            "only these, from 0; default the last 3")
      ->group(kTimelineGroup);
}

// Which nodes or ranks (`nouns`, "0,1") and iterations ("3-5") the timeline shows. Those outside of
// the run are refused, because the timeline would silently be empty there.
study::TimelineFilter parse_filter(const TimelineFlags& options, std::string_view nouns,
                                   std::int64_t nodes, std::int64_t iterations) {
  study::TimelineFilter filter;
  if (!options.nodes.empty()) {
    const std::string flag = "--timeline-nodes " + base::shown_value(options.nodes) + ": ";
    for (const double node :
         numbers("--timeline-nodes", options.nodes, base::QuantityKind::count, {})) {
      if (node >= static_cast<double>(nodes)) {
        throw UsageError(flag + std::string(nouns) + " are 0.." + std::to_string(nodes - 1));
      }
      filter.nodes.push_back(static_cast<std::int64_t>(node));
    }
    std::sort(filter.nodes.begin(), filter.nodes.end());
    filter.nodes.erase(std::unique(filter.nodes.begin(), filter.nodes.end()), filter.nodes.end());
  }
  if (!options.iterations.empty()) {
    constexpr std::string_view kFlag = "--timeline-iterations";
    const std::size_t dash = options.iterations.find('-');
    const std::string_view text = options.iterations;
    filter.first_iteration = count(kFlag, text.substr(0, dash), io::at_least(0));
    filter.last_iteration = dash == std::string::npos
                                ? filter.first_iteration
                                : count(kFlag, text.substr(dash + 1), io::at_least(0));
    if (filter.first_iteration > filter.last_iteration || filter.last_iteration >= iterations) {
      throw UsageError(std::string(kFlag) + " " + base::shown_value(text) +
                       ": must be A-B with A <= B, iterations are 0.." +
                       std::to_string(iterations - 1));
    }
  }
  return filter;
}

// A timeline can be larger than memory should be: it goes to the file in blocks, never as one text.
// An interruption is held back until it is complete, so that no half of one is left.
std::uint64_t write_timeline(const std::string& name, const Common& common,
                             const events::Timeline& timeline) {
  const DelayInterrupts delay;
  io::OutputFile file(name);
  std::uint64_t bytes = 0;
  plot::write_timeline(timeline, [&](std::string_view block) {
    if (bytes == 0) {
      refuse_other_kind(common, name, block);
    }
    file.write(block);
    bytes += block.size();
  });
  file.commit();
  return bytes;
}

// Above 200 MB a warning names the flags that make it smaller, because viewers fail near 256 MB.
void write_timeline(const TimelineFlags& options, const Common& common,
                    const events::Timeline& timeline) {
  const std::uint64_t bytes = write_timeline(options.file, common, timeline);
  constexpr std::uint64_t kViewerLimit = 200'000'000;
  if (bytes > kViewerLimit) {
    const std::string warning =
        options.file + ": " + base::readable_bytes(static_cast<double>(bytes)) +
        ", viewers fail near 256 MB; see --timeline-nodes and --timeline-iterations";
    print_warnings({&warning, 1}, common);
  }
}

// Flags that only mean something together, before any file is opened.
void check_timeline_flags(const TimelineFlags& options, const Common& common) {
  if (options.file.empty() && !(options.nodes.empty() && options.iterations.empty())) {
    throw UsageError("--timeline-nodes and --timeline-iterations need --timeline FILE");
  }
  if (!options.file.empty() && options.file == common.output) {
    throw UsageError("--timeline and -o name the same file");
  }
}

} // namespace stepsim::cli
