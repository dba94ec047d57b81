#include "study/explained.hpp"

namespace stepsim::study {

namespace {

using programs::Share;
using programs::Shares;

// Below this share of the step a number is not worth a sentence.
constexpr double kMentioned = 0.005;

std::string percent(double share) {
  const double value = 100 * share;
  return base::significant(value, value >= 9.95 ? 2 : 1) + " %";
}

double share_of(const Shares& shares, std::string_view name) {
  const auto found = std::ranges::find(shares, name, &Share::name);
  return found == shares.end() ? 0 : found->seconds;
}

double ending_with(const Shares& shares, std::string_view end) {
  double seconds = 0;
  for (const Share& share : shares) {
    seconds += share.name.ends_with(end) ? share.seconds : 0;
  }
  return seconds;
}

std::string length_sentence(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const std::string length = base::readable_seconds(explained.step_s, explained.band);
  if (explained.program.steps == 1) {
    return "A training step takes " + length + ".";
  }
  return "A training step takes " + length + " on average: an iteration of the program, with " +
         std::to_string(explained.program.steps) + " steps, takes " +
         base::readable_seconds(period) + ".";
}

// Seconds of the path in which operations wait for time to pass, such as for a batch to be read.
double delay_seconds(const Explained& explained) {
  const programs::BindingPath& path = explained.explanation.path;
  double seconds = 0;
  for (const programs::PathStep& step : path.steps) {
    const bool delay =
        explained.program.operations[step.operation].type == programs::OperationType::delay;
    seconds += delay ? step.seconds() / path.iterations : 0;
  }
  return seconds;
}

// "(2 % start-up, 89 % bandwidth) "; nothing where a run knows exchanges by their whole times. The
// word for what bounds the step counts all exchanges, the hidden ones too; on the path another part
// may be the larger.
std::string split_text(const Shares& links, double period, std::string_view bottleneck) {
  const double startup = ending_with(links, "start-up");
  if (!(startup > 0)) {
    return "";
  }
  const double bandwidth = std::max(0.0, ending_with(links, "bandwidth"));
  const std::string all = bottleneck == "bandwidth" && startup > bandwidth
                              ? "; of all exchanges bandwidth is the larger part"
                          : bottleneck == "latency" && bandwidth > startup
                              ? "; of all exchanges start-up is the larger part"
                              : "";
  return "(" + percent(startup / period) + " start-up, " + percent(bandwidth / period) +
         " bandwidth" + all + ") ";
}

// What bounds the step, and the parts of the path, the largest part first.
std::string bound_sentence(const Explained& explained) {
  const programs::Explanation& found = explained.explanation;
  const double period = found.path.period_s;
  if (!(period > 0)) {
    return "Nothing in it takes time.";
  }
  const PathParts parts = path_parts(explained);
  const Shares& links = found.attribution.by_link;
  const std::string path = found.path.exact
                               ? "the operations of the critical path"
                               : "the operations that delayed each other in the simulated run";
  const std::string sentence =
      std::string(subject_of(explained.bottleneck)) + " bounds it: of " + path + ", ";
  const std::string compute = percent(parts.compute_s / period);
  const std::string exchange = percent(parts.exchange_s / period);
  switch (bound_of(parts)) {
  case Bound::delay:
    return sentence + percent(parts.delay_s / period) + " of the time is delays, " + compute +
           " computing and " + exchange + " exchanges.";
  case Bound::compute:
    return sentence + compute + " of the time is computing" +
           (parts.exchange_s > kMentioned * period
                ? " and " + exchange + " exchanges that nothing hides."
                : ".");
  case Bound::exchange:
    return sentence + exchange + " of the time is exchanges " +
           split_text(links, period, explained.bottleneck) + "and " + compute + " computing.";
  }
  return {};
}

std::string largest_sentence(const Explained& explained) {
  const programs::BindingPath& path = explained.explanation.path;
  const auto largest = std::ranges::max_element(path.steps, {}, &programs::PathStep::seconds);
  if (largest == path.steps.end() || !(path.period_s > 0)) {
    return "";
  }
  return "The largest part of that is " + explained.program.operations[largest->operation].id +
         " (" +
         std::string(programs::kKinds[explained.program.operations[largest->operation].kind]) +
         ") with " + percent(largest->seconds() / path.iterations / path.period_s) + ".";
}

std::string exposed_sentence(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const double exposed = explained.explanation.exposed_s;
  const double steps = explained.program.steps;
  if (!(exposed > kMentioned * period)) {
    return "Communication is hidden behind " +
           std::string(delay_seconds(explained) > kMentioned * period ? "computing and delays"
                                                                      : "computing") +
           ": free exchanges would gain less than 0.5 %.";
  }
  return "With exchanges that take no time a step would take " +
         base::readable_seconds((period - exposed) / steps) + ": exposed communication is " +
         base::readable_seconds(exposed / steps) + ", " + percent(exposed / period) +
         " of the step.";
}

std::string interference_sentence(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const double lost = explained.explanation.interference_s;
  return lost > kMentioned * period
             ? "Of that, " + percent(lost / period) +
                   " of the step is what computing and communication lose by slowing each other."
             : "";
}

// What conditions lose is in nobody's hand.
std::string help_sentence(const Explained& explained) {
  const auto found = std::ranges::find_if(explained.what_if, [](const WhatIf& each) {
    return each.set.empty() || !each.set.front().starts_with("/conditions/");
  });
  if (found == explained.what_if.end()) {
    return "";
  }
  const WhatIf& best = *found;
  if (!(best.gain > kMentioned)) {
    return "None of the changes tried gains more than 0.5 %.";
  }
  return "Of the changes tried, " + best.change + " helps most: a step would then take " +
         base::readable_seconds(best.step_s) + ", " + percent(best.gain) + " less" +
         (best.gain_range ? " (" + percent(best.gain_range->first) + " to " +
                                percent(best.gain_range->second) + ", 80 %)"
                          : "") +
         (best.is_sure ? "." : ", which is not told apart from the step as it is.");
}

std::string measured_sentence(const Explained& explained) {
  if (!explained.measured) {
    return "";
  }
  const Measured& measured = *explained.measured;
  const std::string length = base::readable_seconds(measured.step_s);
  if (!(measured.gap_s > 0)) {
    return "The measured step of " + length + " is not longer than that.";
  }
  const std::string gap = "The measured step of " + length + " is " +
                          base::readable_seconds(measured.gap_s) + " longer";
  if (measured.causes.empty()) {
    return gap + ", and none of the causes tried explains it.";
  }
  const Cause& first = measured.causes.front();
  return gap + "; of the causes tried, the one that explains most is: " + first.cause + " (" +
         base::readable_seconds(first.explains_s) + ").";
}

std::string tie_sentence(const Explained& explained) {
  if (explained.measured) { // has a sentence of its own
    return "";
  }
  return explained.explanation.path.other_cycles ? "Several chains of operations are equally long: "
                                                   "a shorter operation that is on one of them "
                                                   "alone gains nothing."
                                                 : "";
}

} // namespace

PathParts path_parts(const Explained& explained) {
  const Shares& links = explained.explanation.attribution.by_link;
  const double delay = delay_seconds(explained);
  return {.compute_s = share_of(links, "no exchange") - delay,
          .exchange_s = ending_with(links, "start-up") + ending_with(links, "bandwidth"),
          .delay_s = delay};
}

std::string bottleneck_of(const Explained& explained) {
  const Shares& links = explained.explanation.attribution.by_link;
  switch (bound_of(path_parts(explained))) {
  case Bound::delay:
    return "input";
  case Bound::compute:
    return "compute";
  case Bound::exchange:
    return largest_of({.latency_s = ending_with(links, "start-up"),
                       .bandwidth_s = ending_with(links, "bandwidth")});
  }
  return {};
}

// "Measuring one step on 2 machines would narrow its interval to 351.2 to 395.0 ms, .."
std::string measure_sentence(const Explained& explained) {
  std::string text;
  for (const MeasureNext& next : explained.measure_next) {
    text += text.empty() ? "Measuring " + next.what + " would narrow its interval to "
                         : ", " + next.what + " to ";
    text +=
        base::significant(next.low_s * 1e3) + " to " + base::significant(next.high_s * 1e3) + " ms";
  }
  return text.empty() ? "" : text + ".";
}

std::vector<std::string> sentences_of(const Explained& explained) {
  std::vector<std::string> sentences;
  const bool empty = !(explained.explanation.path.period_s > 0);
  for (std::string sentence :
       {explained.exceeds, length_sentence(explained), bound_sentence(explained),
        empty ? "" : exposed_sentence(explained), interference_sentence(explained),
        tie_sentence(explained), help_sentence(explained), measured_sentence(explained),
        measure_sentence(explained)}) {
    if (!sentence.empty()) {
      sentences.push_back(std::move(sentence));
    }
  }
  if (sentences.size() < 4 && !empty) {
    sentences.insert(sentences.begin() + 2, largest_sentence(explained));
  }
  return sentences;
}

} // namespace stepsim::study
