#pragma once
// What the formulas of COL 5 share: the symbols of one collective and the linear form a + b n.
// One function per operation and algorithm; `algorithms.hpp` lists them. All are pure numbers:
// P >= 2 ranks, n > 0 bytes, identical links, parts of exactly n / k bytes, all ranks enter at 0.
#include <cstdint>
#include <optional>

#include "coll/collective.hpp"
#include "coll/evaluate.hpp"

namespace stepsim::coll {

inline constexpr double kSizeEntryBytes = 8; // one entry of `exchange_sizes` (COL 5.8)

using ClosedFormFunction = std::optional<ClosedForm> (*)(const Collective&);

struct Symbols {
  double P{};         // ranks
  double n{};         // bytes
  double L{};         // ceil(log2 P)
  double K{};         // floor(log2 P)
  double F{};         // 1 if P is not a power of two, else 0
  double f{};         // (P-1)/P
  double fq{};        // (q-1)/q, q = 2^K
  double alpha{};     // s per message
  double alpha_blk{}; // s per follow-up block
  double beta{};      // s per byte
  double gamma{};     // s per byte added
  bool serial{};      // reduction_mode
};
[[nodiscard]] Symbols symbols(const Collective& collective);

[[nodiscard]] std::uint32_t ceil_log2(std::uint32_t ranks);
[[nodiscard]] std::uint32_t floor_log2(std::uint32_t ranks);

// startup + per_byte n.
[[nodiscard]] ClosedForm linear_form(double startup, double per_byte, double n);

// clang-format off
std::optional<ClosedForm> mst_broadcast(const Collective &);
std::optional<ClosedForm> mst_reduce(const Collective &);
std::optional<ClosedForm> mst_allreduce(const Collective &);
std::optional<ClosedForm> mst_reduce_scatter(const Collective &);
std::optional<ClosedForm> mst_allgather(const Collective &);
std::optional<ClosedForm> mst_reduce_paper(const Collective &);    // without the overlap bound
std::optional<ClosedForm> mst_allreduce_paper(const Collective &); // likewise

std::optional<ClosedForm> be_broadcast(const Collective &);
std::optional<ClosedForm> be_reduce(const Collective &);
std::optional<ClosedForm> be_allreduce(const Collective &);
std::optional<ClosedForm> be_reduce_scatter(const Collective &);
std::optional<ClosedForm> be_allgather(const Collective &);
std::optional<ClosedForm> be_paper(const Collective &); // reduce and allreduce, without the fold

std::optional<ClosedForm> bruck_allreduce(const Collective &);
std::optional<ClosedForm> bruck_reduce_scatter(const Collective &);
std::optional<ClosedForm> bruck_allgather(const Collective &);
std::optional<ClosedForm> bruck_allgatherv(const Collective &); // also be; equal sizes only

std::optional<ClosedForm> ring_allreduce(const Collective &);
std::optional<ClosedForm> ring_reduce_scatter(const Collective &);
std::optional<ClosedForm> ring_allgather(const Collective &);
std::optional<ClosedForm> ring_allgatherv(const Collective &);

std::optional<ClosedForm> recursive_doubling_allreduce(const Collective &);
std::optional<ClosedForm> recursive_doubling_paper(const Collective &); // without the fold

std::optional<ClosedForm> lp_broadcast(const Collective &);
std::optional<ClosedForm> lp_reduce(const Collective &);
std::optional<ClosedForm> lp_allreduce(const Collective &);
std::optional<ClosedForm> lp_broadcast_paper(const Collective &);
std::optional<ClosedForm> lp_reduce_paper(const Collective &);
std::optional<ClosedForm> lp_allreduce_paper(const Collective &);

std::optional<ClosedForm> double_tree_allreduce(const Collective &);
std::optional<ClosedForm> double_tree_paper(const Collective &);
std::optional<ClosedForm> double_tree_ideal(const Collective &);

std::optional<ClosedForm> hierarchical_allreduce(const Collective &);
std::optional<ClosedForm> hierarchical_leader_allreduce(const Collective &);
std::optional<ClosedForm> parameter_server_allreduce(const Collective &);
// clang-format on

} // namespace stepsim::coll
