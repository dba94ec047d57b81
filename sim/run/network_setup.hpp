#pragma once
// What jobs on a simulated network are made of: the scenario of one of several jobs, its servers,
// and the network. Used by this folder only.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "programs/job/network_job.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether gradients are exchanged with parameter servers instead of by an all-reduce.
[[nodiscard]] bool has_servers(const Scenario& scenario);
// Element l is the bytes of the gradients of layer l, in forward order from 0; 0 for a layer
// without gradients.
[[nodiscard]] std::vector<double> layer_bytes(const Scenario& scenario);

// The scenario of job number `job` (0 is the first job) alone, on the hosts of that job.
[[nodiscard]] Scenario scenario_of_job(const Scenario& scenario, std::size_t job);

// The servers of the job of a scenario that has servers.
[[nodiscard]] programs::JobServers servers_of(const Scenario& scenario);
// Bytes of one value of what the servers of the scenario sum.
[[nodiscard]] std::int64_t served_value_bytes(const Scenario& scenario);

// The network on which all jobs of the scenario run, at the flow or packet level.
[[nodiscard]] programs::JobNetwork network_of(const Scenario& scenario);

// One exchange of all gradients with parameter servers, for runs that time every push separately
// (workers that differ, asynchronous workers). Bytes and the costs of adding and coding are from
// compressed_exchange(), so that a codec costs the same in all kinds of runs.

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
