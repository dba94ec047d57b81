
#include "study/sweep/quick_curves.hpp"

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

} // namespace stepsim::study
