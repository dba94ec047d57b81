#include "cli/text/answer_texts.hpp"

#include "run/memory_figures.hpp"

namespace stepsim::cli {

namespace {

constexpr double kShown = 0.005; // of a step; what is smaller joins the rest
constexpr double kShownRest = 0.0005;
constexpr double kMuch = 0.1;
constexpr std::size_t kMostPoints = 7;

std::string number(double seconds) { return base::significant(seconds * 1e3, 4); }
std::string range(double low, double high) { return number(low) + " to " + number(high); }

// "schedule dear: 12 % shorter (4 % to 19 %); 3 others within 1 %".
std::string help_sentence(const study::TraceStudy& study, study::Effort effort) {
  const auto of_effort = [=](const study::WhatIf& each) {
    return study::effort_of(each.kind) == effort;
  };
  const auto best = std::ranges::find_if(study.help, of_effort);
  std::string out = std::string(study::kEfforts[effort]) + ": ";
  if (best == study.help.end() || best->gain < kShown) {
    return out + "no change tried shortens the step" +
           (best == study.help.end() ? "" : " by " + base::percent(kShown, 2) + " or more");
  }
  out += best->change + ", " + base::percent(best->gain, 2) + " shorter";
  if (best->gain_range) {
    out += " (" + base::percent(best->gain_range->first, 2) + " to " +
           base::percent(best->gain_range->second, 2) + ")";
  }
  const auto ties = std::ranges::count_if(study.help, [&](const study::WhatIf& each) {
    return of_effort(each) && each.step_s < 1.01 * best->step_s;
  });
  out += ties > 1 ? ", " + base::counted(ties - 1, "other") + " within 1 %" : "";
  return out + (best->is_sure ? "" : "; not told apart from the step as it is");
}

std::string bucket_sentence(const study::DdpBuckets& buckets) {
  const bool traced = buckets.trace_step.has_value();
  const std::string gain = base::percent(std::max(0.0, buckets.gain.value), 2);
  if (buckets.gain.worth_it()) {
    return "buckets: the sizes in ddp.json make the step " + gain + " shorter than " +
           (traced ? "those of the trace" : "DDP's default");
  }
  return std::string("buckets: ") +
         (traced ? "keep the sizes in the trace" : "leave bucket_cap_mb unset") +
         (gain == "0 %" ? "; no other sizes are predicted to be faster"
                        : "; the best other sizes are predicted to gain " + gain +
                              (buckets.gain.range ? ", and may gain nothing"
                                                  : ", less than the error of such predictions"));
}

// No rows of the changes: no key of a scenario makes the host or its input faster.
std::string host_text(const study::TraceGap& gap) {
  const study::DeviceTimes& times = gap.times;
  const auto saves = [&](std::string_view what, double saved) {
    const double seconds = std::min(saved, times.step_s - gap.ideal_s); // what is left stays
    return seconds < kMuch * times.step_s ? ""
                                          : "; " + std::string(what) + " up to " + number(seconds) +
                                                " ms of the recorded step";
  };
  return saves("a faster input pipeline (more loader workers, pinned memory, prefetching) saves",
               times.input_s) +
         saves("fewer launches of kernels (CUDA graphs, torch.compile, larger batches) save",
               times.host_s);
}

} // namespace

std::string study_sentence(const study::TraceStudy& study) {
  const std::string name = base::printable(study.name);
  if (!study.answer) {
    return name + ": " + study.machine_unknown + ".";
  }
  const study::TraceMachine& machine = study.answer->machine;
  return name + ": " + number(study.answer->gap.times.step_s) + " ms a step, measured over " +
         base::counted(study.answer->gap.times.steps, "step") + " on " +
         base::counted(machine.gpus(), "GPU") +
         (machine.other_gpu.empty() ? " of "
                                    : " (" + base::printable(machine.other_gpu) + "), as if of ") +
         (machine.nodes == 1 ? "one" : std::to_string(machine.nodes)) + " " + machine.node_type +
         ".";
}

Table gap_table(const study::TraceGap& gap) {
  Table table{{"the recorded step", "[ms]", "share"}};
  const double step = gap.times.step_s;
  const auto row = [&](std::string_view words, double seconds) {
    table.rows.push_back(
        {std::string(words), milliseconds_cell(seconds), percent_cell(seconds / step)});
  };
  row("kernels over ideal links", gap.ideal_s);
  double small = 0;
  for (const study::GapPart& part : gap.parts) {
    const bool is_rest = &part == &gap.parts.back();
    const double seconds = part.seconds + (is_rest ? small : 0);
    if (std::abs(seconds) >= (is_rest ? kShownRest : kShown) * step) {
      row(std::string(part.words) + (is_rest && small != 0 ? ", smaller parts" : ""), seconds);
    } else {
      small += seconds;
    }
  }
  return table;
}

std::string carried_sentence(const study::TraceAnswer& answer) {
  std::string out = "Predicted with all rows but the first as recorded: " +
                    base::readable_seconds(answer.predicted.step_s, answer.predicted.band) +
                    " on that machine";
  if (answer.predicted_half_s) {
    out += "; the first half of the steps predicts " + number(*answer.predicted_half_s) +
           " ms for the second, which took " + number(*answer.other_half_s);
    const study::PredictedStep& all = answer.predicted;
    const double off = *answer.other_half_s / *answer.predicted_half_s * all.step_s;
    if (all.band && (off < all.band->low || off > all.band->high)) {
      out +=
          off > all.band->high ? ", longer than that interval: " : ", shorter than that interval: ";
      out += "the steps of this trace vary more than the interval allows for";
    }
  }
  return out + ".";
}

std::string library_sentence(const study::LibraryFromLogs& library) {
  return "The library is fitted to " + base::counted(library.points, "time") +
         " of the logs: on what was left out of the fit the median error is " +
         base::percent(library.left_out.median, 2) + ", nine in ten are below " +
         base::percent(library.left_out.p90, 2) + ".";
}

Table points_table(const study::TraceStudy& study) {
  const bool samples = study.points.back().samples_per_s.has_value();
  Table table{{"GPUs", "step [ms]", "interval, 80 % [ms]", samples ? "samples/s" : "steps/s",
               "efficiency", "bounded by"}};
  const std::size_t count = study.points.size();
  for (std::size_t i = count > kMostPoints ? count - kMostPoints : 0; i < count; ++i) {
    const study::StudyPoint& point = study.points[i];
    table.rows.push_back(
        {std::to_string(point.gpus), milliseconds_cell(point.step.step_s),
         point.step.band ? range(point.step.band->low, point.step.band->high) : "-",
         base::significant(samples ? *point.samples_per_s : 1 / point.step.step_s, 4),
         point.efficiency ? percent_cell(*point.efficiency) : "-", std::string(point.bottleneck)});
  }
  return table;
}

std::vector<std::string> help_sentences(const study::TraceStudy& study) {
  std::vector<std::string> out;
  for (const std::string_view word : study::kEfforts.all()) {
    const study::Effort effort = *study::kEfforts.find(word);
    out.push_back(help_sentence(study, effort));
    if (effort == study::Effort::software && study.answer) {
      out.back() += host_text(study.answer->gap);
    }
  }
  if (study.buckets) {
    out.push_back(bucket_sentence(*study.buckets));
  }
  if (!study.measure_next.empty()) {
    const study::MeasureNext& next = study.measure_next.front();
    out.push_back("measure next: " + next.what + " narrows the interval to " +
                  range(next.low_s, next.high_s) + " ms");
  }
  return out;
}

std::string study_text(const study::TraceStudy& study) {
  std::string out = study::exceeds_text(study.largest.summary);
  out += (out.empty() ? "" : "\n") + study_sentence(study) + "\n";
  if (study.answer) {
    out += table_text(gap_table(study.answer->gap)) + carried_sentence(*study.answer) + "\n";
  }
  out += "\nOn up to " + study.cluster + cards_text(study.largest.scenario->cluster) + ":\n" +
         (study.library ? library_sentence(*study.library) + "\n" : "") +
         table_text(points_table(study)) + "\nAt " +
         base::counted(study.points.back().gpus, "GPU") + "\n";
  for (const std::string& sentence : help_sentences(study)) {
    out += "  " + sentence + "\n";
  }
  return out;
}

} // namespace stepsim::cli
