#include "programs/step/compression_gain.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stepsim::programs {

namespace {

struct Ring {       // all-reduce of s bytes: startup + per_x s x
  double startup{}; // A
  double per_x{};   // c
};

Ring ring_of(const BreakEvenProblem& problem) {
  const auto ranks = static_cast<double>(problem.ranks);
  return {2 * (ranks - 1) * problem.latency_s, 2 * (ranks - 1) / ranks};
}

// gain(x) = intercept + slope x for first < x <= last.
struct Piece {
  double first{}, last{};
  double intercept{}, slope{};
};

// What is saved beyond what is spent; 0 where only rounding tells them apart.
double beyond(double saved, double spent) {
  const double difference = saved - spent;
  return std::abs(difference) <= 1e-12 * std::max(saved, spent) ? 0 : difference;
}

std::vector<Piece> pieces_of(const BreakEvenProblem& problem, DenseBaseline baseline) {
  const Ring ring = ring_of(problem);
  const double spent = problem.encode_decode_s + problem.startup_s;
  const double whole =
      beyond(ring.per_x * static_cast<double>(problem.gradient_bytes), problem.sent_bytes);
  if (baseline == DenseBaseline::sequential) {
    return {{0, HUGE_VAL, beyond(ring.startup, spent), whole}};
  }
  const Buckets buckets = buckets_of(problem);
  const auto n = static_cast<double>(buckets.count);
  const double last =
      beyond(ring.per_x * static_cast<double>(buckets.last_bytes), problem.sent_bytes);
  const double hidden =
      beyond((problem.overlap_slowdown - 1) * problem.backward_s + ring.startup, spent);
  if (buckets.count == 1) {
    return {{0, HUGE_VAL, hidden, last}};
  }
  // Backward ends together with the message before the last.
  const double corner = (problem.overlap_slowdown * problem.backward_s / (n - 1) - ring.startup) /
                        (ring.per_x * static_cast<double>(problem.bucket_bytes));
  std::vector<Piece> pieces;
  if (corner > 0) {
    pieces.push_back({0, corner, hidden, last});
  }
  pieces.push_back({std::max(0.0, corner), HUGE_VAL,
                    beyond(n * ring.startup, problem.backward_s + spent), whole});
  return pieces;
}

// The part of a piece where it is above 0.
struct Part {
  double first{}, last{};
};
std::optional<Part> positive_part(const Piece& piece) {
  const auto [first, last, intercept, slope] = piece;
  if (slope == 0) {
    return intercept > 0 ? std::optional<Part>({first, last}) : std::nullopt;
  }
  const double root = -intercept / slope;
  const Part part =
      slope > 0 ? Part{std::max(first, root), last} : Part{first, std::min(last, root)};
  return part.first < part.last ? std::optional(part) : std::nullopt;
}

// What is left of both, with the corner between them unless the gain is 0 there.
std::vector<Part> positive_parts(const std::vector<Piece>& pieces) {
  std::vector<Part> parts;
  for (const Piece& piece : pieces) {
    const std::optional<Part> part = positive_part(piece);
    if (!part) {
      continue;
    }
    const bool joins = !parts.empty() && parts.back().last == part->first &&
                       piece.intercept + piece.slope * part->first > 0;
    if (joins) {
      parts.back().last = part->last;
    } else {
      parts.push_back(*part);
    }
  }
  return parts;
}

} // namespace

Buckets buckets_of(const BreakEvenProblem& problem) {
  assert(problem.gradient_bytes > 0 && problem.bucket_bytes > 0 && "sizes are positive");
  const std::int64_t before_last = (problem.gradient_bytes - 1) / problem.bucket_bytes;
  return {before_last + 1, problem.gradient_bytes - before_last * problem.bucket_bytes};
}

double dense_overlapped_s(const BreakEvenProblem& problem, double bandwidth_Bps) {
  const Ring ring = ring_of(problem);
  const Buckets buckets = buckets_of(problem);
  const auto message = [&](std::int64_t bytes) {
    return ring.startup + ring.per_x * static_cast<double>(bytes) / bandwidth_Bps;
  };
  const double before_last = static_cast<double>(buckets.count - 1) * message(problem.bucket_bytes);
  return problem.forward_s + std::max(problem.overlap_slowdown * problem.backward_s, before_last) +
         message(buckets.last_bytes);
}

double dense_sequential_s(const BreakEvenProblem& problem, double bandwidth_Bps) {
  const Ring ring = ring_of(problem);
  return problem.forward_s + problem.backward_s + ring.startup +
         ring.per_x * static_cast<double>(problem.gradient_bytes) / bandwidth_Bps;
}

double compressed_s(const BreakEvenProblem& problem, double bandwidth_Bps) {
  return problem.forward_s + problem.backward_s + problem.encode_decode_s + problem.startup_s +
         problem.sent_bytes / bandwidth_Bps;
}

CompressionGain compression_gain(const BreakEvenProblem& problem, DenseBaseline baseline) {
  CompressionGain gain;
  const std::vector<Part> parts = positive_parts(pieces_of(problem, baseline));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) { // slow networks first
    BandwidthInterval wins;
    if (std::isfinite(part->last)) {
      wins.from_Bps = 1 / part->last;
      gain.break_even_Bps.push_back(wins.from_Bps);
    }
    if (part->first > 0) {
      wins.to_Bps = 1 / part->first;
      gain.break_even_Bps.push_back(*wins.to_Bps);
    }
    gain.wins.push_back(wins);
  }
  const auto repeated = std::ranges::unique(gain.break_even_Bps); // the curves touch at the corner
  gain.break_even_Bps.erase(repeated.begin(), repeated.end());
  return gain;
}

} // namespace stepsim::programs
