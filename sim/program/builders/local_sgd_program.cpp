#include "program/builders/local_sgd_program.hpp"

#include <cassert>
#include <cstddef>

#include "program/program_draft.hpp"

namespace stepsim::program {
namespace {

// Steps count from 0 here: the step after which a fragment is sent, and the one before which it is
// merged, in this round or the next.
struct FragmentSteps {
  std::uint32_t sent;
  std::uint32_t merged;
  std::int32_t rounds; // distance of the merge
};

std::vector<FragmentSteps> fragment_steps(std::size_t fragments, const RoundOptions& options) {
  const std::uint64_t steps = options.local_steps;
  assert(1 <= fragments && fragments <= steps && options.overlap_steps < steps);
  std::vector<FragmentSteps> result;
  for (std::uint64_t p = 1; p <= fragments; ++p) {
    const std::uint64_t sent = p * steps / fragments - 1;
    const std::uint64_t merged = sent + options.overlap_steps + 1;
    result.push_back({.sent = static_cast<std::uint32_t>(sent),
                      .merged = static_cast<std::uint32_t>(merged % steps),
                      .rounds = static_cast<std::int32_t>(merged / steps)});
  }
  return result;
}

void label_step(ProgramDraft& draft, std::size_t step) {
  draft.last().step = static_cast<std::int32_t>(step);
}

} // namespace

Program local_sgd_program(Seconds step, const std::vector<FragmentTimes>& fragments,
                          const RoundOptions& options) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t outer = draft.stream("outer");
  const std::vector<FragmentSteps> when = fragment_steps(fragments.size(), options);
  std::vector<std::uint32_t> merges(fragments.size());
  std::vector<std::uint32_t> exchanges(fragments.size());
  std::uint32_t last = 0;
  for (std::uint32_t h = 0; h < options.local_steps; ++h) {
    for (std::size_t p = 0; p < fragments.size(); ++p) {
      if (when[p].merged == h) {
        merges[p] =
            draft.compute(operation_name("M", p), compute, Kind::outer_update, fragments[p].merge);
        label_step(draft, h);
      }
    }
    last = draft.compute(operation_name("S", h), compute, Kind::step, step);
    label_step(draft, h);
    for (std::size_t p = 0; p < fragments.size(); ++p) {
      if (when[p].sent == h) {
        exchanges[p] = add_exchange(draft, operation_name("X", p), outer, Kind::allreduce,
                                    fragments[p].exchange, p);
        label_step(draft, h);
        draft.wait(exchanges[p], last, 0);
      }
    }
  }
  for (std::size_t p = 0; p < fragments.size(); ++p) {
    draft.wait(merges[p], exchanges[p], when[p].rounds);
  }
  draft.settings().steps = static_cast<std::int32_t>(options.local_steps);
  draft.start_tail();
  for (std::size_t p = 0; p < fragments.size(); ++p) {
    if (when[p].rounds > 0) {
      const std::uint32_t merge = draft.compute(operation_name("M_last", p), compute,
                                                Kind::outer_update, fragments[p].merge);
      draft.wait(merge, exchanges[p], 1);
    }
  }
  return draft.finish(last);
}

Program layer_gated_program(const std::vector<LayerTimes>& layers,
                            const std::vector<std::vector<std::uint32_t>>& fragments,
                            const std::vector<ExchangeTime>& layer_exchange,
                            const RoundOptions& options) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t outer = draft.stream("outer");
  const std::vector<FragmentSteps> when = fragment_steps(fragments.size(), options);
  std::vector<FragmentSteps> layer_when(layers.size());
  for (std::size_t p = 0; p < fragments.size(); ++p) {
    for (const std::uint32_t layer : fragments[p]) {
      layer_when[layer] = when[p];
    }
  }
  std::vector<std::uint32_t> waiting(layers.size()); // the forward that the merged layer is for
  std::vector<std::uint32_t> exchanges(layers.size());
  std::uint32_t last = 0;
  for (std::uint32_t h = 0; h < options.local_steps; ++h) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const std::uint32_t forward =
          add_layer(draft, operation_name("F", h, l), compute, Kind::forward, layers[l].forward, l);
      label_step(draft, h);
      if (layer_when[l].merged == h) {
        waiting[l] = forward;
      }
    }
    for (std::size_t l = layers.size(); l-- > 0;) {
      last = add_layer(draft, operation_name("B", h, l), compute, Kind::backward,
                       layers[l].backward, l);
      label_step(draft, h);
      if (layer_when[l].sent == h) {
        exchanges[l] = add_exchange(draft, operation_name("X", l), outer, Kind::allreduce,
                                    layer_exchange[l], l);
        label_step(draft, h);
        draft.wait(exchanges[l], last, 0);
      }
    }
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    draft.wait(waiting[l], exchanges[l], layer_when[l].rounds);
  }
  draft.settings().steps = static_cast<std::int32_t>(options.local_steps);
  return draft.finish(last);
}

Program hierarchical_program(const std::vector<LayerTimes>& layers,
                             const std::vector<BucketTimes>& buckets, const FragmentTimes& outer,
                             const RoundOptions& options) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t reduce = draft.stream("reduce");
  const std::uint32_t outer_stream = draft.stream("outer");
  const FragmentSteps when = fragment_steps(1, options)[0];
  const std::vector<std::vector<std::uint32_t>> buckets_of =
      buckets_of_layers(buckets, layers.size());
  std::vector<std::uint32_t> first_forward(layers.size());
  std::vector<std::uint32_t> backward(layers.size());
  std::vector<std::uint32_t> exchanges; // of the step before
  std::uint32_t merge = 0;
  for (std::uint32_t h = 0; h < options.local_steps; ++h) {
    if (when.merged == h) {
      merge = draft.compute("O", compute, Kind::outer_update, outer.merge);
      label_step(draft, h);
    }
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const std::uint32_t forward =
          add_layer(draft, operation_name("F", h, l), compute, Kind::forward, layers[l].forward, l);
      label_step(draft, h);
      if (h == 0) {
        first_forward[l] = forward;
      } else {
        for (const std::uint32_t g : buckets_of[l]) {
          draft.wait(forward, exchanges[g], 0);
        }
      }
    }
    for (std::size_t l = layers.size(); l-- > 0;) {
      backward[l] = add_layer(draft, operation_name("B", h, l), compute, Kind::backward,
                              layers[l].backward, l);
      label_step(draft, h);
    }
    exchanges.clear();
    for (std::size_t g = 0; g < buckets.size(); ++g) {
      exchanges.push_back(add_exchange(draft, operation_name("X", h, g), reduce, Kind::allreduce,
                                       buckets[g].reduce, g));
      label_step(draft, h);
      draft.wait(exchanges[g], backward[lowest_layer(buckets[g])], 0);
    }
  }
  const std::uint32_t exchange =
      add_exchange(draft, "Y", outer_stream, Kind::allreduce, outer.exchange, 0);
  label_step(draft, options.local_steps - 1);
  for (const std::uint32_t inner : exchanges) {
    draft.wait(exchange, inner, 0);
  }
  draft.wait(merge, exchange, 1); // the outer exchange begins after the last step
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const std::uint32_t g : buckets_of[l]) {
      draft.wait(first_forward[l], exchanges[g], 1);
    }
  }
  draft.settings().steps = static_cast<std::int32_t>(options.local_steps);
  draft.start_tail();
  const std::uint32_t last = draft.compute("O_last", compute, Kind::outer_update, outer.merge);
  draft.wait(last, exchange, 1);
  return draft.finish(backward[0]);
}

} // namespace stepsim::program
