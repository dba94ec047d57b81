// File after file to ranks, ranks to one trace, then names, sources and options are added, so that
// the trace says how it was made.

#include "import/kineto/import_kineto.hpp"

#include "import/kineto/kineto_read.hpp"
#include "import/read_ahead.hpp"

namespace stepsim::io {

namespace {

std::optional<double> seconds_of(const std::optional<Seconds>& time) {
  return time ? std::optional(time->value) : std::nullopt;
}

// Before any file is read: files may take minutes.
void check_options(const std::vector<std::string>& files, const KinetoOptions& options) {
  if (files.empty()) {
    throw UsageError("import kineto: needs at least one file");
  }
  const auto positive = [](const char* flag, const auto& value) {
    if (value && !(*value > 0)) {
      throw UsageError(fmt::format("{}: must be > 0, got {}", flag,
                                   base::shortest(static_cast<double>(*value))));
    }
  };
  positive("--batch-size", options.batch_size);
  positive("--measured-step", seconds_of(options.measured_step));
  positive("--backward-ratio", options.backward_ratio);
  if (options.skip_steps < 0) {
    throw UsageError("--skip-steps: must be >= 0, got " + std::to_string(options.skip_steps));
  }
  positive("--parameters", options.parameters);
  if (options.model) {
    (void)table_named(options.models(), *options.model);
  }
}

// What differs from the defaults, as the flags spell it.
std::vector<std::pair<std::string, std::string>> options_given(const KinetoOptions& options) {
  std::vector<std::pair<std::string, std::string>> given;
  const auto add = [&](const char* key, bool is, const std::string& text) {
    if (is) {
      given.emplace_back(key, text);
    }
  };
  const auto number = [&](const char* key, const std::optional<double>& value) {
    add(key, value.has_value(), base::shortest(value.value_or(0)));
  };
  const auto whole = [&](const char* key, const std::optional<std::int64_t>& value) {
    add(key, value.has_value(), std::to_string(value.value_or(0)));
  };
  const auto text = [&](const char* key, const std::optional<std::string>& value) {
    add(key, value.has_value(), value.value_or(""));
  };
  number("backward_ratio", options.backward_ratio);
  whole("batch_size", options.batch_size);
  text("dtype", options.dtype);
  number("measured_step_s", seconds_of(options.measured_step));
  text("model", options.model);
  whole("parameters", options.parameters);
  add("sizes_order", options.sizes_in_ready_order, "gradient");
  add("skip_steps", options.skip_steps != KinetoOptions().skip_steps,
      std::to_string(options.skip_steps));
  text("step_annotation", options.step_annotation);
  add("time", options.time == TimeBasis::wall, "wall");
  return given;
}

// Buckets without sizes in the trace get those that DDP logged.
void add_logged_sizes(const DdpLog& log, const std::optional<std::string>& dtype,
                      KinetoRank& rank) {
  const std::int64_t bytes = dtype_of_pytorch(dtype.value_or("float32"))->bytes;
  for (StepSample& step : rank.steps) {
    if (step.buckets.empty()) {
      continue;
    }
    if (step.buckets.size() != log.bucket_bytes.size()) {
      throw InputError(log.file, "",
                       fmt::format("{} buckets, but a step of {} has {} all-reduces",
                                   log.bucket_bytes.size(), rank.file, step.buckets.size()));
    }
    for (std::size_t b = 0; b < step.buckets.size(); ++b) {
      CollectiveCall& call = step.buckets[b].call;
      const auto recorded = dtype_of_pytorch(call.dtype.get());
      if (call.elements < 0) {
        call.elements = log.bucket_bytes[b] / (recorded ? recorded->bytes : bytes);
        call.dtype = recorded ? call.dtype.get() : dtype.value_or("float32");
      }
    }
  }
}

// The same from the shapes that the flight recorder saw: other all-reduces of a step are in the
// record too.
void add_recorded_sizes(const FlightRecord& record, KinetoRank& rank) {
  for (StepSample& step : rank.steps) {
    std::vector<CollectiveCall*> calls;
    for (auto* list : {&step.buckets, &step.collectives}) {
      for (CollectiveSample& each : *list) {
        if (each.call.op == "allreduce") {
          calls.push_back(&each.call);
        }
      }
    }
    if (step.buckets.empty()) {
      continue;
    }
    std::ranges::stable_sort(calls, {}, [](const CollectiveCall* call) { return call->begin; });
    const auto found = step_of(record, calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i]->elements < 0) {
        calls[i]->elements = found[i].elements;
        calls[i]->dtype = found[i].dtype;
      }
    }
  }
}

bool has_gradients(const layers::Layer& layer) { return !layer.tensors.empty(); }

void add_times(const layers::Layer& from, layers::Layer& to) {
  to.forward = *to.forward + *from.forward;
  to.backward = *to.backward + *from.backward;
}

} // namespace

KinetoImport import_kineto_job(const std::vector<std::string>& files,
                               const KinetoOptions& options) {
  check_options(files, options);
  layers::Source source = make_source("kineto", options.common);
  source.options = options_given(options);
  const auto read_if_given = [&](const std::optional<std::string>& path, const auto& read) {
    return path ? std::optional(read(*path, options.common.max_bytes)) : std::nullopt;
  };
  const auto table = read_if_given(options.sizes, read_size_table);
  const auto log = read_if_given(options.ddp_log, read_ddp_log);
  const auto record = read_if_given(options.flight_record, read_flight_record);
  const auto execution = read_if_given(options.pytorch_et, read_execution_trace);
  std::vector<KinetoRank> ranks;
  std::uint64_t before = 0; // bytes of the files before
  for (const std::string& file : files) {
    ByteSource bytes(file, options.common.max_bytes, true);
    ReadAhead ahead(bytes);
    const auto next = [&] {
      if (options.common.read) {
        options.common.read(before + ahead.file_bytes());
      }
      return ahead.next();
    };
    // One recording at a time is in memory; what is kept of it is a few numbers per layer and step.
    KinetoRecording recording = read_kineto(
        next, bytes.name(),
        // What marks a step may be an operator that only wraps others, told by those inside it.
        {.most_events = options.step_annotation ? std::numeric_limits<std::size_t>::max()
                                                : options.most_events});
    before += bytes.file_bytes();
    source.files.push_back(source_file(file, bytes.file_bytes(), bytes.digest()));
    ranks.push_back(reduce_rank(recording, options.step_annotation, options.skip_steps));
  }
  // Files come in any order; what is told by rank is in the order of ranks.
  if (std::ranges::all_of(ranks, [](const KinetoRank& rank) { return rank.rank.has_value(); })) {
    std::ranges::stable_sort(ranks, {}, [](const KinetoRank& rank) { return *rank.rank; });
  }
  SizeSources sources;
  const auto use = [&](const auto& given, auto& to) {
    if (given) {
      to = &*given;
      source.files.push_back(given->source);
    }
  };
  use(table, sources.table);
  sources.table_in_ready_order = options.sizes_in_ready_order;
  use(log, sources.log);
  for (KinetoRank& rank : log ? std::span(ranks) : std::span<KinetoRank>()) {
    add_logged_sizes(*log, options.dtype, rank);
  }
  if (record) {
    const auto has_buckets = [](const StepSample& step) { return !step.buckets.empty(); };
    if (std::ranges::none_of(ranks, [&](const KinetoRank& rank) {
          return std::ranges::any_of(rank.steps, has_buckets);
        })) {
      throw InputError(record->file, "",
                       "holds the sizes of all-reduces, and " + ranks.front().file +
                           " has no all-reduce of gradients");
    }
    source.files.push_back(record->source);
    std::ranges::for_each(ranks, [&](KinetoRank& rank) { add_recorded_sizes(*record, rank); });
  }
  use(execution, sources.execution_trace);
  KinetoImport result = trace_of_ranks(ranks, options, sources);
  if (options.with_costs) {
    result.costs = measured_costs(ranks);
  }
  result.trace.name = result_name(options.common, files.front());
  result.trace.source = std::move(source);
  return result;
}

void join_layers(layers::Trace& trace) {
  const std::size_t before = trace.layers.size();
  if (before <= kMostSeparateLayers || std::ranges::none_of(trace.layers, has_gradients)) {
    return;
  }
  std::vector<layers::Layer> joined;
  std::vector<std::int64_t> place(before); // of every layer in `joined`
  layers::Layer waiting;                   // the times of layers without gradients
  waiting.forward = waiting.backward = Seconds{0};
  for (std::size_t l = 0; l < before; ++l) {
    place[l] = std::ssize(joined);
    if (!has_gradients(trace.layers[l])) {
      add_times(trace.layers[l], waiting);
      continue;
    }
    add_times(waiting, trace.layers[l]);
    waiting.forward = waiting.backward = Seconds{0};
    joined.push_back(std::move(trace.layers[l]));
  }
  add_times(waiting, joined.back());
  const auto last = std::ssize(joined) - 1;
  for (layers::MeasuredUnit& unit : trace.units) {
    unit.first_layer = std::min(place[static_cast<std::size_t>(unit.first_layer)], last);
    unit.last_layer = std::min(place[static_cast<std::size_t>(unit.last_layer)], last);
  }
  trace.layers = std::move(joined);
  if (trace.layers.size() < before) {
    trace.warnings.push_back(fmt::format(
        "{} layers: those without gradients are joined to the next one with gradients, which makes "
        "{} (--keep-layers keeps all)",
        before, trace.layers.size()));
  }
}

} // namespace stepsim::io
