#include "cli/report/result_page.hpp"

#include "plot/colours.hpp"
#include "run/memory_figures.hpp"

namespace stepsim::cli {

namespace {

constexpr double kMs = 1e3; // of a second
constexpr std::size_t kMostLanes = 8;

// The legend of a part by the rank of its thing; figures leave out those unused.
constexpr std::array<std::string_view, plot::kRanks> kLabels{"forward", "backward", "communication",
                                                             "update", "other computing"};
static_assert(plot::rank_of("communication") == 2 && plot::rank_of("other") == 4);

std::string readable(double seconds) { return base::readable_seconds(seconds); }

plot::Axis time_axis() {
  return {.title = "time", .unit = "ms", .scale = plot::Scale::linear, .low = 0.0};
}

} // namespace

plot::Figure time_bar(const study::Summary& summary) {
  const double step = study::step_of(summary);
  const double slowed = summary.interference_s.value_or(0); // of exposed communication
  const std::array<std::pair<std::string, double>, plot::kRanks> parts{
      {{"forward", summary.forward_s.value_or(0)},
       {"backward", summary.backward_s.value_or(0)},
       {"communication not hidden", summary.exposed_communication_s.value_or(0) - slowed},
       {"update and codec", summary.update_s.value_or(0) + summary.codec_compute_s.value_or(0)},
       {slowed > 0 ? "interference and other" : "other", step}}};
  plot::Panel panel;
  plot::Lane lane{.name = "step"};
  double at = 0;
  for (const auto& [name, most] : parts) {
    const double seconds = std::min(most, step - at);
    const bool rest = panel.lanes.parts.size() + 1 == parts.size();
    const bool shown = seconds > (rest ? 1e-6 * step : 0); // other: what rounding leaves is none
    panel.lanes.parts.push_back(shown || !rest ? name : "");
    if (shown) {
      lane.spans.push_back({at * kMs, (at + seconds) * kMs, panel.lanes.parts.size() - 1,
                            readable(seconds), name + ": " + readable(seconds)});
      at += seconds;
    }
  }
  panel.lanes.lanes.push_back(std::move(lane));
  return plot::Figure{.title = "Where does the time of a step go?",
                      .x = time_axis(),
                      .panels = {std::move(panel)},
                      .height = 140};
}

std::optional<plot::Figure> timeline_figure(const events::Timeline& timeline) {
  std::vector<std::pair<std::uint32_t, plot::Lane>> lanes;
  for (const auto& [track, name] : timeline.lane_names) {
    if (track.node == 0 && lanes.size() < kMostLanes) {
      lanes.push_back({track.lane, {.name = name}});
    }
  }
  std::array<bool, plot::kRanks> used{};
  for (const events::Span& span : timeline.spans) {
    const auto lane =
        std::ranges::find(lanes, span.track.lane, &std::pair<std::uint32_t, plot::Lane>::first);
    if (span.track.node != 0 || lane == lanes.end()) {
      continue;
    }
    const std::size_t part = std::min(plot::rank_of(span.category), plot::kRanks - 1);
    used[part] = true;
    const bool message = part == plot::rank_of("communication");
    const auto bucket =
        std::ranges::find(span.numbers, "bucket", [](const auto& number) { return number.first; });
    const std::string text = !message                       ? ""
                             : bucket == span.numbers.end() ? span.name
                                                            : base::shortest(bucket->second);
    lane->second.spans.push_back(
        {span.start.value * kMs, span.end.value * kMs, part, text,
         message ? span.name + ": " + readable(span.end.value - span.start.value) : ""});
  }
  plot::Panel panel;
  for (std::size_t part = 0; part < used.size(); ++part) {
    panel.lanes.parts.emplace_back(used[part] ? kLabels[part] : "");
  }
  for (auto& [number, lane] : lanes) {
    if (lane.spans.empty()) {
      continue;
    }
    std::ranges::stable_sort(lane.spans, {}, &plot::Span::start);
    panel.lanes.lanes.push_back(std::move(lane));
  }
  if (panel.lanes.lanes.empty()) {
    return std::nullopt;
  }
  constexpr double kPerLane = 45, kAround = 100;
  const double height = kAround + kPerLane * static_cast<double>(panel.lanes.lanes.size());
  return plot::Figure{.title = "What happens when?",
                      .setting = "first node, first iterations; a number is that of a bucket",
                      .x = time_axis(),
                      .panels = {std::move(panel)},
                      .height = height};
}

std::string answer_of(const study::Result& result) {
  const study::Summary& summary = result.summary;
  std::string out = study::exceeds_text(summary);
  out += (out.empty() ? "" : ". ") + std::string("A step takes ") +
         base::readable_seconds(study::step_of(summary), study::band_of(summary));
  out += " on " + base::counted(result.scenario->cluster.ranks(), "worker");
  if (summary.samples_per_s) {
    out += ", " + base::significant(*summary.samples_per_s, 4) + " samples/s";
  }
  if (summary.scaling_efficiency) {
    out += ", an efficiency of " + base::percent(*summary.scaling_efficiency);
  }
  out += ".";
  const std::string_view subject = study::subject_of(summary.bottleneck);
  return subject.empty() ? out : out + " " + std::string(subject) + " bounds it.";
}

} // namespace stepsim::cli
