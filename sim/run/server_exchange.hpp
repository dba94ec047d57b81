#pragma once
// One exchange of all gradients with parameter servers, for runs that time every push by itself:
// workers that differ, asynchronous workers. Bytes, adding and coding are those of
// `compressed_exchange`, so a codec has one arithmetic whatever the mode.
#include <vector>

#include "coll/collective.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ServerExchange {
  std::vector<coll::Collective> before; // exchanges among workers: agreeing on scales
  coll::Collective server;              // bytes as sent; adding and decoding per byte as sent
  double encode_s{};                    // encoding the sum, if one server held all of it
  double servers = 1;                   // servers that hold equal shares of the sum
  double codec_s{};                     // on a worker's compute thread, per iteration
  double extra_s{};                     // synchronisation and copies of one exchange
  [[nodiscard]] double push_s() const { return server.bytes * server.links.all.per_byte_s; }
  [[nodiscard]] double add_s() const { return server.bytes * server.reduction_s_per_byte; }
};

// All gradients in one message. If nothing is exchanged, as with one worker, all times are 0.
[[nodiscard]] ServerExchange server_exchange(const Scenario& scenario);

} // namespace stepsim::study
