#include "nccl/pair_choice.hpp"

#include <limits>

#include "base/error.hpp"

namespace stepsim::nccl {

PairChoice choose_pair(const LibraryModel& model, const Layout& layout, Operation operation,
                       double bytes) {
  const Candidates offered = candidates(layout, operation, model.restrictions);
  if (offered.all().empty()) {
    throw UsageError(std::string(kOperations[operation]) +
                     ": the algorithms and protocols that are allowed leave the library nothing");
  }
  PairChoice choice;
  double least = std::numeric_limits<double>::infinity();
  double second = least;
  for (const Pair& pair : offered.all()) {
    const double seconds =
        model.choice == Choice::published
            ? published_seconds(layout, operation, bytes, pair)
            : operation_time(layout, operation, bytes, pair, model.multipliers, model.collnet)
                  .seconds;
    if (seconds < least) {
      if (&pair != offered.all().data()) {
        choice.runner_up = choice.chosen;
      }
      second = least;
      least = seconds;
      choice.chosen = pair;
    } else if (seconds < second) {
      second = seconds;
      choice.runner_up = pair;
    }
  }
  return choice;
}

OperationTime chosen_time(const LibraryModel& model, const Layout& layout, Operation operation,
                          double bytes) {
  const Pair pair = choose_pair(model, layout, operation, bytes).chosen;
  return operation_time(layout, operation, bytes, pair, model.multipliers, model.collnet);
}

} // namespace stepsim::nccl
