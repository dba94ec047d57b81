// Repeats of a step are found by comparing positions that are a whole period apart.
// Gathers do not say which unit they are for: units of one size take turns, forwards and backwards.
#include "import/kineto/kineto_rank.hpp"

#include "base/collected.hpp"

#include <iterator>

namespace stepsim::io {

namespace {

std::int64_t elements_of(const GradientSample& gradient) {
  return gradient.shape ? gradient.shape->get().elements : -1;
}

// In how many of `count` micro-steps the buckets are: 1, the last, or all of them, alike in each;
// 0 for any other arrangement.
std::size_t bucket_repeats(const StepSample& sample, std::size_t count) {
  const std::size_t layers = sample.layers.size() / count;
  const std::size_t buckets = sample.buckets.size() / count;
  const auto begun = [&](std::size_t bucket, std::size_t micro_step) {
    return sample.buckets[bucket].call.begin >= sample.layers[micro_step * layers].begin;
  };
  if (sample.buckets.empty() || begun(0, count - 1)) {
    return 1;
  }
  for (std::size_t i = 0; i < sample.buckets.size(); ++i) {
    if (sample.buckets.size() % count != 0 || !begun(i, i / buckets) ||
        (i / buckets + 1 < count && begun(i, i / buckets + 1)) ||
        sample.buckets[i].call.elements != sample.buckets[i % buckets].call.elements) {
      return 0;
    }
  }
  return count;
}

bool repeats(const StepSample& sample, std::size_t count) {
  const std::size_t layers = sample.layers.size() / count;
  const std::size_t gradients = sample.gradients.size() / count;
  for (std::size_t i = layers; i < sample.layers.size(); ++i) {
    const LayerSample& before = sample.layers[i - layers];
    if (sample.layers[i].operation != before.operation ||
        sample.layers[i].gradients != before.gradients) {
      return false;
    }
  }
  for (std::size_t i = gradients; i < sample.gradients.size(); ++i) {
    const GradientSample& before = sample.gradients[i - gradients];
    if (sample.gradients[i].layer - before.layer != static_cast<std::int32_t>(layers) ||
        elements_of(sample.gradients[i]) != elements_of(before)) {
      return false;
    }
  }
  for (std::size_t k = 1; k < count; ++k) {
    if (sample.layers[k * layers].begin < sample.gradients[k * gradients - 1].begin) {
      return false; // layers that are alike, not passes
    }
  }
  return bucket_repeats(sample, count) > 0;
}

void join(StepSample& sample, std::size_t count) {
  const std::size_t layers = sample.layers.size() / count;
  const std::size_t gradients = sample.gradients.size() / count;
  const std::size_t dropped =
      sample.buckets.size() - sample.buckets.size() / bucket_repeats(sample, count);
  sample.first_end = sample.gradients[gradients - 1].begin;
  for (std::size_t i = 0; i < layers; ++i) {
    for (const auto time : {&LayerSample::forward, &LayerSample::backward}) {
      std::vector<Nanoseconds> times = base::collected_n<Nanoseconds>(
          count, [&](std::size_t k) { return sample.layers[k * layers + i].*time; });
      sample.layers[i].*time = median_time(std::move(times));
    }
  }
  sample.layers.resize(layers);
  sample.gradients.erase(sample.gradients.begin(),
                         sample.gradients.end() - static_cast<std::ptrdiff_t>(gradients));
  sample.reduces_each = dropped > 0;
  sample.buckets.erase(sample.buckets.begin(),
                       sample.buckets.begin() + static_cast<std::ptrdiff_t>(dropped));
  for (CollectiveSample& bucket : sample.buckets) {
    bucket.gradients = 0;
  }
  for (GradientSample& gradient : sample.gradients) {
    gradient.layer -= static_cast<std::int32_t>((count - 1) * layers);
    if (gradient.bucket >= 0) {
      gradient.bucket -= static_cast<std::int32_t>(dropped);
      ++sample.buckets[static_cast<std::size_t>(gradient.bucket)].gradients;
    }
  }
  const auto each = static_cast<std::int64_t>(count);
  sample.undefined /= each;
  sample.backward_nodes /= each;
  sample.backward_matched /= each;
  sample.recomputed /= each;
  sample.repeats = each;
}

constexpr std::int64_t kSmallBytes = 1'000'000; // of all-reduces beside the sharding: norms, losses

std::string dtype_word(const std::string& recorded) {
  return std::string(dtype_of_pytorch(recorded).value_or(DtypeWord{}).word);
}

bool is_forward_begin(std::string_view name) {
  return name.starts_with("FSDP::pre_forward") ||
         name.starts_with("FullyShardedDataParallel._pre_forward");
}
bool is_forward_end(std::string_view name) {
  return name.starts_with("FSDP::post_forward") ||
         name.starts_with("FullyShardedDataParallel._post_forward");
}

struct Mark { // where the forward pass of a unit begins or ends, on the host
  Nanoseconds moment{};
  bool begins = false;
};

// In order of time; empty without annotations, or where there are not as many as units.
std::vector<Mark> forward_marks(const KinetoRecording& recording, const KinetoStep& step,
                                Nanoseconds end, std::size_t units) {
  std::vector<Mark> marks;
  std::size_t begins = 0;
  for (const KinetoEvent& event : recording.events) {
    const std::string_view name = recording.name(event);
    const bool begin = is_forward_begin(name);
    if (event.category == KinetoCategory::annotation && event.thread == step.thread &&
        event.begin >= step.begin && event.begin < end && (begin || is_forward_end(name))) {
      marks.push_back({event.begin, begin});
      begins += begin ? 1 : 0;
    }
  }
  std::ranges::stable_sort(marks, {}, &Mark::moment);
  return begins == units ? marks : std::vector<Mark>();
}

bool has_annotations(const KinetoRecording& recording) {
  return std::ranges::any_of(recording.events, [&](const KinetoEvent& event) {
    return event.category == KinetoCategory::annotation &&
           (recording.name(event).starts_with("FSDP::") ||
            recording.name(event).starts_with("FullyShardedDataParallel."));
  });
}

struct UnitCalls {
  layers::MeasuredUnit unit;
  Nanoseconds first_gather = -1; // in the forward pass, on the host
  bool has_layers = false;
};

void add_layer(UnitCalls& unit, std::size_t layer) {
  const auto position = static_cast<std::int64_t>(layer);
  unit.unit.first_layer = unit.has_layers ? unit.unit.first_layer : position;
  unit.unit.last_layer = position;
  unit.has_layers = true;
}

// By annotations: the innermost unit whose forward pass has begun and not ended.
void layers_by_marks(const std::vector<Mark>& marks, const StepSample& sample,
                     std::vector<UnitCalls>& units) {
  std::vector<std::size_t> open;
  std::size_t mark = 0;
  std::size_t next = 0;
  for (std::size_t l = 0; l < sample.layers.size(); ++l) {
    for (; mark < marks.size() && marks[mark].moment <= sample.layers[l].begin; ++mark) {
      if (marks[mark].begins) {
        open.push_back(next++);
      } else if (!open.empty()) {
        open.pop_back();
      }
    }
    if (!open.empty()) {
      add_layer(units[open.back()], l);
    }
  }
}

// By gathers: the last unit that was gathered for the first time before the layer.
void layers_by_gathers(const StepSample& sample, std::vector<UnitCalls>& units) {
  for (std::size_t l = 0; l < sample.layers.size(); ++l) {
    std::size_t unit = 0;
    for (std::size_t u = 1; u < units.size(); ++u) {
      unit =
          units[u].first_gather >= 0 && units[u].first_gather <= sample.layers[l].begin ? u : unit;
    }
    add_layer(units[unit], l);
  }
}

// Elements of the whole unit: of the output, else of the shard times the ranks.
std::int64_t gathered_elements(const CollectiveCall& call, std::int64_t group_size) {
  return call.out_elements >= 0 ? call.out_elements
         : call.elements >= 0   ? call.elements * group_size
                                : -1;
}

// A call over a group of another size that carries as much as the shard of a unit.
bool reduces_shard(const CollectiveCall& call, const ShardedStep& sharded) {
  const std::int64_t ranks = sharded.sharding.group_size;
  return call.op == "allreduce" && call.group_size > 1 && call.group_size != ranks &&
         std::ranges::any_of(sharded.units, [&](const layers::MeasuredUnit& unit) {
           return call.elements > 0 && call.elements == unit.elements / ranks;
         });
}

} // namespace

void join_repeats(StepSample& sample) {
  for (std::size_t count = std::min(sample.layers.size(), sample.gradients.size()); count >= 2;
       --count) {
    if (sample.layers.size() % count == 0 && sample.gradients.size() % count == 0 &&
        repeats(sample, count)) {
      join(sample, count);
      return;
    }
  }
}

void separate_replicas(const ShardedStep& sharded, StepSample& step) {
  const auto is_replica = [&](const CollectiveSample& each) {
    return reduces_shard(each.call, sharded);
  };
  // Buckets of DDP beside those of shards are unknown; gradients would have to be counted again.
  if (!std::ranges::all_of(step.buckets, is_replica)) {
    return;
  }
  step.replicas = std::move(step.buckets);
  step.buckets.clear();
  for (GradientSample& gradient : step.gradients) {
    gradient.bucket = -1;
  }
  std::ranges::copy_if(step.collectives, std::back_inserter(step.replicas), is_replica);
  std::erase_if(step.collectives, is_replica);
  std::ranges::stable_sort(step.replicas, {},
                           [](const CollectiveSample& each) { return each.call.begin; });
}

std::optional<ShardedStep> sharded_step(const KinetoRecording& recording, const KinetoStep& step,
                                        const StepSample& sample) {
  std::vector<const CollectiveCall*> scatters;
  std::vector<const CollectiveCall*> gathers;
  bool large_reduction = false;
  const auto is_small = [](const CollectiveCall& call) {
    return call.elements * dtype_of_pytorch(call.dtype.get()).value_or(DtypeWord{"", 4}).bytes <=
           kSmallBytes;
  };
  const auto look = [&](const CollectiveSample& each) {
    const CollectiveCall& call = each.call;
    if (call.op == "reduce_scatter" && call.elements > 0) {
      scatters.push_back(&call);
    } else if (call.op == "allgather") {
      gathers.push_back(&call);
    } else if (call.op == "allreduce" && call.elements > 0) {
      large_reduction = large_reduction || !is_small(call);
    }
  };
  std::ranges::for_each(sample.collectives, look);
  std::ranges::for_each(sample.buckets, look);
  // Shards are all-reduced between the groups of HSDP; what is as large as a whole unit is not.
  if (large_reduction && !scatters.empty()) {
    const auto shard = [&](const CollectiveSample& each) {
      return each.call.op != "allreduce" || is_small(each.call) ||
             std::ranges::any_of(scatters, [&](const CollectiveCall* call) {
               return each.call.group_size > 1 && each.call.group_size != call->group_size &&
                      each.call.elements == call->out_elements;
             });
    };
    large_reduction = !std::ranges::all_of(sample.buckets, shard) ||
                      !std::ranges::all_of(sample.collectives, shard);
  }
  // A job whose forward pass scatters something else shards no parameters.
  std::erase_if(scatters,
                [&](const CollectiveCall* call) { return call->begin < sample.backward_begin; });
  // Each micro-step gathers, and the last one reduces, too: a micro-step is the gathers of the
  // first and the reduce-scatters of the last.
  const Nanoseconds end = std::min(step.end, sample.first_end);
  bool reduces_each = false;
  if (sample.repeats > 1) {
    std::erase_if(gathers, [&](const CollectiveCall* call) { return call->begin > end; });
    reduces_each = std::erase_if(scatters, [&](const CollectiveCall* call) {
                     return call->begin < sample.gradients.front().begin;
                   }) > 0;
  }
  if (scatters.empty() || gathers.empty() || (large_reduction && !has_annotations(recording))) {
    return std::nullopt;
  }
  ShardedStep result;
  const CollectiveCall& first = *scatters.front();
  result.sharding.world_size = recording.world_size;
  result.reduces_each = reduces_each;
  result.sharding.group_size = first.group_size > 0 ? first.group_size
                               : first.out_elements > 0
                                   ? std::max<std::int64_t>(1, first.elements / first.out_elements)
                                   : recording.world_size.value_or(1);
  std::vector<UnitCalls> units; // in forward order
  for (auto call = scatters.rbegin(); call != scatters.rend(); ++call) {
    UnitCalls& unit = units.emplace_back();
    unit.unit.elements = (*call)->elements;
    unit.unit.reduce_dtype = dtype_word((*call)->dtype);
  }
  std::map<std::int64_t, std::vector<UnitCalls*>> by_size;
  for (UnitCalls& unit : units) {
    by_size[unit.unit.elements].push_back(&unit);
  }
  std::int64_t backward_gathers = 0;
  for (auto& [elements, same] : by_size) {
    std::vector<const CollectiveCall*> forward;
    std::vector<const CollectiveCall*> backward;
    for (const CollectiveCall* call : gathers) {
      if (gathered_elements(*call, result.sharding.group_size) == elements) {
        (call->begin < sample.backward_begin ? forward : backward).push_back(call);
      }
    }
    for (std::size_t i = 0; i < forward.size(); ++i) {
      UnitCalls& unit = *same[i % same.size()];
      unit.unit.gather_dtype = dtype_word(forward[i]->dtype);
      unit.first_gather = unit.first_gather < 0 ? forward[i]->begin : unit.first_gather;
      ++unit.unit.gathers_forward;
    }
    // Backward order; units that are not gathered again are the last of the forward pass.
    const std::size_t kept = backward.size() < same.size() ? same.size() - backward.size() : 0;
    for (std::size_t i = 0; i < backward.size(); ++i) {
      const std::size_t turn = kept + i % (same.size() - kept);
      ++same[same.size() - 1 - turn]->unit.gathers_backward;
    }
    backward_gathers += std::ssize(backward);
  }
  result.sharding.reshard_after_forward = 2 * backward_gathers > std::ssize(units);
  // Units run in the order in which they are gathered.
  std::ranges::stable_sort(units, {}, &UnitCalls::first_gather);
  if (const auto marks = forward_marks(recording, step, end, units.size()); !marks.empty()) {
    layers_by_marks(marks, sample, units);
  } else {
    layers_by_gathers(sample, units);
  }
  for (const UnitCalls& unit : units) {
    result.units.push_back(unit.unit);
  }
  return result;
}

} // namespace stepsim::io
