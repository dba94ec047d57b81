// One lock guards all maps: files are read once and then only looked up, so that threads of a sweep
// rarely meet here. Entries are behind pointers, whose targets stay in place while the maps grow.

#include "scenario/files.hpp"

#include <chrono>
#include <sys/stat.h>

#include "base/shared_value.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "links/fabric/topology.hpp"
#include "scenario/files/trace_file.hpp"
#include "scenario/keys/cluster_keys.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

// A short hash that is the same on every machine; it guards against mistakes, not against intent.
std::string fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) {
    digits[i] = kDigits[hash & 15];
  }
  return digits;
}

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

// Empty for what is no regular file, such as a pipe.
std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return FileStamp{.device = status.st_dev,
                   .inode = status.st_ino,
                   .bytes = status.st_size,
                   .changed_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

// Whether the table of keys has the place that `name` was read from.
[[maybe_unused]] bool is_known_place(const io::Json& name, FileKind kind) {
  std::string pointer = name.pointer();
  constexpr std::string_view kScenario = "/scenario"; // of a sweep, or of a row of measured steps
  if (const std::size_t place = pointer.rfind("/scenario/"); place != std::string::npos) {
    pointer.erase(0, place + kScenario.size());
  }
  return pointer.empty() || file_kind_at(pointer) == kind;
}

constexpr std::string_view kAllReduce = "allreduce";

// "allreduce with 2 ranks, allgather with 8 ranks"
std::string lines_text(const CostFile& file) {
  return base::listed(file.lines, [](const io::LineCost& line) {
    return line.op + " with " + base::counted(line.ranks, "rank");
  });
}

// What mends a name in a result or in records, which nobody wrote by hand.
std::string remedy_in_result(const io::Json& name) {
  constexpr std::string_view kInside = "/scenario/";
  const std::string pointer = name.pointer();
  const std::string file(name.file());
  return pointer.starts_with(kInside) && io::is_regular(file)
             ? "; give --set " + pointer.substr(kInside.size() - 1) +
                   "=FILE, relative to the folder of " + file
             : "";
}

// The way out for a rate in place of a name: "100Gb/s" is no file.
std::string remedy_of_name(const std::string& path, const io::Json& name) {
  const bool lists = shipped_kind(file_kind_at(name.pointer())) == &kShippedProfiles;
  return lists && !fs::path(path).has_extension()
             ? "; stepsim topologies list has the names of networks"
             : "";
}

// Only "cannot read" is turned into an error of the place that names the file; errors inside the
// file keep their own pointers.
io::Json read_with_digest(const std::string& path, const io::Json& name, std::string* sha256) {
  try {
    return io::read_json(path, {}, sha256);
  } catch (const InputError& error) {
    const base::Problem& problem = error.problems().front();
    constexpr std::string_view kCannotRead = "cannot read: ";
    if (name.pointer().empty() || problem.file != path || !problem.where.empty() ||
        !problem.message.starts_with(kCannotRead)) {
      throw;
    }
    throw InputError(std::string(name.file()), name.pointer(),
                     "cannot read " + path + ": " + problem.message.substr(kCannotRead.size()) +
                         remedy_in_result(name) + remedy_of_name(path, name));
  }
}

} // namespace

void Files::note_file(const std::string& path) {
  constexpr std::int64_t kYoungest = 2 * kNanoseconds;
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  std::optional<FileStamp> stamp = stamp_of(path);
  if (stamp && stamp->changed_ns > now - kYoungest) {
    stamp.reset();
  }
  const auto [place, is_new] = stamps_.emplace(path, stamp);
  if (!is_new && place->second != stamp) { // between two readings
    place->second.reset();
  }
}

bool Files::may_be_kept() const {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kMostKept = 256;
  return stamps_.size() + library_calibrations_.size() + routed_.size() <= kMostKept &&
         std::ranges::all_of(stamps_, [](const auto& each) {
           return each.second && stamp_of(each.first) == each.second;
         });
}

io::Json read_named(const std::string& path, const io::Json& name) {
  return read_with_digest(path, name, nullptr);
}

io::Json Files::read_input(const std::string& path, const io::Json& name) {
  const auto is_this = [&](const std::string& output) { return io::same_file(output, path); };
  if (const auto output = std::ranges::find_if(outputs_, is_this); output != outputs_.end()) {
    throw UsageError(*output + ": is an input too" +
                     (name.pointer().empty() ? "" : ", named at " + name.pointer()) +
                     "; a result does not replace what it was made from");
  }
  note_file(path);
  std::string sha256;
  io::Json json = read_with_digest(path, name, &sha256);
  if (io::is_regular(path)) {
    sha256_.emplace(path, std::move(sha256));
  }
  return json;
}

// The digest is of the compact tree and not of the bytes: indentation changes no result. A file
// that changes during a sweep would give points of two inputs.
io::Json Files::read(const std::string& path, const io::Json& name) {
  io::Json json = read_input(path, name);
  std::string content = io::compact(json);
  if (const std::string shares = io::file_of_shares(json); !shares.empty()) {
    content += io::compact(read_input(shares, *json.find("of_nominal")));
  }
  const std::string digest = fnv1a(content);
  if (digests_.emplace(path, digest).first->second != digest) {
    throw InputError(path, "", "has changed since it was read first");
  }
  return json;
}

// Where a profile is named, a shipped node type serves as well. An unknown name is an error of the
// file that has it, with the nearest shipped name.
std::string Files::path_as(FileKind kind, const io::Json& name) {
  assert(kind != FileKind::none && "the pointer is one of a key that names a file");
  const Shipped* shipped = shipped_kind(kind);
  if (shipped == nullptr || !is_shipped_name(name.as_string())) {
    return path_of(name);
  }
  return base::remembered(shipped_paths_, {kind, name.as_string()}, [&] {
    if (kind == FileKind::profile &&
        shipped_files(data_folder_, kShippedNodes).contains(name.as_string())) {
      shipped = &kShippedNodes;
    }
    try {
      return shipped_file(data_folder_, *shipped, name.as_string());
    } catch (const UsageError& error) {
      throw InputError(std::string(name.file()), name.pointer(), error.what());
    }
  });
}

// Reading a file only for its digest remembers the digest, so that a later change of the file is
// noticed as well.
std::string Files::digest(const io::Json& name, std::string_view pointer) {
  const std::lock_guard lock(mutex_);
  const std::string path = path_as(file_kind_at(pointer), name);
  if (!digests_.contains(path)) {
    (void)read(path, name);
  }
  return digests_.at(path);
}

std::string Files::sha256(const io::Json& name, std::string_view pointer) {
  const std::lock_guard lock(mutex_);
  const std::string_view place = place_of_name(pointer);
  std::string path;
  try {
    path = path_as(file_kind_at(place), name);
  } catch (const InputError&) { // no shipped file has the name, which a point may replace
    return "";
  }
  if (place != pointer) {
    path = io::is_regular(path) ? io::file_of_shares(io::read_json(path)) : "";
  }
  return base::remembered(sha256_, path, [&] {
    note_file(path);
    return io::is_regular(path) ? io::sha256_of_file(path) : std::string();
  });
}

template <class Parse>
const auto& Files::known_file(FileKind kind, const io::Json& name, Parse parse,
                              std::uint32_t ranks) {
  using Value = std::invoke_result_t<Parse, const io::Json&>;
  assert(is_known_place(name, kind) && "the key is in the table of file_kind_at");
  const std::lock_guard lock(mutex_);
  const std::string path = path_as(kind, name);
  std::shared_ptr<const void>& value = known_[{kind, path, ranks}];
  if (!value) {
    value = std::make_shared<const Value>(parse(read(path, name)));
  }
  return *static_cast<const Value*>(value.get());
}

const std::pair<layers::Trace, std::string>& Files::trace(const io::Json& name) {
  return known_file(FileKind::trace, name, [](const io::Json& tree) {
    return std::pair(io::parse_trace(tree), std::string(tree.file()));
  });
}

const layers::ModelTable& Files::model(const io::Json& name) {
  return known_file(FileKind::model, name, io::parse_model_or_config);
}

const links::NetworkProfile& Files::profile(const io::Json& name) {
  return known_file(FileKind::profile, name, [](const io::Json& tree) {
    const io::Json* kind = tree.find("kind");
    const bool is_node = kind != nullptr && *kind == io::Json("node_preset");
    return is_node ? io::profile_of_node(io::parse_node_preset(tree)) : io::parse_profile(tree);
  });
}

const CostFile& Files::cost(const io::Json& name) {
  return known_file(FileKind::cost, name, read_cost_file);
}

const links::Topology& Files::topology(const io::Json& name) {
  return known_file(FileKind::topology, name, io::parse_topology);
}

const io::LinksFile& Files::links(const io::Json& name, std::uint32_t ranks) {
  const auto parse = [ranks](const io::Json& tree) { return io::parse_links(tree, ranks); };
  return known_file(FileKind::links, name, parse, ranks);
}

const std::vector<double>& Files::sizes(const io::Json& name, std::uint32_t ranks) {
  const auto parse = [ranks](const io::Json& tree) { return io::parse_sizes(tree, ranks); };
  return known_file(FileKind::sizes, name, parse, ranks);
}

const std::vector<double>& Files::entry(const io::Json& name, std::uint32_t ranks) {
  const auto parse = [ranks](const io::Json& tree) { return io::parse_entry(tree, ranks); };
  return known_file(FileKind::entry, name, parse, ranks);
}

const io::NodePreset& Files::node(const io::Json& name) {
  return known_file(FileKind::node, name, io::parse_node_preset);
}

const FactorValues& Files::conditions(const io::Json& name) {
  return known_file(FileKind::conditions, name, parse_conditions_file);
}

const io::OverlapFile& Files::overlap(const io::Json& name) {
  return known_file(FileKind::overlap, name, io::parse_overlap);
}

std::shared_ptr<const nccl::Calibration> Files::library_calibration(const io::Json& value) {
  const std::lock_guard lock(mutex_);
  const bool is_name = value.is_string();
  const std::string key = is_name ? path_of(value) : io::compact(value);
  auto& known = library_calibrations_[key];
  if (!known) {
    const io::Json read_value = is_name ? read(key, value) : io::Json();
    const io::Json& tree = is_name ? read_value : value;
    known = std::make_shared<const nccl::Calibration>(
        nccl::calibration_of(io::parse_library_calibration(tree).fitted));
  }
  return known;
}

// By content and not by path: an inline topology has no path, and points of a sweep often repeat
// one.
std::shared_ptr<const links::RoutedFabric> Files::routed(const links::Topology& topology) {
  const std::lock_guard lock(mutex_);
  auto& known = routed_[io::compact(io::to_json(topology))];
  if (!known) {
    known = std::make_shared<const links::RoutedFabric>(links::fabric_of(topology));
  }
  return known;
}

// A measured table may fall with size by noise: it is made non-decreasing once, here, and the
// report says by how much.
CostFile read_cost_file(const io::Json& tree) {
  io::CostPoints points = io::parse_cost(tree);
  CostFile file{std::move(points.op), points.ranks, {}, {}, std::move(points.costs)};
  if (file.lines.empty()) {
    std::tie(file.table, file.report) = buckets::make_table_cost(points.table);
  }
  return file;
}

// A file of one number of ranks: nothing says how its cost would scale.
ChosenCost all_reduce_cost(const CostFile& file, std::optional<std::int64_t> ranks,
                           const io::Json& place, io::Problems& problems) {
  if (file.lines.empty()) {
    if (!file.op.empty() && file.op != kAllReduce) {
      problems.add(place, "the times are those of " + file.op + ", must be those of allreduce");
    }
    if (ranks && file.ranks > 0 && file.ranks != *ranks) {
      problems.add(place, "measured with " + base::counted(file.ranks, "rank") +
                              ", the cluster has " + std::to_string(*ranks));
    }
    return {buckets::Cost{.base = file.table}, ""};
  }
  const auto fits = [&](const io::LineCost& line) {
    return line.op == kAllReduce && (!ranks || line.ranks == *ranks);
  };
  const auto line = std::ranges::find_if(file.lines, fits);
  if (line == file.lines.end() || std::ranges::count_if(file.lines, fits) > 1) {
    problems.add(place, (ranks ? "no allreduce with " + base::counted(*ranks, "rank")
                               : std::string("needs one allreduce")) +
                            ", the file has " + lines_text(file));
    return {};
  }
  ChosenCost chosen{buckets::Cost{.base = buckets::LinearCost{line->startup_s, line->per_byte_s}},
                    ""};
  if (line->grade == io::CostGrade::bound) {
    chosen.warning = "link at least " + base::significant(line->bus_bandwidth_Bps / 1e9, 3) +
                     " GB/s: times are upper bounds";
  }
  return chosen;
}

// Both forms or none of them is an error; the keys are then known, so that no second error calls
// them unknown.
buckets::Cost inline_cost(const io::Json& json, io::Problems& problems,
                          buckets::TableReport* report) {
  io::Fields fields(json, problems, keys::kCostObject);
  const bool linear = fields.has("startup_s") || fields.has("per_byte_s");
  const bool table = fields.has("table");
  buckets::Cost cost;
  if (linear == table) {
    problems.add(json, "give either startup_s and per_byte_s, or table");
    fields.know_all();
  } else if (linear) {
    const double startup = fields.required_number("startup_s");
    const double per_byte = fields.required_number("per_byte_s");
    cost.base = buckets::LinearCost{startup, per_byte};
  } else {
    const auto points = io::parse_cost_table(*fields.any("table"), problems);
    if (points.size() >= 2 && problems.empty()) {
      auto [monotone, changes] = buckets::make_table_cost(points);
      cost.base = std::move(monotone);
      if (report != nullptr) {
        *report = changes;
      }
    }
  }
  fields.no_more();
  return cost;
}

} // namespace stepsim::study
