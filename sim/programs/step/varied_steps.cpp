#include "programs/step/varied_steps.hpp"
#include "base/vector_clones.hpp"
#include "buckets/sending.hpp"
#include "programs/step/message_gates.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepsim::programs {

namespace {

constexpr double kNoWait = -std::numeric_limits<double>::infinity(); // no wait

STEPSIM_VECTOR_CLONES
void wait_and_compute_all(double* __restrict x, std::size_t workers, double from,
                          const double* __restrict factor, double seconds) {
  for (std::size_t w = 0; w < workers; ++w) {
    const double start = x[w] < from ? from : x[w];
    x[w] = start + factor[w] * seconds;
  }
}

// x[w] = max(x[w], from) + factor[w] * seconds.
void wait_and_compute(std::vector<double>& x, double from, const std::vector<double>& factor,
                      double seconds) {
  wait_and_compute_all(x.data(), x.size(), from, factor.data(), seconds);
}

// Adds factor[w] * seconds to x[w] of a multiple of kSide workers, and gathers their maxima side by
// side, for speed.
constexpr std::size_t kSide = 8;
STEPSIM_VECTOR_CLONES
void compute_in_blocks(double* __restrict x, std::size_t workers, const double* __restrict factor,
                       double seconds, double* __restrict last) {
  for (std::size_t w = 0; w < workers; w += kSide) {
    for (std::size_t i = 0; i < kSide; ++i) {
      const double time = x[w + i] + factor[w + i] * seconds;
      x[w + i] = time;
      last[i] = last[i] < time ? time : last[i];
    }
  }
}

// x[w] += factor[w] * seconds; returns the largest.
double compute_until_last(std::vector<double>& x, const std::vector<double>& factor,
                          double seconds) {
  std::array<double, kSide> last;
  last.fill(kNoWait);
  const std::size_t whole = x.size() - x.size() % kSide;
  compute_in_blocks(x.data(), whole, factor.data(), seconds, last.data());
  for (std::size_t w = whole; w < x.size(); ++w) {
    x[w] += factor[w] * seconds;
    last[0] = std::max(last[0], x[w]);
  }
  return *std::max_element(last.begin(), last.end());
}

double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }

enum class Messages { none, all };

// All times of an iteration count from its origin, the start of backward of the slowest worker; so
// rounding does not grow with the length of a run.
class Runner {
public:
  // `messages`: none = they take no time and have no waits of their own.
  Runner(const StepInput& step, const layers::Jitter& jitter, const MessageBounds& bounds,
         Messages messages)
      : step_(step), bounds_(bounds), messages_(messages == Messages::all ? 1 : 0), jitter_(jitter),
        sending_(sending_of(step)), gates_(message_gates(step)), updates_(layer_updates(step)),
        ready_(step.messages.size()), layer_ready_(step.forward_s.size()),
        done_(step.forward_s.size()), x_(jitter.workers()), backward_start_(x_), factor_(x_),
        next_factor_(x_) {
    forward_ = std::accumulate(step.forward_s.begin(), step.forward_s.end(), 0.0);
    backward_ = std::accumulate(step.backward_s.rbegin(), step.backward_s.rend(), 0.0);
    const bool any_bytes = std::any_of(step.gradient_bytes.begin(), step.gradient_bytes.end(),
                                       [](double bytes) { return bytes > 0; });
    root_updates_ = step.reduce_broadcast && !step.messages.empty();
    // The update that no layer has a share of, before the first forward.
    const bool shared = step.next_forward == NextForward::per_layer && any_bytes;
    first_update_ = root_updates_ || shared ? 0.0 : step.update_s;
    draw(1, factor_);
    wait_and_compute(x_, 0, factor_, forward_);
    origin_ = largest(x_);
    for (std::size_t w = 0; w < x_.size(); ++w) {
      backward_start_[w] = x_[w] - origin_;
    }
  }

  [[nodiscard]] VariedIteration next() {
    ++iteration_;
    VariedIteration record;
    record.start_s = start_s_;
    draw(iteration_ + 1, next_factor_);
    backward();
    record.compute_end_s = origin_ + layer_ready_.front();
    // First as if messages took no time and had no waits of their own: what is left is waiting for
    // one another.
    backward_end_ = x_;
    send(0, 0);
    (void)forward();
    const double without_messages = largest(x_);
    x_.swap(backward_end_);
    const double exchange_factor = messages_ * jitter_.exchange(iteration_);
    record.lower_bound_s = lower_bound(exchange_factor);
    send(exchange_factor, messages_);
    const double finish = std::max(sent_.finish_s, layer_ready_.front());
    record.exchange_start_s =
        origin_ + (sent_.start_s.empty()
                       ? layer_ready_.front()
                       : *std::min_element(sent_.start_s.begin(), sent_.start_s.end()));
    record.exchange_end_s = origin_ + finish;
    drained_s_ =
        record.exchange_end_s + (root_updates_ ? 0.0 : largest(next_factor_) * step_.update_s);
    const double first_forward = forward();
    const double with_messages = largest(x_);
    const double exposed = with_messages - without_messages;
    constexpr double kRounding = 1e-12;
    record.exposed_s = exposed > kRounding * with_messages ? exposed : 0.0;
    record.compute_s = record.exposed_s > 0 ? without_messages : with_messages;
    record.input_wait_s = load_input();
    start_s_ = origin_ + first_forward + record.input_wait_s;
    record.period_s = largest(x_);
    origin_ += record.period_s;
    for (std::size_t w = 0; w < x_.size(); ++w) {
      backward_start_[w] = x_[w] - record.period_s;
    }
    factor_.swap(next_factor_);
    return record;
  }

  // Of the iteration that `next` gave last: what a worker computes in the period, its backward and
  // the forward and update after it. All workers count the root's update.
  [[nodiscard]] double work_s(std::size_t worker) const {
    const double update_factor = factor_[root_updates_ ? 0 : worker];
    return next_factor_[worker] * backward_ + factor_[worker] * forward_ +
           update_factor * step_.update_s;
  }
  [[nodiscard]] double busy_s() const { return sent_.busy_s; }
  [[nodiscard]] double drained_s() const { return drained_s_; }

private:
  void draw(std::int64_t iteration, std::vector<double>& factors) const {
    for (std::size_t w = 0; w < factors.size(); ++w) {
      factors[w] = jitter_.compute(static_cast<std::uint32_t>(w), iteration);
    }
  }

  // As the bound of equal workers (MER 3), with the factors of this period: some worker computes
  // backward and forward; the last forward follows the messages of layer 0, and all messages.
  [[nodiscard]] double lower_bound(double exchange_factor) const {
    double bound = 0;
    double last_forward = 0;
    for (std::size_t w = 0; w < x_.size(); ++w) {
      bound = std::max(bound, x_[w] + next_factor_[w] * forward_);
      last_forward = std::max(last_forward, next_factor_[w]);
    }
    if (bounds_.first_layer_s > 0) {
      bound = std::max(bound, layer_ready_.front() + exchange_factor * bounds_.first_layer_s +
                                  last_forward * forward_);
    }
    if (bounds_.all_s > 0) {
      bound = std::max(bound, layer_ready_[bounds_.first_sender] + exchange_factor * bounds_.all_s +
                                  last_forward * step_.forward_s.back());
    }
    return bound;
  }

  void backward() {
    x_ = backward_start_;
    for (std::size_t l = layer_ready_.size(); l-- > 0;) {
      layer_ready_[l] = compute_until_last(x_, factor_, step_.backward_s[l]);
    }
  }

  void send(double factor, double delay_factor) {
    for (std::size_t g = 0; g < gates_.size(); ++g) {
      ready_[g] = layer_ready_[gates_[g].layer] + delay_factor * gates_[g].delay_s;
    }
    step_.send(sending_,
               {.ready_s = ready_,
                .backward_end_s = layer_ready_.front(),
                .pause_s = pause_s(),
                .factor = factor,
                .forward_start_s = x_,
                .forward_factor = next_factor_},
               sent_);
    std::fill(done_.begin(), done_.end(), kNoWait);
    const auto done = buckets::done_s(sending_, sent_);
    for (std::size_t g = 0; g < step_.messages.size(); ++g) {
      for (const std::uint32_t layer : step_.messages[g].layers) {
        done_[layer] = std::max(done_[layer], done[g]);
      }
    }
  }

  // What the root's update takes, between the messages and their way back.
  [[nodiscard]] double pause_s() const {
    return root_updates_ ? next_factor_.front() * step_.update_s : 0.0;
  }

  // The next forward of every worker; returns when the first of them starts it.
  double forward() {
    if (step_.next_forward == NextForward::barrier) {
      const double finish = std::max(sent_.finish_s, layer_ready_.front());
      wait_and_compute(x_, step_.messages.empty() ? kNoWait : finish, next_factor_, first_update_);
      const double first = *std::min_element(x_.begin(), x_.end());
      wait_and_compute(x_, kNoWait, next_factor_, forward_);
      return first;
    }
    wait_and_compute(x_, kNoWait, next_factor_, first_update_);
    wait_and_compute(x_, done_.front(), next_factor_, updates_.front());
    const double first = *std::min_element(x_.begin(), x_.end());
    wait_and_compute(x_, kNoWait, next_factor_, step_.forward_s.front());
    for (std::size_t l = 1; l < done_.size(); ++l) {
      wait_and_compute(x_, done_[l], next_factor_, updates_[l] + step_.forward_s[l]);
    }
    return first;
  }

  // As `run_step`: loading is hidden behind the iteration before, or adds to it. Returns by how
  // much the slowest worker is later.
  double load_input() {
    if (step_.input_s == 0) {
      return 0;
    }
    const double before = largest(x_);
    for (std::size_t w = 0; w < x_.size(); ++w) {
      const double update_factor = root_updates_ ? next_factor_.front() : next_factor_[w];
      const double loaded = backward_start_[w] - factor_[w] * forward_ + step_.input_s +
                            next_factor_[w] * forward_ + update_factor * step_.update_s;
      x_[w] = step_.input_pipelined ? std::max(x_[w], loaded) : x_[w] + step_.input_s;
    }
    return largest(x_) - before;
  }

  const StepInput& step_;
  MessageBounds bounds_;
  double messages_; // 0 or 1, the factor of all their times
  const layers::Jitter& jitter_;
  buckets::Sending sending_;
  std::vector<MessageGate> gates_;
  std::vector<double> updates_; // [layer]
  std::vector<double> ready_;   // [message]
  std::vector<double> layer_ready_, done_;
  std::vector<double> x_, backward_start_, backward_end_; // [worker]
  std::vector<double> factor_, next_factor_;
  buckets::SendTimes sent_;
  double forward_{}, backward_{}, first_update_{};
  bool root_updates_{};
  std::int64_t iteration_{};
  double origin_{}, start_s_{}, drained_s_{};
};

// Whether all workers wait for the last message before any of them starts its next forward. What
// messages delay in one iteration then leaves nothing behind in the next one.
bool waits_for_last_message(const StepInput& step) {
  if (step.messages.empty() || step.next_forward == NextForward::barrier) {
    return true;
  }
  const std::vector<std::uint32_t>& last = step.messages.back().layers;
  return step.send == buckets::send_in_order && !step.reduce_broadcast && !step.all_gathers &&
         std::find(last.begin(), last.end(), 0U) != last.end();
}

// Runs the Runner over all iterations; the mean period of those that are not discarded.
double mean_of_periods(Runner runner, std::int64_t iterations, std::int64_t discard) {
  double sum = 0;
  for (std::int64_t k = 0; k < iterations; ++k) {
    const double period = runner.next().period_s;
    sum += k < discard ? 0 : period;
  }
  return sum / static_cast<double>(iterations - discard);
}

// Where workers reach an iteration at other times than they would without messages, the means
// compare two whole runs (TRN 2.6).
void compare_whole_runs(const StepInput& step, const layers::Jitter& jitter,
                        std::int64_t iterations, std::int64_t discard, VariedSteps& run) {
  StepInput loaded = step;
  loaded.input_s = 0;
  const auto period = [&](Messages messages) {
    return mean_of_periods(Runner(loaded, jitter, {}, messages), iterations, discard);
  };
  const double busy = step.input_s > 0 ? period(Messages::all) : run.period_s;
  constexpr double kRounding = 1e-12;
  const double exposed = busy - period(Messages::none);
  const double waiting = run.period_s - busy;
  run.exposed_s = exposed > kRounding * run.period_s ? exposed : 0;
  run.input_wait_s = waiting > kRounding * run.period_s ? waiting : 0;
  run.compute_s = run.period_s - run.exposed_s - run.input_wait_s;
}

// The step with as few layers as its messages need; the first and the last one stay, which bounds
// and the start of an iteration name, and so does the first that sends.
StepInput with_merged_layers(const StepInput& step, MessageBounds& bounds) {
  const std::size_t layers = step.forward_s.size();
  std::vector<bool> begins(layers, false);
  begins[bounds.first_sender] = begins[std::min<std::size_t>(1, layers - 1)] = true;
  begins[layers - 1] = true;
  for (const MessageGate& gate : message_gates(step)) {
    begins[gate.layer] = true;
  }
  std::vector<std::vector<std::uint32_t>> messages_of(layers);
  for (std::uint32_t g = 0; g < step.messages.size(); ++g) {
    for (const std::uint32_t layer : step.messages[g].layers) {
      messages_of[layer].push_back(g);
    }
  }
  const std::vector<std::uint32_t> merged = merged_layers(begins, messages_of);
  StepInput result = step;
  const auto sums = [&](const std::vector<double>& of_layers) {
    std::vector<double> sum(merged.back() + std::size_t{1}, 0);
    for (std::size_t l = 0; l < layers; ++l) {
      sum[merged[l]] += of_layers[l];
    }
    return sum;
  };
  result.forward_s = sums(step.forward_s);
  result.backward_s = sums(step.backward_s);
  result.gradient_bytes = sums(step.gradient_bytes);
  for (Message& message : result.messages) {
    merge_layers(merged, message.layers);
  }
  bounds.first_sender = merged[bounds.first_sender];
  return result;
}

} // namespace

VariedSteps run_varied_steps(const StepInput& all_layers, const layers::Jitter& jitter,
                             std::int64_t iterations, std::int64_t discard, MessageBounds bounds) {
  const std::uint32_t workers = jitter.workers();
  assert(workers >= 1 && iterations >= 1 && discard >= 0 && discard < iterations);
  assert(!all_layers.forward_s.empty());
  assert(all_layers.forward_s.size() == all_layers.backward_s.size());
  const StepInput step = with_merged_layers(all_layers, bounds);
  Runner runner(step, jitter, bounds, Messages::all);
  VariedSteps run;
  run.iterations.reserve(static_cast<std::size_t>(iterations));
  run.workers.resize(workers);
  const auto counted = static_cast<double>(iterations - discard);
  for (std::int64_t k = 0; k < iterations; ++k) {
    const VariedIteration& record = run.iterations.emplace_back(runner.next());
    if (k < discard) {
      continue;
    }
    run.period_s += record.period_s;
    run.compute_s += record.compute_s;
    run.exposed_s += record.exposed_s;
    run.input_wait_s += record.input_wait_s;
    run.lower_bound_s += record.lower_bound_s;
    run.communication_s += runner.busy_s();
    for (std::size_t w = 0; w < workers; ++w) {
      run.workers[w].compute_s += runner.work_s(w);
    }
  }
  for (double* mean : {&run.period_s, &run.compute_s, &run.exposed_s, &run.input_wait_s,
                       &run.lower_bound_s, &run.communication_s}) {
    *mean /= counted;
  }
  if (!waits_for_last_message(step)) {
    compare_whole_runs(step, jitter, iterations, discard, run);
  }
  for (VariedWorker& worker : run.workers) {
    constexpr double kRounding = 1e-12; // of computing
    worker.compute_s /= counted;
    const double wait = run.compute_s - worker.compute_s;
    worker.straggler_wait_s = wait > kRounding * run.compute_s ? wait : 0;
    run.straggler_wait_s += worker.straggler_wait_s / static_cast<double>(workers);
  }
  run.makespan_s = runner.drained_s();
  return run;
}

} // namespace stepsim::programs
