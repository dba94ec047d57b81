#pragma once
// The full record of one collective: its times by every method asked for, how far they differ, what
// the wire carries, and how near the result is to the physical bound (COL 14).
// Times of schedules and exact forms are checked against the lower bound; one below it is an
// internal error.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coll/choose.hpp"
#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "coll/evaluate/traffic.hpp"
#include "coll/formula/blocks.hpp"
#include "coll/formula/lower_bound.hpp"

namespace stepsim::coll {

enum class AskedMethod { automatic, closed_form, max_plus, events, all };
inline constexpr auto kAskedMethods =
    base::words<AskedMethod>({{AskedMethod::automatic, "auto"},
                              {AskedMethod::closed_form, "closed_form"},
                              {AskedMethod::max_plus, "max_plus"},
                              {AskedMethod::events, "events"},
                              {AskedMethod::all, "all"}});

// [P] each, in s; enter and finish from time 0; wait = finish - enter - transfer.
struct PerRank {
  std::vector<double> enter_s;
  std::vector<double> finish_s;
  std::vector<double> transfer_s; // union of busy send, receive and reduction time
  std::vector<double> wait_s;
};

// What a compressed exchange adds; its bytes are those of the dense gradient, its lower bounds and
// busbw do not exist.
struct CompressedRecord {
  CompressionMethod method{};
  std::int64_t elements{};
  std::optional<std::int64_t> k; // of sparse methods, per rank
  std::optional<double> density; // of sparse methods; empty if k is given for 0 elements
  std::optional<std::pair<double, double>> closed_form_range_s; // topk_dsa: lowest, highest
};

struct CollectiveRecord {
  Op op{};
  AlgorithmId algorithm{}; // as asked; `choice` names the winner of `automatic`
  std::uint32_t ranks{};
  double bytes{}; // total
  Traffic traffic;

  std::optional<double> closed_form_s;       // wherever defined
  std::optional<double> max_plus_s;          // if asked for, chosen, or needed for per_rank
  std::optional<double> events_s;            // if asked for or chosen
  Method method{};                           // the most faithful one present
  double seconds{};                          // its time
  std::optional<double> relative_difference; // largest between those present
  std::optional<double> paper_form_s;        // only where they differ from the exact form
  std::optional<double> ideal_form_s;
  bool below_bound = false; // the paper form lies below the lower bound

  std::optional<double> algbw_Bps; // empty for one rank or time 0
  std::optional<double> busbw_Bps;
  LowerBound lower_bounds;
  std::optional<double> gap_ratio; // seconds / bound; empty for bound 0

  LinkCost link;                       // that of uniform_cost, else Links::all
  std::optional<double> bandwidth_Bps; // of it; empty if every link is listed
  double reduction_Bps{};              // 0 = free
  ReductionMode reduction_mode{};
  Chunking chunking{};
  std::optional<Blocks> blocks;
  std::optional<double> startup_s; // where the closed form is linear in bytes
  std::optional<double> per_byte_s;

  std::optional<Choice> choice; // of `automatic`
  std::optional<PerRank> per_rank;
  std::optional<CompressedRecord> compressed;
  std::vector<std::string> warnings;
};

// Needs a valid collective (`validate.hpp`); `with_ranks` fills per_rank. Throws SimulationError
// where the asked evaluator has no answer, or gives one below the bound or beyond the range of
// numbers.
[[nodiscard]] CollectiveRecord make_record(const Collective& collective, AskedMethod asked,
                                           bool with_ranks = false);

// busbw = algbw * factor: the share of the wire that an optimal algorithm would use (COL 10).
[[nodiscard]] double bus_factor(Op op, std::uint32_t ranks);

// What records of dense and of compressed exchanges share.

// Whether the user's choice of evaluators takes `method`, `automatic` being the cheapest exact one.
[[nodiscard]] bool wants(AskedMethod asked, Method method, Method automatic);
// Links, rates and blocks as they are resolved.
void fill_inputs(CollectiveRecord& record, const Collective& collective);
// How far the times present differ, bandwidths and the gap to the bound, from the times, ranks,
// bytes and bounds that the record has. Throws SimulationError for a time beyond the range of
// numbers.
void fill_comparison(CollectiveRecord& record);

} // namespace stepsim::coll
