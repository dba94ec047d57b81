#pragma once
// Runs a scenario: its program or, for asynchronous servers, their queues give the result
// (run_program.hpp). run() checks the limit of simulated time, and compares a compressed run with
// the same run uncompressed.

#include "run/result.hpp"

namespace stepsim::study {

struct ProgramMemory; // program_memory.hpp

// Throws SimulationError if the run lasts longer than /limits/simulated_s in simulated time, if its
// collective algorithm does not work on these ranks, or if a message never completes.
// `memory`, if not null, keeps what runs of the same scenario on other networks have in common.
[[nodiscard]] Result run(const Scenario& scenario, Detail detail = Detail::all,
                         ProgramMemory* memory = nullptr);
// Returns the iteration time of run(scenario), without making anything else of its result. `memory`
// as for run(); `like`, if not null, is the memory of a run of a scenario that differs in factors
// of its conditions alone.
[[nodiscard]] double period_of(const Scenario& scenario, ProgramMemory* memory = nullptr,
                               const ProgramMemory* like = nullptr);
// The scenario that decides: of one whose starts of messages and transfers hide each other, the one
// without the starts or without the transfers whose period is longer; else `scenario`. Programs and
// inputs of a run are made of it.
[[nodiscard]] Scenario deciding(const Scenario& scenario);
// The seed of a replication, which is the same scenario with other random numbers: `seed` itself
// for replication 0, else a 53-bit hash of `seed` and `replication`.
[[nodiscard]] std::uint64_t replication_seed(std::uint64_t seed, std::int64_t replication);
// The scenario with replication_seed() for all its random numbers: the factors of compute and
// exchange times, ECMP, packet spraying and packet losses.
[[nodiscard]] Scenario replicated(Scenario scenario, std::int64_t replication);
// Runs `replications` replications, numbered from 0; one gives run(scenario). The iteration time,
// its parts and bounds, and the makespans are means over them; speed-up and throughput follow from
// these means, and Student's t gives the interval that holds the mean with 80 %, unless the times
// of the run are uncertain by themselves: then the interval keeps its width. All other values, the
// completion times of messages (fct_*) among them, are copied from replication 0.
[[nodiscard]] Result run_replications(const Scenario& scenario, std::int64_t replications);

// Compares the bucket times in an imported trace with simulated times on the scenario's network,
// with the number of ranks of the trace. A measured time includes waiting for the slowest rank; a
// simulated time does not.

// One element per timed bucket, simulated as a dense all-reduce, whatever the compression of the
// scenario. Empty if
//   - the workload is not a trace with timed buckets of two or more ranks
//   - the training algorithm is not sync_sgd, or the network is simulated at the packet level
//   - the exchange cannot be simulated with the ranks of the trace: the measured curve or the
//     fabric has another number of ranks, nodes cannot be filled evenly, or the collective cannot
//     run on so many ranks
[[nodiscard]] std::vector<MeasuredExchange> measured_exchanges(const Scenario& scenario);

// The warning that the measured time of a bucket differs from the simulated one by more than 30 %;
// empty if no bucket does.
[[nodiscard]] std::optional<std::string> far_exchanges(const Scenario& scenario,
                                                       const std::vector<MeasuredExchange>& all);

// A step that was measured on the same cluster with another number of machines corrects the
// prediction (CON 5): the asked time by the same ratio, with what both runs have in common taken
// out of its interval.

// `measured` is the run of the scenario that was measured. Throws UsageError if one of the two runs
// is on one machine and the other on several: the first says too little about the second.
[[nodiscard]] MeasuredTotal corrected_by(const Result& asked, const Result& measured,
                                         double measured_s);

} // namespace stepsim::study
