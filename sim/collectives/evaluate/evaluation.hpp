#pragma once
// Result of max_plus and events: when every rank has finished, and how much work the evaluation
// took.
//     seconds = max over ranks of finish_s, counted from time 0, not from the first entry

#include "collectives/collective.hpp"
#include "links/flow/flow_path.hpp"

#include <map>
#include <tuple>
#include <unordered_map>

namespace stepsim::collectives {

// The times of all ranks after one evaluation.
struct RankTimes {
  // [rank] end of the last send, receive or addition, s; the entry time if there is none.
  std::vector<double> finish_s;
  // [rank] seconds in which the rank sends, receives or adds; empty if not requested.
  std::vector<double> transfer_s;
};

struct Evaluation {
  double seconds{}; // latest finish, from time 0
  std::uint64_t messages{};
  std::uint64_t events{}; // events processed; 0 for max_plus
  RankTimes ranks;
  std::vector<links::LinkUse> links; // [link] of the fabric, if there is one
};

// The evaluator of collectives without contention: one pass over the transfers of the schedule in
// program order, with the times of all ranks as state. A transfer starts at the maximum of three
// times (the send port, the receive port and the data are ready) and ends at a sum, hence the name,
// (max, +) algebra. Any entry times and link costs are allowed.
// O(transfers) time, O(ranks) memory; rings run in vector loops (ring_pass.hpp).

// Evaluates the collective; with `with_transfer_times` it fills RankTimes::transfer_s, too. If
// ranks share interfaces the time is an estimate, but never shorter than the interfaces need at
// full rate. Throws SimulationError if the link of a pair is missing (the text names the pair), on
// a fabric, and for parameter servers for which max_plus_defined() is false, such as several
// servers (server_flows.hpp); and where make_schedule(), in_switch_evaluation() and
// measured_evaluation() throw it. Without transfer times, streams of blocks take the way of
// streams.hpp; tests switch these `shortcuts` off to compare.
[[nodiscard]] Evaluation max_plus(const Collective& collective, bool with_transfer_times = false,
                                  bool shortcuts = true);

// One message of the schedule, for `--transfers` and tests.
struct TransferRecord {
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  double offset{}; // first byte in the buffer; a range may wrap around in its partition
  double bytes{};
  bool reduce = false;
  double start_s{}; // s from time 0
  double end_s{};   // s from time 0; the ports are then free, and the data arrives a delay later
};
// Returns at most `limit` transfers in program order, timed by max_plus or `by_events`, by the
// links where there are measured steps, too. Throws SimulationError by max_plus on a fabric, and
// for a parameter server and sums in switches, which have no list of transfers.
[[nodiscard]] std::vector<TransferRecord> list_transfers(const Collective& collective,
                                                         std::size_t limit, bool by_events = false);

// The evaluator of collectives that models contention: it sends the transfers of the schedule
// through a network model one by one (event_run.hpp).
//     equal links, or single links    a transfer takes latency + bytes * per_byte
//     two levels                      the interfaces of a node are shared max-min fairly
//     fabric                          flows over the routes of the fabric, max-min fairly
// There is one event per transfer and per addition that ends; memory is O(ranks). A parameter
// server runs in server_flows.hpp; sums in switches use their formula (two_level.hpp).

// Evaluates the collective; fills `ranks.transfer_s` if `with_transfer_times`, and `links` on a
// fabric. Without transfer times, rings of equal ranks and, on a fabric, those whose connections
// share no link are evaluated by few_ranks.hpp, and streams of blocks over equal ranks by
// streams.hpp. Tests switch these `shortcuts` off to compare. Throws SimulationError if the link of
// a pair is missing (the text names the pair), and if measured steps give the time
// (takes_measured_steps), which only max_plus supports.
[[nodiscard]] Evaluation events(const Collective& collective, bool with_transfer_times = false,
                                bool shortcuts = true);

// [port] starts and ends of the sends of a port, in program order.
using SendTimes = std::vector<std::vector<std::pair<double, double>>>;
// Plays the collective as events() does; throws as it does.
[[nodiscard]] SendTimes event_sends(const Collective& collective);

// Counts the bytes and messages of a collective on the wire. They depend on link costs only if the
// best size of blocks or number of chunks is searched (Options::block or Options::pipeline_chunks
// is empty). The schedule is counted, so that unequal parts are exact.

struct Traffic {
  double min_per_rank{}; // bytes sent by the rank that sends least
  double max_per_rank{}; // bytes sent by the rank that sends most
  double total{};        // bytes
  std::int64_t steps{};  // rounds on the critical path
  std::uint64_t messages{};
};
// Returns the traffic of the ranks. The sends of dedicated parameter servers are counted in `total`
// and `messages` only.
[[nodiscard]] Traffic traffic(const Collective& collective);

// Returns traffic(collective).max_per_rank, without asking every rank where all send the same.
[[nodiscard]] double most_sent(const Collective& collective);

struct RankTraffic {
  double bytes{};
  std::uint64_t messages{};
};
// Returns the least, the most and the sums of what ranks send, without `steps`.
[[nodiscard]] Traffic traffic_of(const std::vector<RankTraffic>& ranks);
// Returns what every rank sends, [P]. Throws SimulationError for parameter_server and for sums in
// switches, which have no schedule.
[[nodiscard]] std::vector<RankTraffic> traffic_by_rank(const Collective& collective);

// Caches the bytes that the busiest sender of a collective sends (evaluation.hpp), for callers that
// ask for the same size with many latencies and bandwidths, which do not change these bytes.

class SentBytes {
public:
  // Whether the bytes do not depend on the links: false where the best number of blocks or chunks
  // is searched, or the algorithm chosen.
  [[nodiscard]] static bool keeps(const Collective& collective);
  // Returns traffic(collective).max_per_rank of a collective that it keeps. Only operation,
  // algorithm, ranks and bytes tell entries apart: use one object for collectives with the same
  // options, kind of links and sizes of parts. Not thread-safe.
  [[nodiscard]] double most(const Collective& collective);

private:
  using Kind = std::tuple<Op, AlgorithmId, std::uint32_t>;   // the last is the number of ranks
  std::map<Kind, std::unordered_map<double, double>> known_; // [kind][bytes]; never iterated
};

} // namespace stepsim::collectives
