#include "collectives/evaluate/sent_bytes.hpp"

#include "base/remembered.hpp"
#include "collectives/evaluate/traffic.hpp"

namespace stepsim::collectives {

double SentBytes::most(const Collective& collective) {
  return base::remembered(known_[{collective.op, collective.algorithm, collective.ranks}],
                          collective.bytes, [&] { return most_sent(collective); });
}

} // namespace stepsim::collectives
