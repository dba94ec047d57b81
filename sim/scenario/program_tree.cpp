// Keys that hold their defaults are left out: files stay readable, and reading gives the same.
#include "scenario/program_file.hpp"

#include "base/collected.hpp"
#include "document/fields/members.hpp"
#include "scenario/files/overlap_file.hpp"
#include "scenario/program_keys.hpp"

namespace stepsim::study {

namespace {

using programs::Operation;
using programs::OperationType;
using programs::Program;

io::Json stream_tree(const programs::Stream& stream) {
  using programs::Stream;
  io::Json tree = io::tree_of<&Stream::name>(stream);
  const Stream defaults;
  tree.set("discipline", programs::kDisciplines[stream.discipline]);
  if (stream.credit_bytes != defaults.credit_bytes) {
    tree.set("credit_bytes", stream.credit_bytes);
  }
  if (stream.discipline == programs::Discipline::at_once) {
    if (stream.shares != defaults.shares) {
      tree.set("channel_shares", buckets::kChannelShares[stream.shares]);
    }
    io::set_members<&Stream::concurrency, &Stream::contention>(stream, tree);
  }
  return tree;
}

io::Json group_tree(const programs::Group& group) { return io::list_of(group.parts); }

io::Json pair_tree(const Program& program, std::uint32_t operation, std::int32_t distance) {
  return io::Array{program.operations[operation].id, std::int64_t{distance}};
}

void set_label(io::Json& tree, std::string_view key, std::int32_t value) {
  if (value >= 0) {
    tree.set(key, value);
  }
}

io::Json operation_tree(const Program& program, std::uint32_t o) {
  const Operation& operation = program.operations[o];
  io::Json tree(io::Object{{"id", operation.id},
                           {"stream", program.streams[operation.stream].name},
                           {"type", programs::kOperationTypes[operation.type]},
                           {"kind", programs::kKinds[operation.kind]}});
  if (operation.type == OperationType::exchange) {
    tree.set("startup_s", operation.startup.value);
    tree.set("data_s", operation.data.value);
    if (operation.group != programs::kAllRanks) {
      tree.set("group", program.groups[operation.group].name);
    }
    if (operation.entry != programs::Entry::together) {
      tree.set("entry", programs::kEntries[operation.entry]);
    }
  } else {
    tree.set("seconds", operation.seconds.value);
  }
  io::set_given(tree, "bytes", operation.bytes);
  io::set_given(tree, "priority", operation.priority);
  io::set_given(tree, "step", operation.step);
  set_label(tree, "unit", operation.unit);
  set_label(tree, "first_layer", operation.first_layer);
  if (operation.last_layer != operation.first_layer) {
    set_label(tree, "last_layer", operation.last_layer);
  }
  set_label(tree, "micro_batch", operation.micro_batch);
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

io::Json program_tree(const ProgramFile& file) {
  const Program& program = file.program;
  io::Json tree = io::file_json(keys::kProgram);
  io::set_given(tree, "name", file.name);
  tree.set("streams", base::collected<io::Json>(program.streams, stream_tree));
  if (!program.groups.empty()) {
    io::Object groups;
    for (const programs::Group& group : program.groups) {
      groups.emplace_back(group.name, group_tree(group));
    }
    tree.set("groups", std::move(groups));
  }
  io::Array operations;
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    operations.push_back(operation_tree(program, o));
  }
  for (const programs::Applied& applied : program.applies) {
    io::Json& update = operations[applied.update];
    if (update.find("applies") == nullptr) {
      update.set("applies", io::Array{});
    }
    update.find("applies")->as_array().push_back(
        pair_tree(program, applied.exchange, applied.distance));
  }
  tree.set("operations", std::move(operations));
  tree.set("marker", program.operations[program.marker].id);
  io::set_given(tree, "tail", program.tail_operations);
  if (program.steps != 1) {
    tree.set("steps", program.steps);
  }
  if (program.interference.any()) {
    tree.set("overlap", io::slowdown_tree(program.interference, programs::kKinds.all()));
  }
  tree.set("ranks", program.ranks);
  tree.set("iterations", file.evaluation.iterations);
  tree.set("discard_iterations", file.evaluation.discard);
  return tree;
}

} // namespace stepsim::study
