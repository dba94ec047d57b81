#pragma once
// One exchange of all gradients with parameter servers, for runs that time every push separately
// (workers that differ, asynchronous workers). Bytes and the costs of adding and coding are from
// compressed_exchange(), so that a codec costs the same in all kinds of runs.
#include <vector>

#include "collectives/collective.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ServerExchange {
  std::vector<collectives::Collective>
      before;                     // earlier exchanges among workers, to agree on scales
  collectives::Collective server; // sizes as sent; its reduction includes decoding
  double encode_s{};              // time to encode the whole sum on one server
  double servers = 1;             // number of servers, which hold equal shares of the sum
  double codec_s{};               // time on a worker's compute thread per iteration
  double extra_s{};               // time of synchronisation and copies in one exchange
  // Seconds to send the push of one worker without latency, and to add it, all on one server.
  [[nodiscard]] double push_s() const { return server.bytes * server.links.all.per_byte_s; }
  [[nodiscard]] double add_s() const { return server.bytes * server.reduction_s_per_byte; }
};

// The exchange of all gradients in one message. All times are 0 if nothing is exchanged, as with
// one worker.
[[nodiscard]] ServerExchange server_exchange(const Scenario& scenario);

} // namespace stepsim::study
