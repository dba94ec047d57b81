// A round is written step by step; waits for outer messages are added at the end, because a merge
// may stand before the exchange that it waits for.
#include "programs/builders/local_sgd_program.hpp"

#include <cassert>

namespace stepsim::programs {
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

// Adds the operations of outer messages: encode, exchange, decode, merge. Messages with bytes have
// the labels unit = first_unit, first_unit + 1, ..; without bytes there is nothing but the merge.
class OuterMessages {
public:
  OuterMessages(ProgramDraft& draft, std::uint32_t compute, std::uint32_t stream,
                const std::vector<FragmentTimes>& times, std::vector<FragmentSteps> when,
                std::size_t first_unit)
      : draft_(draft), compute_(compute), stream_(stream), times_(times), when_(std::move(when)),
        exchanges_(times.size()), waiting_(times.size()) {
    for (const FragmentTimes& message : times) {
      units_.push_back(message.sent ? static_cast<std::int32_t>(first_unit++) : -1);
    }
  }

  [[nodiscard]] std::size_t count() const { return times_.size(); }
  [[nodiscard]] bool sent_in(std::size_t m, std::uint32_t step) const {
    return when_[m].sent == step;
  }
  [[nodiscard]] bool merged_in(std::size_t m, std::uint32_t step) const {
    return when_[m].merged == step;
  }

  // Message m leaves after the operations `ready`.
  void send(std::size_t m, const std::vector<std::uint32_t>& ready) {
    if (!times_[m].sent) {
      return;
    }
    std::vector<std::uint32_t> before = ready;
    if (times_[m].encode.value > 0) {
      const std::uint32_t encode =
          draft_.compute(operation_name("E", m), compute_, Kind::encode, times_[m].encode);
      label(m);
      draft_.wait(encode, ready, 0);
      before = {encode};
    }
    exchanges_[m] = add_exchange(draft_, operation_name("X", m), stream_, Kind::allreduce,
                                 times_[m].exchange, static_cast<std::size_t>(units_[m]));
    draft_.wait(exchanges_[m], before, 0);
  }

  // Decoding and merging of message m; `always`: a merge of no time keeps its place.
  void merge(std::size_t m, bool always, std::string_view suffix = {}) {
    if (times_[m].decode.value > 0) {
      add("D", m, Kind::decode, times_[m].decode, suffix);
    }
    if (times_[m].merge.value > 0 || always) {
      add("M", m, Kind::outer_update, times_[m].merge, suffix);
    }
  }
  // `operation` waits for message m where nothing decodes or merges it.
  void merge_at(std::size_t m, std::uint32_t operation) {
    if (!waiting_[m]) {
      waiting_[m] = operation;
    }
  }

  void add_waits() {
    for (std::size_t m = 0; m < count(); ++m) {
      assert(waiting_[m]);
      if (times_[m].sent) {
        draft_.wait(*waiting_[m], exchanges_[m], when_[m].rounds);
      }
    }
  }

  // Merges that are still to come when the run ends.
  void add_tail(bool always) {
    draft_.start_tail();
    for (std::size_t m = 0; m < count(); ++m) {
      if (when_[m].rounds > 0) {
        const std::uint32_t first = draft_.size();
        merge(m, always, "_last");
        if (times_[m].sent && draft_.size() > first) {
          draft_.wait(first, exchanges_[m], 1);
        }
      }
    }
  }

private:
  void label(std::size_t m) { draft_.last().unit = units_[m]; }

  void add(std::string_view name, std::size_t m, Kind kind, Seconds seconds,
           std::string_view suffix) {
    const std::uint32_t added = draft_.compute(
        operation_name(std::string(name) + std::string(suffix), m), compute_, kind, seconds);
    label(m);
    if (suffix.empty()) {
      merge_at(m, added);
    }
  }

  ProgramDraft& draft_;
  std::uint32_t compute_;
  std::uint32_t stream_;
  const std::vector<FragmentTimes>& times_;
  std::vector<FragmentSteps> when_;
  std::vector<std::int32_t> units_; // [message]: -1 without bytes
  std::vector<std::uint32_t> exchanges_;
  std::vector<std::optional<std::uint32_t>> waiting_; // what waits for the exchange
};

// Sets the inner step of the operations from `first` on. add_backward numbers them as
// micro-batches, of which a round has one.
void label_step(ProgramDraft& draft, std::uint32_t first, std::uint32_t step) {
  for (std::uint32_t o = first; o < draft.size(); ++o) {
    Operation& operation = draft.settings().operations[o];
    operation.step = static_cast<std::int32_t>(step);
    operation.micro_batch = std::min(operation.micro_batch, 0);
  }
}

std::vector<FragmentSteps> message_steps(const LayeredRound& round, const RoundOptions& options) {
  const std::vector<FragmentSteps> when = fragment_steps(round.fragments.size(), options);
  if (round.gate == OuterGate::step) {
    return when;
  }
  std::vector<FragmentSteps> by_layer(round.layers.size());
  for (std::size_t p = 0; p < round.fragments.size(); ++p) {
    for (const std::uint32_t layer : round.fragments[p]) {
      by_layer[layer] = when[p];
    }
  }
  return by_layer;
}

class RoundDraft {
public:
  RoundDraft(const LayeredRound& round, const RoundOptions& options)
      : round_(round), options_(options), streams_(streams()),
        outer_(draft_, streams_.compute, draft_.stream("outer"), round.outer,
               message_steps(round, options), round.buckets.size()),
        buckets_of_(buckets_of_layers(round.buckets, round.layers.size())),
        shares_(update_shares(round.layers, round.update)), first_in_step_(round.layers.size()) {}

  Program finish() {
    for (std::uint32_t h = 0; h < options_.local_steps; ++h) {
      const std::uint32_t first = draft_.size();
      add_forward_of(h);
      if (island()) {
        add_island_backward(h);
      } else {
        add_plain_backward(h);
      }
      label_step(draft_, first, h);
    }
    // The first step of a round waits for the island's exchanges of the round before.
    for (std::size_t l = 0; island() && l < round_.layers.size(); ++l) {
      wait_for_island(l, first_in_step_[l], 1);
    }
    outer_.add_waits();
    draft_.settings().steps = static_cast<std::int32_t>(options_.local_steps);
    outer_.add_tail(gated_by_step());
    return draft_.finish(marker_);
  }

private:
  [[nodiscard]] bool island() const { return !round_.buckets.empty(); }
  [[nodiscard]] bool gated_by_step() const { return round_.gate == OuterGate::step; }
  [[nodiscard]] bool barrier() const {
    return island() && round_.next_forward == NextForward::barrier;
  }
  [[nodiscard]] StepStreams streams() {
    if (island()) {
      return step_streams(draft_, round_.buckets);
    }
    return {.compute = draft_.stream("compute")};
  }

  // `operation` is the first one of layer l in a step.
  void wait_for_island(std::size_t l, std::uint32_t operation, std::int32_t distance) {
    if (barrier() && l == 0) { // the first layer waits for everything
      draft_.wait(operation, exchanges_, distance);
    }
    for (std::size_t i = 0; !barrier() && i < buckets_of_[l].size(); ++i) {
      draft_.wait(operation, exchanges_[buckets_of_[l][i]], distance);
    }
  }

  void add_forward_of(std::uint32_t h) {
    for (std::size_t p = 0; gated_by_step() && p < outer_.count(); ++p) {
      if (outer_.merged_in(p, h)) {
        outer_.merge(p, true);
      }
    }
    if (barrier() && round_.update.value > 0) {
      begin_layer(
          h, 0,
          draft_.compute(operation_name("U", h), streams_.compute, Kind::update, round_.update));
    }
    for (std::size_t l = 0; l < round_.layers.size(); ++l) {
      const std::uint32_t first = draft_.size();
      if (!gated_by_step() && outer_.merged_in(l, h)) {
        outer_.merge(l, false);
      }
      if (island() && !barrier() && shares_[l].value > 0) {
        add_layer(draft_, operation_name("U", h, l), streams_.compute, Kind::update, shares_[l], l);
      }
      const std::uint32_t forward = add_layer(draft_, operation_name("F", h, l), streams_.compute,
                                              Kind::forward, round_.layers[l].forward, l);
      if (!gated_by_step() && outer_.merged_in(l, h)) {
        outer_.merge_at(l, forward);
      }
      const bool begun = barrier() && (l > 0 || round_.update.value > 0);
      if (!begun) {
        begin_layer(h, l, first);
      }
    }
  }

  // The first operation of layer l in step h waits for what the island exchanged in the step
  // before.
  void begin_layer(std::uint32_t h, std::size_t l, std::uint32_t first) {
    if (!island()) {
      return;
    }
    if (h == 0) {
      first_in_step_[l] = first;
    } else {
      wait_for_island(l, first, 0);
    }
  }

  void add_plain_backward(std::uint32_t h) {
    std::uint32_t last = 0;
    if (round_.layers.empty()) {
      last = marker_ =
          draft_.compute(operation_name("S", h), streams_.compute, Kind::step, round_.step);
    }
    for (std::size_t l = round_.layers.size(); l-- > 0;) {
      last = marker_ = add_layer(draft_, operation_name("B", h, l), streams_.compute,
                                 Kind::backward, round_.layers[l].backward, l);
      if (shares_[l].value > 0) {
        last = add_layer(draft_, operation_name("U", h, l), streams_.compute, Kind::update,
                         shares_[l], l);
      }
      if (!gated_by_step() && outer_.sent_in(l, h)) {
        outer_.send(l, {last});
      }
    }
    for (std::size_t p = 0; gated_by_step() && p < outer_.count(); ++p) {
      if (outer_.sent_in(p, h)) {
        outer_.send(p, {last});
      }
    }
  }

  void add_island_backward(std::uint32_t h) {
    const Backward backward = add_backward(draft_, streams_, round_.layers, round_.buckets, h);
    marker_ = backward.layers[0];
    exchanges_ = add_exchanges(draft_, operation_name("X", h) + "_", streams_.reduce,
                               Kind::allreduce, round_.buckets, backward);
    for (std::size_t m = outer_.count(); m-- > 0;) {
      if (!outer_.sent_in(m, h)) {
        continue;
      }
      std::vector<std::uint32_t> ready = exchanges_;
      if (!gated_by_step()) {
        ready.clear();
        for (const std::uint32_t g : buckets_of_[m]) {
          ready.push_back(exchanges_[g]);
        }
        if (ready.empty()) {
          ready.push_back(backward.layers[m]);
        }
      }
      outer_.send(m, ready);
    }
  }

  const LayeredRound& round_;
  const RoundOptions& options_;
  ProgramDraft draft_;
  StepStreams streams_;
  OuterMessages outer_;
  std::vector<std::vector<std::uint32_t>> buckets_of_;
  std::vector<Seconds> shares_;
  std::vector<std::uint32_t> first_in_step_; // of layer l in the first step
  std::vector<std::uint32_t> exchanges_;     // of the island, in the step written last
  std::uint32_t marker_{};
};

} // namespace

Program local_sgd_program(Seconds step, const std::vector<FragmentTimes>& fragments,
                          const RoundOptions& options) {
  const LayeredRound round{.fragments = std::vector<std::vector<std::uint32_t>>(fragments.size()),
                           .outer = fragments,
                           .step = step};
  return layered_round_program(round, options);
}

Program layered_round_program(const LayeredRound& round, const RoundOptions& options) {
  return RoundDraft(round, options).finish();
}

} // namespace stepsim::programs
