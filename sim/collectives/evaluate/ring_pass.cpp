// How the loops stay vector loops: rank i reads the end of rank i - 1 from the step before, which
// stands one place to the left in an array with a copy of the last value in front. So no loop has
// an index that wraps around, and none depends on the values that it writes. A ring whose ranks
// repeat is folded: equal ranks with equal neighbours do the same at the same times,
//     nodes of 4 GPUs   a b c d a b c d a b c d   rank d sends to the next a, as the first d does
// so that one of each kind is computed, in a ring of its own with as many steps.
#include "collectives/evaluate/ring_pass.hpp"

#include <cassert>

#include "base/vector_clones.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

// How the data of a received part becomes ready (COL 2.3).
enum class Addition { none, overlapped, serial };

// Numbers of which the one at `aligned` begins a cache line, so that loads and stores of vectors
// from there on cross none.
class Row {
public:
  explicit Row(std::size_t size, std::size_t aligned = 0) : values_(size + kLine) {
    void* place = values_.data() + aligned;
    std::size_t space = (size + kLine - aligned) * sizeof(double);
    first_ =
        static_cast<double*>(std::align(kLine * sizeof(double), sizeof(double), place, space)) -
        aligned;
  }
  Row(Row&&) = default;
  Row& operator=(Row&&) = default;

  [[nodiscard]] double* data() { return first_; }
  [[nodiscard]] const double* data() const { return first_; }
  [[nodiscard]] double& operator[](std::size_t i) { return first_[i]; }

private:
  static constexpr std::size_t kLine = 8; // numbers of a cache line
  std::vector<double> values_;            // moved with its memory, so that first_ stays right
  double* first_;
};

// What the ranks do in a step. The part sizes stand twice in a row, and the parts of a step, one
// lower per step, are a window of them; one place before it begins what each rank receives:
//     sizes 3 3 2 2   twice 3 3 2 2 3 3 2 2   step 0 from 4, step 1 from 3, ...
class StepCosts {
public:
  StepCosts(const RingState& state, const Partition& partition, bool reduce)
      : latency(state.latency_s.data()), per_byte(state.per_byte_s.data()), gamma(state.tx.size()),
        delay(state.tx.size()), size(state.tx.size()), uniform_(partition.uniform()),
        first_(size - (reduce ? 1 : 0)), twice_(2 * size, partition.bytes(0, 1)) {
    std::rotate_copy(state.delay_s.begin(), state.delay_s.end() - 1, state.delay_s.end(),
                     delay.data());
    if (reduce) {
      std::ranges::copy(state.reduction_s_per_byte, gamma.data());
    }
    for (std::size_t i = 0; !uniform_ && i < 2 * size; ++i) {
      twice_[i] = partition.bytes(static_cast<Index>(i % size), 1);
    }
    begin(0);
  }
  void begin(std::size_t step) {
    sent = twice_.data() + (uniform_ ? 1 : first_ - step);
    received = sent - 1;
  }

  const double *latency, *per_byte; // [rank] of what it sends
  Row gamma, delay;                 // [rank] of what it receives; gamma 0 where nothing is added
  std::size_t size;
  const double *sent{}, *received{}; // [rank] bytes

private:
  bool uniform_;
  std::size_t first_;
  std::vector<double> twice_;
};

// Send ends of two steps, with the end of the last rank in front as the left neighbour of rank 0.
struct Ends {
  explicit Ends(std::size_t ranks) : size(ranks), now(ranks + 1, 1), next(ranks + 1, 1) {}
  void turn() {
    next[0] = next[size];
    std::swap(now, next);
  }
  std::size_t size;
  Row now, next; // [0] = [size]; rank i at i + 1
};

STEPSIM_VECTOR_CLONES
void step_without_addition(const StepCosts& costs, const double* now, double* next) {
  for (std::size_t i = 0; i < costs.size; ++i) {
    next[i + 1] =
        std::max(now[i + 1], now[i]) + (costs.latency[i] + costs.sent[i] * costs.per_byte[i]);
  }
}

// data_i = end of the addition of what arrived; the engine of a rank works in order.
STEPSIM_VECTOR_CLONES
void step_overlapped(const StepCosts& costs, const double* now, double* next, double* data) {
  for (std::size_t i = 0; i < costs.size; ++i) {
    next[i + 1] =
        std::max(now[i + 1], data[i]) + (costs.latency[i] + costs.sent[i] * costs.per_byte[i]);
  }
  next[0] = next[costs.size];
  const double* const gamma = costs.gamma.data();
  const double* const delay = costs.delay.data();
  for (std::size_t i = 0; i < costs.size; ++i) {
    data[i] = std::max(data[i], next[i] + delay[i]) + costs.received[i] * gamma[i];
  }
}

// The receive port of rank i + 1 is held for another addition: port_(i+1).
STEPSIM_VECTOR_CLONES
void step_serial(const StepCosts& costs, const double* now, double* next, double* data,
                 double* port) {
  port[costs.size] = port[0];
  for (std::size_t i = 0; i < costs.size; ++i) {
    next[i + 1] = std::max(std::max(now[i + 1], port[i + 1]), data[i]) +
                  (costs.latency[i] + costs.sent[i] * costs.per_byte[i]);
  }
  next[0] = next[costs.size];
  for (std::size_t i = 0; i < costs.size; ++i) {
    const double addition = costs.received[i] * costs.gamma.data()[i];
    port[i] = next[i] + addition;
    data[i] = std::max(data[i], next[i] + costs.delay.data()[i]) + addition;
  }
}

std::vector<std::vector<double>*> vectors_of(RingState& state) {
  return {&state.tx,        &state.rx,         &state.reduced, &state.ready,
          &state.latency_s, &state.per_byte_s, &state.delay_s, &state.reduction_s_per_byte};
}

// The smallest number of neighbouring ranks that the ring repeats; all of them if it does not.
std::size_t repeated_ranks(RingState& state) {
  const std::size_t size = state.tx.size();
  for (std::size_t part = 1; part <= size / 2; ++part) {
    const auto repeats = [&](const std::vector<double>* values) {
      return std::equal(values->begin() + static_cast<std::ptrdiff_t>(part), values->end(),
                        values->begin());
    };
    if (size % part == 0 && std::ranges::all_of(vectors_of(state), repeats)) {
      return part;
    }
  }
  return size;
}

// The pass of a ring of `ranks` that repeats those of `state`.
void run_pass(RingState& state, const Partition& partition, std::size_t ranks, bool reduce,
              ReductionMode mode) {
  const std::size_t size = state.tx.size();
  const auto positive = [](double value) { return value > 0; };
  const bool adds = reduce && std::ranges::any_of(state.reduction_s_per_byte, positive);
  const bool delays = std::ranges::any_of(state.delay_s, positive);
  // Delayed parts are as parts that an engine works on: additions of 0 s.
  const Addition kind = !adds && !delays                        ? Addition::none
                        : adds && mode == ReductionMode::serial ? Addition::serial
                                                                : Addition::overlapped;
  StepCosts costs(state, partition, reduce);
  Ends ends(size);
  Row data(size);     // time at which the part received last is ready
  Row port(size + 1); // time at which the receive port is free, with serial additions

  // The first step is the general equation with all three terms; afterwards two of them are one.
  for (std::size_t i = 0; i < size; ++i) {
    const double receiver = state.rx[i + 1 < size ? i + 1 : 0];
    ends.next[i + 1] = std::max(std::max(state.tx[i], receiver), state.ready[i]) +
                       (costs.latency[i] + costs.sent[i] * costs.per_byte[i]);
  }
  ends.turn();
  for (std::size_t i = 0; i < size; ++i) {
    const double arrived = ends.now[i] + costs.delay[i]; // from rank i - 1
    const double addition = costs.received[i] * costs.gamma[i];
    port[i] = ends.now[i] + addition;
    data[i] = adds ? std::max(state.reduced[i], arrived) + addition : arrived;
  }
  for (std::size_t step = 1; step + 1 < ranks; ++step) {
    costs.begin(step);
    switch (kind) {
    case Addition::none:
      step_without_addition(costs, ends.now.data(), ends.next.data());
      break;
    case Addition::overlapped:
      step_overlapped(costs, ends.now.data(), ends.next.data(), data.data());
      break;
    case Addition::serial:
      step_serial(costs, ends.now.data(), ends.next.data(), data.data(), port.data());
      break;
    }
    ends.turn();
  }

  for (std::size_t i = 0; i < size; ++i) {
    const double arrived = ends.now[i] + costs.delay[i];
    state.tx[i] = ends.now[i + 1];
    if (!reduce) {
      state.rx[i] = ends.now[i];
      state.ready[i] = std::max(state.ready[i], arrived);
      continue;
    }
    if (!adds) {
      data[i] = std::max(state.reduced[i], arrived);
    }
    state.rx[i] = kind == Addition::serial ? port[i] : ends.now[i];
    state.reduced[i] = data[i];
    state.ready[i] = std::max(state.ready[i], data[i]);
  }
}

} // namespace

void run_ring_pass(RingState& state, const Partition& partition, bool reduce, ReductionMode mode) {
  const std::size_t size = state.tx.size();
  assert(size >= 2 && "a ring has two ranks");
  const std::size_t part = partition.uniform() ? repeated_ranks(state) : size;
  for (std::vector<double>* values : vectors_of(state)) {
    values->resize(part);
  }
  run_pass(state, partition, size, reduce, mode);
  for (std::vector<double>* values : vectors_of(state)) {
    values->reserve(size);
    for (std::size_t rank = part; rank < size; ++rank) {
      values->push_back((*values)[rank - part]);
    }
  }
}

} // namespace stepsim::collectives
