#include "import/chakra/import_chakra.hpp"

namespace stepsim::io {

namespace {

bool same_call(const ChakraNode& a, const ChakraNode& b) {
  return a.name == b.name && a.op == b.op && a.bytes == b.bytes && a.group == b.group;
}

// Kernels say which collective they are of, but not which of its calls.
bool names_kernel(const ChakraNode& node) {
  return node.name.starts_with("nccl") || node.name.starts_with("rccl") ||
         node.name.find('(') != std::string::npos;
}

// How many collectives an iteration has: the smallest part of the list that all of it repeats, if
// names tell the collectives of this part apart. One collective alone is not told apart by a name:
// it is an iteration only where a part of a forward pass is in front of each call.
std::size_t period_of(std::span<const ChakraNode* const> collectives, bool forward_each) {
  const std::size_t count = collectives.size();
  std::set<std::string_view> names;
  std::size_t period = 0;
  while (period < count && names.insert(collectives[period]->name).second) {
    ++period;
  }
  if (period == 0 || count % period != 0 || (period == 1 && !forward_each) ||
      std::ranges::any_of(collectives,
                          [](const ChakraNode* each) { return names_kernel(*each); })) {
    return count;
  }
  for (std::size_t i = period; i < count; ++i) {
    if (!same_call(*collectives[i], *collectives[i - period])) {
      return count;
    }
  }
  return period;
}

ChakraCounts counts_of(const ChakraFile& file, bool& device_only) {
  ChakraCounts counts;
  double device_us = 0;
  for (const ChakraNode& node : file.nodes) {
    const double duration = node.duration_us.value_or(0);
    counts.all_us += duration;
    ++counts.nodes[static_cast<std::size_t>(node.kind)];
    if (node.kind == ChakraKind::compute) {
      counts.timed = counts.timed || node.duration_us.has_value();
      if (node.on_host == false) {
        device_us += duration;
      } else {
        ++counts.host;
        counts.host_us += duration;
      }
    }
  }
  device_only = device_us > 0;
  if (!device_only) {
    counts.host = 0;
    counts.host_us = 0;
  }
  return counts;
}

} // namespace

ChakraSegments cut_at_collectives(const ChakraFile& file) {
  ChakraSegments cut;
  bool device_only = false;
  cut.counts = counts_of(file, device_only);
  cut.counts.ordered_by_start = starts_give_order(file);
  const std::vector<std::size_t> order = running_order(file);
  std::vector<const ChakraNode*> collectives;
  std::set<std::uint64_t> input_gradients; // ids
  bool has_steps = false;
  bool forward = false; // since the last collective
  bool forward_each = true;
  for (const std::size_t i : order) {
    const ChakraNode& node = file.nodes[i];
    has_steps = has_steps || node.step_begins;
    if (node.kind == ChakraKind::compute && node.input_gradient) {
      input_gradients.insert(node.id);
    }
    forward = forward || (node.kind == ChakraKind::compute && node.forward);
    if (node.kind == ChakraKind::collective) {
      forward_each = forward_each && std::exchange(forward, false);
      collectives.push_back(&node);
    }
  }
  const std::size_t period = period_of(collectives, forward_each);
  cut.iterations.emplace_back().segments.emplace_back();
  std::size_t seen = 0; // collectives
  const auto next_iteration = [&] { cut.iterations.emplace_back().segments.emplace_back(); };
  for (const std::size_t i : order) {
    const ChakraNode& node = file.nodes[i];
    if (node.step_begins && cut.iterations.back().segments.size() > 1) {
      next_iteration();
    }
    ChakraSegment& segment = cut.iterations.back().segments.back();
    if (node.kind == ChakraKind::compute) {
      segment.in_backward = segment.in_backward || node.backward;
      if (!device_only || node.on_host == false) {
        (segment.in_backward ? segment.backward_us : segment.forward_us) +=
            node.duration_us.value_or(0);
      }
    } else if (node.kind == ChakraKind::collective) {
      if (!has_steps && seen > 0 && seen % period == 0) {
        // The segment that was begun behind the last collective belongs to the new iteration.
        const ChakraSegment begun = segment;
        segment = {};
        next_iteration();
        cut.iterations.back().segments.back() = begun;
      }
      ++seen;
      ChakraSegment& ending = cut.iterations.back().segments.back();
      ending.collective = &node;
      ending.of_activations =
          !node.after.empty() && std::ranges::all_of(node.after, [&](std::uint64_t id) {
            return input_gradients.contains(id);
          });
      const bool last = !has_steps && seen % period == 0;
      const bool in_backward = ending.in_backward && !last;
      cut.iterations.back().segments.emplace_back().in_backward = in_backward;
    }
  }
  return cut;
}

Samples chakra_samples(const std::string& path, const ImportOptions& options,
                       std::optional<std::int64_t> ranks) {
  const ChakraFile file = read_chakra(path, options.max_bytes);
  Samples samples;
  samples.file = file.name;
  samples.name = result_name(options, path);
  samples.source = make_source("chakra", options);
  samples.source.files.push_back(file.source);
  ranks = ranks ? ranks : file.ranks;
  if (!ranks) {
    throw InputError(file.name, "", "the file does not say how many ranks: give --ranks");
  }
  std::map<std::pair<std::string, std::string>, SampleSet> sets; // by operation and type
  for (const ChakraNode& node : file.nodes) {
    const double seconds = node.duration_us.value_or(0) / 1e6;
    if (node.kind != ChakraKind::collective || !node.bytes || !measured_times().contains(seconds) ||
        std::ranges::find(kSampleOps, word_of(*node.op)) == kSampleOps.end()) {
      continue;
    }
    SampleSet& set = sets[{std::string(word_of(*node.op)), node.dtype}];
    set.op = word_of(*node.op);
    set.dtype = node.dtype;
    set.ranks = *ranks;
    // comm_size has the bytes that a rank gives; a sample of an all-gather has those of all ranks.
    const double parts = *node.op == ChakraOp::all_gather ? static_cast<double>(*ranks) : 1;
    set.samples.push_back({.bytes = parts * static_cast<double>(*node.bytes), .time_s = seconds});
  }
  if (sets.empty()) {
    throw InputError(file.name, "", "no collective has a size and a duration");
  }
  for (auto& [key, set] : sets) {
    samples.sets.push_back(std::move(set));
  }
  samples.warnings.emplace_back("one rank: communication times contain waiting");
  return samples;
}

} // namespace stepsim::io
