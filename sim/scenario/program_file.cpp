// Ids become numbers in two passes: operations first, then waits, which may name later ones. What
// a program must be is checked once more by programs::check, in whose words the problems are.
#include "scenario/program_file.hpp"

#include <cstdlib>

#include "scenario/program_keys.hpp"

namespace stepsim::study {

namespace {

using programs::Operation;

constexpr auto kStreamKeys =
    io::members<&programs::Stream::name, &programs::Stream::discipline,
                &programs::Stream::credit_bytes, &programs::Stream::concurrency,
                &programs::Stream::contention>;
constexpr auto kOperationKeys =
    io::members<&Operation::id, &Operation::type, &Operation::bytes, &Operation::entry,
                &Operation::priority, &Operation::step>;

class ProgramReader {
public:
  ProgramReader(const io::Json& tree, Files& files)
      : tree_(tree), files_(files), top_(tree, problems_, keys::kProgram) {}

  ProgramFile read() {
    top_.header("program");
    ProgramFile file;
    file.name = top_.string("name", "");
    (void)top_.boolean("allow_unusual");
    read_cluster();
    read_streams();
    read_groups();
    if (const io::Json* overlap = top_.given("overlap")) {
      draft_.settings().interference = parse_interference(*overlap, problems_);
    }
    draft_.settings().steps = static_cast<std::int32_t>(top_.integer("steps"));
    const std::span<const io::Json> operations = top_.list("operations", "operation");
    for (const io::Json& each : operations) {
      read_operation(each);
    }
    problems_.throw_if_any();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      read_waits(operations[i], static_cast<std::uint32_t>(i));
    }
    const std::uint32_t marker = read_marker();
    const std::int64_t tail = top_.integer("tail");
    read_evaluation(file);
    top_.no_more();
    problems_.throw_if_any();
    file.program = draft_.finish(marker);
    file.program.tail_operations = static_cast<std::uint32_t>(
        std::min(tail, static_cast<std::int64_t>(file.program.operations.size())));
    programs::check(file.program, std::string(tree_.file()));
    if (links_) {
      file.links = links_->constants();
    }
    add_unawaited(file.program, file.warnings);
    return file;
  }

private:
  void read_cluster() {
    if (const io::Json* cluster = top_.given("cluster")) {
      links_.emplace(*cluster, tree_, files_);
    }
    const auto ranks = top_.optional_integer("ranks");
    draft_.settings().ranks = ranks    ? static_cast<std::uint32_t>(*ranks)
                              : links_ ? links_->ranks()
                                       : 1;
    if (ranks && links_ && *ranks != std::int64_t{links_->ranks()}) {
      top_.refuse("ranks", "the cluster has " + base::counted(links_->ranks(), "rank") + ", got " +
                               std::to_string(*ranks));
    }
  }

  void read_streams() {
    for (const io::Json& each : top_.list("streams", "stream")) {
      io::Fields fields(each, problems_, keys::kProgramStream.front());
      programs::Stream stream = io::read_members(kStreamKeys, fields);
      stream.shares = fields.word("channel_shares", buckets::kChannelShares);
      fields.no_more();
      streams_.emplace(stream.name, draft_.stream(stream));
    }
  }

  void read_groups() {
    const io::Json* groups = top_.given("groups");
    if (groups == nullptr) {
      return;
    }
    for (programs::Group& group : parse_groups(*groups, problems_)) {
      std::string name = group.name;
      groups_.emplace(std::move(name), draft_.group(std::move(group)));
    }
  }

  // Groups of the cluster, made when they are first used.
  std::optional<std::uint32_t> group_of(const std::string& name) {
    if (const auto found = groups_.find(name); found != groups_.end()) {
      return found->second;
    }
    if (!links_ || (name != "node" && name != "replica")) {
      return std::nullopt;
    }
    programs::Group group{.name = name};
    const std::uint32_t inner = links_->gpus_per_node();
    const bool node = name == "node";
    for (std::uint32_t part = 0; part < (node ? links_->nodes() : inner); ++part) {
      std::vector<std::uint32_t> ranks;
      for (std::uint32_t k = 0; k < (node ? inner : links_->nodes()); ++k) {
        ranks.push_back(node ? part * inner + k : k * inner + part);
      }
      group.parts.push_back(std::move(ranks));
    }
    of_cluster_[name] = node ? ProgramSpan::node : ProgramSpan::replica;
    return groups_.emplace(name, draft_.group(std::move(group))).first->second;
  }

  static double seconds(io::Fields& fields, std::string_view key) {
    return fields.number(key, io::between(0, keys::kMostTime));
  }

  void read_operation(const io::Json& json) {
    io::Fields fields(json, problems_, keys::kProgramOperation.front());
    Operation operation = io::read_members(kOperationKeys, fields);
    operation.stream = named(fields, "stream", streams_);
    const auto kind = fields.optional_word("kind", programs::kKinds);
    operation.kind = kind.value_or(programs::Kind::other);
    const std::string group = fields.text("group");
    if (group != "all") {
      if (const auto found = group_of(group)) {
        operation.group = *found;
      } else {
        fields.refuse("group", unknown("group", group, groups_));
      }
    }
    const auto label = [&](std::string_view key, std::int32_t otherwise) {
      return static_cast<std::int32_t>(
          fields.optional_integer(key).value_or(std::int64_t{otherwise}));
    };
    operation.unit = label("unit", -1);
    operation.first_layer = label("first_layer", -1);
    operation.last_layer = label("last_layer", operation.first_layer);
    operation.micro_batch = label("micro_batch", -1);
    if (operation.last_layer < operation.first_layer || operation.first_layer < 0) {
      fields.refuse_if(fields.has("last_layer"), "last_layer", "must not be below first_layer");
    }
    (void)fields.any("waits");
    (void)fields.any("applies");
    read_times(fields, kind.has_value(), group, operation);
    fields.no_more();
    const std::uint32_t added = draft_.add(std::move(operation));
    ids_.emplace(fields.has("id") ? draft_.last().id : std::string(), added);
  }

  void read_times(io::Fields& fields, bool has_kind, const std::string& group,
                  Operation& operation) {
    const auto collective = fields.optional_word("collective");
    const auto algorithm = fields.optional_word("algorithm");
    const auto refuse = [&](std::string_view key, std::string_view why) {
      fields.refuse_if(fields.has(key), key, std::string(why));
      (void)fields.any(key);
    };
    if (operation.type != programs::OperationType::exchange) {
      operation.seconds = {seconds(fields, "seconds")};
      for (const std::string_view key : {"startup_s", "data_s", "collective", "algorithm"}) {
        refuse(key, "belongs to exchanges only");
      }
      return;
    }
    refuse("seconds", "belongs to compute and delay; an exchange has startup_s and data_s");
    if (!collective) {
      operation.startup = {seconds(fields, "startup_s")};
      operation.data = {seconds(fields, "data_s")};
      refuse("algorithm", "belongs to a collective");
      return;
    }
    refuse("startup_s", "is that of the collective");
    refuse("data_s", "is that of the collective");
    const programs::Kind op = *programs::kKinds.find(*collective);
    operation.kind = has_kind ? operation.kind : op;
    if (!links_) {
      fields.refuse("collective", "needs the cluster of the file, which gives its time");
      return;
    }
    if (operation.group != programs::kAllRanks && !of_cluster_.contains(group)) {
      fields.refuse("group", "a collective runs over all ranks or the groups node and replica of "
                             "the cluster; give startup_s and data_s for others");
      return;
    }
    const auto id = algorithm ? collectives::find_algorithm(*algorithm) : std::nullopt;
    const ProgramSpan span =
        operation.group == programs::kAllRanks ? ProgramSpan::all : of_cluster_.at(group);
    const CollectiveTime time =
        links_->time(op, id, static_cast<double>(operation.bytes), span, fields.json(), problems_);
    operation.startup = {time.startup_s};
    operation.data = {time.data_s};
    if (!(time.startup_s + time.data_s <= keys::kMostTime)) {
      fields.refuse("collective", "must take at most " + base::shortest(keys::kMostTime) +
                                      " s on the cluster of the file");
    }
  }

  using Names = std::map<std::string, std::uint32_t, std::less<>>;

  static std::string unknown(const std::string& what, const std::string& name, const Names& names) {
    return base::unknown_word(
        what, name,
        base::collected<std::string_view>(
            names, [](const auto& each) -> std::string_view { return each.first; }));
  }

  std::uint32_t named(io::Fields& fields, std::string_view key, const Names& names) {
    const std::string name = fields.text(key);
    if (const auto found = names.find(name); found != names.end()) {
      return found->second;
    }
    if (fields.has(key) && fields.json().find(key)->is_string()) {
      fields.refuse(key, unknown(std::string(key), name, names));
    }
    return 0;
  }

  // An id of the file; empty after a problem at `place`.
  std::optional<std::uint32_t> operation_of(const io::Json& id, const io::Json& place) {
    if (id.is_string()) {
      if (const auto found = ids_.find(id.as_string()); found != ids_.end()) {
        return found->second;
      }
      problems_.add(place, "unknown operation \"" + base::shown_value(id.as_string()) + "\"");
    } else {
      problems_.add(place, "must begin with the id of an operation, got " + io::shown(id));
    }
    return std::nullopt;
  }

  // [id, distance], and with waits perhaps "all" and the iterations at the beginning in which they
  // hold.
  void read_waits(const io::Json& json, std::uint32_t operation) {
    const auto each_of = [&](std::string_view key, std::size_t most, auto use) {
      const io::Json* list = json.find(key);
      if (list == nullptr || list->is_null()) {
        return;
      }
      if (!list->is_array()) {
        problems_.add(*list, "must be a list of [id, distance], got " + io::shown(*list));
        return;
      }
      for (const io::Json& each : list->as_array()) {
        if (!each.is_array() || each.as_array().size() < 2 || each.as_array().size() > most) {
          problems_.add(each, "must be [id, distance], got " + io::shown(each));
          continue;
        }
        const io::Array& parts = each.as_array();
        const auto other = operation_of(parts[0], each);
        auto distance = io::checked_integer(parts[1], io::Range{}, problems_);
        if (distance && std::abs(*distance) > keys::kMostDistance) {
          problems_.refuse(parts[1], "must be <= {}, got {}", keys::kMostDistance, *distance);
          distance.reset();
        }
        if (other && distance) {
          use(*other, static_cast<std::int32_t>(*distance), each);
        }
      }
    };
    each_of("waits", 4, [&](std::uint32_t other, std::int32_t distance, const io::Json& wait) {
      const io::Array& parts = wait.as_array();
      const bool all = parts.size() > 2 && parts[2] == io::Json("all");
      const std::size_t place = all ? 3 : 2;
      std::uint32_t until = programs::kAlways;
      if (parts.size() > place + 1 || (parts.size() > 2 && !all && !parts[2].is_number())) {
        problems_.add(parts[2], "must be \"all\", got " + io::shown(parts[2]));
      } else if (parts.size() > place) {
        const io::Range range = io::between(1, keys::kMostProgramIterations);
        until = static_cast<std::uint32_t>(
            io::checked_integer(parts[place], range, problems_).value_or(1));
      }
      draft_.wait(operation, other, distance, all ? programs::Scope::all : programs::Scope::own,
                  until);
    });
    each_of("applies", 2, [&](std::uint32_t other, std::int32_t distance, const io::Json&) {
      draft_.applies(operation, other, distance);
    });
  }

  std::uint32_t read_marker() {
    const std::string marker = top_.text("marker");
    if (const auto found = ids_.find(marker); found != ids_.end()) {
      return found->second;
    }
    top_.refuse_if(top_.has("marker"), "marker",
                   "unknown operation \"" + base::shown_value(marker) + "\"");
    return 0;
  }

  void read_evaluation(ProgramFile& file) {
    file.evaluation.iterations = top_.integer("iterations");
    const std::int64_t half = file.evaluation.iterations / 2;
    file.evaluation.discard = top_.integer_or("discard_iterations", half);
    top_.refuse_if(file.evaluation.discard >= file.evaluation.iterations, "discard_iterations",
                   "must be less than iterations ({}), got {}", file.evaluation.iterations,
                   file.evaluation.discard);
  }

  const io::Json& tree_;
  Files& files_;
  io::Problems problems_;
  io::Fields top_;
  programs::ProgramDraft draft_;
  std::optional<ProgramLinks> links_;
  Names streams_;
  Names groups_;
  Names ids_;
  std::map<std::string, ProgramSpan, std::less<>> of_cluster_; // groups that the cluster has
};

} // namespace

bool is_program(const io::Json& tree) {
  const io::Json* kind = tree.find("kind");
  return kind != nullptr ? *kind == io::Json("program") : tree.find("operations") != nullptr;
}

ProgramFile parse_program(const io::Json& tree, Files& files) {
  return ProgramReader(tree, files).read();
}

} // namespace stepsim::study
