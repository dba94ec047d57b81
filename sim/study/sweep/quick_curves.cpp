#include "study/sweep/quick_curves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepsim::study {

static_assert(collectives::FormLanes::kLanes == buckets::kBatchLanes);

QuickCurves::QuickCurves(const buckets::BatchItems& items) : items_(items), best_(items) {
  curves_.seconds = [this, candidate = Lanes{}](double bytes, Lanes& seconds, Lanes& tag) mutable {
    forms_.at(bytes, seconds, candidate, tag);
  };
  curves_.least_lines = [this](double low, double high, Lanes& startup_s, Lanes& per_byte_s) {
    forms_.least_lines(low, high, startup_s, per_byte_s);
  };
}

void QuickCurves::clear() {
  forms_.clear();
  bound_.fill(0);
}

bool QuickCurves::set(std::size_t lane, const collectives::Collective& exchange) {
  prepared_[lane] = collectives::prepare(exchange);
  return prepared_[lane] && forms_.set(lane, *prepared_[lane]);
}

void QuickCurves::fill(std::span<const bool> set) {
  const auto first = static_cast<std::size_t>(std::ranges::find(set, true) - set.begin());
  for (std::size_t k = 0; k < buckets::kBatchLanes; ++k) {
    if (k >= set.size() || !set[k]) {
      forms_.copy(first, k);
    }
  }
}

LaneTotals QuickCurves::send(std::span<const double> ready_s, std::span<const double> bytes,
                             std::span<Lanes> end_s) {
  LaneTotals sums;
  candidate_.resize(ready_s.size());
  Lanes seconds;
  Lanes bound;
  for (std::size_t g = 0; g < ready_s.size(); ++g) {
    forms_.at(bytes[g], seconds, candidate_[g], bound);
    send_timed(ready_s[g], seconds, sums, end_s[g]);
    for (std::size_t k = 0; k < buckets::kBatchLanes; ++k) {
      bound_[k] += bound[k];
    }
  }
  return sums;
}

// Algorithm and block are those of the first message.
bool QuickCurves::set_parts(std::span<const double> bytes, LaneTotals& totals) const {
  const Lanes& candidate = candidate_.front();
  Lanes block;
  forms_.blocks(bytes.front(), candidate, block);
  for (double& each : block) {
    each = std::floor(each);
  }
  if (std::ranges::min(block) < 1) {
    return false;
  }
  totals.latency.fill(0);
  totals.bandwidth.fill(0);
  for (const double each : bytes) {
    forms_.add_parts(each, candidate, block, totals.latency, totals.bandwidth);
  }
  return true;
}

double QuickCurves::seconds(std::size_t lane, double bytes) {
  const collectives::ClosedForm form = prepared_[lane]->at(bytes).form;
  bound_[lane] += form.upper_bound ? 1 : 0;
  return form.seconds;
}

void QuickCurves::find_best() { best_.run(curves_); }

} // namespace stepsim::study
