// All ranks must take the same decisions, else one would wait for ever: every decision depends on
// times that an all-reduce has made equal.
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

namespace {

using Clock = std::chrono::steady_clock;

// A barrier twice before the start: the first ends whatever is still going on, the second lets all
// ranks leave at nearly the same time.
class Sampler {
public:
  Sampler(Wire& wire, Watchdog& watchdog) : wire_(wire), watchdog_(watchdog) {}

  [[nodiscard]] double elapsed() const { return elapsed_; }
  // Work before the first sample: clocks ramp up, connections are made.
  void load() {
    watchdog_.begin("load before the first sample");
    while (largest_of_all(seconds_since(started_), wire_.group()) < kLeastLoadSeconds) {}
    started_ = Clock::now();
  }
  double sample(Block& block, int repeats) {
    watchdog_.begin(block.what);
    if (block.prepare) {
      block.prepare();
    }
    wire_.barrier();
    wire_.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) {
      block.call();
    }
    const std::array<double, 2> mine{seconds_since(start), seconds_since(started_)};
    std::array<double, 2> slowest{};
    MPI_Allreduce(mine.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, wire_.group());
    elapsed_ = slowest[1];
    return slowest[0] / repeats / block.divisor;
  }

private:
  Wire& wire_;
  Watchdog& watchdog_;
  Clock::time_point started_ = Clock::now();
  double elapsed_ = 0;
};

// Until the caches are warm or a quarter of the time is gone.
// Also measures how often a short call must be repeated.
void warm_up(Block& block, double allowance, Sampler& sampler) {
  const double start = sampler.elapsed();
  double seconds = 0;
  for (int i = 0; i < kWarmUps; ++i) {
    seconds = sampler.sample(block, 1);
    if (sampler.elapsed() - start > allowance / 4) {
      break;
    }
  }
  if (block.repeatable) {
    block.repeats = repeats_for(seconds * block.divisor);
  }
}

// Samples until the pass has enough or its share of the time is gone; at least one in the first
// pass where `needed`, else none where no time is left.
void take(Block& block, int pass, double allowance, bool needed, Sampler& sampler) {
  if (!needed && (allowance <= 0 || block.passes.size() < static_cast<std::size_t>(pass))) {
    return;
  }
  const double start = sampler.elapsed();
  if (pass == 0) {
    warm_up(block, allowance, sampler);
  }
  std::vector<double>& samples = block.passes.emplace_back();
  while (!enough(static_cast<std::size_t>(pass), block.passes)) {
    const bool out_of_time = sampler.elapsed() - start >= allowance;
    if (out_of_time && (pass > 0 || !samples.empty())) {
      break;
    }
    samples.push_back(sampler.sample(block, block.repeats));
  }
}

} // namespace

// Time that small blocks leave goes to those after them.
void measure(std::vector<Block>& blocks, const MeasureOptions& options, Wire& wire,
             Watchdog& watchdog) {
  Sampler sampler(wire, watchdog);
  sampler.load();
  for (int pass = 0; pass < kPasses; ++pass) {
    const double end = options.max_seconds * (pass + 1) / kPasses;
    std::size_t left = blocks.size();
    for (const std::size_t index : visit_order(blocks.size(), pass, options.seed)) {
      // Large blocks may take more than their share while others left theirs.
      const double share = (end - sampler.elapsed()) / static_cast<double>(left--);
      const bool first = pass == 0 && sampler.elapsed() < options.max_seconds;
      take(blocks[index], pass, std::max(0.0, share), options.every_block || first, sampler);
      if (options.after_block) {
        options.after_block();
      }
    }
  }
  watchdog.begin("");
}

void append(std::int64_t bytes, const Block& block, std::vector<io::Sample>& samples) {
  for (std::size_t pass = 0; pass < block.passes.size(); ++pass) {
    for (const double seconds : block.passes[pass]) {
      samples.push_back({static_cast<double>(bytes), seconds, static_cast<std::int64_t>(pass)});
    }
  }
}

std::vector<std::string> unsteady(const std::vector<Block>& blocks) {
  std::vector<std::string> warnings;
  for (const Block& block : blocks) {
    const double difference = pass_difference(block.passes);
    if (difference > kSteadyPass) {
      warnings.push_back(block.what + ": passes differ by " + base::percent(difference));
    }
  }
  return warnings;
}

} // namespace stepsim::calibrate::mpi
