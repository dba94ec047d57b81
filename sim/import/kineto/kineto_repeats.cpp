// Repeats are found by comparing positions that are a whole period apart.
#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

namespace {

std::int64_t elements_of(const GradientSample& gradient) {
  return gradient.shape ? gradient.shape->get().elements : -1;
}

// In how many of `count` micro-steps the buckets are: 1, the last, or all of them, alike in each;
// 0 for any other arrangement.
std::size_t bucket_repeats(const StepSample& sample, std::size_t count) {
  const std::size_t layers = sample.layers.size() / count;
  const std::size_t buckets = sample.buckets.size() / count;
  const auto begun = [&](std::size_t bucket, std::size_t micro_step) {
    return sample.buckets[bucket].call.begin >= sample.layers[micro_step * layers].begin;
  };
  if (sample.buckets.empty() || begun(0, count - 1)) {
    return 1;
  }
  for (std::size_t i = 0; i < sample.buckets.size(); ++i) {
    if (sample.buckets.size() % count != 0 || !begun(i, i / buckets) ||
        (i / buckets + 1 < count && begun(i, i / buckets + 1)) ||
        sample.buckets[i].call.elements != sample.buckets[i % buckets].call.elements) {
      return 0;
    }
  }
  return count;
}

bool repeats(const StepSample& sample, std::size_t count) {
  const std::size_t layers = sample.layers.size() / count;
  const std::size_t gradients = sample.gradients.size() / count;
  for (std::size_t i = layers; i < sample.layers.size(); ++i) {
    const LayerSample& before = sample.layers[i - layers];
    if (sample.layers[i].operation != before.operation ||
        sample.layers[i].gradients != before.gradients) {
      return false;
    }
  }
  for (std::size_t i = gradients; i < sample.gradients.size(); ++i) {
    const GradientSample& before = sample.gradients[i - gradients];
    if (sample.gradients[i].layer - before.layer != static_cast<std::int32_t>(layers) ||
        elements_of(sample.gradients[i]) != elements_of(before)) {
      return false;
    }
  }
  for (std::size_t k = 1; k < count; ++k) {
    if (sample.layers[k * layers].begin < sample.gradients[k * gradients - 1].begin) {
      return false; // layers that are alike, not passes
    }
  }
  return bucket_repeats(sample, count) > 0;
}

void join(StepSample& sample, std::size_t count) {
  const std::size_t layers = sample.layers.size() / count;
  const std::size_t gradients = sample.gradients.size() / count;
  const std::size_t dropped =
      sample.buckets.size() - sample.buckets.size() / bucket_repeats(sample, count);
  sample.first_end = sample.gradients[gradients - 1].begin;
  for (std::size_t i = 0; i < layers; ++i) {
    for (const auto time : {&LayerSample::forward, &LayerSample::backward}) {
      std::vector<Nanoseconds> times;
      for (std::size_t k = 0; k < count; ++k) {
        times.push_back(sample.layers[k * layers + i].*time);
      }
      sample.layers[i].*time = median_time(std::move(times));
    }
  }
  sample.layers.resize(layers);
  sample.gradients.erase(sample.gradients.begin(),
                         sample.gradients.end() - static_cast<std::ptrdiff_t>(gradients));
  sample.reduces_each = dropped > 0;
  sample.buckets.erase(sample.buckets.begin(),
                       sample.buckets.begin() + static_cast<std::ptrdiff_t>(dropped));
  for (CollectiveSample& bucket : sample.buckets) {
    bucket.gradients = 0;
  }
  for (GradientSample& gradient : sample.gradients) {
    gradient.layer -= static_cast<std::int32_t>((count - 1) * layers);
    if (gradient.bucket >= 0) {
      gradient.bucket -= static_cast<std::int32_t>(dropped);
      ++sample.buckets[static_cast<std::size_t>(gradient.bucket)].gradients;
    }
  }
  const auto each = static_cast<std::int64_t>(count);
  sample.undefined /= each;
  sample.backward_nodes /= each;
  sample.backward_matched /= each;
  sample.recomputed /= each;
  sample.repeats = each;
}

} // namespace

void join_repeats(StepSample& sample) {
  for (std::size_t count = std::min(sample.layers.size(), sample.gradients.size()); count >= 2;
       --count) {
    if (sample.layers.size() % count == 0 && sample.gradients.size() % count == 0 &&
        repeats(sample, count)) {
      join(sample, count);
      return;
    }
  }
}

} // namespace stepsim::io
