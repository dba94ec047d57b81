#include "programs/job/network_job_async.hpp"

#include "base/error.hpp"
#include "links/network_model.hpp"

namespace stepsim::programs {

namespace {

constexpr std::uint32_t kNoServer = ~std::uint32_t{0}; // of an update without bytes

} // namespace

AsyncServerJob::AsyncServerJob(const NetworkJob& job)
    : ServerSide(job), jitter_(spec_.async->variability, job.workers),
      compute_s_(spec_.async->compute_s), total_(job.iterations * job.workers),
      workers_(job.workers), bound_(job.workers, spec_.async->staleness_bound),
      part_bytes_(servers_) {
  if (std::uint64_t{job.workers} * servers_ >= events::EventQueue<double>::kMaxIds) {
    throw SimulationError(std::to_string(job.workers) + " workers and " + std::to_string(servers_) +
                          " servers are more than 16777215 pairs on a simulated network");
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < job.pieces.size(); ++i) {
    sum += job.pieces[i].bytes;
    part_bytes_[i % servers_] += spec_.whole ? job.pieces[i].bytes : 0; // in turn
  }
  for (std::uint32_t server = 0; !spec_.whole && server < servers_; ++server) {
    part_bytes_[server] = even_part(sum, server);
  }
  for (std::uint32_t worker = 0; worker < job.workers; ++worker) {
    compute(0, worker);
  }
}

double AsyncServerJob::next_time() const {
  return std::min(computing_.next_or_never(), ServerSide::next_time());
}

// Additions before pushes: what has arrived comes before what leaves now.
void AsyncServerJob::advance(double now) {
  while (next_time() <= now) {
    additions_.drain(now, [&](const auto& addition) {
      ++events_;
      added(now, addition.id() / servers_, addition.id() % servers_);
    });
    if (inner_) {
      inner_->drain(now, [&](const InnerLinks::Part& part) { take_near(now, part); });
    }
    computing_.drain(now, [&](const auto& end) {
      ++events_;
      push(now, end.id());
    });
  }
}

void AsyncServerJob::send(double /*now*/, std::vector<JobMessage>& messages) {
  messages.insert(messages.end(), outbox_.begin(), outbox_.end());
  outbox_.clear();
}

void AsyncServerJob::delivered(double now, const JobMessage& message) {
  if (message.part == MessagePart::gradient) {
    arrived(now, message.src, server_at(message.dst));
  } else {
    received(now, message.dst);
  }
}

void AsyncServerJob::compute(double now, std::uint32_t worker) {
  Worker& x = workers_[worker];
  x.held = false;
  x.held_up_s = now - x.received_s;
  computing_.push(now + jitter_.compute(worker, x.iteration + 1) * compute_s_, worker);
}

// Gradients beyond those of the run are not sent.
void AsyncServerJob::push(double now, std::uint32_t worker) {
  if (pushed_ == total_) {
    return;
  }
  ++pushed_;
  Worker& x = workers_[worker];
  x.pushed_s = now;
  for (std::uint32_t server = 0; server < servers_; ++server) {
    x.to_add += part_bytes_[server] > 0 ? 1 : 0;
  }
  x.to_receive = x.to_add;
  if (x.to_add == 0) { // nothing to send
    x.to_add = x.to_receive = 1;
    added(now, worker, kNoServer);
    return;
  }
  for (std::uint32_t server = 0; server < servers_; ++server) {
    if (part_bytes_[server] > 0) {
      hand_over(now, worker, server, MessagePart::gradient);
    }
  }
}

void AsyncServerJob::take_near(double now, const InnerLinks::Part& part) {
  part.push ? arrived(now, part.worker, part.server) : received(now, part.worker);
}

// A part that stays on its host goes over the inner link, unless the worker is the server.
void AsyncServerJob::hand_over(double now, std::uint32_t worker, std::uint32_t server,
                               MessagePart part) {
  const bool push = part == MessagePart::gradient;
  if (on_one_host(worker, server)) {
    const InnerLinks::Part near{.push = push, .worker = worker, .server = server};
    if (!send_near(now, near, part_bytes_[server])) {
      take_near(now, near);
    }
    return;
  }
  JobMessage& message = outbox_.emplace_back();
  message.iteration = workers_[worker].iteration;
  message.part = part;
  message.src = push ? worker : rank_of(server);
  message.dst = push ? rank_of(server) : worker;
  message.start_s = now;
  message.size_bytes = part_bytes_[server];
}

void AsyncServerJob::arrived(double now, std::uint32_t worker, std::uint32_t server) {
  double& free = adder_free_s_[server];
  free = std::max(free, now) + static_cast<double>(part_bytes_[server]) *
                                   (spec_.add_s_per_byte + spec_.encode_s_per_byte);
  additions_.push(free, worker * servers_ + server);
}

void AsyncServerJob::added(double now, std::uint32_t worker, std::uint32_t server) {
  Worker& x = workers_[worker];
  if (--x.to_add == 0) {
    x.update = updates_.size();
    updates_.push_back({.worker = worker,
                        .arrive_s = x.pushed_s,
                        .applied_s = now,
                        .received_s = now,
                        .staleness = version_ - x.read_version,
                        .held_s = x.held_up_s});
    x.read_version = ++version_;
    if (bound_.complete(worker)) { // this is what held workers wait for
      for (std::uint32_t other = 0; other < job_.workers; ++other) {
        if (workers_[other].held && bound_.may_start(workers_[other].iteration)) {
          compute(now, other);
        }
      }
    }
  }
  if (server == kNoServer) {
    received(now, worker);
  } else {
    hand_over(now, worker, server, MessagePart::parameter);
  }
}

void AsyncServerJob::received(double now, std::uint32_t worker) {
  Worker& x = workers_[worker];
  if (--x.to_receive == 0) {
    updates_[x.update].received_s = now;
    ++received_;
    ++x.iteration;
    x.received_s = now;
    x.held = !bound_.may_start(x.iteration);
    if (!x.held) {
      compute(now, worker);
    }
  }
}

// Fast workers make more iterations than slow ones.
void AsyncServerJob::record(JobResult& result) const {
  result.updates = updates_;
  std::int64_t most = 1;
  for (const Worker& worker : workers_) {
    most = std::max(most, worker.iteration);
  }
  result.iterations.resize(static_cast<std::size_t>(most));
  for (const AsyncUpdate& update : updates_) {
    result.end_s = std::max(result.end_s, update.received_s);
  }
}

} // namespace stepsim::programs
