// One event of the file to one of a fixed size: names and threads become numbers, and of the
// arguments only those of collectives and gradients are kept, beside the event.
#include "import/kineto/kineto_collect.hpp"

#include <iterator>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr Nanoseconds kLargestTime = std::numeric_limits<Nanoseconds>::max();

// Categories that say where time goes; others (Python stacks, memory) are not kept.
using CategoryWord = std::pair<std::string_view, KinetoCategory>;
constexpr CategoryWord kCategories[] = {
    {"cpu_op", KinetoCategory::cpu_operator},
    {"cuda_runtime", KinetoCategory::launch},
    {"kernel", KinetoCategory::kernel},
    {"gpu_memcpy", KinetoCategory::copy},
    {"gpu_memset", KinetoCategory::fill},
    {"cuda_driver", KinetoCategory::launch},
    {"xpu_runtime", KinetoCategory::launch}, // Intel
    {"xpu_driver", KinetoCategory::launch},
    {"privateuse1_runtime", KinetoCategory::launch}, // plug-ins: Ascend, Cambricon
    {"privateuse1_driver", KinetoCategory::launch},
    {"user_annotation", KinetoCategory::annotation},
    {"python_function", KinetoCategory::module},
    {"Operator", KinetoCategory::cpu_operator}, // this and the next four: older profilers
    {"Runtime", KinetoCategory::launch},
    {"Kernel", KinetoCategory::kernel},
    {"Memcpy", KinetoCategory::copy},
    {"Memset", KinetoCategory::fill},
};

// Profilers of 2021 mark steps and collectives by operators of these names and not by annotations.
bool marks_range(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.step#") ||
         name.starts_with("Optimizer.zero_grad#") || name.starts_with("nccl:");
}

// Of Python's calls only those of modules are kept: they name layers.
constexpr std::string_view kModule = "nn.Module: ";

constexpr std::string_view kGradientOperator = "torch::autograd::AccumulateGrad";
constexpr std::size_t kMostInputs = 8; // no operator has its parameters behind these
constexpr std::size_t kMostDimensions = 16;

// Products and sums of sizes without overflow; 0 stands for no usable size.
std::int64_t product(std::int64_t count, std::int64_t size) {
  const bool fits = size >= 0 && (size == 0 || count <= kMostElements / size);
  return fits ? count * size : 0;
}

// Steps repeat, and each detail is kept once.
template <class Detail>
std::int32_t number_of(Detail detail, std::map<Detail, std::int32_t>& known,
                       std::vector<Detail>& details) {
  const auto next = static_cast<std::int32_t>(details.size());
  const auto [row, added] = known.try_emplace(std::move(detail), next);
  if (added) {
    details.push_back(row->first);
  }
  return row->second;
}

} // namespace

// Times are microseconds with decimals, kept as whole nanoseconds.
void RawTime::set(std::string_view literal) {
  if (const auto read = nanoseconds_from_microseconds(literal)) {
    value = read;
  } else {
    set_bad(literal);
  }
}

void RawShape::clear() {
  dims.clear();
  elements = listed = -1;
  list = false;
}

void RawShape::add_dimension(std::int64_t size) {
  elements = product(elements < 0 ? 1 : elements, size);
  if (dims.size() == kMostDimensions) {
    elements = 0;
  } else {
    dims.push_back(size);
  }
}

void RawShape::add_listed_dimension(std::int64_t size) { listed = product(listed, size); }

void RawShape::end_listed() {
  elements = std::min(std::max<std::int64_t>(elements, 0) + listed, kMostElements);
}

void RawEvent::clear() {
  complete = false;
  event = {};
  ts.value = dur.value = std::nullopt;
  ts.shown.clear();
  dur.shown.clear();
  category = name = pid = tid = collective = dtype = group = {};
  elements = out_elements = group_size = -1;
  shape_count = 0;
  types.clear();
  has_shapes = false;
  if (!decoded.empty()) {
    decoded.clear();
  }
}

// Null behind the last entry that is kept.
RawShape* RawEvent::add_shape() {
  if (shape_count == kMostInputs) {
    return nullptr;
  }
  if (shape_count == shapes.size()) {
    shapes.emplace_back();
  }
  shapes[shape_count].clear();
  return &shapes[shape_count++];
}

bool RawEvent::wants_type() const { return types.size() < kMostInputs; }

KinetoInputs RawEvent::inputs() const {
  KinetoInputs tensors;
  for (std::size_t i = 0; i < std::max(shape_count, types.size()); ++i) {
    KinetoTensor& tensor = tensors.emplace_back();
    if (i < types.size()) {
      tensor.dtype = types[i];
    }
    if (i < shape_count && shapes[i].elements > 0) {
      tensor.elements = shapes[i].elements;
      tensor.shape = shapes[i].list ? std::vector<std::int64_t>() : shapes[i].dims;
    } else if (i < shape_count && shapes[i].elements < 0 && dtype_of_pytorch(tensor.dtype)) {
      tensor.elements = 1; // a scalar has no dimensions
    }
  }
  while (!types.empty() && !tensors.empty() && tensors.back().elements == 0 &&
         tensors.back().dtype.empty()) {
    tensors.pop_back();
  }
  return tensors;
}

// A recording has millions of events and a few thousand names: what a name means is looked up once.
std::int32_t KinetoCollector::name_number(std::string_view name) {
  if (const auto row = names_.find(name); row != names_.end()) {
    return row->second;
  }
  const auto next = static_cast<std::int32_t>(recording_.names.size());
  names_.emplace(name, next);
  recording_.names.emplace_back(name);
  meanings_.push_back(
      {.marks_range = marks_range(name),
       .call = name == "record_param_comms" || name.starts_with("nccl:"),
       .with_inputs = name == kGradientOperator || !parameter_inputs(name).empty()});
  return next;
}

// Threads are told apart by process and thread; the separator keeps "1", "23" from "12", "3". Most
// events are on the threads of a few events before.
std::int32_t KinetoCollector::thread_number(const RawEvent& raw) {
  for (const Thread& thread : recent_) {
    if (thread.number >= 0 && thread.track == raw.tid && thread.process == raw.pid) {
      return thread.number;
    }
  }
  thread_key_.assign(raw.pid).push_back('\0');
  thread_key_ += raw.tid;
  const auto next = static_cast<std::int32_t>(threads_.size());
  const auto [row, added] = threads_.try_emplace(thread_key_, next);
  const std::int32_t number = row->second;
  if (added) {
    recording_.processes.emplace_back(raw.pid);
  }
  Thread& oldest = recent_[oldest_++ % recent_.size()];
  oldest.process.assign(raw.pid);
  oldest.track.assign(raw.tid);
  oldest.number = number;
  return number;
}

// The position of what only collectives, gradients and operators with parameters have; -1 for other
// events.
std::int32_t KinetoCollector::detail_number(const RawEvent& raw, const Meaning& meaning,
                                            KinetoCategory category) {
  const bool call = meaning.call;
  if (call || (category == KinetoCategory::kernel && !raw.collective.empty())) {
    KinetoCollective collective;
    collective.op = raw.collective;
    collective.dtype = raw.dtype;
    collective.group = raw.group;
    collective.group_size = raw.group_size;
    collective.elements = raw.elements <= kMostElements ? raw.elements : -1;
    collective.out_elements = raw.out_elements <= kMostElements ? raw.out_elements : -1;
    for (const KinetoTensor& tensor : call ? raw.inputs() : KinetoInputs()) {
      if (tensor.elements > 0) {
        collective.input_elements = tensor.elements;
        collective.input_dtype = tensor.dtype;
        break;
      }
    }
    return number_of(std::move(collective), collectives_, recording_.collectives);
  }
  if (raw.has_shapes && meaning.with_inputs && category == KinetoCategory::cpu_operator) {
    return number_of(raw.inputs(), inputs_, recording_.inputs);
  }
  return -1;
}

Nanoseconds KinetoCollector::time_of(const RawTime& time, const char* key) const {
  if (time.value) {
    return *time.value;
  }
  if (time.shown.empty()) {
    refuse(key, "required, in microseconds");
  }
  const char first = time.shown.front();
  const std::string_view rule = first == '-'      ? "must be >= 0"
                                : is_digit(first) ? "must be below 2^63 ns"
                                                  : "must be a number";
  refuse(key, std::string(rule) + ", got " + base::shown_value(time.shown));
}

// Events of other phases and categories are dropped without looking at their times.
void KinetoCollector::add(const RawEvent& raw) {
  const auto* const category = std::ranges::find(kCategories, raw.category, &CategoryWord::first);
  if (!raw.complete || category == std::end(kCategories) ||
      (category->second == KinetoCategory::module && !raw.name.starts_with(kModule))) {
    return;
  }
  KinetoEvent event = raw.event;
  event.category = category->second;
  event.begin = time_of(raw.ts, "/ts");
  event.duration = time_of(raw.dur, "/dur");
  // Every later sum of durations fits as well.
  if (event.duration > kLargestTime - std::max(event.begin, durations_)) {
    refuse("/dur", "the event ends, or all durations sum up, beyond 2^63 ns");
  }
  durations_ += event.duration;
  if (event.category == KinetoCategory::launch && event.correlation < 0) {
    return; // starts nothing on the device
  }
  event.name = name_number(raw.name);
  event.thread = thread_number(raw);
  const Meaning& meaning = meanings_[static_cast<std::size_t>(event.name)];
  if (event.category == KinetoCategory::cpu_operator && meaning.marks_range) {
    event.category = KinetoCategory::annotation;
  }
  event.detail = detail_number(raw, meaning, event.category);
  recording_.events.push_back(event);
  if (recording_.events.size() > recording_.most_events) {
    move_events_to_file();
  }
}

void KinetoCollector::move_events_to_file() {
  if (!recording_.more) {
    recording_.more = std::make_unique<KinetoEventFile>();
  }
  for (const KinetoEvent& event : recording_.events) {
    recording_.more->append(event);
  }
  recording_.events.clear();
}

void KinetoCollector::finish() {
  if (recording_.more) {
    move_events_to_file();
    recording_.events.shrink_to_fit();
  }
}

void KinetoCollector::refuse(const char* key, const std::string& message) const {
  throw InputError(recording_.file, pointer_() + key, message);
}

} // namespace stepsim::io
