#include "programs/builders/step_parts.hpp"

#include "base/collected.hpp"

#include <cassert>
#include <numeric>

namespace stepsim::programs {

std::uint32_t lowest_layer(const BucketTimes& bucket) {
  return *std::ranges::min_element(bucket.layers);
}

std::vector<std::vector<std::uint32_t>> buckets_of_layers(const std::vector<BucketTimes>& buckets,
                                                          std::size_t layers) {
  std::vector<std::vector<std::uint32_t>> result(layers);
  for (std::uint32_t g = 0; g < buckets.size(); ++g) {
    for (const std::uint32_t layer : buckets[g].layers) {
      result[layer].push_back(g);
    }
  }
  return result;
}

std::vector<std::uint32_t> merged_layers(const std::vector<BucketTimes>& buckets,
                                         std::size_t layers) {
  const std::vector<std::vector<std::uint32_t>> buckets_of = buckets_of_layers(buckets, layers);
  std::vector<bool> begins(layers);
  for (const BucketTimes& bucket : buckets) {
    begins[bucket.ready_after.value_or(lowest_layer(bucket))] = true;
  }
  std::vector<std::uint32_t> merged(layers);
  std::size_t begin = 0; // layer of the present run
  for (std::size_t l = 1; l < layers; ++l) {
    const std::vector<std::uint32_t>& all = buckets_of[begin];
    const bool has =
        std::includes(all.begin(), all.end(), buckets_of[l].begin(), buckets_of[l].end());
    begins[l] = begins[l] || !has;
    begin = begins[l] ? l : begin;
    merged[l] = merged[l - 1] + (begins[l] ? 1 : 0);
  }
  return merged;
}

void merge_layers(const std::vector<std::uint32_t>& merged, std::vector<std::uint32_t>& layers) {
  for (std::uint32_t& layer : layers) {
    layer = merged[layer];
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
}

std::vector<std::uint32_t> forward_order(const std::vector<BucketTimes>& buckets) {
  std::vector<std::uint32_t> order(buckets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t g) { return lowest_layer(buckets[g]); });
  return order;
}

std::vector<Seconds> update_shares(const std::vector<LayerTimes>& layers, Seconds update) {
  const double bytes = base::sum_of<double>(layers, &LayerTimes::bytes);
  std::vector<Seconds> shares;
  for (const LayerTimes& layer : layers) {
    const double part = bytes > 0 ? layer.bytes / bytes : 1.0 / static_cast<double>(layers.size());
    shares.push_back(update * part);
  }
  return shares;
}

std::string operation_name(std::string_view kind, std::size_t index) {
  return std::string(kind) + std::to_string(index + 1);
}

std::string operation_name(std::string_view kind, std::size_t outer, std::size_t index) {
  return operation_name(kind, outer) + "_" + std::to_string(index + 1);
}

std::uint32_t add_layer(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                        Seconds seconds, std::size_t layer, std::size_t micro_batch) {
  const std::uint32_t added = draft.compute(std::move(id), stream, kind, seconds);
  draft.last().first_layer = draft.last().last_layer = static_cast<std::int32_t>(layer);
  draft.last().micro_batch = static_cast<std::int32_t>(micro_batch);
  return added;
}

std::uint32_t add_exchange(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                           const ExchangeTime& time, std::size_t unit) {
  const std::uint32_t added = draft.exchange(std::move(id), stream, kind, time.startup, time.data);
  draft.last().unit = static_cast<std::int32_t>(unit);
  return added;
}

StepStreams step_streams(ProgramDraft& draft, const std::vector<BucketTimes>& buckets,
                         Stream reduce) {
  StepStreams streams;
  streams.compute = draft.stream("compute");
  streams.reduce = draft.stream(std::move(reduce));
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    const bool waits = buckets[g].delay.value > 0;
    streams.hosts.push_back(waits ? draft.stream(operation_name("host", g)) : kAllRanks);
  }
  if (std::ranges::any_of(buckets, [](const BucketTimes& each) { return each.side.value > 0; })) {
    streams.copy = draft.stream(std::string(kCopyStream));
  }
  return streams;
}

std::vector<std::uint32_t> add_forward(ProgramDraft& draft, std::uint32_t compute,
                                       const std::vector<LayerTimes>& layers,
                                       std::size_t micro_batch) {
  std::vector<std::uint32_t> added;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!layers[l].forward_before) {
      added.push_back(add_layer(draft, operation_name("F", micro_batch, l), compute, Kind::forward,
                                layers[l].forward, l, micro_batch));
    }
  }
  return added;
}

std::vector<std::uint32_t> add_updated_forward(ProgramDraft& draft, std::uint32_t compute,
                                               const std::vector<LayerTimes>& layers,
                                               const std::vector<Seconds>& shares) {
  std::vector<std::uint32_t> updates;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    updates.push_back(
        add_layer(draft, operation_name("U", l), compute, Kind::update, shares[l], l));
    add_layer(draft, operation_name("F", 0, l), compute, Kind::forward, layers[l].forward, l);
  }
  return updates;
}

namespace {

// Selecting, encoding and delaying bucket g after the operation `ready`; the last of them.
std::uint32_t prepare(ProgramDraft& draft, const StepStreams& streams, const BucketTimes& bucket,
                      std::size_t g, std::size_t micro_batch, std::uint32_t ready) {
  const auto label = [&] {
    draft.last().unit = static_cast<std::int32_t>(g);
    draft.last().micro_batch = static_cast<std::int32_t>(micro_batch);
  };
  if (bucket.select.value > 0) {
    ready = draft.compute(operation_name("S", micro_batch, g), streams.compute, Kind::select,
                          bucket.select);
    label();
  }
  if (bucket.encode.value > 0) {
    ready = draft.compute(operation_name("E", micro_batch, g), streams.compute, Kind::encode,
                          bucket.encode);
    label();
  }
  // Beside computing: a selection is of what is sent together, after the delay.
  const auto follow = [&](std::string name, std::uint32_t stream, Kind kind, Seconds seconds) {
    const std::uint32_t next = draft.compute(std::move(name), stream, kind, seconds);
    label();
    draft.wait(next, ready, 0);
    ready = next;
  };
  if (bucket.delay.value > 0) {
    follow(operation_name("D", micro_batch, g), streams.hosts[g], Kind::other, bucket.delay);
    draft.last().type = OperationType::delay;
  }
  if (bucket.side.value > 0) {
    follow(operation_name("S", micro_batch, g), streams.copy, Kind::select, bucket.side);
  }
  return ready;
}

} // namespace

Backward add_backward(ProgramDraft& draft, const StepStreams& streams,
                      const std::vector<LayerTimes>& layers,
                      const std::vector<BucketTimes>& buckets, std::size_t micro_batch,
                      bool exchanged) {
  std::vector<std::vector<std::uint32_t>> ready(layers.size()); // buckets by layer
  for (std::uint32_t g = 0; exchanged && g < buckets.size(); ++g) {
    ready[buckets[g].ready_after.value_or(lowest_layer(buckets[g]))].push_back(g);
  }
  Backward added{std::vector<std::uint32_t>(layers.size()),
                 std::vector<std::uint32_t>(buckets.size())};
  for (std::size_t l = layers.size(); l-- > 0;) {
    added.layers[l] = add_layer(draft, operation_name("B", micro_batch, l), streams.compute,
                                Kind::backward, layers[l].backward, l, micro_batch);
    for (const std::uint32_t g : ready[l]) {
      added.buckets[g] = prepare(draft, streams, buckets[g], g, micro_batch, added.layers[l]);
    }
  }
  return added;
}

std::vector<std::uint32_t> add_exchanges(ProgramDraft& draft, const std::string& name,
                                         std::uint32_t stream, Kind kind,
                                         const std::vector<BucketTimes>& buckets,
                                         const Backward& backward, std::int32_t micro_batch) {
  std::vector<std::uint32_t> added;
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    added.push_back(
        add_exchange(draft, operation_name(name, g), stream, kind, buckets[g].reduce, g));
    draft.last().micro_batch = micro_batch;
    draft.wait(added[g], backward.buckets[g], 0);
  }
  return added;
}

std::vector<std::uint32_t> add_gathers(ProgramDraft& draft, std::string_view name,
                                       std::uint32_t stream, Kind kind,
                                       const std::vector<BucketTimes>& buckets) {
  std::vector<std::uint32_t> added(buckets.size());
  for (const std::uint32_t g : forward_order(buckets)) {
    added[g] = add_exchange(draft, operation_name(name, g), stream, kind, buckets[g].gather, g);
  }
  return added;
}

// The operations are copied to a new draft, so that reading stands at its place in the issue order;
// waits are added when all operations have their new numbers.
// Layers that are updated one by one have their updates between forwards, during which nothing is
// read: reading begins after the first of them and lasts as much longer as the others take.
Program with_pauses(const Program& program, const Pauses& pauses) {
  ProgramDraft draft;
  for (const Stream& stream : program.streams) {
    draft.stream(stream);
  }
  for (const Group& group : program.groups) {
    draft.group(group);
  }
  const std::uint32_t count = program.iteration_size();
  std::vector<std::uint32_t> updates;
  Seconds other_updates{};
  std::int32_t micro_batches = 1;
  struct Reading {
    std::uint32_t before = 0; // this operation
    std::uint32_t stream = 0;
    std::optional<std::uint32_t> pause{}; // the last operation in the draft that it waits for
  };
  std::vector<Reading> readings; // [micro-batch]
  for (std::uint32_t o = 0; o < count; ++o) {
    const Operation& operation = program.operations[o];
    micro_batches = std::max(micro_batches, operation.micro_batch + 1);
    if (operation.kind == (pauses.gathers ? Kind::forward : Kind::backward) &&
        operation.micro_batch == static_cast<std::int32_t>(readings.size())) {
      std::uint32_t before = o;
      while (pauses.gathers && before > 0 &&
             program.operations[before - 1].kind == Kind::allgather) {
        --before;
      }
      readings.push_back({.before = before, .stream = operation.stream});
    }
    if (operation.type == OperationType::compute && operation.kind == Kind::update) {
      other_updates = other_updates + (updates.empty() ? Seconds{} : operation.seconds);
      updates.push_back(o);
    }
  }
  const bool reads = pauses.input.value > 0;
  const bool pipelined = reads && pauses.pipelined;
  assert((!pipelined || !updates.empty()) && "synchronous training updates");
  std::vector<std::uint32_t> number; // [operation]: its number in the draft
  std::size_t begun = 0;             // number of micro-batches that have begun
  std::uint32_t reading = 0;         // on its own stream, at the end of the iteration
  const auto add_pipelined = [&] {
    if (pipelined) {
      reading =
          draft.add({.id = "I",
                     .stream = draft.stream("input"),
                     .type = OperationType::delay,
                     .seconds = pauses.input * static_cast<double>(micro_batches) + other_updates});
    }
  };
  bool waits = pauses.wait.value > 0;
  const auto pause = [&](const std::string& name, std::uint32_t stream, Seconds seconds) {
    return draft.add(
        {.id = name, .stream = stream, .type = OperationType::delay, .seconds = seconds});
  };
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    const Operation& operation = program.operations[o];
    const bool begins = begun < readings.size() && readings[begun].before == o;
    Reading at = begins ? readings[begun] : Reading{.before = o, .stream = operation.stream};
    const bool steps = operation.kind == Kind::backward || operation.kind == Kind::step;
    if (waits && (pauses.gathers ? begins : steps)) {
      at.pause =
          pause(std::string(kWait), at.stream, pauses.wait * static_cast<double>(program.steps));
      waits = false;
    }
    if (begins) {
      if (reads && !pipelined) {
        at.pause = pause(operation_name("I", begun), at.stream, pauses.input);
      }
      readings[begun++] = at;
    }
    if (o == count) {
      add_pipelined();
      draft.start_tail();
    }
    number.push_back(draft.add(operation));
  }
  if (program.tail_operations == 0) {
    add_pipelined();
  }
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    for (const Wait& wait : program.waits_of(o)) {
      draft.wait(number[o], number[wait.operation], wait.distance, wait.scope, wait.until);
    }
  }
  for (const Reading& each : readings) {
    for (std::uint32_t o = each.before; each.pause && program.operations[o].kind == Kind::allgather;
         ++o) {
      draft.wait(number[o], *each.pause, 0);
    }
  }
  for (const Applied& applied : program.applies) {
    draft.applies(number[applied.update], number[applied.exchange], applied.distance);
  }
  if (pipelined) {
    draft.wait(reading, number[updates.front()], 0);
    draft.wait(number[updates.front()], reading, 1);
  }
  draft.settings().ranks = program.ranks;
  draft.settings().steps = program.steps;
  draft.settings().interference = program.interference;
  return draft.finish(number[program.marker]);
}

} // namespace stepsim::programs
