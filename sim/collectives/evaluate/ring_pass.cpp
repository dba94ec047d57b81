// How the loops stay vector loops: rank i reads the end of rank i - 1 from the step before, which
// stands one place to the left in an array with a copy of the last value in front. So no loop has
// an index that wraps around, and none depends on the values that it writes. A ring whose ranks
// repeat is folded: equal ranks with equal neighbours do the same at the same times,
//     nodes of 4 GPUs   a b c d a b c d a b c d   rank d sends to the next a, as the first d does
// so that one of each kind is computed, in a ring of its own with as many steps.
#include "collectives/evaluate/ring_pass.hpp"

#include <cassert>
#include <utility>

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

STEPSIM_VECTOR_CLONES
void fill_costs(double* cost, const double* latency, const double* bytes, const double* per_byte,
                std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    cost[i] = latency[i] + bytes[i] * per_byte[i];
  }
}

// Bytes and costs of a step. With equal parts they are the same in all steps; else the part sizes
// stand twice in a row, and the parts of a step, one lower per step, are a window of it:
//     sizes 3 3 2 2   twice 3 3 2 2 3 3 2 2   step 0 from 4, step 1 from 3, ...
// On equal links the costs of the parts stand twice in a row, too, and nothing is computed in a
// step.
class StepCosts {
public:
  StepCosts(const RingState& state, const Partition& partition, bool reduce, bool shortcuts)
      : state_(state), size_(state.tx.size()), addition_(size_), cost_(2 * size_),
        uniform_(partition.uniform()) {
    twice_.resize(2 * size_, partition.bytes(0, 1));
    for (std::size_t i = 0; !uniform_ && i < 2 * size_; ++i) {
      twice_[i] = partition.bytes(static_cast<Index>(i % size_), 1);
    }
    first_ = size_ - (reduce ? 1 : 0);
    equal_links_ = shortcuts && all_equal(state.latency_s) && all_equal(state.per_byte_s);
    for (std::size_t i = 0; equal_links_ && i < 2 * size_; ++i) {
      cost_[i] = state.latency_s.front() + twice_[i] * state.per_byte_s.front();
    }
    fill(0);
  }
  void fill(std::size_t step) {
    if (equal_links_) {
      now_ = cost_.data() + (uniform_ ? 0 : first_ - step);
      return;
    }
    fill_costs(cost_.data(), state_.latency_s.data(), bytes(step), state_.per_byte_s.data(), size_);
    now_ = cost_.data();
  }
  // Seconds of the addition at rank i of what it receives in this step, from rank i - 1.
  void fill_additions(std::size_t step) {
    const double* sent = bytes(step);
    const double* gamma = state_.reduction_s_per_byte.data();
    double* addition = addition_.data();
    addition[0] = sent[size_ - 1] * gamma[0];
    for (std::size_t i = 1; i < size_; ++i) {
      addition[i] = sent[i - 1] * gamma[i];
    }
  }
  [[nodiscard]] bool equal_links() const { return equal_links_; }
  // [rank] the bytes of a step, and the costs of the step of the last fill().
  [[nodiscard]] const double* bytes(std::size_t step) const {
    return twice_.data() + (first_ - step);
  }
  [[nodiscard]] const double* cost() const { return now_; }
  [[nodiscard]] const double* addition() const { return addition_.data(); }

private:
  const RingState& state_;
  std::size_t size_;
  std::vector<double> twice_;
  Row addition_;
  Row cost_; // twice in a row on equal links
  bool uniform_, equal_links_{};
  const double* now_{}; // costs of the step
  std::size_t first_{};
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
void step_without_addition(const double* now, double* next, const double* cost, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    next[i + 1] = std::max(now[i + 1], now[i]) + cost[i];
  }
}

// The same with costs that are computed on the way.
STEPSIM_VECTOR_CLONES
void step_with_costs(const double* now, double* next, const double* latency, const double* bytes,
                     const double* per_byte, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    next[i + 1] = std::max(now[i + 1], now[i]) + (latency[i] + bytes[i] * per_byte[i]);
  }
}

// data_i = end of the addition of what arrived; the engine of a rank works in order.
STEPSIM_VECTOR_CLONES
void step_overlapped(const double* now, double* next, double* data, const double* cost,
                     const double* delay, const double* addition, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    next[i + 1] = std::max(now[i + 1], data[i]) + cost[i];
  }
  next[0] = next[size];
  for (std::size_t i = 0; i < size; ++i) {
    data[i] = std::max(data[i], next[i] + delay[i]) + addition[i];
  }
}

// The same without delays.
STEPSIM_VECTOR_CLONES
void step_added(const double* now, double* next, double* data, const double* cost,
                const double* addition, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    next[i + 1] = std::max(now[i + 1], data[i]) + cost[i];
  }
  next[0] = next[size];
  for (std::size_t i = 0; i < size; ++i) {
    data[i] = std::max(data[i], next[i]) + addition[i];
  }
}

// The receive port of rank i + 1 is held for another addition: port_(i+1).
STEPSIM_VECTOR_CLONES
void step_serial(const double* now, double* next, double* data, double* port, const double* cost,
                 const double* delay, const double* addition, std::size_t size) {
  for (std::size_t i = 0; i + 1 < size; ++i) {
    next[i + 1] = std::max(std::max(now[i + 1], port[i + 1]), data[i]) + cost[i];
  }
  next[size] = std::max(std::max(now[size], port[0]), data[size - 1]) + cost[size - 1];
  next[0] = next[size];
  for (std::size_t i = 0; i < size; ++i) {
    port[i] = next[i] + addition[i];
    data[i] = std::max(data[i], next[i] + delay[i]) + addition[i];
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
              ReductionMode mode, bool shortcuts) {
  const std::size_t size = state.tx.size();
  const bool adds =
      reduce && std::any_of(state.reduction_s_per_byte.begin(), state.reduction_s_per_byte.end(),
                            [](double gamma) { return gamma > 0; });
  const bool delays = std::any_of(state.delay_s.begin(), state.delay_s.end(),
                                  [](double delay) { return delay > 0; });
  // Delayed parts are as parts that an engine works on: additions of 0 s.
  const Addition kind = !adds && !delays                        ? Addition::none
                        : adds && mode == ReductionMode::serial ? Addition::serial
                                                                : Addition::overlapped;
  const bool same_costs = partition.uniform();
  StepCosts costs(state, partition, reduce, shortcuts);
  Ends ends(size);
  Row data(size);  // time at which the part received last is ready
  Row port(size);  // time at which the receive port is free, with serial additions
  Row delay(size); // of what rank i receives, from rank i - 1
  std::rotate_copy(state.delay_s.begin(), state.delay_s.end() - 1, state.delay_s.end(),
                   delay.data());

  // The first step is the general equation with all three terms; afterwards two of them are one.
  for (std::size_t i = 0; i < size; ++i) {
    const double receiver = state.rx[i + 1 < size ? i + 1 : 0];
    ends.next[i + 1] = std::max(std::max(state.tx[i], receiver), state.ready[i]) + costs.cost()[i];
  }
  ends.turn();
  if (adds) {
    costs.fill_additions(0);
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double arrived = ends.now[i] + delay[i]; // from rank i - 1
    port[i] = ends.now[i] + costs.addition()[i];
    data[i] = adds ? std::max(state.reduced[i], arrived) + costs.addition()[i] : arrived;
  }
  // Costs change from step to step only where parts differ in size.
  const bool on_the_way =
      shortcuts && kind == Addition::none && !same_costs && !costs.equal_links();
  for (std::size_t step = 1; step + 1 < ranks; ++step) {
    if (!same_costs && !on_the_way) {
      costs.fill(step);
      if (adds) {
        costs.fill_additions(step);
      }
    }
    switch (kind) {
    case Addition::none:
      if (on_the_way) {
        step_with_costs(ends.now.data(), ends.next.data(), state.latency_s.data(),
                        costs.bytes(step), state.per_byte_s.data(), size);
        break;
      }
      step_without_addition(ends.now.data(), ends.next.data(), costs.cost(), size);
      break;
    case Addition::overlapped:
      if (shortcuts && !delays) {
        step_added(ends.now.data(), ends.next.data(), data.data(), costs.cost(), costs.addition(),
                   size);
        break;
      }
      step_overlapped(ends.now.data(), ends.next.data(), data.data(), costs.cost(), delay.data(),
                      costs.addition(), size);
      break;
    case Addition::serial:
      step_serial(ends.now.data(), ends.next.data(), data.data(), port.data(), costs.cost(),
                  delay.data(), costs.addition(), size);
      break;
    }
    ends.turn();
  }

  for (std::size_t i = 0; i < size; ++i) {
    const double arrived = ends.now[i] + delay[i];
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

void run_ring_pass(RingState& state, const Partition& partition, bool reduce, ReductionMode mode,
                   bool shortcuts) {
  const std::size_t size = state.tx.size();
  assert(size >= 2 && "a ring has two ranks");
  const std::size_t part = shortcuts && partition.uniform() ? repeated_ranks(state) : size;
  for (std::vector<double>* values : vectors_of(state)) {
    values->resize(part);
  }
  run_pass(state, partition, size, reduce, mode, shortcuts);
  for (std::vector<double>* values : vectors_of(state)) {
    values->reserve(size);
    for (std::size_t rank = part; rank < size; ++rank) {
      values->push_back((*values)[rank - part]);
    }
  }
}

} // namespace stepsim::collectives
