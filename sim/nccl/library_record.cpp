// The pair is chosen, its cost is computed, and the correction of a calibration is applied last,
// never below the bound. Warnings say where the numbers are not to be trusted.
#include "nccl/library_record.hpp"

#include <cmath>

#include "base/quantity.hpp"
#include "nccl/published_constants.hpp"

#include "base/error.hpp"

namespace stepsim::nccl {

namespace {

// Why the switch of a node cannot be asked for; empty where it can.
std::string no_switch(const LibraryQuestion& question, const Layout& layout, Algorithm asked) {
  if (!layout.in_switch_reduction) {
    return "nodes of " + question.node.name + " have no switch that reduces";
  }
  if (layout.smallest_gpus < kLeastNvlsGpus) {
    return "a node needs at least 3 GPUs";
  }
  if (asked == Algorithm::nvls && layout.nodes > 1) {
    return "it works inside one node; with several ask for nvls_tree";
  }
  if (asked == Algorithm::nvls_tree && layout.nodes == 1) {
    return "it needs several nodes; inside one ask for nvls";
  }
  if (question.options.element_type && !switch_adds(*question.options.element_type) &&
      question.operation != Operation::allgather) {
    return "the switch does not add " + std::string(kElementTypes[*question.options.element_type]);
  }
  return "";
}

// Named alone, an algorithm that cannot run is refused with its reason.
void check_lone_algorithm(const LibraryQuestion& question, const Layout& layout) {
  if (question.options.algorithms.size() != 1) {
    return;
  }
  const Algorithm asked = question.options.algorithms.front();
  if (asked == Algorithm::nvls || asked == Algorithm::nvls_tree) {
    if (const std::string why = no_switch(question, layout, asked); !why.empty()) {
      throw UsageError(std::string(kAlgorithms[asked]) + ": " + why);
    }
  }
}

void set_runner_up(const LibraryModel& model, const Layout& layout, const PairChoice& choice,
                   LibraryRecord& record) {
  if (!choice.runner_up) {
    return;
  }
  const Pair pair = *choice.runner_up;
  record.runner_up = {
      .pair = pair,
      .published_s = published_seconds(layout, record.operation, record.bytes, pair),
      .seconds =
          operation_time(layout, record.operation, record.bytes, pair, model.multipliers).seconds};
}

// Factor of the residuals at measured points; 1 where they do not count.
double correction(const LibraryQuestion& question, double bytes) {
  const bool corrects = question.calibration != nullptr &&
                        question.options.residual.value_or(Residual::kriging) == Residual::kriging;
  return corrects ? std::exp(question.calibration->kriging.log_correction(
                        KrigingPoint::of(question.operation, question.shape, bytes)))
                  : 1;
}

// Bandwidths and the gap follow from the time.
void set_ratios(LibraryRecord& record) {
  if (record.bytes > 0 && record.seconds > 0) {
    record.algbw_Bps = record.bytes / record.seconds;
    record.busbw_Bps = record.algbw_Bps * bus_share(record.operation, record.ranks);
  }
  record.gap = record.bound_s > 0 ? record.seconds / record.bound_s : 0;
}

} // namespace

std::vector<std::string> warnings_of(const LibraryQuestion& question) {
  std::vector<std::string> warnings;
  const auto add = [&](std::string_view word, const std::string& sentence) {
    warnings.push_back(std::string(word) + ": " + sentence);
  };
  const Calibration* calibration = question.calibration;
  if (calibration == nullptr && question.bytes < kSmallMessage) {
    add(kWarnSmall,
        "predicted times of messages below 32 MiB are often half the measured ones; a calibration "
        "of the library corrects them");
  }
  if (calibration != nullptr && calibration->fitted.node.generation != question.node.generation) {
    add(kWarnGeneration, "the calibration was made on " +
                             std::string(kGenerations[calibration->fitted.node.generation]) +
                             " GPUs");
  }
  if (calibration != nullptr && (question.bytes < calibration->smallest_bytes ||
                                 question.bytes > calibration->largest_bytes)) {
    add(kWarnSizes, "measured from " + base::readable_bytes(calibration->smallest_bytes) + " to " +
                        base::readable_bytes(calibration->largest_bytes));
  }
  if (question.node.approximate) {
    add(kWarnApproximate, "the library of " + question.node.name + " is modelled by NCCL's choice");
  }
  if (question.node.nics > question.node.gpus) {
    add(kWarnNics, std::to_string(question.node.nics) + " network cards for " +
                       std::to_string(question.node.gpus) + " GPUs; one per GPU is used");
  }
  if (question.shape.smallest > 0) {
    add(kWarnUnequal, "nodes have " + std::to_string(question.shape.smallest) + " to " +
                          std::to_string(question.shape.gpus) +
                          " GPUs; as many network cards count as the smallest uses");
  }
  return warnings;
}

LibraryModel library_model(const LibraryQuestion& question) {
  const Calibration* calibration = question.calibration;
  const LibraryOptions& options = question.options;
  LibraryModel model;
  model.multipliers =
      calibration != nullptr ? calibration->multipliers : multipliers_of(prior_means());
  model.choice = options.choice.value_or(calibration != nullptr ? calibration->fitted.choice
                                                                : Choice::published);
  model.restrictions = {
      .algorithms = options.algorithms,
      .protocols = options.protocols,
      .ll128 = options.ll128,
      .collnet = options.collnet,
      .switch_adds_type = !options.element_type || switch_adds(*options.element_type),
      .version = options.version.value_or(calibration != nullptr ? calibration->fitted.version
                                                                 : kPublishedVersion)};
  return model;
}

void refuse_impossible(const LibraryQuestion& question) {
  const Layout layout = layout_of(question.node, question.shape);
  check_lone_algorithm(question, layout);
  (void)choose_pair(library_model(question), layout, question.operation, question.bytes);
}

LibraryRecord predict(const LibraryQuestion& question) {
  const Layout layout = layout_of(question.node, question.shape);
  check_lone_algorithm(question, layout);
  const LibraryModel model = library_model(question);
  const PairChoice choice = choose_pair(model, layout, question.operation, question.bytes);
  LibraryRecord record;
  record.operation = question.operation;
  record.shape = question.shape;
  record.ranks = layout.ranks;
  record.bytes = question.bytes;
  record.chosen = choice.chosen;
  record.channels = channels(layout, choice.chosen, model.multipliers);
  record.choice = model.choice;
  record.preset = question.node.name;
  record.limited_by = Limit::latency;
  record.bound_kind = BoundKind::latency;
  if (question.calibration != nullptr) {
    record.calibration = question.calibration->fitted.name;
  }
  if (layout.ranks == 1 || question.bytes == 0) { // nothing is sent, which takes no time (COL 2.7)
    return record;
  }
  const OperationTime time =
      operation_time(layout, question.operation, question.bytes, choice.chosen, model.multipliers);
  record.physical_s = time.seconds;
  record.seconds = time.seconds;
  record.published_s = published_seconds(layout, question.operation, question.bytes, choice.chosen);
  record.latency_part_s = time.latency_s;
  record.transfer_part_s = time.transfer_s;
  record.cross_part_s = time.cross_s;
  record.limited_by = time.limited_by;
  record.bound_s = time.bound.seconds;
  record.bound_kind = time.bound.kind;
  if (question.calibration != nullptr) {
    record.seconds *= correction(question, question.bytes);
  }
  if (record.bound_s > record.seconds) {
    record.seconds = record.bound_s;
    record.limited_by = Limit::bound;
  }
  record.interval = interval_95(record.seconds, log_deviation(model, question.calibration, layout,
                                                              question.operation, question.shape,
                                                              question.bytes, choice.chosen));
  record.interval.low = std::max(record.interval.low, record.bound_s);
  set_runner_up(model, layout, choice, record);
  set_ratios(record);
  record.warnings = warnings_of(question);
  return record;
}

LibraryCost::LibraryCost(const LibraryQuestion& question)
    : question_(question), model_(library_model(question)),
      layout_(layout_of(question.node, question.shape)) {
  refuse_impossible(question);
}

double LibraryCost::seconds(double bytes) const {
  const Pair pair = choose_pair(model_, layout_, question_.operation, bytes).chosen;
  const OperationTime time =
      operation_time(layout_, question_.operation, bytes, pair, model_.multipliers);
  const double middle = std::max(time.bound.seconds, time.seconds * correction(question_, bytes));
  if (question_.deviations == 0) {
    return middle;
  }
  return std::max(time.bound.seconds,
                  middle *
                      std::exp(question_.deviations * log_deviation(model_, question_.calibration,
                                                                    layout_, question_.operation,
                                                                    question_.shape, bytes, pair)));
}

} // namespace stepsim::nccl
