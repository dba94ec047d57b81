#pragma once
// The timeline that `stepsim run` writes beside its result.

#include "cli/shell/app.hpp"
#include "run/run_timeline.hpp"

namespace stepsim::cli {

// As typed. Nodes and iterations are parsed once the scenario is known, which has their ranges.
struct TimelineFlags {
  std::string file; // "" = none is written
  std::string nodes, iterations;
};
inline constexpr const char* kTimelineGroup = "Timeline"; // of the flags, in help
void add_timeline_flags(CLI::App& app, TimelineFlags& flags);
// Refuses flags that have no meaning together, before any file is opened.
void check_timeline_flags(const TimelineFlags& options, const Common& common);
[[nodiscard]] study::TimelineFilter parse_filter(const TimelineFlags& options,
                                                 std::string_view nouns, std::int64_t nodes,
                                                 std::int64_t iterations);
// Writes the timeline to a file and returns the number of its bytes; with the flags, warns of a
// file that is too large for viewers.
std::uint64_t write_timeline(const std::string& file, const Common& common,
                             const events::Timeline& timeline);
void write_timeline(const TimelineFlags& options, const Common& common,
                    const events::Timeline& timeline);

} // namespace stepsim::cli
