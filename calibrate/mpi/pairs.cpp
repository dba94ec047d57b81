#include "calibrate/mpi/pairs.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "calibrate/execute/sampling.hpp"

namespace stepsim::calibrate::mpi {

namespace {

constexpr std::array<std::int64_t, 2> kPairSizes{4, 1 << 18};
constexpr double kDiffer = 1.15; // times of pairs that are further apart are of different links

// All pairs, or a sample of them: the first of a random permutation, in their own order.
std::vector<PairTimes> chosen_pairs(std::optional<std::int64_t> most, std::uint32_t ranks) {
  std::vector<PairTimes> pairs;
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = a + 1; b < ranks; ++b) {
      pairs.push_back({.a = a, .b = b});
    }
  }
  if (!most || static_cast<std::size_t>(*most) >= pairs.size()) {
    return pairs;
  }
  const std::vector<std::size_t> order = visit_order(pairs.size(), 0, 5);
  std::vector<PairTimes> sample;
  for (std::int64_t i = 0; i < *most; ++i) {
    sample.push_back(pairs[order[static_cast<std::size_t>(i)]]);
  }
  std::ranges::sort(sample, {}, [](const PairTimes& pair) { return std::pair(pair.a, pair.b); });
  return sample;
}

void ping_pong(const PairTimes& pair, std::int64_t bytes, std::vector<float>& buffer, Wire& wire) {
  constexpr int kTag = 9;
  for (const auto& [from, to] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
    if (wire.rank() == from) {
      wire.post_send(buffer.data(), bytes, to, kTag);
      wire.wait();
    } else if (wire.rank() == to) {
      wire.post_receive(buffer.data(), bytes, from, kTag);
      wire.wait();
    }
  }
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

PairRun run_pairs(std::optional<std::int64_t> most, const std::vector<std::uint32_t>& hosts,
                  double max_seconds, Wire& wire, Watchdog& watchdog) {
  PairRun run;
  const std::size_t ranks = wire.ranks();
  run.all = ranks * (ranks - 1) / 2;
  const std::vector<PairTimes> pairs = chosen_pairs(most, wire.ranks());
  std::vector<float> buffer(static_cast<std::size_t>(kPairSizes[1]) / sizeof(float));
  std::vector<Block> blocks;
  for (const PairTimes& pair : pairs) {
    for (const std::int64_t bytes : kPairSizes) {
      Block& block = blocks.emplace_back();
      block.what = "ranks " + std::to_string(pair.a) + " and " + std::to_string(pair.b) + ", " +
                   std::to_string(bytes) + " B";
      block.call = [&wire, &buffer, &pair, bytes] { ping_pong(pair, bytes, buffer, wire); };
      block.repeatable = true;
      block.divisor = 2;
    }
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 4, .every_block = false}, wire, watchdog);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<double> small = blocks[2 * i].all();
    const std::vector<double> large = blocks[2 * i + 1].all();
    if (!small.empty() && !large.empty()) {
      run.pairs.push_back({pairs[i].a, pairs[i].b, base::median(small), base::median(large),
                           hosts[pairs[i].a] == hosts[pairs[i].b]});
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
      own[shift].push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
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
  io::Array links;
  for (const PairTimes& pair : run.pairs) {
    if (pair.per_byte_s() <= 0) {
      continue;
    }
    for (const auto& [src, dst] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
      links.push_back(io::Object{{"src", std::int64_t{src}},
                                 {"dst", std::int64_t{dst}},
                                 {"latency_s", pair.latency_s()},
                                 {"bandwidth_Bps", 1 / pair.per_byte_s()}});
    }
  }
  return io::Object{{"schema_version", 1}, {"kind", "links"}, {"links", std::move(links)}};
}

} // namespace stepsim::calibrate::mpi
