
#include "study/sweep/quick_curves.hpp"

#include "study/sweep/sweep_quick.hpp"

namespace stepsim::study {

static_assert(collectives::FormLanes::kLanes == buckets::kBatchLanes);

void QuickCurves::clear() {
  lanes_.clear();
  bound_.fill(0);
}

bool QuickCurves::set(std::size_t lane, const collectives::Collective& exchange) {
  forms_[lane] = collectives::prepare(exchange);
  return forms_[lane] && lanes_.set(lane, *forms_[lane]);
}

LaneTotals QuickCurves::send(std::span<const double> ready_s, std::span<const double> bytes,
                             std::span<Lanes> end_s) {
  LaneTotals sums;
  candidate_.resize(bytes.size());
  Lanes seconds;
  Lanes bound;
  for (std::size_t g = 0; g < bytes.size(); ++g) {
    lanes_.at(bytes[g], seconds, candidate_[g], bound);
    send_timed(ready_s[g], seconds, sums, end_s[g]);
    for (std::size_t k = 0; k < bound.size(); ++k) {
      bound_[k] += bound[k];
    }
  }
  return sums;
}

collectives::PreparedForm::Answer QuickCurves::send(std::size_t lane, double bytes) {
  const collectives::PreparedForm::Answer answer = forms_[lane]->at(bytes);
  bound_[lane] += answer.form.upper_bound ? 1 : 0;
  return answer;
}

// A startup is all latency, and bandwidth and reduction have no startup. On equal links the startup
// of a ring does not depend on the bandwidth, nor does what additions take, so that both are those
// of the last call if ranks and latency are.
FormParts PartsOfForms::operator()(collectives::Collective& probe,
                                   const collectives::ClosedForm& whole) {
  const collectives::Links links = probe.links;
  const double reduction = probe.reduction_s_per_byte;
  const auto without = [](collectives::LinkCost& cost, bool latency) {
    (latency ? cost.latency_s : cost.per_byte_s) = 0;
    cost.block_latency_s *= latency ? 0 : 1;
    cost.delay_s *= latency ? 0 : 1;
  };
  const auto strip = [&](bool latency) {
    without(probe.links.all, latency);
    if (probe.links.two_level) {
      without(probe.links.two_level->intra, latency);
      if (auto& nvls = probe.links.two_level->nvls) {
        (latency ? nvls->startup_s : nvls->per_byte_s) = 0;
      }
    }
  };
  const bool ring = probe.algorithm == collectives::AlgorithmId::ring && !links.two_level;
  const bool same = ring && probe.ranks == ranks_ && links.all.latency_s == link_.latency_s &&
                    links.all.delay_s == link_.delay_s;
  probe.reduction_s_per_byte = 0;
  if (!same) {
    strip(false);
    parts_.latency_s = *collectives::closed_form(probe)->startup_s;
    probe.links = links;
  }
  if (ring && reduction == 0) { // nothing but bandwidth is per byte
    parts_.bandwidth_s_per_byte = *whole.per_byte_s;
  } else {
    strip(true);
    parts_.bandwidth_s_per_byte = *collectives::closed_form(probe)->per_byte_s;
  }
  if (!same) {
    strip(true);
    strip(false);
    probe.reduction_s_per_byte = reduction;
    parts_.reduction_s_per_byte = *collectives::closed_form(probe)->per_byte_s;
  }
  ranks_ = probe.ranks;
  link_ = links.all;
  return parts_;
}

// What the exchanges of one lane of QuickRun cost: start-up and time per byte, or a curve, and the
// parts they consist of.

bool QuickRun::set_network(const QuickPoint& point) {
  constexpr std::int64_t kMaxRanks = 1 << 20;
  Cluster& cluster = scenario_.cluster;
  if (point.nodes * cluster.gpus_per_node > kMaxRanks || !cluster.equal_nodes()) {
    return false;
  }
  cluster.nodes = point.nodes;
  cluster.network.latency_s = point.latency_s;
  cluster.network.bandwidth_Bps = point.bandwidth_Bps;
  if (block_follows_) {
    cluster.network.block_latency_s = point.latency_s;
  }
  return cluster.network.block_latency_s <= point.latency_s;
}

// False where the exchange has no form here.
bool QuickRun::fill_costs(const QuickPoint& point, std::size_t k, LaneCosts& costs) {
  if (!set_network(point)) {
    return false;
  }
  costs.ranks[k] = static_cast<double>(scenario_.cluster.ranks());
  costs.startup[k] = costs.per_byte[k] = 0;
  costs.latency[k] = costs.bandwidth[k] = costs.reduction[k] = 0;
  if (scenario_.cluster.ranks() == 1) {
    return !curves_;
  }
  collectives::Collective probe = exchange_of(scenario_);
  probe.bytes = 1;
  if (!probe.homogeneous()) {
    return false;
  }
  if (curves_) {
    return curves_->set(k, probe);
  }
  const auto whole = collectives::closed_form(probe);
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  costs.startup[k] = *whole->startup_s;
  costs.per_byte[k] = *whole->per_byte_s;
  const FormParts parts = parts_of_(probe, *whole);
  costs.latency[k] = parts.latency_s;
  costs.bandwidth[k] = parts.bandwidth_s_per_byte;
  costs.reduction[k] = parts.reduction_s_per_byte;
  return true;
}

} // namespace stepsim::study
