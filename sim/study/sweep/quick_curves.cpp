
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

} // namespace stepsim::study
