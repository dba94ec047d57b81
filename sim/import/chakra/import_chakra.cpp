// Segments of equal iterations are merged by their medians, then turned into layers: those of the
// forward pass in their order, then those of the backward pass in the reverse order.
#include "import/chakra/import_chakra.hpp"

#include "base/collected.hpp"
#include "base/statistics.hpp"
#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

namespace {

constexpr double kMicro = 1e6; // a division is exact to the last bit where 1e-6 is not

bool is_reduction(ChakraOp op) {
  return op == ChakraOp::all_reduce || op == ChakraOp::reduce_scatter ||
         op == ChakraOp::reduce_scatter_block;
}

// "1 allgather of 1048576 bytes", or "3 collectives (allgather, broadcast)".
std::string described(const ChakraFile& file) {
  std::set<std::string_view> ops;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  for (const ChakraNode& node : file.nodes) {
    if (node.kind == ChakraKind::collective) {
      ops.insert(word_of(*node.op));
      bytes = node.bytes.value_or(0);
      ++count;
    }
  }
  if (count == 1) {
    return fmt::format("1 {} of {} bytes", *ops.begin(), bytes);
  }
  return fmt::format("{} collectives ({})", count, base::listed(ops));
}

std::string found_in(const ChakraFile& file, const ChakraCounts& counts) {
  return fmt::format("{}: {} compute, {}, {} of collectives; {} us in all",
                     counted(std::ssize(file.nodes), "node"), counts.of(ChakraKind::compute),
                     counted(counts.of(ChakraKind::collective), "collective"),
                     base::counted(counts.of(ChakraKind::launch), "launch", "es"),
                     base::shortest(counts.all_us));
}

// One iteration, with medians over the equal ones.
struct ChakraStep {
  ChakraIteration iteration;
  std::vector<std::vector<double>> durations_us; // of the collective of each segment
  std::size_t used{}, all{};
};

using Signature = std::vector<std::pair<int, std::int64_t>>;

Signature signature_of(const ChakraIteration& iteration) {
  Signature all;
  for (const ChakraSegment& segment : iteration.segments) {
    if (segment.collective != nullptr) {
      all.emplace_back(static_cast<int>(*segment.collective->op),
                       segment.collective->bytes.value_or(0));
    }
  }
  return all;
}

// Of iterations that differ in their collectives, those count that are most alike.
ChakraStep typical_step(const ChakraSegments& cut) {
  std::map<Signature, std::vector<const ChakraIteration*>> alike;
  for (const ChakraIteration& iteration : cut.iterations) {
    alike[signature_of(iteration)].push_back(&iteration);
  }
  const auto most = std::ranges::max_element(
      alike, {}, [](const auto& each) { return std::pair(each.second.size(), each.first.size()); });
  const std::vector<const ChakraIteration*>& used = most->second;
  ChakraStep step;
  step.iteration = *used.front();
  step.used = used.size();
  step.all = cut.iterations.size();
  for (std::size_t s = 0; s < step.iteration.segments.size(); ++s) {
    ChakraSegment& segment = step.iteration.segments[s];
    std::vector<double> forward;
    std::vector<double> backward;
    std::vector<double>& durations = step.durations_us.emplace_back();
    for (const ChakraIteration* each : used) {
      const ChakraSegment& other = each->segments[s];
      // Between iterations without a mark the last segment is a part of the next forward pass.
      const bool empty = other.collective == nullptr && other.forward_us + other.backward_us == 0;
      if (!empty) {
        forward.push_back(other.forward_us);
        backward.push_back(other.backward_us);
      }
      if (other.collective != nullptr && other.collective->duration_us) {
        durations.push_back(*other.collective->duration_us);
      }
    }
    segment.forward_us = forward.empty() ? 0 : base::median(forward);
    segment.backward_us = backward.empty() ? 0 : base::median(backward);
  }
  return step;
}

// A step becomes the layers, buckets and other collectives of a trace.
class TraceMaker {
public:
  TraceMaker(const ChakraStep& step, const ChakraCounts& counts, const ChakraOptions& options,
             layers::Trace& trace)
      : step_(step), counts_(counts), options_(options), trace_(trace) {}

  void make() {
    find_phases();
    const std::vector<ChakraSegment>& segments = step_.iteration.segments;
    std::size_t behind = 0; // segments up to the last bucket
    for (std::size_t s = 0; s < segments.size(); ++s) {
      behind = is_bucket(segments[s]) ? s + 1 : behind;
    }
    std::vector<layers::Layer> backward;
    double update_us = 0;
    for (std::size_t s = 0; s < segments.size(); ++s) {
      const ChakraSegment& segment = segments[s];
      if (behind > 0 && s >= behind) {
        update_us += segment.forward_us + segment.backward_us;
      } else {
        layers::Layer layer = layer_of(segment, s);
        const bool forward_only = phases_ && !segment.in_backward && !is_bucket(segment);
        (forward_only ? trace_.layers : backward).push_back(std::move(layer));
      }
      if (segment.collective != nullptr && !is_bucket(segment)) {
        add_collective(*segment.collective, step_.durations_us[s]);
      }
    }
    trace_.layers.insert(trace_.layers.end(), std::make_move_iterator(backward.rbegin()),
                         std::make_move_iterator(backward.rend()));
    trace_.update = {update_us / kMicro};
    warn();
  }

private:
  void find_phases() {
    for (const ChakraSegment& segment : step_.iteration.segments) {
      phases_ = phases_ || segment.in_backward;
    }
    for (const ChakraSegment& segment : step_.iteration.segments) {
      const ChakraNode* node = segment.collective;
      if (phases_ && !segment.in_backward && node != nullptr && !node->group.empty() &&
          is_reduction(*node->op)) {
        activation_groups_.insert(node->group);
      }
    }
  }

  // Reductions of the forward pass, those of a group that has such, and those of gradients of
  // activations (tensor parallelism) are no buckets.
  [[nodiscard]] bool is_bucket(const ChakraSegment& segment) const {
    const ChakraNode* node = segment.collective;
    return node != nullptr && is_reduction(*node->op) && node->bytes.value_or(0) > 0 &&
           !segment.of_activations && (!phases_ || segment.in_backward) &&
           !activation_groups_.contains(node->group);
  }

  // The data of a collective, as one tensor.
  layers::Tensor data_of(const ChakraNode& node) {
    const std::int64_t bytes = node.bytes.value_or(0);
    std::string dtype = node.dtype;
    if (dtype.empty()) {
      dtype = options_.dtype.value_or("float32");
      assumed_ = options_.dtype ? assumed_ : assumed_ + 1;
    }
    if (bytes % layers::dtype_bytes(dtype) != 0) {
      dtype = "uint8";
    }
    const std::int64_t item_bytes = layers::dtype_bytes(dtype);
    return tensor_of(bytes / item_bytes, {dtype, item_bytes});
  }

  layers::Layer layer_of(const ChakraSegment& segment, std::size_t place) {
    layers::Layer layer;
    if (counts_.timed) {
      // Without phases all of the compute before the bucket is taken as backward.
      const double forward = phases_ ? segment.forward_us : 0;
      const double backward = segment.backward_us + segment.forward_us - forward;
      layer.forward = Seconds{forward / kMicro};
      layer.backward = Seconds{backward / kMicro};
    }
    layer.gradient_bytes = Bytes{0};
    if (!is_bucket(segment)) {
      layer.name = fmt::format("segment_{}", place + 1);
      return layer;
    }
    const ChakraNode& node = *segment.collective;
    const auto index = std::ssize(trace_.buckets);
    layer.name = fmt::format("bucket_{}", index);
    layers::Tensor tensor = data_of(node);
    tensor.bucket = index;
    layer.gradient_bytes = tensor.bytes;
    layers::MeasuredBucket bucket;
    bucket.elements = *tensor.elements;
    bucket.dtype = tensor.dtype;
    bucket.bytes = *tensor.bytes;
    layer.tensors.push_back(std::move(tensor));
    bucket.tensors = 1;
    set_times(bucket, step_.durations_us[place], kMicro);
    trace_.buckets.push_back(std::move(bucket));
    scattered_ += *node.op == ChakraOp::all_reduce ? 0 : 1;
    return layer;
  }

  void add_collective(const ChakraNode& node, const std::vector<double>& durations) {
    if (node.bytes.value_or(0) == 0) {
      return; // a barrier
    }
    const std::string_view op = word_of(*node.op);
    all_to_all_ += *node.op == ChakraOp::all_to_all ? 1 : 0;
    gathers_ += *node.op == ChakraOp::all_gather ? 1 : 0;
    reductions_ += is_reduction(*node.op) ? 1 : 0;
    auto found = std::ranges::find_if(trace_.collectives, [&](const auto& each) {
      return each.op == op && each.bytes.value == *node.bytes;
    });
    if (found == trace_.collectives.end()) {
      const std::int64_t assumed = assumed_;
      const layers::Tensor data = data_of(node);
      assumed_ = assumed; // only gradients depend on it
      layers::MeasuredCollective collective;
      collective.op = op;
      collective.bytes = Bytes{*node.bytes};
      collective.elements = *data.elements;
      collective.dtype = data.dtype;
      found = trace_.collectives.insert(found, std::move(collective));
    }
    ++found->per_step;
    if (!durations.empty()) {
      const double least = std::ranges::min(durations) / kMicro;
      found->min = Seconds{std::min(least, found->min.value_or(Seconds{least}).value)};
    }
  }

  void warn() {
    const bool measured = std::ranges::any_of(
        trace_.buckets, [](const layers::MeasuredBucket& each) { return each.median.has_value(); });
    add_where(
        trace_.warnings,
        {{!counts_.timed,
          fmt::format(
              "no times: {} without a duration, and run refuses the trace: import the Kineto "
              "trace of the job, or let a scenario compute them with /workload/model and "
              "/workload/device",
              counted(counts_.of(ChakraKind::compute), "compute node"))},
         {counts_.host > 0,
          fmt::format("{} of the host ({} ms) left out: layers have the times of the device",
                      counted(counts_.host, "compute node"),
                      base::significant(counts_.host_us / 1e3))},
         {!counts_.ordered_by_start, "nodes have no start: their dependencies give the order"},
         {!phases_,
          "no node is named as a part of the backward pass: what is computed before the last "
          "bucket "
          "counts as backward, and schedules that send during the next forward pass gain nothing"},
         {phases_,
          "the time of the forward pass is not known by layer: schedules that send during the next "
          "forward pass gain less than they would"},
         {step_.all > 1,
          fmt::format(
              "{} iterations, of which {} with equal collectives are used: times are medians",
              step_.all, step_.used)},
         {reductions_ > 0,
          counted(reductions_, "reduction") + " of activations, not of gradients, left out"},
         {counts_.of(ChakraKind::send_or_receive) + all_to_all_ > 0,
          fmt::format("not data-parallel only: {} and {} all-to-all left out",
                      counted(counts_.of(ChakraKind::send_or_receive), "send or receive"),
                      all_to_all_)},
         {gathers_ > 0 && scattered_ == 0,
          counted(gathers_, "all-gather") +
              " left out: they are of activations, and the job is not data-parallel only, or of "
              "parameters of a sharded job"},
         {scattered_ > 0,
          counted(scattered_, "reduce-scatter") +
              " of a sharded job: /training/sharding of a scenario sends such, run otherwise sends "
              "all-reduces of the same bytes"},
         {assumed_ > 0, fmt::format("dtype assumed: float32 for {}; --dtype gives another",
                                    counted(assumed_, "bucket"))},
         {measured, "one rank: communication times contain waiting"}});
  }

  const ChakraStep& step_;
  const ChakraCounts& counts_;
  const ChakraOptions& options_;
  layers::Trace& trace_;
  bool phases_ = false; // some node is named as a part of the backward pass
  std::set<std::string> activation_groups_;
  std::int64_t assumed_ = 0, scattered_ = 0, all_to_all_ = 0, gathers_ = 0, reductions_ = 0;
};

// Why there is no bucket, and the one thing that helps.
std::string chakra_remedy(const ChakraFile& file, const ChakraCounts& counts) {
  if (counts.of(ChakraKind::collective) == 0 && counts.of(ChakraKind::launch) > 0) {
    return fmt::format("{} without comm_type and comm_size: import the protocol buffers (.et) of "
                       "the same job, which hold them",
                       counted(counts.of(ChakraKind::launch), "collective"));
  }
  if (counts.of(ChakraKind::collective) == 0 && counts.of(ChakraKind::send_or_receive) > 0) {
    return fmt::format("{} and no collective ({} sends and receives): only collectives are read",
                       counted(counts.of(ChakraKind::compute), "compute node"),
                       counts.of(ChakraKind::send_or_receive));
  }
  if (counts.of(ChakraKind::collective) == 0) {
    return fmt::format("{} and no collective: nothing is exchanged; import the trace of a job with "
                       "several ranks",
                       counted(counts.of(ChakraKind::compute), "compute node"));
  }
  return fmt::format("{} and no all-reduce of gradients: import the trace of a data-parallel job",
                     described(file));
}

} // namespace

ChakraImport import_chakra(const std::string& path, const ChakraOptions& options) {
  const ChakraFile file = read_chakra(path, options.common.max_bytes);
  const ChakraSegments cut = cut_at_collectives(file);
  if (cut.counts.of(ChakraKind::compute) == 0) {
    const std::string what =
        cut.counts.of(ChakraKind::collective) > 0 ? described(file) + " and " : "";
    throw InputError(file.name, "",
                     fmt::format("{}: {}no compute node, so no training step; stepsim collective "
                                 "--op and --bytes time a collective alone",
                                 counted(std::ssize(file.nodes), "node"), what));
  }
  ChakraImport result;
  result.found = found_in(file, cut.counts);
  layers::Trace& trace = result.trace;
  trace.name = result_name(options.common, path);
  trace.source = make_source("chakra", options.common);
  trace.source->files.push_back(file.source);
  trace.granularity = layers::Granularity::layer;
  trace.ranks = file.ranks;
  if (cut.counts.host > 0) {
    trace.time_basis = "kernel";
  }
  TraceMaker(typical_step(cut), cut.counts, options, trace).make();
  if (trace.buckets.empty()) {
    result.remedy = chakra_remedy(file, cut.counts);
    for (layers::Layer& layer : trace.layers) {
      layer.gradient_bytes.reset();
    }
  }
  return result;
}

} // namespace stepsim::io
