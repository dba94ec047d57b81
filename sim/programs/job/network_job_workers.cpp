// A worker is a point in its own iteration: `t` is the time up to which it has computed. A forward
// runs on until a layer waits for a piece; whoever brings the piece goes on with it. Backward waits
// for nothing, so its groups of pieces are known when it starts.
#include "programs/job/network_job_workers.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "links/network_model.hpp"

namespace stepsim::programs {

namespace {

double total_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

} // namespace

JobWorkers::JobWorkers(const NetworkJob& job)
    : job_(job), jitter_(job.variability, job.workers), forward_s_(total_of(job.forward_s)),
      backward_s_(std::accumulate(job.backward_s.rbegin(), job.backward_s.rend(), 0.0)),
      workers_(job.workers), missing_(job.workers * job.forward_s.size(), 0),
      start_s_(static_cast<std::size_t>(job.iterations) + 1, links::kNever),
      backward_start_s_((static_cast<std::size_t>(job.iterations) + 1) * job.workers),
      exchange_end_s_(static_cast<std::size_t>(job.iterations), 0),
      piece_end_s_(job.pieces.size(), 0), forward_start_s_(job.forward_s.size(), 0) {
  assert(job.workers >= 1 && job.iterations >= 1 && "counts from 1");
  assert(!job.forward_s.empty() && job.forward_s.size() == job.backward_s.size() &&
         "one pair of times per layer");
  assert((job.update_s == 0 || job.gradient_bytes.size() == job.forward_s.size()) &&
         "an update has shares");
  StepInput step;
  step.forward_s = job.forward_s;
  step.gradient_bytes = job.gradient_bytes;
  step.update_s = job.update_s;
  step.next_forward = job.next_forward;
  updates_.assign(job.forward_s.size(), 0.0);
  if (job.update_s > 0) {
    updates_ = layer_updates(step);
  }
  first_update_ = total_of(updates_) > 0 ? 0 : job.update_s;
  update_s_ = job.update_s;
  for (const JobPiece& piece : job.pieces) {
    if (piece.bytes > 0) {
      updates_[job.next_forward == NextForward::barrier ? 0 : piece.first_layer] += piece.decode_s;
      update_s_ += piece.decode_s;
      backward_s_ += piece.encode_s;
    }
  }
  group_pieces();
  for (std::uint32_t w = 0; w < job.workers; ++w) {
    start_iteration(w, 0);
    run_forward(0, w);
  }
}

// Pieces that become ready with the same layer of backward share one event, at a fixed offset from
// its start; without overlap there is one group, at the end.
void JobWorkers::group_pieces() {
  const auto& pieces = job_.pieces;
  for (std::uint32_t p = 0; p < pieces.size(); ++p) {
    assert(pieces[p].first_layer <= pieces[p].last_layer &&
           pieces[p].last_layer < job_.forward_s.size() && "pieces are of layers");
    if (pieces[p].bytes > 0) {
      order_.push_back(p);
    }
  }
  if (job_.overlap_backward) {
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return pieces[a].first_layer > pieces[b].first_layer;
    });
    double offset = 0;
    std::size_t next = 0;
    for (std::size_t layer = job_.backward_s.size(); layer-- > 0;) {
      offset += job_.backward_s[layer];
      const std::size_t begin = next;
      while (next < order_.size() && pieces[order_[next]].first_layer == layer) {
        ++next;
      }
      add_groups(begin, next, layer == 0, offset);
    }
  } else {
    double offset = std::accumulate(job_.backward_s.rbegin(), job_.backward_s.rend(), 0.0);
    add_groups(0, order_.size(), true, offset);
  }
}

// Pieces from `begin` to `end` in their order, whose gradients are there at `offset`. A piece that
// is encoded is ready when that is done. The last group is also the end of backward.
void JobWorkers::add_groups(std::size_t begin, std::size_t end, bool last, double& offset) {
  for (std::size_t next = begin; next < end; ++next) {
    const double encode_s = job_.pieces[order_[next]].encode_s;
    if (encode_s > 0 && next > begin) {
      groups_.push_back({offset, next});
    }
    offset += encode_s;
  }
  if (end > begin || last) {
    groups_.push_back({offset, end});
  }
}

double JobWorkers::next_time() const {
  return timers_.empty() ? links::kNever : timers_.next_time();
}

// Every iteration has a factor of its own for the whole of its computing.
void JobWorkers::start_iteration(std::uint32_t worker, std::int64_t iteration) {
  Worker& x = workers_[worker];
  x.iteration = iteration;
  x.factor = jitter_.compute(worker, iteration + 1);
  x.layer = 0;
  x.forward = true;
}

// Whether the next layer of forward still waits: for its own pieces, or, behind a barrier, for all.
bool JobWorkers::blocked(std::uint32_t worker) const {
  const Worker& x = workers_[worker];
  return job_.next_forward == NextForward::barrier
             ? x.missing > 0
             : missing_[worker * job_.forward_s.size() + x.layer] > 0;
}

// As far as data is there. The update of a layer comes before its forward and needs its pieces, so
// that the first iteration has none.
void JobWorkers::run_forward(double now, std::uint32_t worker) {
  Worker& x = workers_[worker];
  for (; x.layer < job_.forward_s.size(); ++x.layer) {
    if (blocked(worker)) {
      return;
    }
    x.t = std::max(x.t, now);
    if (x.iteration > 0) {
      x.t += x.factor * (updates_[x.layer] + (x.layer == 0 ? first_update_ : 0));
    }
    if (x.layer == 0) {
      double& start = start_s_[static_cast<std::size_t>(x.iteration)];
      start = std::min(start, x.t);
    }
    if (worker == 0) {
      forward_start_s_[x.layer] = x.t;
    }
    x.t += x.factor * job_.forward_s[x.layer];
  }
  start_backward(worker);
}

// The forward after the last iteration only marks its end. Otherwise every piece of the worker is
// missing from here on until it comes back.
void JobWorkers::start_backward(std::uint32_t worker) {
  Worker& x = workers_[worker];
  assert(x.missing == 0 && "forward has waited for every piece");
  x.forward = false;
  backward_start_s_[at(x.iteration, worker)] = x.t;
  if (x.iteration == job_.iterations) {
    ++finished_;
    return;
  }
  const std::size_t layers = job_.forward_s.size();
  for (const std::uint32_t p : order_) {
    for (std::size_t l = job_.pieces[p].first_layer; l <= job_.pieces[p].last_layer; ++l) {
      ++missing_[worker * layers + l];
    }
  }
  x.missing = static_cast<std::uint32_t>(order_.size());
  x.group = 0;
  timers_.push(x.t + x.factor * groups_.front().offset_s, worker);
}

// The last group is also the end of backward, where the next forward begins.
void JobWorkers::advance(double now, std::vector<Ready>& ready) {
  while (!timers_.empty() && timers_.next_time() <= now) {
    const auto event = timers_.pop();
    const std::uint32_t worker = event.id();
    Worker& x = workers_[worker];
    const std::size_t begin = x.group == 0 ? 0 : groups_[x.group - 1].end;
    for (std::size_t i = begin; i < groups_[x.group].end; ++i) {
      ready.push_back({worker, order_[i], x.iteration});
    }
    if (++x.group < groups_.size()) {
      const double start = backward_start_s_[at(x.iteration, worker)];
      timers_.push(std::max(event.time, start + x.factor * groups_[x.group].offset_s), worker);
      continue;
    }
    x.t = event.time;
    start_iteration(worker, x.iteration + 1);
    run_forward(event.time, worker);
  }
}

void JobWorkers::received(double now, std::uint32_t worker, std::uint32_t piece) {
  Worker& x = workers_[worker];
  assert(x.missing > 0 && "a piece comes back once");
  --x.missing;
  const std::size_t layers = job_.forward_s.size();
  for (std::size_t l = job_.pieces[piece].first_layer; l <= job_.pieces[piece].last_layer; ++l) {
    --missing_[worker * layers + l];
  }
  // A piece may come back before its worker's backward has ended.
  const std::int64_t iteration = x.forward ? x.iteration - 1 : x.iteration;
  double& end = exchange_end_s_[static_cast<std::size_t>(iteration)];
  end = std::max(end, now);
  if (iteration + 1 == job_.iterations) {
    piece_end_s_[piece] = std::max(piece_end_s_[piece], now);
  }
  if (x.forward) {
    run_forward(now, worker);
  }
}

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
          (backward + factor * (update_s_ + forward_s_)) / static_cast<double>(job_.workers);
      update = std::max(update, factor * update_s_);
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

} // namespace stepsim::programs
