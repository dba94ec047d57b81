// PyTorch names element types in two ways, "c10::BFloat16" and "float"; both become the words of
// traces. Which inputs of an operator are parameters follows from the operators' signatures.
#include "import/kineto/kineto_events.hpp"

#include <cerrno>
#include <regex>
#include <tuple>

#include "base/collected.hpp"
#include "base/statistics.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

std::span<const int> parameter_inputs(std::string_view operation) {
  struct Row {
    std::string_view operation;
    std::array<int, 2> inputs; // -1: none
  };
  static constexpr std::array kRows{
      Row{"aten::conv1d", {1, 2}},
      Row{"aten::conv2d", {1, 2}},
      Row{"aten::conv3d", {1, 2}},
      Row{"aten::conv_transpose1d", {1, 2}},
      Row{"aten::conv_transpose2d", {1, 2}},
      Row{"aten::conv_transpose3d", {1, 2}},
      Row{"aten::batch_norm", {1, 2}},
      Row{"aten::instance_norm", {1, 2}},
      Row{"aten::linear", {1, 2}},
      Row{"aten::layer_norm", {2, 3}},
      Row{"aten::group_norm", {2, 3}},
      Row{"aten::rms_norm", {2, -1}},
      Row{"aten::addmm", {2, 0}},
      Row{"aten::embedding", {0, -1}},
      Row{"aten::prelu", {1, -1}},
  };
  const auto row = std::ranges::find(kRows, operation, &Row::operation);
  return row == kRows.end()
             ? std::span<const int>()
             : std::span(row->inputs).first(row->inputs.back() < 0 ? std::size_t{1} : 2);
}

std::optional<DtypeWord> dtype_of_pytorch(std::string_view name) {
  if (name.starts_with("c10::")) {
    name.remove_prefix(5);
  }
  const std::string lower = lower_case(name);
  std::string_view word = lower;
  if (word.starts_with("torch.")) {
    word.remove_prefix(6);
  }
  if (word.starts_with("float8")) {
    word = "float8";
  }
  struct Row {
    std::string_view pytorch, word;
  };
  // Names other than our own words, which are those of Python.
  static constexpr std::array kRows{
      Row{"float", "float32"},       Row{"half", "float16"},     Row{"double", "float64"},
      Row{"long", "int64"},          Row{"long int", "int64"},   Row{"int", "int32"},
      Row{"char", "int8"},           Row{"signed char", "int8"}, Row{"byte", "uint8"},
      Row{"unsigned char", "uint8"}, Row{"fp32", "float32"},     Row{"fp16", "float16"},
      Row{"bf16", "bfloat16"},       Row{"fp8", "float8"},
  };
  if (const auto row = std::ranges::find(kRows, word, &Row::pytorch); row != kRows.end()) {
    word = row->word;
  }
  const std::span<const std::string_view> words = layers::dtype_words();
  const auto known = std::ranges::find(words, word);
  return known == words.end() ? std::nullopt
                              : std::optional(DtypeWord{*known, layers::dtype_bytes(*known)});
}

void set_times(layers::MeasuredBucket& bucket, const std::vector<double>& times,
               double per_second) {
  if (!times.empty()) {
    bucket.min = Seconds{std::ranges::min(times) / per_second};
    bucket.median = Seconds{base::median(times) / per_second};
    bucket.max = Seconds{std::ranges::max(times) / per_second};
  }
}

layers::Tensor tensor_of(std::int64_t elements, const DtypeWord& type) {
  layers::Tensor tensor;
  tensor.elements = elements;
  tensor.dtype = type.word;
  tensor.bytes = Bytes{elements * type.bytes};
  return tensor;
}

// Where the training steps of a recording begin and end: by the profiler's own marks, by an
// annotation that the user names, or, without either, from one optimizer step to the next.

namespace {

constexpr std::size_t kLongestAnnotation = 1000; // std::regex recurses once per character

// Ties go by end and name, so that the order of events in the file means nothing.
bool by_start(const KinetoStep& a, const KinetoStep& b) {
  return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
}

template <class Matches>
// Those whose name matches, by start.
std::vector<KinetoStep> annotations(const KinetoRecording& recording, const Matches& matches) {
  std::vector<KinetoStep> found;
  for (const KinetoEvent& event : recording.events) {
    if (event.category == KinetoCategory::annotation && matches(recording.name(event))) {
      found.push_back({std::string(recording.name(event)), event.begin, event.end(), event.thread});
    }
  }
  std::ranges::sort(found, by_start);
  return found;
}

// Of several optimizers that update one right after the other the last one ends an iteration.
std::vector<KinetoStep> last_updates(const std::vector<KinetoStep>& updates) {
  const auto gap = [&](std::size_t k) { return updates[k + 1].begin - updates[k].end; };
  Nanoseconds longest = 0;
  for (std::size_t k = 0; k + 1 < updates.size(); ++k) {
    longest = std::max(longest, gap(k));
  }
  std::vector<KinetoStep> last;
  for (std::size_t k = 0; k < updates.size(); ++k) {
    if (k + 1 == updates.size() || updates[k].name == updates[k + 1].name ||
        gap(k) >= longest / 10) {
      last.push_back(updates[k]);
    }
  }
  return last;
}

// The part before the first optimizer step may be the rest of a step, and is left out.
std::vector<KinetoStep> between_optimizer_steps(const std::vector<KinetoStep>& updates) {
  std::vector<KinetoStep> steps;
  for (std::size_t k = 1; k < updates.size(); ++k) {
    if (updates[k - 1].end < updates[k].end) {
      steps.push_back(
          {"step#" + std::to_string(k), updates[k - 1].end, updates[k].end, updates[k].thread});
    }
  }
  return steps;
}

// Steps up to and with the one that updates the weights become one. Where no step without an update
// is followed by one with it, steps stay as they are: a profile may end before the update.
std::vector<KinetoStep> joined_by_updates(std::vector<KinetoStep> steps,
                                          const std::vector<KinetoStep>& updates) {
  const auto has_update = [&](const KinetoStep& step) {
    const auto first = std::ranges::lower_bound(updates, step.begin, {}, &KinetoStep::begin);
    return first != updates.end() && first->begin < step.end;
  };
  std::vector<KinetoStep> joined;
  std::size_t first = 0; // of the steps since the last update
  bool several = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!has_update(steps[i])) {
      continue;
    }
    KinetoStep& step = joined.emplace_back(steps[i]);
    if (first < i) {
      several = true;
      const std::size_t number = std::min(step.name.find('#'), step.name.size());
      step.name = steps[first].name + ".." + step.name.substr(number); // "ProfilerStep#4..#7"
      step.begin = steps[first].begin;
    }
    first = i + 1;
  }
  return several ? joined : steps;
}

// Without those that contain another one on their thread.
std::vector<KinetoStep> innermost(const std::vector<KinetoStep>& matches) {
  std::vector<KinetoStep> steps;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    bool contains = false;
    for (std::size_t k = i + 1; k < matches.size() && matches[k].begin < matches[i].end; ++k) {
      contains =
          contains || (matches[k].thread == matches[i].thread && matches[k].end <= matches[i].end);
    }
    if (!contains) {
      steps.push_back(matches[i]);
    }
  }
  return steps;
}

// Annotations nest: an epoch may match as well as its steps, and the steps are meant.
std::vector<KinetoStep> matching(const KinetoRecording& recording, const std::string& expression) {
  std::regex pattern;
  try {
    pattern.assign(expression);
  } catch (const std::regex_error&) {
    throw UsageError("--step-annotation: not a regular expression: " +
                     base::shown_value(expression));
  }
  return innermost(annotations(recording, [&](std::string_view name) {
    return std::regex_search(
        name.begin(),
        name.begin() + static_cast<std::ptrdiff_t>(std::min(name.size(), kLongestAnnotation)),
        pattern);
  }));
}

// Names a few annotations of the file: one of them may be what to look for.
[[noreturn]] void no_step(const KinetoRecording& recording, bool with_annotation) {
  std::set<std::string> seen;
  for (const KinetoEvent& event : recording.events) {
    if (event.category == KinetoCategory::annotation) {
      seen.emplace(recording.name(event));
    }
  }
  std::string list;
  std::size_t shown = 0;
  for (const std::string& name : seen) {
    if (shown++ < 5) {
      list += (list.empty() ? "; annotations seen: " : ", ") + base::shown_value(name, 60);
    }
  }
  const std::string message = with_annotation ? "no annotation matches --step-annotation"
                                              : "no training step found (no ProfilerStep#, no "
                                                "Optimizer.step#); pass --step-annotation REGEX";
  throw InputError(recording.file, "", message + list);
}

static_assert(std::is_trivially_copyable_v<KinetoEvent>, "written as its bytes");

[[noreturn]] void fail(const char* what) {
  throw SimulationError(fmt::format("a temporary file cannot be {}: {}", what, reason_text(errno)));
}

} // namespace

std::vector<KinetoStep> find_steps(const KinetoRecording& recording,
                                   const std::optional<std::string>& annotation) {
  const auto starts_with = [&](std::string_view prefix) {
    return annotations(recording, [=](std::string_view name) { return name.starts_with(prefix); });
  };
  std::vector<KinetoStep> steps;
  if (annotation) {
    steps = matching(recording, *annotation);
  } else {
    const std::vector<KinetoStep> updates = starts_with("Optimizer.step#");
    steps = joined_by_updates(starts_with("ProfilerStep#"), updates);
    if (steps.empty()) {
      steps = between_optimizer_steps(last_updates(updates));
    }
  }
  if (steps.empty()) {
    no_step(recording, annotation.has_value());
  }
  std::set<std::string_view> processes;
  for (const KinetoStep& step : steps) {
    processes.insert(recording.processes[static_cast<std::size_t>(step.thread)]);
  }
  if (processes.size() > 1) {
    throw InputError(recording.file, "",
                     fmt::format("steps of {} processes (pid {}): give one file per rank",
                                 processes.size(), base::listed(processes)));
  }
  return steps;
}

std::int32_t step_at(std::span<const KinetoStep> steps, Nanoseconds moment) {
  const auto after = std::ranges::upper_bound(steps, moment, {}, &KinetoStep::begin);
  if (after == steps.begin() || moment >= (after - 1)->end) {
    return -1;
  }
  return static_cast<std::int32_t>(after - steps.begin() - 1);
}

KinetoEventFile::KinetoEventFile() : file_(std::tmpfile()) {
  if (!file_ || std::setvbuf(file_.get(), nullptr, _IONBF, 0) != 0) {
    fail("made");
  }
  last_.reserve(kTogether);
}

void KinetoEventFile::write() {
  if (std::fwrite(last_.data(), sizeof(KinetoEvent), last_.size(), file_.get()) != last_.size()) {
    fail("written");
  }
  last_.clear();
}

void KinetoEventFile::each(const std::function<void(const KinetoEvent&)>& visit) {
  write();
  std::rewind(file_.get());
  std::vector<KinetoEvent> events(kTogether);
  for (std::size_t left = size_; left > 0;) {
    const std::size_t count = std::min(left, kTogether);
    if (std::fread(events.data(), sizeof(KinetoEvent), count, file_.get()) != count) {
      fail("read");
    }
    for (std::size_t i = 0; i < count; ++i) {
      visit(events[i]);
    }
    left -= count;
  }
  (void)std::fseek(file_.get(), 0, SEEK_END);
}

// Decimal digits are counted as text: 1700000000123456.789 microseconds have more digits than a
// double keeps.

std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal) {
  const std::size_t e = std::min(literal.find_first_of("eE"), literal.size());
  std::ptrdiff_t exponent = 3; // microseconds to nanoseconds
  if (e < literal.size()) {
    std::string_view power = literal.substr(e + 1);
    power.remove_prefix(power.starts_with('+') ? 1 : 0);
    const auto written = parse_number<int>(power);
    if (!written || *written > 1000 || *written < -1000) {
      return std::nullopt;
    }
    exponent += *written;
  }
  std::string digits(literal.substr(0, e));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  digits.erase(point, 1);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
    return std::nullopt;
  }
  // Digits before the nanosecond point are kept, the first one behind it rounds.
  const std::ptrdiff_t kept = static_cast<std::ptrdiff_t>(point) + exponent;
  const bool rounds =
      kept >= 0 && kept < std::ssize(digits) && digits[static_cast<std::size_t>(kept)] >= '5';
  digits.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(kept, 0)), '0');
  const auto value = parse_whole("0" + digits);
  return value && rounds && *value == std::numeric_limits<Nanoseconds>::max() ? std::nullopt
         : value ? std::optional(*value + (rounds ? 1 : 0))
                 : std::nullopt;
}

Nanoseconds median_time(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  const std::size_t n = times.size();
  return n % 2 == 1 ? times[n / 2] : times[n / 2 - 1] + (times[n / 2] - times[n / 2 - 1]) / 2;
}

} // namespace stepsim::io
