#include "study/sweep/ranking.hpp"

#include <cmath>

namespace stepsim::study {

namespace {

constexpr double kLeast = 0.05; // a smaller difference is not stated
constexpr double kRest = 0.035; // of one run, between equal runs of a site
constexpr std::size_t kMostRows = 2'000;

// By how much the time of a run moves with each factor; sorted by factor, without shares.
using Moves = std::vector<IntervalPart>;

// Empty where the record has none, or has no part of what differs between equal runs: only then is
// the order that of real runs.
Moves moves_of(const io::Json& record) {
  Moves moves;
  const io::Json* parts = record.find("interval_parts");
  if (parts != nullptr && parts->is_array()) {
    for (const io::Json& part : parts->as_array()) {
      moves.push_back({.factor = part.find("factor")->as_string(),
                       .at_high = part.find("at_high")->as_double(),
                       .at_low = part.find("at_low")->as_double()});
    }
  }
  std::ranges::sort(moves, {}, &IntervalPart::factor);
  return std::ranges::binary_search(moves, kRestOfInterval, {}, &IntervalPart::factor) ? moves
                                                                                       : Moves();
}

Moves moves_of(std::span<const IntervalPart> parts) {
  Moves moves(parts.begin(), parts.end());
  std::ranges::sort(moves, {}, &IntervalPart::factor);
  return moves;
}

struct Spread {
  double variance = 2 * kRest * kRest;
  double up = variance;   // of moves that make x longer against y
  double down = variance; // of those that make it shorter
  double largest = 2 * kRest * kRest;
  std::string_view factor = kRestOfInterval;
};

// A factor that moves one run alone counts whole.
Spread spread_between(const Moves& x, const Moves& y) {
  Spread spread;
  const auto add = [&](std::string_view factor, double high, double low) {
    const double moved = std::max(std::abs(high), std::abs(low));
    spread.variance += moved * moved;
    const double up = std::max({0.0, high, low});
    const double down = std::min({0.0, high, low});
    spread.up += up * up;
    spread.down += down * down;
    if (moved * moved > spread.largest) {
      spread.largest = moved * moved;
      spread.factor = factor;
    }
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i].factor < y[j].factor)) {
      add(x[i].factor, x[i].at_high, x[i].at_low);
      ++i;
    } else if (i == x.size() || y[j].factor < x[i].factor) {
      add(y[j].factor, -y[j].at_high, -y[j].at_low);
      ++j;
    } else {
      add(x[i].factor, x[i].at_high - y[j].at_high, x[i].at_low - y[j].at_low);
      ++i;
      ++j;
    }
  }
  return spread;
}

bool is_stated(double difference, double deviation) {
  return std::abs(difference) > std::max(kLeast, kQuantile80 * deviation);
}

std::optional<PairedDifference> difference_of(const Moves& x, const Moves& y, double log_ratio) {
  if (x.empty() || y.empty()) {
    return std::nullopt;
  }
  const Spread spread = spread_between(x, y);
  return PairedDifference{log_ratio, std::sqrt(spread.up), std::sqrt(spread.down)};
}

} // namespace

bool PairedDifference::is_stated() const { return study::is_stated(value, value < 0 ? up : down); }

std::pair<double, double> PairedDifference::range_of_gain() const {
  return {1 - std::exp(value + kQuantile80 * up), 1 - std::exp(value - kQuantile80 * down)};
}

std::optional<PairedDifference> paired_difference(const io::Json& x, const io::Json& y,
                                                  double log_ratio) {
  return difference_of(moves_of(x), moves_of(y), log_ratio);
}

std::optional<PairedDifference> paired_difference(std::span<const IntervalPart> x,
                                                  std::span<const IntervalPart> y,
                                                  double log_ratio) {
  return difference_of(moves_of(x), moves_of(y), log_ratio);
}

std::vector<Standing> standings(std::span<const io::Json> rows, std::span<const double> log_times,
                                std::size_t best) {
  if (rows.size() > kMostRows) {
    return {};
  }
  std::vector<Moves> moves;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    moves.push_back(std::isfinite(log_times[i]) ? moves_of(rows[i]) : Moves());
    if (std::isfinite(log_times[i]) && moves.back().empty()) {
      return {};
    }
  }
  std::vector<Standing> all(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (moves[i].empty()) {
      continue;
    }
    all[i].rank = 1;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const double difference = log_times[i] - log_times[j];
      if (!moves[j].empty() && difference > kLeast) {
        const Spread spread = spread_between(moves[i], moves[j]);
        all[i].rank += is_stated(difference, std::sqrt(spread.variance)) ? 1 : 0;
      }
    }
    if (i != best) {
      const Spread spread = spread_between(moves[i], moves[best]);
      if (!is_stated(log_times[i] - log_times[best], std::sqrt(spread.variance))) {
        all[i].measure = spread.factor;
      }
    }
  }
  return all;
}

void set_standing(const Standing& standing, io::Json& row) {
  row.set("stated_rank", standing.rank > 0 ? io::Json(standing.rank) : io::Json());
  row.set("not_told_apart", standing.measure.empty() ? io::Json() : io::Json(standing.measure));
}

} // namespace stepsim::study
