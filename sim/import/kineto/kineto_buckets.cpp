// Buckets are settled in launch order; what does not fit into one is a candidate of the next.
#include "import/kineto/kineto_sizes.hpp"

#include <bit>

namespace stepsim::io {

namespace {

constexpr std::size_t kMostCandidates = 24;

// Prefers fewer members, then later ones: bit i stands for the i-th candidate.
bool better(std::uint32_t a, std::uint32_t b) {
  return std::popcount(a) != std::popcount(b) ? std::popcount(a) < std::popcount(b) : a > b;
}

// Meet in the middle: the sums of one half are looked up for each sum of the other.
std::uint32_t best_mask(const std::vector<std::int64_t>& values, std::int64_t sum) {
  const std::size_t low = values.size() / 2;
  const std::size_t high = values.size() - low;
  const auto sum_of = [&](std::uint32_t mask, std::size_t from) {
    std::int64_t total = 0;
    for (std::size_t i = 0; mask != 0; ++i, mask >>= 1U) {
      total += (mask & 1U) != 0 ? values[from + i] : 0;
    }
    return total;
  };
  std::map<std::int64_t, std::uint32_t> lower; // the best mask of a sum
  for (std::uint32_t mask = 0; mask < (1U << low); ++mask) {
    const auto [row, added] = lower.try_emplace(sum_of(mask, 0), mask);
    if (!added && better(mask, row->second)) {
      row->second = mask;
    }
  }
  std::uint32_t best = 0;
  for (std::uint32_t mask = 0; mask < (1U << high); ++mask) {
    const auto rest = lower.find(sum - sum_of(mask, low));
    const std::uint32_t both = rest == lower.end() ? 0 : (mask << low) | rest->second;
    if (both != 0 && (best == 0 || better(both, best))) {
      best = both;
    }
  }
  return best;
}

// Positions of the fewest values that sum up to `sum`, the latest ones if there are several such
// sets; empty if none was found. Sets of one or two are searched among all values, larger sets only
// among the last 24 values.
std::vector<std::size_t> subset_with_sum(const std::vector<std::int64_t>& values,
                                         std::int64_t sum) {
  if (sum <= 0) {
    return {};
  }
  std::map<std::int64_t, std::vector<std::size_t>> places; // ascending, by value
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0) {
      places[values[i]].push_back(i);
    }
  }
  if (const auto one = places.find(sum); one != places.end()) {
    return {one->second.back()};
  }
  for (std::size_t i = values.size(); i-- > 0;) { // the latest pair: by its later member
    const auto partner = values[i] > 0 ? places.find(sum - values[i]) : places.end();
    if (partner != places.end()) {
      const auto before = std::ranges::lower_bound(partner->second, i);
      if (before != partner->second.begin()) {
        return {*(before - 1), i};
      }
    }
  }
  std::vector<std::size_t> positions;
  std::vector<std::int64_t> considered;
  for (std::size_t i = values.size(); i-- > 0 && positions.size() < kMostCandidates;) {
    if (values[i] > 0) {
      positions.push_back(i);
    }
  }
  std::ranges::reverse(positions);
  for (const std::size_t i : positions) {
    considered.push_back(values[i]);
  }
  const std::uint32_t mask = best_mask(considered, sum);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if ((mask & (1U << i)) != 0) {
      chosen.push_back(positions[i]);
    }
  }
  return chosen;
}

std::string elements_text(std::int64_t elements) { return fmt::format("{} elements", elements); }

class Settler {
public:
  Settler(const StepSample& step, std::vector<GradientSize>& sizes) : step_(step), sizes_(sizes) {}

  Settled run() {
    std::vector<std::size_t> candidates;
    std::size_t next = 0;
    const auto& gradients = step_.gradients;
    for (std::size_t b = 0; b < step_.buckets.size(); ++b) {
      for (; next < gradients.size() && gradients[next].bucket >= 0 &&
             gradients[next].bucket <= static_cast<std::int32_t>(b);
           ++next) {
        candidates.push_back(next);
      }
      candidates = settle(b, std::move(candidates));
    }
    for (; next < gradients.size(); ++next) {
      candidates.push_back(next);
    }
    leave(candidates);
    return std::move(result_);
  }

private:
  // What goes on to the next bucket.
  std::vector<std::size_t> settle(std::size_t bucket, std::vector<std::size_t> candidates) {
    const std::int64_t measured = step_.buckets[bucket].call.elements;
    std::vector<std::size_t> moved;
    std::vector<std::size_t> unknown;
    std::vector<std::int64_t> values;
    std::int64_t sum = 0;
    for (const std::size_t i : candidates) {
      values.push_back(sizes_[i].tensor.elements.value_or(0));
      sum += values.back();
      if (!sizes_[i].tensor.elements) {
        unknown.push_back(i);
      }
    }
    std::int64_t more = measured < 0 ? 0 : sum - measured;
    if (more > 0) {
      const std::vector<std::size_t> chosen = subset_with_sum(values, more);
      differ(bucket, sum, chosen.empty());
      if (chosen.empty()) {
        result_.notes.push_back(fmt::format("bucket {}: {} measured, but its gradients have {}: "
                                            "which of them it carries is unknown",
                                            bucket, elements_text(measured), sum));
        return {}; // members keep kUnknown
      }
      for (const std::size_t at : chosen) {
        moved.push_back(candidates[at]);
      }
      std::erase_if(candidates,
                    [&](std::size_t i) { return std::ranges::find(moved, i) != moved.end(); });
      more = 0;
    }
    for (const std::size_t i : candidates) {
      sizes_[i].bucket = static_cast<std::int32_t>(bucket);
    }
    if (more < 0) {
      fill(bucket, -more, candidates, unknown);
      differ(bucket, sum, unknown.empty());
    }
    std::ranges::sort(moved);
    return moved;
  }

  void differ(std::size_t bucket, std::int64_t sum, bool unsolved) {
    if (unsolved && result_.difference.empty()) {
      result_.difference = fmt::format("bucket {}: {} elements measured, {} from ", bucket,
                                       step_.buckets[bucket].call.elements, sum);
    }
  }

  // The elements that the members with a size do not make up.
  void fill(std::size_t bucket, std::int64_t missing, const std::vector<std::size_t>& members,
            const std::vector<std::size_t>& unknown) {
    if (!unknown.empty()) {
      const auto count = static_cast<std::int64_t>(unknown.size());
      for (std::size_t i = 0; i < unknown.size(); ++i) {
        sizes_[unknown[i]].tensor.elements =
            missing / count + (static_cast<std::int64_t>(i) < missing % count ? 1 : 0);
      }
      result_.notes.push_back(
          fmt::format("bucket {}: {} without a recorded shape share its other {}{}", bucket,
                      count == 1 ? "one gradient" : fmt::format("{} gradients", count),
                      elements_text(missing), count == 1 ? "" : " in equal parts"));
    } else if (!members.empty()) {
      sizes_[members.back()].extra_elements = missing;
      result_.notes.push_back(fmt::format(
          "bucket {} carries {} more than its gradients have: parameters without a gradient in "
          "this step, counted as extra bytes of its last gradient",
          bucket, elements_text(missing)));
    }
  }

  void leave(const std::vector<std::size_t>& candidates) {
    std::string list;
    for (const std::size_t i : candidates) {
      sizes_[i].bucket = GradientSize::kNever;
      if (sizes_[i].tensor.elements) {
        list += (list.empty() ? "" : ", ") + std::to_string(*sizes_[i].tensor.elements);
      }
    }
    if (!candidates.empty()) {
      result_.notes.push_back(
          fmt::format("{} {} never reduced and left out{}", candidates.size(),
                      candidates.size() == 1 ? "gradient is" : "gradients are",
                      list.empty() || candidates.size() > 10 ? "" : " (" + list + " elements)"));
    }
  }

  const StepSample& step_;
  std::vector<GradientSize>& sizes_;
  Settled result_;
};

// Gradients are in the buckets that the log lists, else they fill these in ready order.
Settled fill_logged(const StepSample& step, std::vector<GradientSize>& sizes) {
  Settled result;
  const std::size_t count = step.buckets.size();
  std::vector<std::int64_t> sums(count);
  std::size_t bucket = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    while (bucket + 1 < count && sums[bucket] >= step.buckets[bucket].call.elements) {
      ++bucket;
    }
    const std::int32_t listed = step.gradients[i].bucket;
    const std::size_t place = listed >= 0 ? static_cast<std::size_t>(listed) : bucket;
    sizes[i].bucket = static_cast<std::int32_t>(place);
    sums[place] += sizes[i].tensor.elements.value_or(0);
  }
  const bool fits = std::ranges::equal(
      sums, step.buckets, {}, {}, [](const CollectiveSample& each) { return each.call.elements; });
  if (fits) {
    return result;
  }
  const std::int64_t sum = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  if (const std::int64_t total = bucket_elements(step); sum != total) {
    result.difference = fmt::format("{} elements in the logged buckets, {} from ", total, sum);
  }
  result.notes.emplace_back("the gradients do not fill the logged buckets: which of them a bucket "
                            "carries is unknown");
  for (GradientSize& size : sizes) {
    size.bucket = GradientSize::kUnknown;
  }
  return result;
}

} // namespace

Settled assign_buckets(const StepSample& step, std::vector<GradientSize>& sizes) {
  return step.logged_buckets    ? fill_logged(step, sizes)
         : step.buckets.empty() ? Settled()
                                : Settler(step, sizes).run();
}

std::vector<std::int32_t> listed_buckets(const DdpLog& log, std::size_t gradients) {
  std::vector<std::int32_t> buckets(gradients, GradientSize::kUnknown);
  std::size_t listed = 0;
  for (std::size_t b = 0; b < log.parameters.size(); ++b) {
    for (const std::int64_t parameter : log.parameters[b]) {
      const auto place = gradients - 1 - static_cast<std::size_t>(parameter);
      if (place >= gradients || buckets[place] != GradientSize::kUnknown) {
        return {}; // a parameter without a gradient, or one listed twice
      }
      buckets[place] = static_cast<std::int32_t>(b);
      ++listed;
    }
  }
  return listed == gradients ? buckets : std::vector<std::int32_t>();
}

void add_logged_buckets(const DdpLog& log, const std::string& dtype, StepSample& step) {
  if (log.bucket_bytes.size() > step.gradients.size()) {
    throw InputError(log.file, "",
                     fmt::format("{} buckets, but a step of the trace has {} gradients",
                                 log.bucket_bytes.size(), step.gradients.size()));
  }
  const auto word = dtype_of_pytorch(dtype);
  for (const std::int64_t bytes : log.bucket_bytes) {
    CollectiveSample& bucket = step.buckets.emplace_back();
    bucket.call.dtype = dtype;
    bucket.call.elements = bytes / (word ? word->bytes : 4);
  }
  const std::vector<std::int32_t> buckets = listed_buckets(log, step.gradients.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    step.gradients[i].bucket = buckets[i];
    ++step.buckets[static_cast<std::size_t>(buckets[i])].gradients;
  }
  step.logged_buckets = true;
}

} // namespace stepsim::io
