// A chunk is split as its parts need it: G parts inside a node, and each of these N parts between
// nodes, so that with whole bytes some parts are one element longer. Phases of one kind stand side
// by side for local indices with equal parts.
#include "collectives/schedule/two_level.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {
namespace {

constexpr std::uint32_t kInside = 0; // lanes: the ports of a rank in its node, and to its card
constexpr std::uint32_t kAcross = 1;

bool is_cut(Op op) { return op != Op::broadcast && op != Op::reduce && op != Op::alltoall; }
bool adds(Op op) { return op == Op::reduce || op == Op::allreduce || op == Op::reduce_scatter; }

// What the phases of one chunk are made of.
struct Chunk {
  double bytes{};
  double offset{};
  std::uint32_t data{};
  const std::vector<double>* sizes = nullptr; // [P] of an allgatherv, this chunk's part of them
};

class LevelPhases {
public:
  LevelPhases(Schedule& schedule, const Collective& collective)
      : schedule_(schedule), shape_(node_shape(collective)), collective_(collective) {
    const bool one_lane = collective.links.fabric != nullptr; // cables are shared there
    across_ = one_lane ? kInside : kAcross;
    schedule.lanes.resize(across_ + 1);
  }

  // A ring in every node.
  void inside(const Chunk& chunk, bool reduce) {
    const Index gpus = shape_.gpus;
    if (gpus == 1) {
      return;
    }
    Layout layout{.groups = shape_.nodes, .group_stride = gpus, .size = gpus, .modulus = gpus};
    add(chunk, layout, RingPass{gpus, reduce}, split_inside(chunk), kInside);
  }

  // Rings of the ranks of one local index, for all indices.
  void across(const Chunk& chunk, bool reduce) {
    const Index nodes = shape_.nodes;
    if (nodes == 1) {
      return;
    }
    const Partition inside = split_inside(chunk);
    const Index first_step = schedule_.steps();
    for (Index first = 0, end = 0; first < inside.parts(); first = end) {
      end = chunk.sizes != nullptr ? first + 1 : end_of_run(inside, first, 0);
      const double bytes = inside.bytes(first, 1);
      Partition parts = chunk.sizes != nullptr
                            ? Partition::sizes(sizes_of_index(*chunk.sizes, first))
                            : Partition::equal(bytes, nodes, collective_.options);
      Phase& phase = add(chunk, peers(first, end - first, 0), RingPass{nodes, reduce},
                         std::move(parts), across_);
      phase.offset = chunk.offset + inside.begin(first);
      phase.group_bytes = bytes;
      phase.first_step = first_step;
    }
  }

  // The parts of the root's node to or from its other ranks, one after the other. Parts are counted
  // from the root's local index.
  void star(const Chunk& chunk, Direction direction) {
    const Index gpus = shape_.gpus;
    if (gpus == 1) {
      return;
    }
    Layout layout = from_root(1);
    layout.base = static_cast<Index>(collective_.root) / gpus * gpus;
    add(chunk, layout, FlatSplit{gpus, direction}, split_inside(chunk), kInside);
  }
  void rings_from_root(const Chunk& chunk, bool reduce) {
    if (shape_.gpus > 1) {
      add(chunk, from_root(shape_.nodes), RingPass{shape_.gpus, reduce}, split_inside(chunk),
          kInside);
    }
  }
  // A binomial tree for every local index, from or to the root's node.
  void trees(const Chunk& chunk, Direction direction) {
    const Index gpus = shape_.gpus;
    const Index nodes = shape_.nodes;
    if (nodes == 1) {
      return;
    }
    const Index root = collective_.root;
    const Partition inside = split_inside(chunk);
    const Index first_step = schedule_.steps();
    for (Index first = 0, end = 0; first < gpus; first = end) {
      end = end_of_run(inside, first, root % gpus);
      const double bytes = inside.bytes(first, 1);
      Phase& phase = add(chunk, peers((first + root) % gpus, end - first, root / gpus),
                         BinomialTree{nodes, direction},
                         Partition::equal(bytes, 1, collective_.options), across_);
      phase.offset = inside.begin(first);
      phase.group_bytes = bytes;
      phase.first_step = first_step;
    }
  }

private:
  Phase& add(const Chunk& chunk, const Layout& layout, Rule rule, Partition partition,
             std::uint32_t lane) {
    Phase phase{.layout = layout, .rule = std::move(rule), .partition = std::move(partition)};
    phase.first_step = schedule_.steps();
    phase.offset = chunk.offset;
    phase.lane = lane;
    phase.data = chunk.data;
    phase.nic_share = shape_.sharing;
    phase.own_ports = collective_.links.fabric == nullptr;
    return schedule_.phases.emplace_back(std::move(phase));
  }

  // Part l of a node is that of local index l, or the l-th from the root's.
  [[nodiscard]] Partition split_inside(const Chunk& chunk) const {
    if (chunk.sizes == nullptr) {
      return Partition::equal(chunk.bytes, shape_.gpus, collective_.options);
    }
    std::vector<double> parts;
    for (Index local = 0; local < static_cast<Index>(shape_.gpus); ++local) {
      const double sum = base::sum_of<double>(sizes_of_index(*chunk.sizes, local));
      parts.push_back(sum);
    }
    return Partition::sizes(parts);
  }
  [[nodiscard]] std::vector<double> sizes_of_index(const std::vector<double>& sizes,
                                                   Index local) const {
    return base::collected_n<double>(shape_.nodes, [&](std::uint32_t node) {
      return sizes[node * shape_.gpus + static_cast<std::size_t>(local)];
    });
  }
  // The end of the parts from `first` on that have one size and neighbouring local indices, part 0
  // being that of local index `zero`.
  [[nodiscard]] Index end_of_run(const Partition& parts, Index first, Index zero) const {
    Index end = first + 1;
    while (end < parts.parts() && parts.bytes(end, 1) == parts.bytes(first, 1) &&
           (zero + end) % parts.parts() != 0) {
      ++end;
    }
    return end;
  }
  // The ranks of `count` local indices from `local` on, an index a group, counted from `node` on.
  [[nodiscard]] Layout peers(Index local, Index count, Index node) const {
    const Index nodes = shape_.nodes;
    return {.base = local,
            .groups = count,
            .group_stride = 1,
            .rank_stride = shape_.gpus,
            .size = nodes,
            .shift = node,
            .modulus = nodes};
  }
  // `nodes` nodes, whose ranks are counted from the root's local index on.
  [[nodiscard]] Layout from_root(Index nodes) const {
    const Index gpus = shape_.gpus;
    return {.groups = nodes,
            .group_stride = gpus,
            .size = gpus,
            .shift = static_cast<Index>(collective_.root) % gpus,
            .modulus = gpus};
  }

  Schedule& schedule_;
  NodeShape shape_;
  const Collective& collective_;
  std::uint32_t across_;
};

// The chunks of the message, and what an allgatherv has of each rank in every chunk.
struct Chunks {
  Chunks(const Collective& collective, std::uint32_t count) : sizes(count) {
    const Options& options = collective.options;
    const Partition split = Partition::equal(collective.bytes, count, options);
    for (std::uint32_t i = 0; i < count; ++i) {
      chunks.push_back({split.bytes(i, 1), split.begin(i), i});
      for (const double size : collective.sizes) {
        sizes[i].push_back(Partition::equal(size, count, options).bytes(i, 1));
      }
      if (!collective.sizes.empty()) {
        chunks.back().sizes = &sizes[i];
      }
    }
  }
  std::vector<Chunk> chunks;
  std::vector<std::vector<double>> sizes; // [chunk][P]
};

void gather(LevelPhases& phases, const Chunks& all) {
  for (const Chunk& chunk : all.chunks) {
    phases.across(chunk, false);
  }
  for (const Chunk& chunk : all.chunks) {
    phases.inside(chunk, false);
  }
}

void scatter_sums(LevelPhases& phases, const Chunks& all) {
  for (const Chunk& chunk : all.chunks) {
    phases.inside(chunk, true);
  }
  for (const Chunk& chunk : all.chunks) {
    phases.across(chunk, true);
  }
}

// Steps of the two levels for a chunk of 1/chunks of the message: inside, across.
struct Stages {
  Line in, out;
};
Stages stages_of(const NodeShape& shape, double gamma, double chunks) {
  const double gpus = shape.gpus;
  const double nodes = shape.nodes;
  const double beta_e = shape.sharing * shape.inter.per_byte_s;
  return {(gpus - 1) *
              Line{shape.intra.latency_s, (shape.intra.per_byte_s + gamma) / gpus / chunks},
          (nodes - 1) * Line{shape.inter.latency_s, (beta_e + gamma) / (gpus * nodes) / chunks}};
}

double half_seconds(const Stages& stages, double n, double chunks) {
  const double in = stages.in.at(n);
  const double out = stages.out.at(n);
  return in + out + (chunks - 1) * std::max(in, out);
}

// One half after the other, at gamma for sums and 0 without.
double halves_seconds(const Collective& collective, const NodeShape& shape, double gamma,
                      double chunks) {
  const double n = total_bytes(collective);
  double seconds = 0;
  if (adds(collective.op)) {
    seconds += half_seconds(stages_of(shape, gamma, chunks), n, chunks);
  }
  if (collective.op != Op::reduce_scatter) {
    seconds += half_seconds(stages_of(shape, 0, chunks), n, chunks);
  }
  return seconds;
}

} // namespace

bool takes_chunks(AlgorithmId algorithm, Op op) {
  return (algorithm == kTwoLevel && is_cut(op)) || algorithm == kCollnet;
}

std::uint32_t pipeline_chunks(const Collective& collective) {
  if (!takes_chunks(collective.algorithm, collective.op)) {
    return 1;
  }
  if (collective.options.pipeline_chunks) {
    return *collective.options.pipeline_chunks;
  }
  const NodeShape shape = node_shape(collective);
  const std::vector<double> additions = reduction_costs(collective);
  const double slowest = *std::ranges::max_element(additions); // every ring step waits for it
  const auto seconds = [&](std::uint32_t chunks) {
    return collective.algorithm == kTwoLevel ? halves_seconds(collective, shape, slowest, chunks)
                                             : collnet_seconds(collective, chunks);
  };
  constexpr double kRounding = 1e-12;
  std::uint32_t best = 1;
  double best_s = seconds(1);
  for (std::uint32_t chunks = 2; chunks <= kMostChunks; ++chunks) {
    const double time = seconds(chunks);
    if (time > best_s * (1 + kRounding)) {
      break; // the stages are lines of a chunk's bytes, so that the time is convex in the chunks
    }
    if (time < best_s) {
      best = chunks;
      best_s = time;
    }
  }
  return best;
}

void two_level_phases(Schedule& schedule, const Collective& collective) {
  LevelPhases phases(schedule, collective);
  const std::uint32_t count = pipeline_chunks(collective);
  schedule.data_sets = count;
  schedule.serial_additions = count > 1; // ports are held until all of a chunk is added
  if (collective.op == Op::allgatherv && collective.options.exchange_sizes) {
    const Chunk sizes{kSizeEntryBytes * collective.ranks, 0, 0};
    phases.across(sizes, false);
    phases.inside(sizes, false);
  }
  const Chunks all(collective, count);
  switch (collective.op) {
  case Op::broadcast:
    phases.star(all.chunks.front(), Direction::spread);
    phases.trees(all.chunks.front(), Direction::spread);
    phases.rings_from_root(all.chunks.front(), false);
    return;
  case Op::reduce:
    phases.rings_from_root(all.chunks.front(), true);
    phases.trees(all.chunks.front(), Direction::collect);
    phases.star(all.chunks.front(), Direction::collect);
    return;
  case Op::allreduce:
    scatter_sums(phases, all);
    gather(phases, all);
    return;
  case Op::reduce_scatter:
    scatter_sums(phases, all);
    return;
  case Op::allgather:
  case Op::allgatherv:
    gather(phases, all);
    return;
  case Op::alltoall:
    return;
  }
}

double two_level_parts(const Collective& collective) {
  return is_cut(collective.op) ? static_cast<double>(pipeline_chunks(collective)) * collective.ranks
                               : node_shape(collective).gpus;
}

std::optional<ClosedForm> two_level_rings(const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const bool one_way = collective.op != Op::allreduce;
  if (has_delays(shape) ||
      (one_way && (!all_equal(collective.sizes) || collective.options.exchange_sizes))) {
    return std::nullopt;
  }
  const double gamma = uniform_cost(collective)->reduction_s_per_byte;
  const double chunks = pipeline_chunks(collective);
  ClosedForm form{.seconds = halves_seconds(collective, shape, gamma, chunks),
                  .upper_bound = false,
                  .startup_s = 0,
                  .per_byte_s = 0};
  if (!collective.options.pipeline_chunks) { // the best number depends on the bytes
    form.startup_s = form.per_byte_s = std::nullopt;
    return form;
  }
  for (const bool sums : {true, false}) {
    if (sums ? !adds(collective.op) : collective.op == Op::reduce_scatter) {
      continue;
    }
    const Stages stages = stages_of(shape, sums ? gamma : 0, chunks);
    const auto slowest = chunks == 1 ? Line{} : upper_line(stages.in, stages.out);
    if (!slowest) {
      form.startup_s = form.per_byte_s = std::nullopt;
      return form;
    }
    const Line half = stages.in + stages.out + (chunks - 1) * *slowest;
    *form.startup_s += half.startup_s;
    *form.per_byte_s += half.per_byte_s;
  }
  return form;
}

std::optional<ClosedForm> two_level_rooted(const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  if (has_delays(shape)) {
    return std::nullopt;
  }
  const double gamma = adds(collective.op) ? uniform_cost(collective)->reduction_s_per_byte : 0;
  const double gpus = shape.gpus;
  const double levels = ceil_log2(shape.nodes);
  const double beta_e = shape.sharing * shape.inter.per_byte_s;
  const Line star = (gpus - 1) * Line{shape.intra.latency_s, shape.intra.per_byte_s / gpus};
  const Line ring =
      (gpus - 1) * Line{shape.intra.latency_s, (shape.intra.per_byte_s + gamma) / gpus};
  const Line tree = levels * Line{shape.inter.latency_s, (beta_e + gamma) / gpus};
  const Line sum = star + ring + tree;
  ClosedForm form = linear_form(sum.startup_s, sum.per_byte_s, collective.bytes);
  form.upper_bound = gamma > 0 && !std::has_single_bit(shape.nodes) &&
                     collective.options.reduction_mode == ReductionMode::overlapped;
  return form;
}

} // namespace stepsim::collectives
