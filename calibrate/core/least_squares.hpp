#pragma once
// Weighted least squares with no value below 0: lines through measured times, and the cost of a
// link from times of collectives. Errors are relative, because in plain least squares the largest
// message decides, which gives negative latencies and errors of 80 % for small messages.

#include "base/statistics.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::calibrate {

// Fits times t that are sums of up to three counts, each times a value (CAL 4.5):
//
//   t = a alpha + c beta + g gamma        ring all-reduce: 2(P-1), 2(P-1)/P n, (P-1)/P n
//   minimise  sum w (a alpha + c beta + g gamma - t)^2,   alpha, beta, gamma >= 0
//
// The columns are orthogonalised in the order alpha, beta, gamma. A value whose column loses all
// but 1e-6 of its length is not identifiable: it is 0, and the others carry its part. Most
// all-reduces have c = 2 g, so that all-reduces alone never separate beta from gamma, whatever P
// is; times of recursive doubling (c = g) or of a broadcast (g = 0) separate them.
inline constexpr std::size_t kMostColumns = 3;
using Counts = std::array<double, kMostColumns>; // a, c, g, or their values alpha, beta, gamma
using Columns = std::array<bool, kMostColumns>;

struct JointRow {
  Counts counts;
  double seconds{}; // > 0
};

struct Solution {
  Columns columns{};  // whose values are not held at 0
  Counts values{};    // s, s per byte, s per byte added
  Counts variances{}; // for errors whose weighted squares have the mean 1
  double squares{};   // the sum that is minimised
};
struct BoundedSolution {
  Solution free; // without the bounds; its columns are those that can be identified
  Solution best;
};
[[nodiscard]] BoundedSolution least_squares(std::span<const JointRow> rows,
                                            std::span<const double> weights);

// value +- t(0.975, freedom) sqrt(squares / freedom variance), with a lower end >= 0.
[[nodiscard]] base::Interval interval_of(double value, double variance, double squares,
                                         std::size_t freedom);

struct JointFit {
  Counts values{}; // alpha, beta, gamma
  Columns identifiable{};
  // 95 % confidence; empty for a value held at 0, and if there are no more rows than fitted values.
  std::array<std::optional<base::Interval>, kMostColumns> intervals;
  double max_error{}; // largest |relative error| of a row
};

// Fits `rows`, of which there must be at least one (asserted), with weights 1/t^2.
[[nodiscard]] JointFit fit_jointly(std::span<const JointRow> rows);

// The counts a, c and g in the closed form (COL 5) of a collective of `bytes` bytes. `pingpong` is
// one message of `bytes`, whatever `algorithm` and `ranks` are. Empty for fewer than two ranks or
// more than io::keys::kMostRanks, an unknown operation or algorithm, an operation that the
// algorithm does not have, allgatherv, algorithms that add in switches, and closed forms that are
// not linear in alpha, beta and gamma (such as pipelines with an optimal block).
[[nodiscard]] std::optional<Counts> cost_counts(std::string_view op, std::string_view algorithm,
                                                std::int64_t ranks, double bytes);

// Fits a line t = A + B n to measured times of n bytes (CAL 4.2), with weights 1/t^2. Huber weights
// min(1, 1.345 s/|r|), with relative residuals r and s = 1.4826 median |r|, limit the effect of
// outliers. They are meant for repeated measurements, because a kink in a table of single times is
// structure (CAL D2).

using Datum = links::CurvePoint;

enum class Robust { huber, none };
inline constexpr auto kRobusts =
    base::words<Robust>({{Robust::huber, "huber"}, {Robust::none, "none"}});

struct Line {
  double startup_s{};            // A
  double per_byte_s{};           // B
  bool startup_at_bound = false; // the unconstrained optimum is negative: held at 0
  bool per_byte_at_bound = false;
  [[nodiscard]] double seconds(double bytes) const { return startup_s + per_byte_s * bytes; }
};

struct LineFit {
  Line line;
  // [datum] final weight: 1/t^2, multiplied by the Huber weight if `robust` is huber.
  std::vector<double> weights;
};

[[nodiscard]] bool has_two_sizes(std::span<const Datum> data); // at least, and different
// Needs at least two different sizes (asserted).
[[nodiscard]] LineFit fit_line(std::span<const Datum> data, Robust robust = Robust::none);

// 95 % confidence intervals of A (s) and B (s per byte), with lower ends >= 0. Empty for a value
// held at 0.
struct LineIntervals {
  std::optional<base::Interval> startup_s, per_byte_s;
};
// The intervals of a table of one time per size, by interval_of() with N - 2 degrees of freedom for
// N sizes and the variances of the line without bounds. `fit` must be the fit of `data`. Both are
// empty for fewer than 3 sizes.
[[nodiscard]] LineIntervals table_intervals(const LineFit& fit, std::span<const Datum> data);

// (A + B n - t) / t
[[nodiscard]] double relative_error(const Line& line, const Datum& datum);
// sum ((A + B n - t) / t)^2
[[nodiscard]] double relative_squares(const Line& line, std::span<const Datum> data);

} // namespace stepsim::calibrate
