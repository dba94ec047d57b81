// The keys of all collectives come first, then those of the model. What a schedule has and the
// model does not, such as messages and steps, is null.
#include "run/collective_record.hpp"

#include "document/fields/members.hpp"

namespace stepsim::study {

namespace {

using nccl::LibraryRecord;

constexpr std::array<std::string_view, 20> kLibraryKeys{
    "model",           "nodes",        "gpus_per_node", "seconds", "physical_s",   "low_s",
    "high_s",          "protocol",     "channels",      "choice",  "published_us", "latency_part_s",
    "transfer_part_s", "cross_part_s", "limited_by",    "bound_s", "gap",          "preset",
    "calibration",     "overrides"};

// What only schedules have.
constexpr std::array<std::string_view, 7> kScheduleKeys{
    "steps",          "messages", "bytes_sent_per_rank", "bytes_sent_total", "reduction_Bps",
    "reduction_mode", "chunking"};

io::Json positive_or_null(double value) { return value > 0 ? io::Json(value) : io::Json(); }

io::Json runner_up_tree(const LibraryRecord& record) {
  if (!record.runner_up) {
    return {};
  }
  const nccl::RunnerUp& next = *record.runner_up;
  return io::Object{{"algorithm", nccl::kAlgorithms[next.pair.algorithm]},
                    {"protocol", nccl::kProtocols[next.pair.protocol]},
                    {"published_us", next.published_s * 1e6},
                    {"seconds", next.seconds}};
}

// The part of the bound that is the largest is the bound; the others are not computed.
void set_bound(io::Json& tree, const LibraryRecord& record) {
  const bool is_latency = record.bound_kind == nccl::BoundKind::latency;
  tree.set("lower_bound_s", record.bound_s);
  tree.set("lower_bounds",
           io::Object{{"latency_s", is_latency ? io::Json(record.bound_s) : io::Json()},
                      {"bandwidth_s", is_latency ? io::Json() : io::Json(record.bound_s)},
                      {"reduction_s", nullptr}});
  tree.set("bound_kind", nccl::kBoundKinds[record.bound_kind]);
  tree.set("gap_ratio", positive_or_null(record.gap));
}

} // namespace

void add_library_keys(io::Json& record) {
  for (const std::string_view key : kLibraryKeys) {
    if (record.find(key) == nullptr) {
      record.set(std::string(key), nullptr);
    }
  }
}

io::Json library_record(const CollectiveFile& file) {
  const CollectiveSystem& system = file.system;
  const LibraryRecord record = nccl::predict(*system.question);
  collectives::CollectiveRecord common;
  common.op = file.collective.op;
  common.ranks = file.collective.ranks;
  common.bytes = record.bytes;
  common.closed_form_s = record.seconds;
  common.method = collectives::Method::closed_form;
  common.seconds = record.seconds;
  common.warnings = record.warnings;
  if (record.algbw_Bps > 0) {
    common.algbw_Bps = record.algbw_Bps;
    common.busbw_Bps = record.busbw_Bps;
  }
  io::Json tree = record_tree(common);
  add_library_keys(tree);
  for (const std::string_view key : kScheduleKeys) {
    tree.set(std::string(key), nullptr);
  }
  set_bound(tree, record);
  tree.set("algorithm", "library");
  tree.set("model", "nccl");
  tree.set("nodes", record.shape.nodes);
  tree.set("gpus_per_node", record.shape.gpus);
  io::set_members<&LibraryRecord::seconds, &LibraryRecord::physical_s, &LibraryRecord::channels,
                  &LibraryRecord::latency_part_s, &LibraryRecord::transfer_part_s,
                  &LibraryRecord::cross_part_s, &LibraryRecord::bound_s>(record, tree);
  tree.set("low_s", record.interval.low);
  tree.set("high_s", record.interval.high);
  tree.set("chosen", nccl::kAlgorithms[record.chosen.algorithm]);
  tree.set("protocol", nccl::kProtocols[record.chosen.protocol]);
  tree.set("choice", nccl::kChoices[record.choice]);
  tree.set("published_us", record.published_s * 1e6);
  tree.set("limited_by", nccl::kLimits[record.limited_by]);
  tree.set("runner_up", runner_up_tree(record));
  tree.set("gap", positive_or_null(record.gap));
  tree.set("preset", io::text_or_null(record.preset));
  tree.set("calibration", io::text_or_null(record.calibration));
  io::set_members<&CollectiveSystem::overrides>(system, tree);
  return tree;
}

namespace {

// "nvls_tree/simple"
std::string pair_text(const io::Json& record, std::string_view algorithm) {
  return record.find(algorithm)->as_string() + "/" + record.find("protocol")->as_string();
}

std::string microseconds(double value) { return base::significant(value, 4) + " us"; }

// Completes the sentence about what sets the time.
std::string_view limit_sentence(std::string_view limit) {
  struct Row {
    std::string_view limit, sentence;
  };
  static constexpr std::array kRows{
      Row{"nic", "The network cards limit it."},
      Row{"nvlink", "The links inside the nodes limit it."},
      Row{"pcie", "The PCIe links inside the nodes limit it."},
      Row{"mix", "The rate of a ring that leaves the node limits it."},
      Row{"protocol_cap", "A limit of the protocol or of its channels sets the time."},
      Row{"latency", "More of the time is latency than transfer."},
      Row{"floor", "It takes no less than the launch."},
      Row{"bound", "The time is the physical lower bound."}};
  for (const Row& row : kRows) {
    if (row.limit == limit) {
      return row.sentence;
    }
  }
  return "";
}

} // namespace

std::string library_sentence(const io::Json& record) {
  std::string text = "NCCL would use " + pair_text(record, "chosen") + " (estimate " +
                     microseconds(record.find("published_us")->as_double());
  if (const io::Json& next = *record.find("runner_up"); next.is_object()) {
    text += "; next " + pair_text(next, "algorithm") + " " +
            microseconds(next.find("published_us")->as_double());
  }
  return text + "). " + std::string(limit_sentence(record.find("limited_by")->as_string()));
}

} // namespace stepsim::study
