#include "collectives/schedule/ring_rails.hpp"

#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {
namespace {

constexpr double kLeastBlock = 4096; // bytes, of a block that the search may choose (COL 7)

Index rings_of(const NodeShape& shape) { return shape.nodes > 1 ? shape.cards : 1; }

// The ranks of ring k from position `start` on.
Layout ring_layout(const NodeShape& shape, Index ring, Index start) {
  const Index gpus = shape.gpus;
  const Index size = gpus * shape.nodes;
  const Index first = ring * gpus / rings_of(shape); // local index
  Layout layout{.size = size, .modulus = size};
  layout.inverse.resize(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) {
    const Index position = (start + i) % size;
    const Index rank = position / gpus * gpus + (first + position % gpus) % gpus;
    layout.order.push_back(static_cast<std::uint32_t>(rank));
    layout.inverse[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(i);
  }
  return layout;
}

Phase ring_phase(const NodeShape& shape, Index ring, Rule rule, Partition partition) {
  Phase phase{.layout = ring_layout(shape, ring, 0),
              .rule = std::move(rule),
              .partition = std::move(partition)};
  phase.lane = static_cast<std::uint32_t>(ring);
  phase.data = phase.lane;
  phase.nic_share = 1; // each card has its own ring
  phase.inner_share = static_cast<std::uint32_t>(rings_of(shape));
  phase.own_ports = true;
  return phase;
}

// The part of ring k of every rank's block, in the order of the ring.
Partition ring_sizes(const std::vector<double>& sizes, const Layout& layout, Index rings,
                     Index ring, const Options& options) {
  std::vector<double> parts;
  for (const std::uint32_t rank : layout.order) {
    parts.push_back(Partition::equal(sizes[rank], rings, options).bytes(ring, 1));
  }
  return Partition::sizes(parts);
}

// A reduce-scatter or an all-gather on all rings at once, of `bytes` or of given sizes per rank.
void add_passes(Schedule& schedule, const NodeShape& shape, bool reduce, double bytes,
                const std::vector<double>& sizes, const Options& options) {
  const Index rings = rings_of(shape);
  const Index ranks = static_cast<Index>(shape.gpus) * shape.nodes;
  const Partition shares = Partition::equal(bytes, rings, options);
  const Index first_step = schedule.steps();
  for (Index ring = 0; ring < rings; ++ring) {
    Phase phase = ring_phase(shape, ring, RingPass{ranks, reduce},
                             Partition::equal(shares.bytes(ring, 1), ranks, options));
    if (!sizes.empty()) {
      phase.partition = ring_sizes(sizes, phase.layout, rings, ring, options);
    }
    phase.offset = shares.begin(ring);
    phase.first_step = first_step;
    schedule.phases.push_back(std::move(phase));
  }
}

// The root stands at the head of every chain, or at its end for a reduce.
void add_chains(Schedule& schedule, const NodeShape& shape, const Collective& collective) {
  const Index rings = rings_of(shape);
  const Index ranks = collective.ranks;
  const bool reduce = collective.op == Op::reduce;
  const Partition shares = Partition::equal(collective.bytes, rings, collective.options);
  const double block = ring_rails_blocks(collective)->block_bytes;
  for (Index ring = 0; ring < rings; ++ring) {
    Partition blocks = Partition::blocks({shares.bytes(ring, 1), 0}, block);
    const Chain chain{ranks, blocks.parts(), reduce};
    Phase phase = ring_phase(shape, ring, chain, std::move(blocks));
    const Index root = phase.layout.inverse[collective.root];
    phase.layout = ring_layout(shape, ring, reduce ? root + 1 : root);
    phase.offset = shares.begin(ring);
    schedule.phases.push_back(std::move(phase));
  }
}

// The hops of a ring with parts of 1/parts of the message.
struct Hops {
  std::optional<Line> inner, outer;
};
Hops hops_of(const NodeShape& shape, double parts) {
  Hops hops;
  if (shape.gpus > 1) {
    const auto rings = static_cast<double>(rings_of(shape));
    hops.inner = Line{shape.intra.latency_s, rings * shape.intra.per_byte_s / parts};
  }
  if (shape.nodes > 1) {
    hops.outer = Line{shape.inter.latency_s, shape.inter.per_byte_s / parts};
  }
  return hops;
}

// Crossings of a node's border, in the chain that has fewest and in the one that has most: a
// broadcast comes back into the node of its root, unless the root is the first of its node on the
// ring, and a reduce starts there, unless it is the last.
std::pair<double, double> border_hops(const NodeShape& shape, const Collective& collective) {
  if (shape.nodes == 1) {
    return {0, 0};
  }
  const Index rings = rings_of(shape);
  const Index gpus = shape.gpus;
  Index again = 0; // chains
  for (Index ring = 0; ring < rings; ++ring) {
    const Index first = ring * gpus / rings;
    const Index end = collective.op == Op::reduce ? (first + gpus - 1) % gpus : first;
    again += static_cast<Index>(collective.root) % gpus != end ? 1 : 0;
  }
  const double nodes = shape.nodes;
  return {nodes - (again == rings ? 0 : 1), nodes - (again > 0 ? 0 : 1)};
}

// Time of the longest chain of `count` equal blocks: every hop once, then the slowest count - 1
// times.
double chain_seconds(const NodeShape& shape, const Collective& collective, double block,
                     double count) {
  const Hops hops = hops_of(shape, 1);
  const double inner = hops.inner ? hops.inner->at(block) : 0;
  const double outer = hops.outer ? hops.outer->at(block) : 0;
  const auto once = [&](double outer_hops) {
    return (static_cast<double>(shape.gpus) * shape.nodes - 1 - outer_hops) * inner +
           outer_hops * outer;
  };
  const auto [fewest, most] = border_hops(shape, collective);
  return std::max(once(fewest), once(most)) + (count - 1) * std::max(inner, outer);
}

} // namespace

void ring_rails_phases(Schedule& schedule, const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const auto rings = static_cast<std::size_t>(rings_of(shape));
  schedule.lanes.resize(rings);
  schedule.data_sets = static_cast<std::uint32_t>(rings);
  const Options& options = collective.options;
  switch (collective.op) {
  case Op::broadcast:
  case Op::reduce:
    add_chains(schedule, shape, collective);
    return;
  case Op::allreduce:
  case Op::reduce_scatter:
    add_passes(schedule, shape, true, collective.bytes, {}, options);
    if (collective.op == Op::allreduce) {
      add_passes(schedule, shape, false, collective.bytes, {}, options);
    }
    return;
  case Op::allgatherv:
    if (options.exchange_sizes) {
      Options whole_bytes = options;
      whole_bytes.element_bytes = 1;
      add_passes(schedule, shape, false, kSizeEntryBytes * collective.ranks, {}, whole_bytes);
    }
    add_passes(schedule, shape, false, collective.bytes, collective.sizes, options);
    return;
  case Op::allgather:
    add_passes(schedule, shape, false, collective.bytes, {}, options);
    return;
  case Op::alltoall:
    return;
  }
}

double ring_rails_parts(const Collective& collective) {
  const auto rings = static_cast<double>(rings_of(node_shape(collective)));
  const bool chains = collective.op == Op::broadcast || collective.op == Op::reduce;
  return chains ? rings : rings * collective.ranks;
}

// The time of a chain is convex in the number of blocks: the largest of two sums A/m + B m + C.
// So the first number whose successor is not cheaper is the best one, found by halving.
std::optional<Blocks> ring_rails_blocks(const Collective& collective) {
  if (collective.op != Op::broadcast && collective.op != Op::reduce) {
    return std::nullopt;
  }
  const NodeShape shape = node_shape(collective);
  const Options& options = collective.options;
  const double stream = Partition::equal(collective.bytes, rings_of(shape), options).bytes(0, 1);
  if (is_empty(collective) || stream <= 0) {
    return Blocks{stream, stream > 0 ? 1 : 0, false};
  }
  double block = stream;
  if (options.block) {
    block = static_cast<double>(options.block->value);
  } else {
    double low = 1;
    double high = std::max(1.0, std::floor(stream / kLeastBlock));
    while (low < high) {
      const double middle = std::floor((low + high) / 2);
      const bool falls = chain_seconds(shape, collective, stream / (middle + 1), middle + 1) <
                         chain_seconds(shape, collective, stream / middle, middle);
      falls ? low = middle + 1 : high = middle;
    }
    const auto element = static_cast<double>(options.element_bytes);
    block = options.chunking == Chunking::real ? stream / low
                                               : element * std::ceil(stream / (element * low));
  }
  const bool clamped = block > stream;
  block = std::min(block, stream);
  return Blocks{block, static_cast<std::int64_t>(std::ceil(stream / block * (1 - 1e-12))), clamped};
}

std::optional<ClosedForm> ring_rails_chains(const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const bool adds =
      collective.op == Op::reduce && uniform_cost(collective)->reduction_s_per_byte > 0;
  if (adds || has_delays(shape) || shape.inter.block_latency_s != shape.inter.latency_s ||
      shape.intra.block_latency_s != shape.intra.latency_s) {
    return std::nullopt;
  }
  const Blocks blocks = *ring_rails_blocks(collective);
  const auto count = static_cast<double>(blocks.blocks);
  const double stream = collective.bytes / static_cast<double>(rings_of(shape));
  return ClosedForm{.seconds = chain_seconds(shape, collective, blocks.block_bytes, count),
                    .upper_bound = count * blocks.block_bytes > stream * (1 + 1e-12)};
}

std::optional<ClosedForm> ring_rails_passes(const Collective& collective) {
  const bool adds = collective.op == Op::allreduce || collective.op == Op::reduce_scatter;
  const double gamma = uniform_cost(collective)->reduction_s_per_byte;
  if ((adds && gamma > 0) || !all_equal(collective.sizes) || collective.options.exchange_sizes ||
      has_delays(node_shape(collective))) {
    return std::nullopt;
  }
  const NodeShape shape = node_shape(collective);
  const double n = total_bytes(collective);
  const double passes = collective.op == Op::allreduce ? 2 : 1;
  const double steps = passes * (collective.ranks - 1.0);
  const Hops hops =
      hops_of(shape, static_cast<double>(rings_of(shape)) * static_cast<double>(collective.ranks));
  const Line inner = hops.inner.value_or(Line{});
  const Line outer = hops.outer.value_or(Line{});
  ClosedForm form{.seconds = steps * std::max(inner.at(n), outer.at(n)), .upper_bound = false};
  if (const auto slowest = upper_line(inner, outer)) {
    form.startup_s = steps * slowest->startup_s;
    form.per_byte_s = steps * slowest->per_byte_s;
  }
  return form;
}

} // namespace stepsim::collectives
