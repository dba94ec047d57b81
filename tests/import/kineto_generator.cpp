#include "import/kineto_generator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <utility>

#include "base/random.hpp"

namespace stepsim::io {

namespace {

using Nanoseconds = std::int64_t;
using base::RandomStream;

enum Class { forward, backward, update, input, framework, other, communication };
enum Thread { forward_thread = 101, backward_thread = 202, helper_thread = 303 };
constexpr std::array kOperations{"conv2d", "batch_norm", "relu_", "linear", "add_"};

struct LayerPlan {
  std::string operation;
  std::vector<std::int64_t> gradients; // elements, in ready order
  bool two_nodes = false;              // two backward nodes
  bool stray_node = false;             // followed by a backward node that matches nothing
};

struct StepRecord {
  std::string name;
  Nanoseconds begin{}, end{};
  std::vector<Nanoseconds> forward, backward; // by layer
  std::array<Nanoseconds, 7> work{};
  Nanoseconds gradient_nodes{};
  struct Span {
    Nanoseconds begin{}, end{};
    bool communication = false;
  };
  std::vector<Span> spans;
  std::vector<Nanoseconds> buckets;
  Nanoseconds broadcast{};
};

Nanoseconds covered(const std::vector<StepRecord::Span>& spans, bool with_communication) {
  std::map<Nanoseconds, int> edges; // depth changes
  for (const StepRecord::Span& span : spans) {
    if (with_communication || !span.communication) {
      ++edges[span.begin];
      --edges[span.end];
    }
  }
  Nanoseconds sum = 0;
  Nanoseconds before = 0;
  int depth = 0;
  for (const auto& [moment, change] : edges) {
    sum += depth > 0 ? moment - before : 0;
    before = moment;
    depth += change;
  }
  return sum;
}

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

class Generator {
public:
  explicit Generator(const KinetoGeneratorOptions& options)
      : options_(options), random_({options.seed, 0, 0, 0, 1}), noise_({options.seed, 0, 0, 0, 2}),
        unit_(options.integer_stamps ? 1000 : 1) {
    now_ = (std::int64_t{1'700'000'000} * 1'000'000 + random_.integer(0, 999'999)) * 1000;
    if (!options_.integer_stamps) {
      now_ += random_.integer(0, 999);
    }
  }

  GeneratedTrace run() {
    plan();
    for (int k = 0; k < options_.steps; ++k) {
      step(k);
    }
    outside_steps();
    if (options_.shuffled) {
      shuffle();
    }
    GeneratedTrace result;
    result.text = head();
    append_events(result.text);
    result.text += tail();
    result.events = events_written_;
    result.expected = expectation();
    result.table = table();
    return result;
  }

  std::int64_t write(const std::function<void(std::string_view)>& sink) {
    plan();
    std::string text = head();
    const auto flush = [&] {
      append_events(text);
      sink(text);
      text.clear();
    };
    for (int k = 0; k < options_.steps; ++k) {
      step(k);
      flush();
    }
    outside_steps();
    flush();
    sink(tail());
    return events_written_;
  }

private:
  using Arguments = std::vector<std::pair<std::string, std::string>>;

  Nanoseconds some(std::int64_t low, std::int64_t high) {
    return random_.integer(low, high) * unit_;
  }
  bool chance(double probability) { return random_.uniform() < probability; }

  // The job

  void plan() {
    for (int l = 0; l < options_.layers; ++l) {
      LayerPlan layer;
      layer.operation = kOperations[static_cast<std::size_t>(random_.integer(0, 4))];
      const std::int64_t gradients = l == 0 ? 1 : random_.integer(0, 2);
      for (std::int64_t g = 0; g < gradients; ++g) {
        layer.gradients.push_back(random_.integer(1, 100'000));
      }
      layer.two_nodes = chance(0.2);
      layer.stray_node = chance(0.1);
      layers_.push_back(std::move(layer));
    }
    // Ready order is backward; a bucket closes after a gradient with some probability and at the
    // end.
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      for (const std::int64_t elements : layer->gradients) {
        if (bucket_elements_.empty() || closed_.back()) {
          bucket_elements_.push_back(0);
          bucket_tensors_.push_back(0);
        }
        bucket_elements_.back() += elements;
        ++bucket_tensors_.back();
        closed_.push_back(chance(0.4));
      }
    }
    closed_.back() = true;
  }

  void step(int k) {
    records_.emplace_back();
    StepRecord& record = records_.back();
    record.forward.resize(layers_.size());
    record.backward.resize(layers_.size());
    now_ += some(1, 50);
    record.name = "ProfilerStep#" + std::to_string(k + 7);
    record.begin = now_;
    launch(forward_thread, input, nullptr, "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy");
    if (options_.buckets) {
      broadcast(record);
    }
    annotated("Optimizer.zero_grad#SGD.zero_grad",
              [&] { launch(forward_thread, other, nullptr, "Memset (Device)", "gpu_memset"); });
    forward_pass(record);
    now_ += some(1, 20);
    backward_pass(record);
    operation(backward_thread, "torch.distributed.ddp.reducer::copy_bucket_to_grad", -1,
              [&] { launches(backward_thread, framework, nullptr, 2); });
    annotated("Optimizer.step#SGD.step", [&] {
      launches(forward_thread, update, nullptr, 2);
      operation(forward_thread, "aten::_foreach_add_", -1,
                [&] { launches(forward_thread, update, nullptr, 3); });
    });
    now_ += some(1, 20);
    record.end = now_;
    event("user_annotation", record.name, record.begin, record.end - record.begin, forward_thread,
          {});
  }

  void forward_pass(StepRecord& record) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const std::int64_t number = ++sequence_;
      numbers_[l] = number;
      if (chance(0.3)) { // shares the number, comes earlier, owns nothing
        operation(forward_thread, "aten::add_", number,
                  [&] { launches(forward_thread, forward, &record.forward[l], 1); });
      }
      if (chance(0.2)) {
        operation(forward_thread, "aten::view", chance(0.5) ? number + 1 : -1, [] {});
      }
      if (chance(0.1)) { // outside of any operator
        launches(forward_thread, forward, &record.forward[l], 1);
      }
      operation(forward_thread, "aten::" + layers_[l].operation, number, [&] {
        launches(forward_thread, forward, &record.forward[l], 1);
        operation(forward_thread, "aten::inner", chance(0.7) ? number : -1,
                  [&] { launches(forward_thread, forward, &record.forward[l], 2); });
      });
    }
    operation(forward_thread, "aten::trailing", -1,
              [&] { launches(forward_thread, forward, &record.forward.back(), 1); });
  }

  void backward_pass(StepRecord& record) {
    std::size_t gradient = 0;
    std::size_t bucket = 0;
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const LayerPlan& layer = layers_[l];
      node("ConvBackward0", numbers_[l], record.backward[l]);
      if (layer.two_nodes) {
        node("SliceBackward0", numbers_[l], record.backward[l]);
      }
      if (layer.stray_node) {
        node("UnknownBackward0", 1'000'000'000 + numbers_[l], record.backward[l]);
      }
      for (const std::int64_t elements : layer.gradients) {
        gradient_node(record, elements, record.backward[l],
                      closed_[gradient++] ? &bucket : nullptr);
      }
    }
  }

  void node(const std::string& name, std::int64_t number, Nanoseconds& sink) {
    operation(backward_thread, "autograd::engine::evaluate_function: " + name, number, [&] {
      operation(backward_thread, name, number,
                [&] { launches(backward_thread, backward, &sink, 3); });
    });
  }

  void gradient_node(StepRecord& record, std::int64_t elements, Nanoseconds& sink,
                     std::size_t* bucket) {
    const Nanoseconds before = sink;
    operation(backward_thread,
              "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", -1, [&] {
                Arguments arguments;
                if (options_.shapes) {
                  arguments = {{"Input Dims", "[[], [" + std::to_string(elements) + ", 1]]"},
                               {"Input type", "[\"\", \"float\"]"}};
                }
                operation(
                    backward_thread, "torch::autograd::AccumulateGrad", -1,
                    [&] { launches(backward_thread, backward, &sink, 1); }, arguments);
                if (bucket != nullptr && options_.buckets) {
                  record.buckets.push_back(
                      collective(backward_thread, "allreduce", bucket_elements_[(*bucket)++]));
                }
              });
    record.gradient_nodes += sink - before;
  }

  void broadcast(StepRecord& record) {
    operation(forward_thread, "c10d::broadcast_", -1,
              [&] { record.broadcast = collective(forward_thread, "broadcast", 640); });
  }

  // The recorder

  template <class Body>
  void operation(Thread thread, const std::string& name, std::int64_t number, const Body& body,
                 Arguments arguments = {}) {
    now_ += some(1, 30);
    const Nanoseconds begin = now_;
    const std::int64_t id = ++external_id_;
    body();
    now_ += some(1, 30);
    arguments.emplace_back("External id", std::to_string(id));
    if (number >= 0) {
      arguments.emplace_back("Sequence number", std::to_string(number));
    }
    if (number < 0 && arguments.size() == 1 && chance(0.5)) {
      arguments.clear();
    }
    event("cpu_op", name, begin, now_ - begin, thread, arguments);
  }

  template <class Body> void annotated(const std::string& name, const Body& body) {
    now_ += some(1, 5);
    const Nanoseconds begin = now_;
    body();
    now_ += some(1, 5);
    event("user_annotation", name, begin, now_ - begin, forward_thread, {});
  }

  // 0 to `most` launches of compute kernels.
  void launches(Thread thread, Class work, Nanoseconds* sink, int most) {
    for (std::int64_t n = random_.integer(0, most); n > 0; --n) {
      launch(thread, work, sink, "void at::native::kernel<" + std::to_string(n) + ">()", "kernel");
    }
  }

  void launch(Thread thread, Class work, Nanoseconds* sink, const std::string& name,
              const std::string& category, std::int64_t external_id = -1) {
    now_ += some(1, 10);
    const std::int64_t correlation = ++correlation_;
    event("cuda_runtime", "cudaLaunchKernel", now_, unit_, thread,
          {{"correlation", std::to_string(correlation)}});
    const int items = work != communication && chance(0.1) ? 2 : 1; // may share a correlation
    for (int i = 0; i < items; ++i) {
      Nanoseconds& stream = work == communication ? network_ : device_;
      stream = std::max(stream, now_) + some(0, 20);
      const Nanoseconds duration = some(1, 400);
      Arguments arguments{{"correlation", std::to_string(correlation)}, {"stream", "7"}};
      if (external_id >= 0) {
        arguments.emplace_back("External id", std::to_string(external_id));
      }
      event(category, name, stream, duration, static_cast<Thread>(work == communication ? 8 : 7),
            arguments);
      StepRecord& record = records_.back();
      record.spans.push_back({stream, stream + duration, work == communication});
      record.work[static_cast<std::size_t>(work)] += duration;
      if (sink != nullptr) {
        *sink += duration;
      }
      last_duration_ = duration;
      stream += duration;
    }
    now_ += unit_;
  }

  // Duration of its kernel.
  Nanoseconds collective(Thread thread, const std::string& name, std::int64_t elements) {
    Nanoseconds duration = 0;
    operation(thread, "record_param_comms", -1,
              [&] {
                launch(thread, communication, nullptr,
                       "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "kernel",
                       external_id_);
                duration = last_duration_;
              },
              {{"Collective name", quoted(name)},
               {"In msg nelems", std::to_string(elements)},
               {"dtype", "\"Float\""},
               {"Group size", "2"}});
    operation(thread, "record_param_comms", -1, [] {},
              {{"Collective name", "\"wait\""}, {"In msg nelems", "0"}, {"dtype", "\"Byte\""}});
    return duration;
  }

  // Work whose launch was not recorded, or lies behind the last step.
  void outside_steps() {
    outside_ = some(1, 50);
    event("kernel", "early()", records_.front().begin, outside_, static_cast<Thread>(7),
          {{"correlation", "999999999"}});
    now_ += some(10, 20);
    event("cuda_runtime", "cudaLaunchKernel", now_, unit_, forward_thread,
          {{"correlation", "999999998"}});
    const Nanoseconds late = some(1, 50);
    event("kernel", "late()", now_ + unit_, late, static_cast<Thread>(7),
          {{"correlation", "999999998"}});
    outside_ += late;
  }

  // Text

  static std::string quoted(const std::string& text) { return std::string("\"") + text + '"'; }
  static std::string member(const std::string& key, const std::string& value) {
    return quoted(key) + ": " + value;
  }

  std::string stamp(Nanoseconds time) const {
    std::string whole = std::to_string(time / 1000);
    if (options_.integer_stamps) {
      return whole;
    }
    const std::string fraction = std::to_string(1000 + time % 1000);
    return whole + "." + fraction.substr(1);
  }

  std::string category(const std::string& text) const {
    static const std::map<std::string, std::string> kOld{{"cpu_op", "Operator"},
                                                         {"cuda_runtime", "Runtime"},
                                                         {"kernel", "Kernel"},
                                                         {"gpu_memcpy", "Memcpy"},
                                                         {"gpu_memset", "Memset"}};
    const auto old = kOld.find(text);
    return options_.old_categories && old != kOld.end() ? old->second : text;
  }

  void event(const std::string& kind, const std::string& name, Nanoseconds begin,
             Nanoseconds duration, Thread thread, const Arguments& arguments) {
    const auto id = [this](int number) {
      const std::string text = std::to_string(number);
      return options_.string_ids ? quoted(text) : text;
    };
    std::vector<std::string> keys{
        member("ph", quoted("X")),     member("cat", quoted(category(kind))),
        member("name", quoted(name)),  member("pid", id(42)),
        member("tid", id(thread)),     member("ts", stamp(begin)),
        member("dur", stamp(duration))};
    if (!arguments.empty()) {
      std::string list = "{";
      for (const auto& [key, value] : arguments) {
        list += list.size() == 1 ? "" : ", ";
        list += member(key, value);
      }
      keys.push_back(member("args", list + "}"));
    }
    std::rotate(keys.begin(), keys.begin() + noise_.integer(0, std::ssize(keys) - 1), keys.end());
    std::string text = "{";
    for (std::size_t i = 0; i < keys.size(); ++i) {
      text += i == 0 ? "" : ", ";
      text += keys[i];
    }
    events_.push_back(text + "}");
    if (options_.unrelated && noise_.uniform() < 0.5) {
      unrelated_event(begin, duration);
    }
  }

  void unrelated_event(Nanoseconds begin, Nanoseconds duration) {
    const std::string times = ", \"ts\": " + stamp(begin) + ", \"dur\": " + stamp(duration);
    const std::string thread = ", \"pid\": 42, \"tid\": " + std::to_string(helper_thread);
    switch (noise_.integer(0, 7)) {
    case 0:
      events_.push_back(R"({"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g")" + times + "}");
      break;
    case 1:
      events_.push_back(R"({"ph": "M", "name": "process_name", "args": {"name": "python"}})");
      break;
    case 2:
      events_.push_back(R"({"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#7")" +
                        times + thread + "}");
      break;
    case 3:
      events_.push_back(
          R"({"ph": "X", "cat": "python_function", "name": "f", "args": {"a": [{}]})" + times +
          thread + "}");
      break;
    case 4: // operators of a thread that launches nothing
      events_.push_back(
          R"({"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "args": {"Sequence number": )" +
          std::to_string(sequence_) + "}" + times + thread + "}");
      break;
    case 5:
      events_.push_back(R"({"ph": "X", "cat": "user_annotation", "name": "data loader")" + times +
                        thread + "}");
      break;
    case 6:
      events_.push_back(R"({"ph": "i", "s": "g", "name": "Record Window End", "ts": "x"})");
      break;
    default:
      events_.push_back(R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Sync")" + times +
                        R"(, "args": {"correlation": 3}})");
    }
  }

  void shuffle() {
    for (std::size_t i = events_.size(); i > 1; --i) {
      std::swap(
          events_[i - 1],
          events_[static_cast<std::size_t>(noise_.integer(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

  [[nodiscard]] std::string head() const {
    return options_.bare_array ? std::string("[")
                               : R"({"schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "Generated GPU", "totalGlobalMem": 1}, {"name": "second"}],
  "distributedInfo": {"backend": "nccl", "rank": )" +
                                     std::to_string(options_.rank) +
                                     R"(, "world_size": 2, "pg_config": [{"ranks": [0, 1]}]},
  "host_name": "secret-host", "username": "secret-user",
  "traceEvents": [)";
  }

  // Moves the events made so far to the text.
  void append_events(std::string& text) {
    for (const std::string& event : events_) {
      text += events_written_++ == 0 ? "\n  " : ",\n  ";
      text += event;
    }
    events_.clear();
  }

  [[nodiscard]] std::string tail() const {
    return options_.bare_array ? "\n]\n" : "\n],\n\"traceName\": \"/home/secret-user/t\"}\n";
  }

  // The answer

  template <class Value> Seconds median(const Value& value) const {
    std::vector<double> values;
    for (std::size_t k = first_used(); k < records_.size(); ++k) {
      values.push_back(static_cast<double>(value(records_[k])));
    }
    return {middle(std::move(values)) / 1e9};
  }
  // The first step is warm-up, and so are the next ones that take more than 1.2 times the median of
  // those behind them, as long as two stay.
  [[nodiscard]] std::size_t first_used() const {
    std::size_t first = records_.size() > 1 ? 1 : 0;
    const auto device_time = [this](std::size_t k) {
      double sum = 0;
      for (const Nanoseconds work : records_[k].work) {
        sum += static_cast<double>(work);
      }
      return sum;
    };
    for (; records_.size() - first > 2; ++first) {
      std::vector<double> others;
      for (std::size_t k = first + 1; k < records_.size(); ++k) {
        others.push_back(device_time(k));
      }
      if (device_time(first) <= 1.2 * middle(std::move(others))) {
        break;
      }
    }
    return first;
  }

  layers::Trace expectation() const {
    layers::Trace trace;
    std::map<std::string, int> numbers;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      layers::Layer layer;
      layer.operation = "aten::" + layers_[l].operation;
      std::string plain = layers_[l].operation;
      plain.erase(plain.find_last_not_of('_') + 1);
      layer.name = plain + "_" + std::to_string(++numbers[plain]);
      layer.forward = median([l](const StepRecord& r) { return r.forward[l]; });
      layer.backward = median([l](const StepRecord& r) { return r.backward[l]; });
      trace.layers.push_back(std::move(layer));
    }
    add_gradients(trace);
    const auto work = [this](Class c) {
      return median([c](const StepRecord& r) { return r.work[static_cast<std::size_t>(c)]; });
    };
    trace.update = work(update);
    trace.input = work(input);
    trace.framework = work(framework);
    trace.other = work(other);
    for (const StepRecord& record : records_) {
      trace.steps.push_back(measured(record, trace.steps.size() >= first_used()));
    }
    if (!options_.bare_array) {
      trace.device = "Generated GPU";
      trace.ranks = 2;
    }
    trace.checks = expected_checks();
    return trace;
  }

  layers::Checks expected_checks() const {
    layers::Checks checks;
    checks.steps_used = std::ssize(records_) - static_cast<std::int64_t>(first_used());
    for (const LayerPlan& layer : layers_) {
      checks.backward_matched += layer.two_nodes ? 2 : 1;
      checks.backward_nodes += layer.stray_node ? 1 : 0;
      checks.gradient_nodes += std::ssize(layer.gradients);
    }
    checks.backward_nodes += checks.backward_matched;
    Nanoseconds inside = 0;
    for (const StepRecord& record : records_) {
      for (const Nanoseconds work : record.work) {
        inside += work;
      }
    }
    checks.unattributed_fraction =
        static_cast<double>(outside_) / static_cast<double>(inside + outside_);
    return checks;
  }

  void add_gradients(layers::Trace& trace) const {
    std::int64_t bucket = 0;
    std::size_t gradient = 0;
    for (std::size_t l = layers_.size(); l-- > 0;) {
      for (const std::int64_t elements : layers_[l].gradients) {
        layers::Tensor tensor;
        tensor.elements = elements;
        tensor.bytes = Bytes{4 * elements};
        if (options_.buckets) {
          tensor.bucket = bucket;
        }
        bucket += closed_[gradient++] ? 1 : 0;
        trace.layers[l].tensors.push_back(tensor);
      }
    }
    for (std::size_t b = 0; options_.buckets && b < bucket_elements_.size(); ++b) {
      layers::MeasuredBucket measured;
      measured.elements = bucket_elements_[b];
      measured.bytes = Bytes{4 * bucket_elements_[b]};
      measured.tensors = bucket_tensors_[b];
      std::vector<double> times;
      for (std::size_t k = first_used(); k < records_.size(); ++k) {
        times.push_back(static_cast<double>(records_[k].buckets[b]));
      }
      measured.min = Seconds{std::ranges::min(times) / 1e9};
      measured.median = Seconds{middle(times) / 1e9};
      measured.max = Seconds{std::ranges::max(times) / 1e9};
      trace.buckets.push_back(measured);
    }
  }

  layers::MeasuredStep measured(const StepRecord& record, bool used) const {
    const auto seconds = [](Nanoseconds time) { return Seconds{static_cast<double>(time) / 1e9}; };
    const auto work = [&](Class c) { return seconds(record.work[static_cast<std::size_t>(c)]); };
    const Nanoseconds busy = covered(record.spans, true);
    const Nanoseconds compute = covered(record.spans, false);
    layers::MeasuredStep step;
    step.name = record.name;
    step.used = used;
    step.wall = seconds(record.end - record.begin);
    step.gpu_busy = seconds(busy);
    step.compute_busy = seconds(compute);
    step.exposed_communication = seconds(busy - compute);
    step.forward = work(forward);
    step.backward = work(backward);
    step.gradient_nodes = seconds(record.gradient_nodes);
    step.update = work(update);
    step.framework = work(framework);
    step.input = work(input);
    step.other = work(other);
    step.communication = work(communication);
    return step;
  }

  layers::ModelTable table() const {
    layers::ModelTable table;
    table.name = "generated";
    for (const LayerPlan& layer : layers_) {
      if (layer.gradients.empty()) {
        continue;
      }
      layers::ModelLayer row;
      row.name = std::string("layer") += std::to_string(table.layers.size());
      row.kind = "conv";
      for (auto elements = layer.gradients.rbegin(); elements != layer.gradients.rend();
           ++elements) {
        row.tensors.push_back(
            {std::string("t") += std::to_string(row.tensors.size()), {*elements}});
      }
      table.layers.push_back(std::move(row));
    }
    return table;
  }

  KinetoGeneratorOptions options_;
  RandomStream random_; // the job
  RandomStream noise_;  // the order of keys and events, unrelated events
  Nanoseconds unit_{};
  Nanoseconds now_{};
  Nanoseconds device_{}, network_{}; // ends of the streams
  Nanoseconds last_duration_{}, outside_{};
  std::int64_t correlation_ = 1000, external_id_{}, sequence_ = 500;
  std::vector<LayerPlan> layers_;
  std::vector<bool> closed_; // by gradient: the last one of its bucket
  std::vector<std::int64_t> bucket_elements_, bucket_tensors_;
  std::map<std::size_t, std::int64_t> numbers_; // sequence number by layer, this step
  std::vector<StepRecord> records_;
  std::vector<std::string> events_; // not written yet
  std::int64_t events_written_{};
};

} // namespace

GeneratedTrace generate_kineto(const KinetoGeneratorOptions& options) {
  return Generator(options).run();
}

std::int64_t write_kineto(const KinetoGeneratorOptions& options,
                          const std::function<void(std::string_view)>& sink) {
  assert(!options.shuffled && "all events are in memory to be shuffled");
  return Generator(options).write(sink);
}

} // namespace stepsim::io
