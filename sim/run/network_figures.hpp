#pragma once
// Computes the figures of a run that simulates every message on the network (PKT 8).

#include "programs/job/network_job.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// part / whole; empty if `whole` is 0, because no bytes were sent.
[[nodiscard]] std::optional<double> lost_part(double part, double whole);

// Sets fct_* of the summary, the completion times of messages, from the messages of the iterations
// from `first` on.
void fill_messages(const programs::JobResult& job, std::size_t first, Summary& summary);
// Bytes of gradients that the workers contribute to the sums of an iteration: N M of PKT 7.3. 0
// where lost contributions are not traced: without a ring and servers, and with sharding.
[[nodiscard]] double contributed_bytes(const Scenario& scenario, const programs::NetworkJob& job);
// Sets loss_fraction, stale_fraction and effective_loss of the summary from the iterations
// `steady`. Without contributed_bytes, effective_loss is empty.
void fill_loss(std::span<const programs::JobIteration> steady, double contributed_bytes,
               Summary& summary);
// Throws InputError for a fault of a packet that the jobs do not send: of an unknown connection, or
// with a number that no packet of it has (PKT 13).
void check_faults(const Scenario& scenario, std::span<const programs::NetworkJob> jobs,
                  const programs::JobsResult& run);
// Sets result.tensors: the messages of the last of result.iterations, by bucket. `pieces` is the
// number of buckets.
void fill_tensors(const programs::JobResult& job, std::size_t pieces, Result& result);
// Warns of servers that have no tensor because server_split is whole.
void warn_of_idle_servers(const Scenario& scenario, std::size_t pieces, Result& result);
// Element l is the use of link l of `fabric` by all jobs, over the whole run.
[[nodiscard]] std::vector<LinkResult> links_of(const links::Fabric& fabric,
                                               const programs::JobsResult& run);
// Whether the busiest link is one of a dedicated server.
[[nodiscard]] bool server_is_busiest(const Scenario& scenario,
                                     const std::vector<LinkResult>& links);
// The mean steady period of every job, alone on the network and together with the other jobs; of a
// program with several steps, the period of one step. Iterations that end after the first job has
// ended do not count as together, because the remaining jobs then get more of the network.
// Together, at least as many first iterations are discarded as alone; a job that runs a program has
// no steady period before its second iteration.
[[nodiscard]] std::vector<JobTimes> times_of_jobs(const Scenario& scenario,
                                                  std::span<const programs::NetworkJob> jobs,
                                                  const programs::JobsResult& together);

// What jobs on a simulated network are made of: the scenario of one of several jobs, its servers,
// and the network. Used by this folder only.

// Element l is the bytes of the gradients of layer l, in forward order from 0; 0 for a layer
// without gradients.
[[nodiscard]] std::vector<double> layer_bytes(const Scenario& scenario);

// The scenario of job number `job` (0 is the first job) alone, on the hosts of that job.
[[nodiscard]] Scenario scenario_of_job(const Scenario& scenario, std::size_t job);

// The servers of the job of a scenario that has servers.
[[nodiscard]] programs::JobServers servers_of(const Scenario& scenario);
// Size in bytes of one value that the parameter servers of the scenario sum.
[[nodiscard]] std::int64_t served_value_bytes(const Scenario& scenario);

// The network on which all jobs of the scenario run, at the flow or packet level.
[[nodiscard]] programs::JobNetwork network_of(const Scenario& scenario);

// One exchange with parameter servers, for runs that time every push separately (workers that
// differ, asynchronous workers). Bytes and the costs of adding and coding are from
// compressed_exchange(), so that a codec costs the same in all kinds of runs.

struct ServerExchange {
  std::vector<collectives::Collective>
      before;                     // earlier exchanges among workers, to agree on scales
  collectives::Collective server; // sizes as sent; its reduction includes decoding
  double codec_s{};               // time on a worker's compute thread
  double extra_s{};               // time of synchronisation and copies
  // Seconds to send the push of one worker without latency, to add it, and to encode the sum, all
  // on one server.
  [[nodiscard]] double push_s() const { return server.bytes * server.links.all.per_byte_s; }
  [[nodiscard]] double add_s() const { return server.bytes * server.reduction_s_per_byte; }
  [[nodiscard]] double encode_s() const { return server.bytes * server.sum_s_per_byte; }
};

// The exchange of a message, and of all gradients in one. All times are 0 if nothing is exchanged,
// as with one worker.
[[nodiscard]] ServerExchange server_exchange(const Scenario& scenario, const buckets::Group& group);
[[nodiscard]] ServerExchange server_exchange(const Scenario& scenario);

} // namespace stepsim::study
