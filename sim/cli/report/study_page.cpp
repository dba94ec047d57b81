// The recorded step as a bar, the step by the number of GPUs with its band, and the tables behind
// both.
#include "cli/report/result_page.hpp"

#include "cli/text/answer_texts.hpp"
#include "document/json_text.hpp"
#include "plot/colours.hpp"
#include "run/memory_figures.hpp"

namespace stepsim::cli {

namespace {

constexpr double kMillisecond = 1e3; // per second

// The colour of a part is that of the thing in every figure of a step; what has none is "other".
std::string_view thing_of(std::string_view part) {
  constexpr std::array<std::string_view, 3> kExchanges{"exchange", "waiting", "other_collectives"};
  return std::ranges::find(kExchanges, part) != kExchanges.end() ? "communication" : "other";
}

plot::Figure gap_bar(const study::TraceGap& gap) {
  plot::Panel panel;
  panel.lanes.parts.resize(plot::kRanks);
  plot::Lane lane{.name = "step"};
  double at = 0;
  const auto add = [&](std::string_view thing, std::string_view label, std::string_view words,
                       double seconds) {
    if (seconds > 0) {
      const std::size_t rank = plot::rank_of(thing);
      panel.lanes.parts[rank] = label;
      lane.spans.push_back({at * kMillisecond, (at + seconds) * kMillisecond, rank,
                            base::readable_seconds(seconds),
                            std::string(words) + ": " + base::readable_seconds(seconds)});
      at += seconds;
    }
  };
  add("forward", "kernels over ideal links", "kernels over ideal links", gap.ideal_s);
  for (const std::string_view thing : {"communication", "other"}) {
    for (const study::GapPart& part : gap.parts) {
      if (thing_of(part.key) == thing) {
        add(thing, thing == "other" ? "host, input and rest" : "exchanges and waiting for ranks",
            part.words, part.seconds);
      }
    }
  }
  panel.lanes.lanes.push_back(std::move(lane));
  return {.title = "What is in the recorded step?",
          .x = {.title = "time", .unit = "ms", .scale = plot::Scale::linear, .low = 0.0},
          .panels = {std::move(panel)},
          .height = 140};
}

} // namespace

plot::Figure step_curve(const study::TraceStudy& study) {
  plot::Panel panel;
  plot::Curve steps{.label = "predicted", .bold = true};
  plot::Band band{.label = "80 % of real runs"};
  for (const study::StudyPoint& point : study.points) {
    const auto gpus = static_cast<double>(point.gpus);
    steps.points.push_back({gpus, point.step.step_s * kMillisecond});
    if (point.step.band) {
      band.points.push_back(
          {gpus, point.step.band->low * kMillisecond, point.step.band->high * kMillisecond});
    }
  }
  panel.curves.push_back(std::move(steps));
  if (!band.points.empty()) {
    panel.bands.push_back(std::move(band));
  }
  if (study.answer) {
    panel.reported.push_back({.label = "measured",
                              .points = {{static_cast<double>(study.answer->machine.gpus()),
                                          study.answer->gap.times.step_s * kMillisecond}}});
  }
  return {.title = "How long is a step on more GPUs?",
          .setting = study.name + " on up to " + study.cluster +
                     cards_text(study.largest.scenario->cluster),
          .x = {.title = "GPUs", .scale = plot::Scale::log2},
          .y = {.title = "time of a step", .unit = "ms", .low = 0.0},
          .panels = {std::move(panel)}};
}

std::string study_page(const study::TraceStudy& study, const std::string& footer) {
  HtmlPage page(study.name);
  const study::StudyPoint& last = study.points.back();
  const std::string exceeds = study::exceeds_text(study.largest.summary);
  page.paragraph(exceeds + (exceeds.empty() ? "" : ". ") + study_sentence(study) + " On " +
                     base::counted(last.gpus, "GPU") + ": " +
                     base::readable_seconds(last.step.step_s, last.step.band) + ".",
                 "answer");
  if (study.answer) {
    page.heading("The trace");
    page.figure(gap_bar(study.answer->gap), "gap");
    page.table(gap_table(study.answer->gap));
    page.paragraph(carried_sentence(*study.answer));
  } else {
    page.paragraph("Of the trace itself nothing is told: " + study.machine_unknown + ".");
  }
  page.heading("On more GPUs");
  page.figure(step_curve(study), "curve");
  page.table(points_table(study));
  if (study.library) {
    page.paragraph(library_sentence(*study.library));
  }
  page.heading("What would help at " + base::counted(study.points.back().gpus, "GPU"));
  page.list(help_sentences(study));
  page.open_details("All changes that shorten the step");
  page.table(changes_table("change", study.help));
  page.close_details();
  if (!study.emitted.is_null()) {
    page.download("ddp.json", "ddp.json", io::compact(study.emitted));
  }
  page.open_details("What was assumed");
  page.list(study.assumed);
  page.list(study.warnings);
  page.close_details();
  page.download("scenario.json", "scenario.json", io::compact(study.scenario));
  page.paragraph(footer, "grey");
  return std::move(page).finished();
}

} // namespace stepsim::cli
