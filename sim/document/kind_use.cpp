#include "document/kind_use.hpp"

namespace stepsim::io {

namespace {

constexpr std::array kUses{
    KindUse{"scenario", "workload", "stepsim run, compare, sweep, tune and explain take it"},
    KindUse{"sweep", "axes",
            "stepsim sweep runs it; plot and report read the records that it writes"},
    KindUse{"result", "", "stepsim run, explain and report take the scenario inside it"},
    KindUse{"study", "", "stepsim study wrote it beside the scenario.json that stepsim run takes"},
    KindUse{"explanation", "critical_path", "stepsim explain writes it, and no command reads it"},
    KindUse{"trace", "layers", "name it at /workload/trace of a scenario"},
    KindUse{"model", "", "name it at /workload/model of a scenario"},
    KindUse{"collective", "op", "stepsim collective runs it"},
    KindUse{"flows_result", "packet_hops", "stepsim flows writes it, and no command reads it"},
    KindUse{"flows", "flows", "stepsim flows runs it"},
    KindUse{"topology", "hosts", "name it at /cluster/topology of a scenario"},
    KindUse{"library_calibration", "parameters",
            "name it at /communication/library/calibration of a scenario"},
    KindUse{"node_preset", "ring_Bps", "name it at /cluster/preset of a scenario"},
    KindUse{"network_calibration", "label",
            "name it at /cluster/network/calibration of a scenario"},
    KindUse{"samples", "sets", "stepsim-calibrate fit makes a calibration of it"},
    KindUse{"comparison", "best_by",
            "stepsim compare and plan-training write it; plot and report read it"},
    KindUse{"measured_steps", "rows", "stepsim fit-overlap and fit-conditions read it"},
    KindUse{"conditions", "factors", "name it at /conditions/file of a scenario"},
    KindUse{"overlap", "compute", "name it at /training/overlap/file of a scenario"},
    KindUse{"measured_training", "", "pages and notebooks read it"},
    KindUse{"problem", "ready_s", "stepsim plan reads it"},
    KindUse{"program", "operations", "stepsim run and explain take it"},
    KindUse{"sparse_semantics", "gradients", "stepsim semantics runs it"},
    KindUse{"sparse_semantics_result", "matches_expected",
            "stepsim semantics writes it, and no command reads it"},
    KindUse{"compression_breakeven", "gradient_bytes",
            "stepsim compare FILE --break-even reads it, without --over, --algorithms and --rows"},
    KindUse{"cost", "table", "name it at /cluster/network/cost of a scenario"},
    KindUse{"reproduction", "figures", "stepsim reproduce runs it"},
    KindUse{"links", "links", "stepsim collective --links reads it"},
    KindUse{"ddp_buckets", "bucket_cap_mb",
            "stepsim tune --emit ddp and study write it for PyTorch; stepsim run takes the "
            "scenario that it was made from"},
    KindUse{"fsdp_units", "reshard_after_forward",
            "stepsim tune --emit fsdp writes it for PyTorch; stepsim run takes the scenario that "
            "it was made from"},
    KindUse{"plot_result", "curves", "stepsim plot writes it, and no command reads it"},
    KindUse{"report_records", "failed", "stepsim report writes it, and no command reads it"},
    KindUse{"report_result", "answer", "stepsim report writes it, and no command reads it"},
};

} // namespace

std::string KindUse::text() const {
  return "this is a file of kind " + std::string(kind) + ": " + std::string(use);
}

std::span<const KindUse> kind_uses() { return kUses; }

const KindUse* use_of_kind(std::string_view kind) {
  const auto* const found = std::ranges::find(kUses, kind, &KindUse::kind);
  return found == kUses.end() ? nullptr : found;
}

const KindUse* use_of_file(const Json& tree) {
  if (!tree.is_object()) {
    return nullptr;
  }
  if (const Json* word = tree.find("kind")) {
    return word->is_string() ? use_of_kind(word->as_string()) : nullptr;
  }
  const auto* const found = std::ranges::find_if(kUses, [&](const KindUse& each) {
    return !each.key.empty() && tree.find(each.key) != nullptr;
  });
  return found == kUses.end() ? nullptr : found;
}

std::string other_kind(const Json& tree, std::string_view kind, const Key* own) {
  const Json* word = tree.find("kind");
  const KindUse* use = use_of_file(tree);
  if (use != nullptr && use->kind != kind &&
      (word != nullptr || (own != nullptr && find_key(*own, use->key) == nullptr))) {
    return use->text();
  }
  const bool unknown = word != nullptr && word->is_string() && word->as_string() != kind;
  return unknown && use == nullptr && !word->as_string().empty()
             ? fmt::format("must be \"{}\", got \"{}\"", kind, base::shown_value(word->as_string()))
             : "";
}

} // namespace stepsim::io
