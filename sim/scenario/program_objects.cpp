#include "scenario/program_file.hpp"

#include "collectives/validate.hpp"
#include "programs/step/exchange_times.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/program_keys.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

std::vector<std::uint32_t> ranks_of(const io::Json& part, io::Problems& problems) {
  std::vector<std::uint32_t> ranks;
  if (!part.is_array()) {
    problems.add(part, "must be a list of ranks, got " + io::shown(part));
    return ranks;
  }
  for (const io::Json& rank : part.as_array()) {
    const io::Range range = keys::kProgramRank.front().range;
    if (const auto number = io::checked_integer(rank, range, problems)) {
      ranks.push_back(static_cast<std::uint32_t>(*number));
    }
  }
  return ranks;
}

// The cluster is read as that of a scenario with one layer, so that its keys, defaults and errors
// are the same.

// Needs no network of its own: the layer has no bytes.
io::Json scenario_around(const io::Json& cluster, const io::Json& root) {
  const io::Json layer(io::Object{{"name", "layer"},
                                  {"forward_s", 1.0},
                                  {"backward_s", 1.0},
                                  {"gradient_bytes", 4},
                                  {"dtype", "float32"}});
  io::Json tree(io::Object{});
  tree.set("workload", io::Object{{"layers", io::Array{layer}}});
  tree.set("cluster", cluster);
  if (const io::Json* unusual = root.find("allow_unusual")) {
    tree.set("allow_unusual", *unusual);
  }
  tree.set_origin(root.file_pointer(), "", root.line());
  return tree;
}

collectives::Op op_of(programs::Kind kind) {
  return *collectives::parse_op(programs::kKinds[kind]);
}

std::uint32_t whole(std::int64_t count) { return static_cast<std::uint32_t>(count); }

// Bytes cost nothing and adding is free: what is left are start-ups.
collectives::Collective without_bytes(collectives::Collective collective) {
  const auto drop = [](collectives::LinkCost& cost) { cost.per_byte_s = 0; };
  drop(collective.links.all);
  if (collective.links.two_level) {
    drop(collective.links.two_level->intra);
    collective.links.two_level->nics_per_node = collective.links.two_level->gpus_per_node;
  }
  collective.reduction_s_per_byte = 0;
  return collective;
}

// Keys that hold their defaults are left out: files stay readable, and reading gives the same.

using programs::Program;

io::Json stream_tree(const programs::Stream& stream) {
  using programs::Stream;
  io::Json tree = io::tree_of<&Stream::name>(stream);
  const Stream defaults;
  tree.set("discipline", programs::kDisciplines[stream.discipline]);
  io::set_if(stream.credit_bytes != defaults.credit_bytes, tree, "credit_bytes",
             stream.credit_bytes);
  if (stream.discipline == programs::Discipline::at_once) {
    io::set_if(stream.shares != defaults.shares, tree, "channel_shares",
               buckets::kChannelShares[stream.shares]);
    io::set_members<&Stream::concurrency, &Stream::contention>(stream, tree);
  }
  return tree;
}

io::Json pair_tree(const Program& program, std::uint32_t operation, std::int32_t distance) {
  return io::Array{program.operations[operation].id, std::int64_t{distance}};
}

io::Json operation_tree(const Program& program, std::uint32_t o) {
  const programs::Operation& operation = program.operations[o];
  io::Json tree(io::Object{{"id", operation.id},
                           {"stream", program.streams[operation.stream].name},
                           {"type", programs::kOperationTypes[operation.type]},
                           {"kind", programs::kKinds[operation.kind]}});
  if (operation.type == programs::OperationType::exchange) {
    tree.set("startup_s", operation.startup.value);
    tree.set("data_s", operation.data.value);
    if (operation.group != programs::kAllRanks) {
      tree.set("group", program.groups[operation.group].name);
    }
    io::set_if(operation.entry != programs::Entry::together, tree, "entry",
               programs::kEntries[operation.entry]);
  } else {
    tree.set("seconds", operation.seconds.value);
  }
  io::set_given(tree, "bytes", operation.bytes);
  io::set_given(tree, "priority", operation.priority);
  io::set_given(tree, "step", operation.step);
  io::set_if(operation.unit >= 0, tree, "unit", operation.unit);
  io::set_if(operation.first_layer >= 0, tree, "first_layer", operation.first_layer);
  io::set_if(operation.last_layer >= 0 && operation.last_layer != operation.first_layer, tree,
             "last_layer", operation.last_layer);
  io::set_if(operation.micro_batch >= 0, tree, "micro_batch", operation.micro_batch);
  io::Array waits;
  for (const programs::Wait& wait : program.waits_of(o)) {
    waits.push_back(pair_tree(program, wait.operation, wait.distance));
    if (wait.scope == programs::Scope::all) {
      waits.back().as_array().emplace_back("all");
    }
    if (wait.until != programs::kAlways) {
      waits.back().as_array().emplace_back(std::int64_t{wait.until});
    }
  }
  tree.set("waits", std::move(waits));
  return tree;
}

} // namespace

programs::Interference parse_interference(const io::Json& overlap, io::Problems& problems) {
  programs::Interference interference;
  io::Fields fields(overlap, problems, *io::find_key(keys::kProgram, "overlap"));
  interference.exchange = fields.number("exchange");
  if (const io::Json* compute = fields.any("compute"); compute != nullptr && compute->is_object()) {
    const auto kinds = programs::kKinds.all();
    interference.compute =
        io::factors_by_kind(*compute, "kind", {kinds.begin(), kinds.end()}, problems);
  } else if (compute != nullptr && !compute->is_null()) {
    const io::Range range = keys::kOverlapComputeForms.front().range;
    interference.compute.fill(io::checked_number(*compute, range, problems).value_or(1));
  }
  fields.no_more();
  return interference;
}

std::vector<programs::Group> parse_groups(const io::Json& groups, io::Problems& problems) {
  std::vector<programs::Group> result;
  if (!groups.is_object()) {
    problems.add(groups, "must be an object, got " + io::shown(groups));
    return result;
  }
  for (const auto& [name, parts] : groups.as_object()) {
    programs::Group group{.name = name};
    if (name == "all") {
      problems.add(parts, "all stands for every rank and needs no group");
    } else if (!parts.is_array()) {
      problems.add(parts, "must be a list of lists of ranks, got " + io::shown(parts));
    } else {
      for (const io::Json& part : parts.as_array()) {
        group.parts.push_back(ranks_of(part, problems));
      }
    }
    result.push_back(std::move(group));
  }
  return result;
}

void add_unawaited(const programs::Program& program, std::vector<std::string>& warnings) {
  // The next operation of a fifo stream waits for the one before it: one that is awaited is enough.
  std::vector<bool> holds(program.streams.size(), false);
  const auto hold = [&](std::uint32_t operation) {
    const std::uint32_t stream = program.operations[operation].stream;
    holds[stream] = program.streams[stream].discipline == programs::Discipline::fifo;
  };
  hold(program.marker);
  for (const programs::Wait& wait : program.waits) {
    hold(wait.operation);
  }
  std::vector<std::uint32_t> loose = programs::unawaited(program);
  std::erase_if(loose, [&](std::uint32_t o) { return holds[program.operations[o].stream]; });
  if (loose.empty()) {
    return;
  }
  constexpr std::size_t kShown = 5;
  std::string text =
      base::listed(std::span(loose).first(std::min(kShown, loose.size())),
                   [&](std::uint32_t o) { return base::shown_value(program.operations[o].id); });
  if (loose.size() > kShown) {
    text += " and " + std::to_string(loose.size() - kShown) + " more";
  }
  warnings.push_back("nothing waits for " + text);
}

ProgramLinks::ProgramLinks(const io::Json& cluster, const io::Json& root, Files& files)
    : scenario_(parse_scenario(scenario_around(cluster, root), files)) {}

std::uint32_t ProgramLinks::ranks() const { return whole(scenario_.cluster.ranks()); }
std::uint32_t ProgramLinks::nodes() const { return whole(joined_nodes(scenario_.cluster).nodes); }
std::uint32_t ProgramLinks::gpus_per_node() const {
  return whole(joined_nodes(scenario_.cluster).gpus);
}

programs::LinkConstants ProgramLinks::constants() const {
  const Cluster& cluster = scenario_.cluster;
  const bool two_levels = cluster.nodes > 1 && cluster.gpus_of_domain() > 1; // each has its own
  if (cluster.network.curve || cluster.fabric || !cluster.has_network || two_levels) {
    return {};
  }
  const collectives::LinkCost link = exchange_of(scenario_).links.all;
  return {.latency_s = link.startup_s(), .seconds_per_byte = link.per_byte_s};
}

// The cards of a node are shared by the groups of its ranks.
buckets::Cost ProgramLinks::library_cost(collectives::Op op, ProgramSpan span) const {
  nccl::LibraryQuestion question = *scenario_.communication.question;
  question.operation = collectives::operation_of(op);
  if (span == ProgramSpan::node) {
    question.shape = {question.shape.nodes / nodes(), question.shape.gpus};
  } else if (span == ProgramSpan::replica) {
    question.shape = {nodes(), 1};
    question.node.domain_nodes = 1;
    question.node.nic_Bps /= static_cast<double>(joined_nodes(scenario_.cluster).gpus_per_nic());
  }
  return {.base = buckets::CurveCost{
              [cost = nccl::LibraryCost(question)](double bytes) { return cost.seconds(bytes); }}};
}

buckets::Cost ProgramLinks::measured_cost(collectives::Op op) const {
  const Network& network = scenario_.cluster.network;
  const bool tree = op == collectives::Op::broadcast || op == collectives::Op::reduce;
  if (op == collectives::Op::broadcast && network.broadcast_curve) {
    return *network.broadcast_curve;
  }
  const double part = op == collectives::Op::allreduce ? 1
                      : tree                           ? ranks() / (2 * (ranks() - 1.0))
                                                       : 0.5;
  return {.base = buckets::CurveCost{[part, whole = *network.curve](double bytes) {
            return part * whole.seconds(bytes, 1);
          }}};
}

CollectiveTime ProgramLinks::time(programs::Kind kind,
                                  std::optional<collectives::AlgorithmId> algorithm, double bytes,
                                  ProgramSpan span, const io::Json& place,
                                  io::Problems& problems) const {
  const Cluster& cluster = scenario_.cluster;
  const bool library = scenario_.communication.question && !algorithm;
  const bool measured = cluster.network.curve && !scenario_.communication.question &&
                        (!algorithm || cluster.network.bandwidth_Bps <= 0 ||
                         *algorithm == scenario_.communication.collective);
  collectives::Collective collective = exchange_of(scenario_);
  collective.op = op_of(kind);
  const bool tree = kind == programs::Kind::reduce || kind == programs::Kind::broadcast;
  collective.algorithm =
      algorithm.value_or(tree ? collectives::AlgorithmId::mst : collectives::AlgorithmId::ring);
  if (span != ProgramSpan::all) {
    if (cluster.fabric || measured || !cluster.intra) {
      problems.add(place, "group",
                   "the groups node and replica need a cluster of latencies and bandwidths, with "
                   "an intra_network");
      return {};
    }
    if (!cluster.equal_nodes()) {
      require_equal_nodes(cluster, "a group", place, problems);
      return {};
    }
    collective.links.two_level.reset();
    collective.ranks = span == ProgramSpan::node ? gpus_per_node() : nodes();
    if (span == ProgramSpan::node) {
      collective.links.all = *cluster.intra;
    } else {
      bytes *= library ? 1 : static_cast<double>(joined_nodes(cluster).gpus_per_nic());
    }
  }
  if (!cluster.has_network && cluster.intra) { // nothing leaves the node
    collective.links.all = *cluster.intra;
  }
  collective.bytes = bytes;
  if (collective.ranks < 2) {
    return {};
  }
  if (library || measured) { // the links count for nothing
    collective.links = {.all = {.per_byte_s = 1}};
  }
  const std::vector<collectives::Finding> findings = collectives::validate(collective);
  if (!findings.empty()) {
    problems.add(place, "algorithm", findings.front().message);
    return {};
  }
  std::optional<buckets::Cost> curve;
  if (library) {
    curve = library_cost(collective.op, span);
  } else if (measured) {
    curve = measured_cost(collective.op);
  }
  const Bytes size{static_cast<std::int64_t>(bytes)};
  programs::ExchangeTimes all(collective, scenario_.method, curve);
  const double seconds = all(size).seconds;
  if (curve || cluster.fabric) { // whose start-up is not a number
    return {.startup_s = 0, .data_s = seconds};
  }
  programs::ExchangeTimes startups(without_bytes(collective), scenario_.method, {});
  const double startup = std::min(seconds, startups(size).seconds);
  return {.startup_s = startup, .data_s = seconds - startup};
}

io::Json program_tree(const ProgramFile& file) {
  const Program& program = file.program;
  io::Json tree = io::file_json(keys::kProgram);
  io::set_given(tree, "name", file.name);
  tree.set("streams", base::collected<io::Json>(program.streams, stream_tree));
  if (!program.groups.empty()) {
    io::Object groups;
    for (const programs::Group& group : program.groups) {
      groups.emplace_back(group.name, io::list_of(group.parts));
    }
    tree.set("groups", std::move(groups));
  }
  io::Array operations =
      base::collected_n<io::Json>(static_cast<std::uint32_t>(program.operations.size()),
                                  [&](std::uint32_t o) { return operation_tree(program, o); });
  for (const programs::Applied& applied : program.applies) {
    io::Json& update = operations[applied.update];
    io::set_if(update.find("applies") == nullptr, update, "applies", io::Array{});
    update.find("applies")->as_array().push_back(
        pair_tree(program, applied.exchange, applied.distance));
  }
  tree.set("operations", std::move(operations));
  tree.set("marker", program.operations[program.marker].id);
  io::set_given(tree, "tail", program.tail_operations);
  io::set_if(program.steps != 1, tree, "steps", program.steps);
  io::set_if(program.interference.any(), tree, "overlap",
             io::slowdown_tree(program.interference, programs::kKinds.all()));
  tree.set("ranks", program.ranks);
  tree.set("iterations", file.evaluation.iterations);
  tree.set("discard_iterations", file.evaluation.discard);
  return tree;
}

} // namespace stepsim::study
