#include "collectives/evaluate/sent_bytes.hpp"

#include "base/shared_value.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"

namespace stepsim::collectives {

bool SentBytes::keeps(const Collective& collective) {
  return collective.algorithm != AlgorithmId::automatic &&
         algorithm(collective.algorithm).block_streams == 0 &&
         collective.options.pipeline_chunks.has_value();
}

double SentBytes::most(const Collective& collective) {
  return base::remembered(known_[{collective.op, collective.algorithm, collective.ranks}],
                          collective.bytes, [&] { return most_sent(collective); });
}

} // namespace stepsim::collectives
