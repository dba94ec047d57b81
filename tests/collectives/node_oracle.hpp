#pragma once
// ring_rails and two_level once more, as plain lists of operations over named ports, written from
// CLU 2 and 3 alone: an operation waits for its two ports and for the data of its source, in the
// order of the list.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "collectives/nodes.hpp"

namespace stepsim::collectives::test {

// Levels, ring or chunk, rank.
using Key = std::array<std::size_t, 3>;

class Ports {
public:
  // Ends of an operation from one port to another, whose data is `data` of its ranks.
  void run(const Key& from, const Key& to, const Key& data_from, const Key& data_to, double seconds,
           double addition, bool held) {
    const double start = std::max({sends_[from], receives_[to], data_[data_from]});
    const double end = start + seconds;
    sends_[from] = end;
    receives_[to] = end;
    double ready = end;
    if (addition > 0) {
      ready = held ? end + addition : std::max(adds_[to], end) + addition;
      adds_[to] = ready;
      receives_[to] = held ? ready : end;
    }
    pending_.push_back({data_to, ready});
    last_ = std::max(last_, ready);
  }
  // What a step has brought may go on in the next one.
  void end_step() {
    for (const auto& [key, ready] : pending_) {
      data_[key] = std::max(data_[key], ready);
    }
    pending_.clear();
  }
  [[nodiscard]] double last() const { return last_; }

private:
  std::map<Key, double> sends_, receives_, adds_, data_;
  std::vector<std::pair<Key, double>> pending_;
  double last_ = 0;
};

struct OracleLinks {
  double alpha_i = kAlphaInside, beta_i = kBetaInside;
  double alpha_e = kAlphaAcross, beta_e = kBetaAcross;
  double gamma = 0;
};

// All-gather (one half), or reduce-scatter, or both.
inline double ring_rails_oracle(const Shape& shape, double n, const OracleLinks& links,
                                bool reduce_scatter, bool allgather) {
  const std::size_t P = shape.ranks();
  const std::size_t K = shape.nodes > 1 ? shape.cards : 1;
  const double x = n / static_cast<double>(K * P);
  const auto at = [&](std::size_t ring, std::size_t position) {
    const std::size_t local = (ring * shape.gpus / K + position % shape.gpus) % shape.gpus;
    return position / shape.gpus * shape.gpus + local;
  };
  Ports ports;
  for (const bool sums : {true, false}) {
    for (std::size_t step = 0; (sums ? reduce_scatter : allgather) && step + 1 < P; ++step) {
      for (std::size_t ring = 0; ring < K; ++ring) {
        for (std::size_t j = 0; j < P; ++j) {
          const std::size_t src = at(ring, (j + P - 1) % P);
          const std::size_t dst = at(ring, j);
          const bool inside = src / shape.gpus == dst / shape.gpus;
          const double share = static_cast<double>(K);
          const double seconds =
              inside ? links.alpha_i + share * x * links.beta_i : links.alpha_e + x * links.beta_e;
          const double addition = sums ? share * x * links.gamma : 0;
          ports.run({0, ring, src}, {0, ring, dst}, {0, ring, src}, {0, ring, dst}, seconds,
                    addition, false);
        }
      }
      ports.end_step();
    }
  }
  return ports.last();
}

inline double two_level_oracle(const Shape& shape, double n, const OracleLinks& links,
                               std::size_t chunks, bool reduce_scatter, bool allgather) {
  const std::size_t G = shape.gpus;
  const std::size_t N = shape.nodes;
  const double m = n / static_cast<double>(chunks);
  const double sharing = (shape.gpus + shape.cards - 1) / shape.cards;
  const double in_block = m / static_cast<double>(G);
  const double out_block = m / static_cast<double>(G * N);
  Ports ports;
  const auto inside = [&](std::size_t chunk, double gamma) {
    for (std::size_t step = 0; step + 1 < G; ++step) {
      for (std::size_t node = 0; node < N; ++node) {
        for (std::size_t l = 0; l < G; ++l) {
          const std::size_t src = node * G + l;
          const std::size_t dst = node * G + (l + 1) % G;
          ports.run({0, 0, src}, {0, 0, dst}, {0, chunk, src}, {0, chunk, dst},
                    links.alpha_i + in_block * links.beta_i, in_block * gamma, chunks > 1);
        }
      }
      ports.end_step();
    }
  };
  const auto across = [&](std::size_t chunk, double gamma) {
    for (std::size_t step = 0; step + 1 < N; ++step) {
      for (std::size_t l = 0; l < G; ++l) {
        for (std::size_t node = 0; node < N; ++node) {
          const std::size_t src = node * G + l;
          const std::size_t dst = (node + 1) % N * G + l;
          ports.run({1, 0, src}, {1, 0, dst}, {0, chunk, src}, {0, chunk, dst},
                    links.alpha_e + sharing * out_block * links.beta_e, out_block * gamma,
                    chunks > 1);
        }
      }
      ports.end_step();
    }
  };
  const auto each = [&](auto phase, double gamma) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      phase(chunk, gamma);
    }
  };
  if (reduce_scatter) {
    each(inside, links.gamma);
    each(across, links.gamma);
  }
  if (allgather) {
    each(across, 0);
    each(inside, 0);
  }
  return ports.last();
}

} // namespace stepsim::collectives::test
