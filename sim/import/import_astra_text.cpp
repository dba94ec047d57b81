// One line is read after the other: real workloads repeat their layers for every micro-batch and
// have thousands of lines.
#include "import/import_layer_table.hpp"

#include "base/collected.hpp"

#include <cctype>

namespace stepsim::io {

namespace {

constexpr std::int64_t kMostLayers = 1'000'000;
constexpr std::size_t kFields = 12;
constexpr std::int64_t kShown = 3; // layers that a message names

// The kinds of parallelism that the simulators know.
constexpr std::array<std::string_view, 11> kParallelisms{
    "DATA",
    "MODEL",
    "MICRO",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_CUSTOMIZED",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "DISTRIBUTED_INFERENCE",
};

struct AstraCommunication {
  std::string_view type; // "NONE", "ALLREDUCE", "ALLTOALL_EP", ...
  std::int64_t bytes{};

  [[nodiscard]] bool none() const { return type == "NONE" || bytes == 0; }
};

struct AstraPass {
  double ticks{};
  AstraCommunication communication;
};

struct AstraRow {
  std::string_view name;
  AstraPass forward, input_gradient, weight_gradient;
  double update{};
};

// HYBRID_CUSTOMIZED names the parallelism of each layer in a field more.
AstraRow row_of(const TextLine& line, const LineReader& input, bool customized) {
  const std::vector<std::string_view> words = words_of(line.text);
  const std::size_t expected = customized ? kFields + 1 : kFields;
  if (words.size() != expected) {
    input.fail(fmt::format("expected {} fields, got {}", expected, words.size()));
  }
  std::size_t next = 2; // behind the reserved field
  const auto time = [&](std::string_view what) {
    const std::string_view text = words[next++];
    const auto value = parse_real(text);
    if (!value || *value < 0 || *value > 1e18) {
      input.fail(fmt::format("{} time: must be a number of ticks from 0 to 1e18, got {}", what,
                             base::shown_value(text)));
    }
    return *value;
  };
  const auto pass = [&](std::string_view what) {
    AstraPass read;
    read.ticks = time(what);
    read.communication.type = words[next++];
    const std::string_view type = read.communication.type;
    if (std::isalpha(static_cast<unsigned char>(type[0])) == 0) {
      input.fail(fmt::format("{} communication: must be a word such as ALLREDUCE or NONE, got {}",
                             what, base::shown_value(type)));
    }
    const std::string_view size = words[next++];
    const auto bytes = parse_whole(size);
    if (!bytes || *bytes < 0 || *bytes > base::kMaxExactBytes) {
      input.fail(fmt::format("{} communication: must be a number of bytes from 0 to {}, got {}",
                             what, base::kMaxExactBytes, base::shown_value(size)));
    }
    read.communication.bytes = *bytes;
    return read;
  };
  AstraRow row;
  row.name = words[0];
  row.forward = pass("forward");
  row.input_gradient = pass("input gradient");
  row.weight_gradient = pass("weight gradient");
  row.update = time("update");
  return row;
}

// Of the weight gradient: reductions, and the all-gather of what was updated in parts.
bool is_data_parallel(std::string_view type) {
  return type == "ALLREDUCE" || type == "REDUCESCATTER" || type == "ALLGATHER";
}

// What a layer communicates that is not data-parallel: "forward ALLREDUCE"; empty if nothing.
std::string other_communication(const AstraRow& row, bool model_parallel) {
  if (!row.forward.communication.none()) {
    return "forward " + base::shown_value(row.forward.communication.type);
  }
  if (!row.input_gradient.communication.none()) {
    return "input gradient " + base::shown_value(row.input_gradient.communication.type);
  }
  const AstraCommunication& weights = row.weight_gradient.communication;
  if (!weights.none() && (model_parallel || !is_data_parallel(weights.type))) {
    return "weight gradient " + base::shown_value(weights.type);
  }
  return "";
}

class AstraWorkload {
public:
  AstraWorkload(const AstraTextOptions& options, LineReader& input)
      : options_(options), input_(input) {}

  void read(layers::Trace& trace) {
    TextLine line;
    read_header(next_line(line), trace);
    const std::int64_t layers = read_count(next_line(line));
    const bool customized = parallelism_ == "HYBRID_CUSTOMIZED";
    while (next_filled(line)) {
      if (std::ssize(trace.layers) == kMostLayers) {
        input_.fail(fmt::format("more than {} layers", kMostLayers));
      }
      add(row_of(line, input_, customized), trace);
    }
    if (std::ssize(trace.layers) != layers) {
      throw InputError(input_.name(), std::to_string(count_line_),
                       fmt::format("line {} says {} layers, found {}", count_line_, layers,
                                   trace.layers.size()));
    }
    finish(trace);
  }

private:
  // Empty lines are skipped.
  bool next_filled(TextLine& line) {
    while (input_.next(line)) {
      if (!trimmed(line.text).empty()) {
        return true;
      }
    }
    return false;
  }
  const TextLine& next_line(TextLine& line) {
    if (!next_filled(line)) {
      throw InputError(input_.name(), "",
                       "ends before the number of layers: not a workload of ASTRA-sim");
    }
    return line;
  }

  // "HYBRID_TRANSFORMER model_parallel_NPU_group: 8 ep: 1"; what follows the word is kept as text.
  void read_header(const TextLine& line, layers::Trace& trace) {
    const std::string_view text = trimmed(line.text);
    const std::string_view word = words_of(text).front();
    if (std::ranges::find(kParallelisms, word) == kParallelisms.end()) {
      input_.fail(base::unknown_word("parallelism", word, kParallelisms));
    }
    parallelism_ = word;
    trace.source->options.emplace_back("parallelism", parallelism_);
    if (const std::string_view rest = trimmed(text.substr(word.size())); !rest.empty()) {
      constexpr std::size_t kLongest = 1000;
      trace.source->options.emplace_back("header", std::string(rest.substr(0, kLongest)));
    }
    // "checkpoints: 3 0 9 18": how many, and the layers from which forward is run again.
    const std::vector<std::string_view> words = words_of(text);
    const auto count = std::ranges::find(words, "checkpoints:");
    recomputes_ = std::distance(count, words.end()) > 1 && count[1] != "0";
  }

  std::int64_t read_count(const TextLine& line) {
    const std::string_view text = trimmed(line.text);
    const auto count = parse_whole(text);
    if (!count || *count < 1 || *count > kMostLayers) {
      input_.fail(fmt::format("the number of layers must be an integer from 1 to {}, got {}",
                              kMostLayers, base::shown_value(text)));
    }
    count_line_ = line.number;
    return *count;
  }

  // "embedding", "embedding_2", ...
  std::string unique(std::string_view name) {
    std::string text(name);
    for (std::int64_t& number = numbers_[text]; !names_.insert(text).second;) {
      number = std::max<std::int64_t>(number + 1, 2);
      text = fmt::format("{}_{}", name, number);
    }
    return text;
  }

  [[nodiscard]] Seconds seconds(double ticks) const {
    // Where a second has a whole number of ticks, the division rounds once.
    const double per_second = std::round(1 / options_.tick.value);
    const bool whole = per_second >= 1 && std::abs(per_second * options_.tick.value - 1) < 1e-12;
    return {whole ? ticks / per_second : ticks * options_.tick.value};
  }

  void add(const AstraRow& row, layers::Trace& trace) {
    const std::string other = other_communication(row, parallelism_ == "MODEL");
    if (!other.empty()) {
      if (++others_ <= kShown) {
        first_others_ += fmt::format("{}{} {} ({})", others_ == 1 ? "" : ", ",
                                     trace.layers.size() + 1, base::shown_value(row.name), other);
      }
      for (const AstraPass* pass : {&row.forward, &row.input_gradient}) {
        dropped_ += pass->communication.none() ? 0 : 1;
      }
    }
    layers::Layer layer;
    layer.name = unique(row.name);
    layer.forward = seconds(row.forward.ticks);
    layer.backward = seconds(row.input_gradient.ticks + row.weight_gradient.ticks);
    layer.gradient_bytes = Bytes{0};
    update_ += row.update;
    const AstraCommunication& weights = row.weight_gradient.communication;
    if (!weights.none()) {
      const bool kept = parallelism_ != "MODEL" && is_data_parallel(weights.type);
      dropped_ += kept ? 0 : 1;
      scattered_ += kept && weights.type == "REDUCESCATTER" ? 1 : 0;
      if (kept && weights.type == "ALLGATHER") {
        ++gathered_;
        add_gather(weights.bytes, trace);
      } else if (kept) {
        layer.gradient_bytes = Bytes{weights.bytes};
      }
    }
    trace.layers.push_back(std::move(layer));
  }

  static void add_gather(std::int64_t bytes, layers::Trace& trace) {
    if (auto* same = base::found_if(trace.collectives,
                                    [&](const auto& each) { return each.bytes.value == bytes; })) {
      ++same->per_step;
      return;
    }
    layers::MeasuredCollective gather;
    gather.op = "allgather";
    gather.bytes = Bytes{bytes};
    gather.per_step = 1;
    trace.collectives.push_back(std::move(gather));
  }

  void finish(layers::Trace& trace) const {
    if (others_ > 0 && !options_.drop_other_communication) {
      const std::int64_t more = others_ - kShown;
      throw InputError(input_.name(), "",
                       fmt::format("{} {}{} {} communication that is not data-parallel; see "
                                   "--drop-other-communication",
                                   others_ == 1 ? "layer" : "layers", first_others_,
                                   more > 0 ? fmt::format(" and {} more", more) : "",
                                   others_ == 1 ? "has" : "have"));
    }
    trace.update = seconds(update_);
    add_where(
        trace.warnings,
        {{!options_.tick_given,
          "the file does not say how long a tick is: 1 ns assumed; --tick gives another"},
         {recomputes_, "checkpoints: the forward pass that the backward pass runs again is left "
                       "out: a step is longer than run says"},
         {others_ > 0,
          fmt::format("{} of {} that are not data-parallel left out: a step of the whole job is "
                      "longer than run says",
                      counted(dropped_, "collective"), counted(others_, "layer"))},
         {scattered_ + gathered_ > 0,
          fmt::format(
              "{} of gradients and {} of parameters, as of a sharded optimizer: "
              "/training/sharding of a scenario sends such, run otherwise sends all-reduces "
              "of the gradients",
              counted(scattered_, "reduce-scatter"), counted(gathered_, "all-gather"))}});
  }

  const AstraTextOptions& options_;
  LineReader& input_;
  std::string parallelism_;
  std::int64_t count_line_ = 0;
  std::set<std::string> names_;
  std::map<std::string, std::int64_t> numbers_; // the last one given to a name
  double update_ = 0;                           // ticks
  bool recomputes_ = false;                     // the backward pass runs layers forward again
  std::int64_t others_ = 0, dropped_ = 0, scattered_ = 0, gathered_ = 0;
  std::string first_others_; // names of kShown of them
};

} // namespace

layers::Trace import_astra_text(const std::string& file, const AstraTextOptions& options) {
  LineReader input(file, options.common.max_bytes);
  layers::Trace trace;
  trace.name = result_name(options.common, file);
  trace.source = make_source("astra-text", options.common);
  trace.granularity = layers::Granularity::layer;
  AstraWorkload(options, input).read(trace);
  trace.source->files.push_back(input.file(file));
  return trace;
}

} // namespace stepsim::io
