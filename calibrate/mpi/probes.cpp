#include "calibrate/mpi/probes.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/statistics.hpp"

namespace stepsim::calibrate::mpi {

namespace {

constexpr int kTag = 7;
// CAL 8.3, and sizes between: the burst of a shaped link and the segments bend the curves.
constexpr std::array<std::int64_t, 17> kSizes{4,       512,     1024,    2048,    4096,   8192,
                                              16384,   24576,   32768,   65536,   131072, 262144,
                                              1 << 19, 1 << 20, 2 << 20, 4 << 20, 8 << 20};

// Exchanges and shifts that follow one another, as the steps of a schedule do: in the first one all
// ranks send at the same instant, and where processes share cores they wait for these; later ones
// are out of step. Of large messages two, which take long enough.
int steps_of(std::int64_t bytes) { return bytes <= (1 << 20) ? 4 : 2; }

class Probes {
public:
  Probes(Wire& wire, bool with_streams)
      : wire_(wire),
        out_(std::max(kSizes.back(), with_streams ? kLongStream * wire.segment_bytes() : 0) /
             kElement),
        in_(out_) {}

  void ping_pong(std::int64_t bytes) {
    for (std::uint32_t from = 0; from < 2; ++from) {
      if (wire_.rank() == from) {
        send(bytes, 1 - from);
      } else if (wire_.rank() == 1 - from) {
        receive(bytes, from);
      }
    }
  }
  void both(std::int64_t bytes, std::uint32_t to, std::uint32_t from) {
    if (to < wire_.ranks()) {
      wire_.post_receive(in_.data(), bytes, from, kTag);
      wire_.post_send(out_.data(), bytes, to, kTag);
      wire_.wait();
    }
  }
  void exchange(std::int64_t bytes) { both(bytes, wire_.rank() ^ 1U, wire_.rank() ^ 1U); }
  void shift(std::int64_t bytes) {
    const std::uint32_t ranks = wire_.ranks();
    both(bytes, (wire_.rank() + 1) % ranks, (wire_.rank() + ranks - 1) % ranks);
  }
  void stream(int blocks) {
    const std::int64_t bytes = wire_.segment_bytes() * blocks;
    if (wire_.rank() == 0) {
      send(bytes, 1);
      receive(0, 1);
    } else if (wire_.rank() == 1) {
      receive(bytes, 0);
      send(0, 0);
    }
  }
  // Messages of their own, all posted at once.
  void small_stream(int messages) {
    float* const buffer = wire_.rank() == 0 ? out_.data() : in_.data();
    if (wire_.rank() > 1) {
      return;
    }
    for (int i = 0; i < messages; ++i) {
      if (wire_.rank() == 0) {
        wire_.post_send(buffer, kSizes.front(), 1, kTag);
      } else {
        wire_.post_receive(buffer + i * (kSizes.front() / kElement), kSizes.front(), 0, kTag);
      }
    }
    wire_.wait();
    wire_.rank() == 0 ? receive(0, 1) : send(0, 0);
  }
  void reduce(std::int64_t bytes) { add(in_.data(), out_.data(), bytes / kElement); }

private:
  void send(std::int64_t bytes, std::uint32_t to) {
    wire_.post_send(out_.data(), bytes, to, kTag);
    wire_.wait();
  }
  void receive(std::int64_t bytes, std::uint32_t from) {
    wire_.post_receive(in_.data(), bytes, from, kTag);
    wire_.wait();
  }

  Wire& wire_;
  std::vector<float> out_, in_;
};

// Samples of all probes; streams only where `with_streams`.
ProbeRun measured(Wire& wire, Watchdog& watchdog, double max_seconds, bool with_streams) {
  assert(wire.ranks() >= 2);
  Probes probes(wire, with_streams);
  std::vector<Block> blocks;
  const auto add = [&](std::string what, std::function<void()> call, double divisor) {
    Block& block = blocks.emplace_back();
    block.what = std::move(what);
    block.call = std::move(call);
    block.repeatable = true;
    block.divisor = divisor;
  };
  for (const std::int64_t bytes : kSizes) {
    const std::string size = " " + std::to_string(bytes) + " B";
    add(
        "pingpong" + size, [&probes, bytes] { probes.ping_pong(bytes); }, 2);
    const int steps = steps_of(bytes);
    const auto in_a_row = [steps](auto step) {
      return [steps, step] {
        for (int i = 0; i < steps; ++i) {
          step();
        }
      };
    };
    add("exchange" + size, in_a_row([&probes, bytes] { probes.exchange(bytes); }), steps);
    add("shift" + size, in_a_row([&probes, bytes] { probes.shift(bytes); }), steps);
    add(
        "reduce" + size, [&probes, bytes] { probes.reduce(bytes); }, 1);
  }
  if (with_streams) {
    for (const int count : {kShortStream, kLongStream}) {
      add(
          "stream of " + std::to_string(count) + " blocks",
          [&probes, count] { probes.stream(count); }, 1);
    }
    for (const int count : {kShortStream, kLongStream}) {
      add(
          "stream of " + std::to_string(count) + " small messages",
          [&probes, count] { probes.small_stream(count); }, 1);
    }
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 1}, wire, watchdog);

  ProbeRun result;
  result.warnings = unsteady(blocks);
  ProbeTimes& times = result.times;
  const std::array<std::vector<Repetition>*, 4> targets{&times.pingpong, &times.exchange,
                                                        &times.shift, &times.reduce};
  for (std::size_t i = 0; i < targets.size() * kSizes.size(); ++i) {
    const std::vector<Repetition> samples = repetitions(kSizes[i / targets.size()], blocks[i]);
    std::vector<Repetition>& target = *targets[i % targets.size()];
    target.insert(target.end(), samples.begin(), samples.end());
  }
  times.block_bytes = static_cast<double>(wire.segment_bytes());
  if (with_streams) {
    const auto streamed = [&](std::size_t from_last) {
      return base::median(blocks[blocks.size() - from_last].all());
    };
    times.short_stream_s = streamed(4);
    times.long_stream_s = streamed(3);
    times.short_small_s = streamed(2);
    times.long_small_s = streamed(1);
  }
  return result;
}

} // namespace

ProbeRun run_probes(Wire& wire, Watchdog& watchdog, double max_seconds) {
  return measured(wire, watchdog, max_seconds, true);
}

ProbeRun run_whole_probes(const ProbeTimes& segmented, const Wire& wire, Watchdog& watchdog,
                          double max_seconds) {
  Wire whole(wire.group(), kSizes.back());
  ProbeRun result = measured(whole, watchdog, max_seconds, false);
  result.times.block_bytes = segmented.block_bytes;
  result.times.short_stream_s = segmented.short_stream_s;
  result.times.long_stream_s = segmented.long_stream_s;
  result.times.short_small_s = segmented.short_small_s;
  result.times.long_small_s = segmented.long_small_s;
  return result;
}

} // namespace stepsim::calibrate::mpi
