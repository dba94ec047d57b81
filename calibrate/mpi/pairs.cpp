#include "calibrate/mpi/pairs.hpp"

#include "document/fields/members.hpp"
#include "scenario/files/network_files.hpp"

namespace stepsim::calibrate::mpi {

namespace {

constexpr std::array<std::int64_t, 2> kPairSizes{4, 1 << 18};
constexpr double kDiffer = 1.15; // times of pairs that are further apart are of different links

// From a to b and back.
void ping_pong(std::uint32_t a, std::uint32_t b, std::int64_t bytes, std::vector<float>& buffer,
               Wire& wire) {
  constexpr int kTag = 9;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    if (wire.rank() == from) {
      wire.send(buffer.data(), bytes, to, kTag);
    } else if (wire.rank() == to) {
      wire.receive(buffer.data(), bytes, from, kTag);
    }
  }
}

constexpr int kProbe = 7; // tag
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

  void pingpong(std::int64_t bytes) { ping_pong(0, 1, bytes, out_, wire_); }
  void exchange(std::int64_t bytes, int steps) {
    both(bytes, wire_.rank() ^ 1U, wire_.rank() ^ 1U, steps);
  }
  void shift(std::int64_t bytes, int steps) {
    const std::uint32_t ranks = wire_.ranks();
    both(bytes, (wire_.rank() + 1) % ranks, (wire_.rank() + ranks - 1) % ranks, steps);
  }
  // `messages` of `bytes` each, posted at once, and an empty reply. Blocks of a segment travel as
  // one message of all of them.
  void stream(int messages, std::int64_t bytes) {
    for (int i = 0; i < messages && wire_.rank() < 2; ++i) {
      if (wire_.rank() == 0) {
        wire_.post_send(out_.data(), bytes, 1, kProbe);
      } else {
        wire_.post_receive(in_.data() + i * (bytes / kElement), bytes, 0, kProbe);
      }
    }
    wire_.wait();
    if (wire_.rank() == 0) {
      wire_.receive(in_.data(), 0, 1, kProbe);
    } else if (wire_.rank() == 1) {
      wire_.send(out_.data(), 0, 0, kProbe);
    }
  }
  void reduce(std::int64_t bytes) { add(in_.data(), out_.data(), bytes / kElement); }

private:
  void both(std::int64_t bytes, std::uint32_t to, std::uint32_t from, int steps) {
    for (int i = 0; i < steps && to < wire_.ranks(); ++i) {
      wire_.post_receive(in_.data(), bytes, from, kProbe);
      wire_.post_send(out_.data(), bytes, to, kProbe);
      wire_.wait();
    }
  }

  Wire& wire_;
  std::vector<float> out_, in_;
};

// Samples of all probes; streams only where `with_streams`.
ProbeRun measured(Wire& wire, Watchdog& watchdog, double max_seconds, bool with_streams) {
  assert(wire.ranks() >= 2);
  Probes probes(wire, with_streams);
  std::vector<Block> blocks;
  const auto add = [&](const std::string& what, double divisor, std::function<void()> call) {
    blocks.push_back(
        {.what = what, .call = std::move(call), .repeatable = true, .divisor = divisor});
  };
  for (const std::int64_t bytes : kSizes) {
    const std::string size =
        " " + std::to_string(bytes) + (with_streams ? " B" : " B sent as a whole");
    const int steps = steps_of(bytes);
    add("pingpong" + size, 2, [&probes, bytes] { probes.pingpong(bytes); });
    add("exchange" + size, steps, [&probes, bytes, steps] { probes.exchange(bytes, steps); });
    add("shift" + size, steps, [&probes, bytes, steps] { probes.shift(bytes, steps); });
    add("reduce" + size, 1, [&probes, bytes] { probes.reduce(bytes); });
  }
  for (const bool small : {false, true}) {
    for (const int count : {kShortStream, kLongStream}) {
      const std::int64_t bytes = small ? kSizes.front() : wire.segment_bytes() * count;
      if (with_streams) {
        add("stream of " + std::to_string(count) + (small ? " small messages" : " blocks"), 1,
            [&probes, small, count, bytes] { probes.stream(small ? count : 1, bytes); });
      }
    }
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 1}, wire, watchdog);

  ProbeRun result;
  result.warnings = unsteady(blocks);
  ProbeTimes& times = result.times;
  const std::array<std::vector<io::Sample>*, 4> targets{&times.pingpong, &times.exchange,
                                                        &times.shift, &times.reduce};
  for (std::size_t i = 0; i < targets.size() * kSizes.size(); ++i) {
    append(kSizes[i / targets.size()], blocks[i], *targets[i % targets.size()]);
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

double PairTimes::per_byte_s() const {
  return std::max(0.0, large_s - small_s) / static_cast<double>(kPairSizes[1] - kPairSizes[0]);
}
double PairTimes::latency_s() const {
  return std::max(0.0, small_s - per_byte_s() * static_cast<double>(kPairSizes[0]));
}

bool PairRun::differ() const {
  const auto [least, most] = std::ranges::minmax_element(pairs, {}, &PairTimes::large_s);
  return !pairs.empty() && most->large_s > kDiffer * least->large_s;
}

PairRun run_pairs(std::int64_t most, double max_seconds, Wire& wire, Watchdog& watchdog) {
  PairRun run;
  const std::size_t ranks = wire.ranks();
  run.all = ranks * (ranks - 1) / 2;
  const auto pairs = sampled_pairs(wire.ranks(), static_cast<std::size_t>(most), 5);
  std::vector<float> buffer(static_cast<std::size_t>(kPairSizes[1]) / sizeof(float));
  std::vector<Block> blocks;
  for (const auto& [a, b] : pairs) {
    for (const std::int64_t bytes : kPairSizes) {
      blocks.push_back(
          {.what = "ranks " + std::to_string(a) + " and " + std::to_string(b) + ", " +
                   std::to_string(bytes) + " B",
           .call = [&wire, &buffer, a = a, b = b, bytes] { ping_pong(a, b, bytes, buffer, wire); },
           .repeatable = true,
           .divisor = 2});
    }
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 4, .every_block = false}, wire, watchdog);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<double> small = blocks[2 * i].all();
    const std::vector<double> large = blocks[2 * i + 1].all();
    if (!small.empty() && !large.empty()) {
      const auto [a, b] = pairs[i];
      run.pairs.push_back({a, b, base::median(small), base::median(large)});
    }
  }
  return run;
}

// A rank waits for what it receives before it waits for what it sends, so that a slow way out does
// not count as a slow way in.
std::vector<double> run_shifts(double max_seconds, Wire& wire, Watchdog& watchdog) {
  constexpr int kTag = 10;
  const std::uint32_t ranks = wire.ranks();
  std::vector<float> out(static_cast<std::size_t>(kPairSizes[1]) / sizeof(float)), in = out;
  Wire receiving(wire.group(), wire.segment_bytes());
  std::vector<std::vector<double>> own(ranks);
  std::vector<Block> blocks;
  for (std::uint32_t shift = 1; shift < ranks; ++shift) {
    Block& block = blocks.emplace_back();
    block.what = "all ranks to rank + " + std::to_string(shift);
    block.call = [&, shift] {
      const auto start = std::chrono::steady_clock::now();
      receiving.post_receive(in.data(), kPairSizes[1], (wire.rank() + ranks - shift) % ranks, kTag);
      wire.post_send(out.data(), kPairSizes[1], (wire.rank() + shift) % ranks, kTag);
      receiving.wait();
      own[shift].push_back(seconds_since(start));
      wire.wait();
    };
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 6, .every_block = false}, wire, watchdog);
  std::vector<double> medians(std::size_t{ranks} * (ranks - 1));
  for (std::uint32_t shift = 1; shift < ranks; ++shift) {
    if (blocks[shift - 1].all().empty()) { // on all ranks alike
      return {};
    }
    // Warm-up calls, which come first, do not count.
    const auto timed = static_cast<std::ptrdiff_t>(blocks[shift - 1].all().size());
    const double mine =
        base::median(std::vector<double>(own[shift].end() - timed, own[shift].end()));
    MPI_Allgather(&mine, 1, MPI_DOUBLE, &medians[std::size_t{shift - 1} * ranks], 1, MPI_DOUBLE,
                  wire.group());
  }
  return medians;
}

SharedTimes shared_times(const PairRun& pairs, const std::vector<double>& shifts,
                         std::uint32_t ranks) {
  if (pairs.pairs.size() < pairs.all || shifts.empty()) {
    throw SimulationError("a topology needs all pairs of ranks and all shifts, and --max-seconds "
                          "did not allow them");
  }
  SharedTimes times{.ranks = ranks,
                    .bytes = static_cast<double>(kPairSizes[1] - kPairSizes[0]),
                    .alone_s = std::vector<double>(std::size_t{ranks} * ranks, 0),
                    .shifted_s = shifts};
  for (const PairTimes& pair : pairs.pairs) {
    for (const auto& [src, dst] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
      times.alone_s[std::size_t{src} * ranks + dst] = pair.per_byte_s() * times.bytes;
      times.shifted_s[std::size_t{(dst + ranks - src) % ranks - 1} * ranks + dst] -= pair.small_s;
    }
  }
  return times;
}

io::Json links_tree(const PairRun& run) {
  using Pair = io::WrittenPair;
  io::Array links;
  for (const PairTimes& pair : run.pairs) {
    if (pair.per_byte_s() <= 0) {
      continue;
    }
    for (const auto& [src, dst] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
      links.push_back(io::tree_of<&Pair::src, &Pair::dst, &Pair::latency_s, &Pair::bandwidth_Bps>(
          {std::int64_t{src}, std::int64_t{dst}, pair.latency_s(), 0, 1 / pair.per_byte_s()}));
    }
  }
  return io::Object{{"schema_version", 1}, {"kind", "links"}, {"links", std::move(links)}};
}

ProbeRun run_probes(Wire& wire, Watchdog& watchdog, double max_seconds) {
  return measured(wire, watchdog, max_seconds, true);
}

ProbeRun run_whole_probes(const ProbeTimes& segmented, const Wire& wire, Watchdog& watchdog,
                          double max_seconds) {
  Wire whole(wire.group(), kSizes.back());
  ProbeRun result = measured(whole, watchdog, max_seconds, false);
  static_cast<StreamTimes&>(result.times) = segmented;
  return result;
}

} // namespace stepsim::calibrate::mpi
