#pragma once
// The full record of one collective: its time by every requested method, the differences between
// them, its traffic, and its ratio to the physical bound (COL 14). Times of schedules and exact
// forms are checked against the lower bound; a time below it is an internal error.

#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"

#include <utility>

namespace stepsim::collectives {

enum class AskedMethod { automatic, closed_form, max_plus, events, all };
inline constexpr auto kAskedMethods = base::words<AskedMethod>({{AskedMethod::automatic, "auto"}});

// [P] each, in s. enter and finish count from time 0; wait = finish - enter - transfer.
struct PerRank {
  std::vector<double> enter_s;
  std::vector<double> finish_s;
  std::vector<double> transfer_s; // union of busy send, receive and reduction time
  std::vector<double> wait_s;
};

// Additional values of a compressed exchange. In its record, `bytes` is the size of the dense
// gradient, lower_bounds are 0, and busbw_Bps is empty.
struct CompressedRecord {
  CompressionMethod method{};
  std::int64_t elements{};
  std::optional<std::int64_t> k; // per rank, for sparse methods
  std::optional<double> density; // for sparse methods; empty if k is given for 0 elements
  std::optional<std::pair<double, double>> closed_form_range_s; // least, greatest (topk_dsa only)
};

struct CollectiveRecord {
  Op op{};
  AlgorithmId algorithm{}; // as requested; `choice` names the winner of `automatic`
  std::uint32_t ranks{};
  double bytes{}; // total_bytes() of the collective (formula/uniform.hpp)
  Traffic traffic;

  std::optional<double> closed_form_s; // if there is a closed form
  std::optional<double> max_plus_s;    // if requested, chosen, or needed for per_rank
  std::optional<double> events_s;      // if requested or chosen
  Method method{};                     // the most detailed method present
  double seconds{};                    // time by `method`
  // (longest - shortest) / longest of the times present; empty if only one is.
  std::optional<double> relative_difference;
  std::optional<double> paper_form_s; // by cost form paper; empty if equal to the exact form
  std::optional<double> ideal_form_s; // by cost form ideal; empty if equal to the exact form
  bool below_bound = false;           // paper_form_s is below the lower bound

  std::optional<double> algbw_Bps; // this and busbw_Bps: empty for one rank or time 0
  std::optional<double> busbw_Bps;
  LowerBound lower_bounds;
  std::optional<double> gap_ratio; // seconds / bound; empty for bound 0

  LinkCost link;                       // the cost by uniform_cost(), else Links::all
  std::optional<double> bandwidth_Bps; // rate of `link`; empty if every link is listed
  double reduction_Bps{};              // 0 = additions take no time
  ReductionMode reduction_mode{};
  Chunking chunking{};
  std::optional<Blocks> blocks;
  std::optional<double> startup_s; // this and per_byte_s: if the closed form is linear in bytes
  std::optional<double> per_byte_s;

  std::optional<Choice> choice; // chosen and second algorithm, if `automatic`
  std::optional<PerRank> per_rank;
  std::optional<CompressedRecord> compressed;
  std::vector<std::string> warnings;
};

// Times the collective, which must be valid (`validate.hpp`); `with_ranks` fills per_rank. Throws
// SimulationError if the requested evaluator cannot time it, or if a time is below the bound or too
// large for a double.
[[nodiscard]] CollectiveRecord make_record(const Collective& collective, AskedMethod asked,
                                           bool with_ranks = false);

// Returns the factor in busbw = algbw * factor, so that busbw is the bandwidth that an optimal
// algorithm would need on the wire (COL 10).
[[nodiscard]] double bus_factor(Op op, std::uint32_t ranks);

// Records of dense and of compressed exchanges share the functions below.

// Whether `asked` includes `method`. `automatic` is the method that AskedMethod::automatic stands
// for.
[[nodiscard]] bool wants(AskedMethod asked, Method method, Method automatic);

// Evaluates one compressed exchange and reports it like a collective, as a CollectiveRecord.

// Exchanges `gradient` on the ranks and links of `base`; base.bytes are the bytes of the dense
// gradient. Times and traffic are sums over all stages; the lower bounds are 0 and busbw_Bps is
// empty. `with_ranks` adds the times of every rank: by events if `seconds` is by events, else by
// max_plus. A method that is only a formula has no times per rank. Throws SimulationError as
// compressed_exchange() and the evaluators do.
[[nodiscard]] CollectiveRecord make_record(const Compression& compression,
                                           const GradientPart& gradient, const Collective& base,
                                           AskedMethod asked, bool with_ranks = false);

} // namespace stepsim::collectives
