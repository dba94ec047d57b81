// What a job's workers know of their iterations when the run is over.
#include <algorithm>

#include "train/job/network_job_workers.hpp"

namespace stepsim::train {

// When the last worker would start its next backward if pieces came back as soon as the last worker
// has them: waiting for slower workers is no communication.
double JobWorkers::next_start_without_messages(std::int64_t iteration) const {
  const std::size_t layers = job_.forward_s.size();
  std::vector<double> done(layers, 0); // of the pieces of a layer
  double all = 0;
  std::size_t begin = 0;
  for (const Group& group : groups_) {
    double last = 0;
    for (std::uint32_t w = 0; w < job_.workers; ++w) {
      last = std::max(last, backward_start_s_[at(iteration, w)] +
                                jitter_.compute(w, iteration + 1) * group.offset_s);
    }
    for (; begin < group.end; ++begin) {
      all = last;
      const JobPiece& piece = job_.pieces[order_[begin]];
      for (std::size_t l = piece.first_layer; l <= piece.last_layer; ++l) {
        done[l] = std::max(done[l], last);
      }
    }
  }
  const bool barrier = job_.next_forward == NextForward::barrier;
  double latest = 0;
  for (std::uint32_t w = 0; w < job_.workers; ++w) {
    double t =
        backward_start_s_[at(iteration, w)] + jitter_.compute(w, iteration + 1) * backward_s_;
    const double factor = jitter_.compute(w, iteration + 2);
    for (std::size_t l = 0; l < layers; ++l) {
      t = std::max(t, barrier ? all : done[l]);
      t += factor * (updates_[l] + (l == 0 ? first_update_ : 0) + job_.forward_s[l]);
    }
    latest = std::max(latest, t);
  }
  return latest;
}

void JobWorkers::record(JobResult& result) const {
  const auto last_of = [&](std::int64_t iteration) {
    const auto begin = backward_start_s_.begin() + static_cast<std::ptrdiff_t>(at(iteration, 0));
    return *std::max_element(begin, begin + job_.workers);
  };
  for (std::int64_t i = 0; i < job_.iterations; ++i) {
    JobIteration& record = result.iterations.emplace_back();
    record.start_s = start_s_[static_cast<std::size_t>(i)];
    record.backward_start_s = last_of(i);
    double update = 0; // the slowest, after the last iteration
    for (std::uint32_t w = 0; w < job_.workers; ++w) {
      const double backward = jitter_.compute(w, i + 1) * backward_s_;
      const double factor = jitter_.compute(w, i + 2);
      record.compute_end_s = std::max(record.compute_end_s, backward_start_s_[at(i, w)] + backward);
      record.mean_work_s +=
          (backward + factor * (job_.update_s + forward_s_)) / static_cast<double>(job_.workers);
      update = std::max(update, factor * job_.update_s);
    }
    record.exchange_start_s = record.compute_end_s;
    record.exchange_end_s =
        std::max(record.compute_end_s, exchange_end_s_[static_cast<std::size_t>(i)]);
    record.end_s = i + 1 < job_.iterations ? start_s_[static_cast<std::size_t>(i) + 1]
                                           : record.exchange_end_s + update;
    const double next = last_of(i + 1);
    record.period_s = next - record.backward_start_s;
    constexpr double kRounding = 1e-12; // of the clock
    const double exposed = next - next_start_without_messages(i);
    record.exposed_s = exposed > kRounding * next ? exposed : 0;
    record.compute_s = record.period_s - record.exposed_s;
  }
  result.pieces.resize(job_.pieces.size());
  std::size_t begin = 0;
  for (const Group& group : groups_) {
    for (; begin < group.end; ++begin) {
      auto& times = result.pieces[order_[begin]];
      for (std::uint32_t w = 0; w < job_.workers; ++w) {
        times.ready_s =
            std::max(times.ready_s, backward_start_s_[at(job_.iterations - 1, w)] +
                                        jitter_.compute(w, job_.iterations) * group.offset_s);
      }
      times.start_s = times.ready_s;
      times.end_s = piece_end_s_[order_[begin]];
    }
  }
  result.forward_start_s = forward_start_s_;
}

} // namespace stepsim::train
