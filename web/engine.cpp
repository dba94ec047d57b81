// The engine as the page calls it: one function, a question as JSON in, an answer as JSON out.
// Scenarios are read as `stepsim run scenario.json` reads them, from the models and networks below
// /data and the traces in the working folder of the page's file system.
//
//     {"ask": "step", "scenario": "{..}"}  ->  {"answer": "A step takes ..", "summary": {..}, ..}
//     wrong scenario                       ->  {"error": "scenario.json: /cluster/nodes: .."}
#include <emscripten.h>

#include <array>
#include <cmath>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "cli/report/result_page.hpp"
#include "cli/text/answer_texts.hpp"
#include "document/json_text.hpp"
#include "layers/gpu_table.hpp"
#include "plot/colours.hpp"
#include "plot/figure.hpp"
#include "plot/svg.hpp"
#include "run/run.hpp"
#include "run/run_timeline.hpp"
#include "run/work_estimate.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/step_changes.hpp"

namespace stepsim::web {

namespace {

constexpr double kMostSeconds = 600; // --max-seconds of the command
constexpr std::int64_t kTimelineIterations = 3;

// What is embedded in the page does not change: each file is read once.
study::Files& files() {
  static study::Files instance("/data");
  return instance;
}

io::Json tree_of(const io::Json& question) {
  return study::with_short_forms_expanded(
      io::parse_json(question.find("scenario")->as_string(), "scenario.json"));
}

// What was asked last, because the timeline follows the step.
struct Run {
  std::string text; // of the scenario
  io::Json tree;
  study::Result result;
};

// As the command runs it; a schedule that cannot plan this workload is blamed on its key.
const Run& run_of(const io::Json& question) {
  static Run last;
  const std::string& text = question.find("scenario")->as_string();
  if (text != last.text) {
    io::Json tree = tree_of(question);
    const study::Scenario scenario = study::parse_scenario(tree, files());
    study::refuse_long_work(study::estimated_seconds(scenario), kMostSeconds);
    try {
      last = {text, tree, study::run(scenario)};
    } catch (const UsageError& error) {
      throw InputError(std::string(tree.file()), "/communication/schedule", error.what());
    }
  }
  return last;
}

io::Array texts(const std::vector<std::string>& lines) {
  io::Array out;
  for (const std::string& line : lines) {
    out.emplace_back(line);
  }
  return out;
}

// As wide as the page has room for, where the question says so.
std::string drawn(plot::Figure figure, std::string_view id, const io::Json& question) {
  if (const io::Json* width = question.find("width")) {
    figure.width = width->as_double();
  }
  return plot::inline_svg(figure, id);
}

io::Json step(const io::Json& question) {
  const auto& [text, tree, result] = run_of(question);
  const study::Scenario& scenario = *result.scenario;
  const study::Summary& summary = result.summary;
  io::Array warnings = texts(result.warnings);
  if (const auto warning = study::far_exchanges(scenario, study::measured_exchanges(scenario))) {
    warnings.emplace_back(*warning);
  }
  io::Array defaults;
  for (const study::DefaultValue& each : study::defaults_that_decide(tree, scenario)) {
    defaults.push_back(
        io::Object{{"pointer", each.pointer}, {"value", each.value}, {"reason", each.reason}});
  }
  return io::Object{{"answer", cli::answer_of(result)},
                    {"conditions", cli::conditions_text(scenario)},
                    {"interval", summary.interval_level ? cli::interval_text(summary, "") : ""},
                    {"summary", study::summary_tree(summary)},
                    {"ranks", static_cast<std::int64_t>(scenario.cluster.ranks())},
                    {"bar", drawn(cli::time_bar(summary), "bar", question)},
                    {"defaults", std::move(defaults)},
                    {"warnings", std::move(warnings)}};
}

// The scenario with all values filled in, as a result holds it.
io::Json resolved(const io::Json& question) {
  return io::Object{
      {"scenario", study::scenario_tree(study::parse_scenario(tree_of(question), files()))}};
}

// One point of the curve. A workload that does not say how many samples a step has counts what a
// GPU computes in a step as a batch.
io::Json point(const io::Json& question) {
  const study::Scenario scenario = study::parse_scenario(tree_of(question), files());
  study::refuse_long_work(study::estimated_seconds(scenario), kMostSeconds);
  const auto ranks = static_cast<std::int64_t>(scenario.cluster.ranks());
  const auto& samples = scenario.workload.batch_size;
  return io::Object{
      {"ranks", ranks},
      {"rate", static_cast<double>(ranks * samples.value_or(1)) / study::period_of(scenario)},
      {"unit", samples ? "samples/s" : "batches/s"}};
}

io::Json timeline(const io::Json& question) {
  const study::Result& result = run_of(question).result;
  const auto count = static_cast<std::int64_t>(result.iterations.size());
  const study::TimelineFilter first{
      {0}, 0, std::min(kTimelineIterations, std::max<std::int64_t>(count, 1)) - 1};
  const auto figure = cli::timeline_figure(study::timeline(result, first));
  return io::Object{{"timeline", figure ? drawn(*figure, "timeline", question) : ""}};
}

// What would help: the changes that `stepsim explain` tries.
io::Json changes(const io::Json& question) {
  const io::Json tree = tree_of(question);
  const study::Scenario scenario = study::parse_scenario(tree, files());
  io::Array out;
  for (const study::WhatIf& each :
       study::what_if_lines(tree, scenario, study::period_of(scenario), files())) {
    out.push_back(
        io::Object{{"change", each.change},
                   {"set", texts(each.set)},
                   {"iteration_time_s", each.step_s},
                   {"gain", each.gain},
                   {"text", each.change + ": " + base::readable_seconds(each.step_s) + ", " +
                                base::significant(100 * each.gain, 2) + " % less"}});
  }
  return io::Object{{"changes", std::move(out)}};
}

// {"points": [[GPUs, rate], ..], "unit": "samples/s", "here": GPUs}: the curve with the ideal line,
// the knee and the place of the scenario.
io::Json curve(const io::Json& question) {
  std::vector<plot::Point> points;
  const double own = question.find("here")->as_double();
  for (const io::Json& each : question.find("points")->as_array()) {
    const io::Array& pair = each.as_array();
    points.push_back({pair[0].as_double(), pair[1].as_double(), 0});
  }
  const plot::Point& first = points.front();
  const plot::Point& last = points.back();
  plot::Panel panel;
  panel.guides.push_back({"proportional", {first, {last.x, first.y * last.x / first.x, 0}}});
  // Black: the colours of the bar and the timeline are those of parts of a step.
  panel.curves.push_back(
      {.label = "this scenario", .points = points, .rank = plot::kRanks - 1, .bold = true});
  panel.marks.push_back({plot::Mark::Kind::vertical, own, "you are here"});
  std::string title = "Throughput over GPUs";
  std::string setting;
  if (const auto knee = plot::knee(points)) {
    const std::string gpus = base::counted(std::llround(knee->x), "GPU");
    const double efficiency = knee->y / (first.y * knee->x / first.x);
    panel.marks.push_back({plot::Mark::Kind::vertical, knee->x,
                           "knee: " + gpus + ", " + base::significant(100 * efficiency, 3) + " %"});
    title = knee->x == first.x  ? "Doubling the GPUs does not pay"
            : knee->x == last.x ? "Every doubling pays up to " + gpus
                                : "Doubling the GPUs pays up to " + gpus;
    setting = "A doubling pays where it raises the throughput at least " +
              base::shortest(plot::kKneeGain) + " times";
  }
  const plot::Figure figure{.title = title,
                            .setting = setting,
                            .x = {.title = "GPUs", .scale = plot::Scale::log2},
                            .y = {.title = "throughput",
                                  .unit = question.find("unit")->as_string(),
                                  .scale = plot::Scale::log10},
                            .panels = {std::move(panel)}};
  return io::Object{{"curve", drawn(figure, "curve", question)}};
}

// Words that the page offers and does not hold itself, and its colours.
io::Json choices(const io::Json& /*question*/) {
  io::Array gpus;
  for (const std::string_view word : layers::gpu_words()) {
    gpus.emplace_back(std::string(word));
  }
  return io::Object{{"gpus", std::move(gpus)}, {"style", plot::theme_style()}};
}

struct Question {
  std::string_view word;
  io::Json (*answer)(const io::Json& question);
};
constexpr std::array kQuestions{Question{"step", step},         Question{"point", point},
                                Question{"timeline", timeline}, Question{"changes", changes},
                                Question{"curve", curve},       Question{"choices", choices},
                                Question{"resolved", resolved}};

io::Json failed(const std::string& message, io::Array problems = {}) {
  return io::Object{{"error", message}, {"problems", std::move(problems)}};
}

io::Json answer(const char* text) {
  try {
    const io::Json question = io::parse_json(text, "question");
    const std::string& word = question.find("ask")->as_string();
    for (const Question& each : kQuestions) {
      if (each.word == word) {
        return each.answer(question);
      }
    }
    return failed("unknown question " + word);
  } catch (const InputError& error) {
    std::string lines;
    io::Array problems; // the page names the control that a pointer belongs to
    for (const base::Problem& problem : error.problems()) {
      lines += (lines.empty() ? "" : "\n") + problem.text();
      problems.push_back(io::Object{{"pointer", problem.where}, {"message", problem.message}});
    }
    return failed(lines, std::move(problems));
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

} // namespace

} // namespace stepsim::web

// The text is valid until the next call.
extern "C" EMSCRIPTEN_KEEPALIVE const char* stepsim_answer(const char* question) {
  static std::string text;
  text = stepsim::io::compact(stepsim::web::answer(question));
  return text.c_str();
}
