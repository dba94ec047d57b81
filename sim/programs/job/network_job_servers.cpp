// Lists 0 .. W-1 are pushes of the workers, W .. 2W-1 pulls to them. A list sends in its order
// until its credit is used up; only lists in which something changed are looked at.
#include "programs/job/network_job_servers.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::programs {

ServerJob::ServerJob(const NetworkJob& job)
    : job_(job),
      servers_(job.servers->placement == collectives::Placement::sharded ? job.workers
                                                                         : job.servers->count),
      dedicated_(job.servers->placement == collectives::Placement::dedicated), workers_(job),
      lists_(std::size_t{2} * job.workers), arrivals_(job.pieces.size() * servers_),
      missing_parts_(job.pieces.size() * job.workers), iterations_(arrivals_.size()),
      adder_free_s_(servers_) {
  assert(servers_ >= 1 && (dedicated_ || servers_ <= job.workers) && "servers have places");
  assert((dedicated_ || !job.servers->whole) && "whole pieces go to dedicated servers");
  assert(job.hosts.size() >= job.workers + (dedicated_ ? servers_ : 0) && "ranks have hosts");
  assert(job.credit_bytes > 0 && "something may be sent");
}

double ServerJob::next_time() const {
  const double ready = workers_.next_time();
  return additions_.empty() ? ready : std::min(ready, additions_.next_time());
}

// Even parts in whole values, the first ones a value longer; or the whole piece on one server.
std::int64_t ServerJob::part_bytes(std::uint32_t piece, std::uint32_t server) const {
  const std::int64_t bytes = job_.pieces[piece].bytes;
  if (job_.servers->whole) {
    return piece % servers_ == server ? bytes : 0;
  }
  const std::int64_t value = bytes % job_.value_bytes == 0 ? job_.value_bytes : 1;
  const std::int64_t values = bytes / value;
  return (values / servers_ + (server < values % servers_ ? 1 : 0)) * value;
}

std::uint32_t ServerJob::rank_of(std::uint32_t server) const {
  return dedicated_ ? job_.workers + server : server;
}

std::uint32_t ServerJob::server_at(std::uint32_t rank) const {
  return dedicated_ ? rank - job_.workers : rank;
}

bool ServerJob::on_one_host(std::uint32_t worker, std::uint32_t server) const {
  return job_.hosts[worker] == job_.hosts[rank_of(server)];
}

// Gradients that become ready are pushed, sums that are complete are pulled.
void ServerJob::advance(double now) {
  while (next_time() <= now) {
    ready_.clear();
    workers_.advance(now, ready_);
    for (const JobWorkers::Ready& ready : ready_) {
      ++events_;
      push(now, ready);
    }
    while (!additions_.empty() && additions_.next_time() <= now) {
      ++events_;
      const std::uint32_t part = additions_.pop().id();
      pull(now, part / servers_, part % servers_);
    }
  }
}

// The part of a server on the worker's own host is there without a message.
void ServerJob::push(double now, const JobWorkers::Ready& ready) {
  const auto [worker, piece, iteration] = ready;
  std::uint32_t& missing = missing_parts_[worker * job_.pieces.size() + piece];
  for (std::uint32_t server = 0; server < servers_; ++server) {
    missing += part_bytes(piece, server) > 0 ? 1 : 0;
  }
  for (std::uint32_t server = 0; server < servers_; ++server) {
    if (part_bytes(piece, server) == 0) {
      continue;
    }
    iterations_[part_of(piece, server)] = iteration;
    if (on_one_host(worker, server)) {
      arrived(now, piece, server);
    } else {
      wait(worker, {0, now, piece, server, iteration});
    }
  }
}

// By layer the most urgent one leaves first, otherwise the one that waits longest.
void ServerJob::wait(std::size_t list, Waiting waiting) {
  waiting.layer = job_.by_layer ? job_.pieces[waiting.piece].first_layer : 0;
  lists_[list].waiting.push(waiting);
  touch(list);
}

void ServerJob::touch(std::size_t list) {
  if (!lists_[list].touched) {
    lists_[list].touched = true;
    touched_.push_back(list);
  }
}

void ServerJob::send(double now, std::vector<JobMessage>& messages) {
  std::sort(touched_.begin(), touched_.end());
  for (const std::size_t index : touched_) {
    List& list = lists_[index];
    list.touched = false;
    const auto worker = static_cast<std::uint32_t>(index % job_.workers);
    const bool pushes = index < job_.workers; // first, so that no worker is favoured
    while (!list.waiting.empty() && (!job_.by_layer || list.outstanding < job_.credit_bytes)) {
      const Waiting next = list.waiting.top();
      list.waiting.pop();
      JobMessage& message = messages.emplace_back();
      message.iteration = next.iteration;
      message.piece = next.piece;
      message.part = pushes ? MessagePart::gradient : MessagePart::parameter;
      message.src = pushes ? worker : rank_of(next.server);
      message.dst = pushes ? rank_of(next.server) : worker;
      message.start_s = now;
      message.size_bytes = part_bytes(next.piece, next.server);
      list.outstanding += static_cast<double>(message.size_bytes);
    }
  }
  touched_.clear();
}

void ServerJob::delivered(double now, const JobMessage& message) {
  const bool push = message.part == MessagePart::gradient;
  const std::uint32_t worker = push ? message.src : message.dst;
  const std::size_t list = worker + (push ? 0 : std::size_t{job_.workers});
  lists_[list].outstanding -= static_cast<double>(message.size_bytes);
  touch(list);
  if (push) {
    arrived(now, message.piece, server_at(message.dst));
  } else {
    received(now, worker, message.piece);
  }
}

// The last push starts the addition. A server adds one part after the other, and its own gradient,
// if it is a worker too, is the sum's beginning.
void ServerJob::arrived(double now, std::uint32_t piece, std::uint32_t server) {
  const std::size_t part = part_of(piece, server);
  if (++arrivals_[part] < job_.workers) {
    return;
  }
  arrivals_[part] = 0;
  const double pushes = job_.workers - (dedicated_ ? 0 : 1);
  const double seconds = static_cast<double>(part_bytes(piece, server)) *
                         (pushes * job_.servers->add_s_per_byte + job_.servers->encode_s_per_byte);
  if (seconds > 0) {
    adder_free_s_[server] = std::max(adder_free_s_[server], now) + seconds;
    additions_.push(adder_free_s_[server], static_cast<std::uint32_t>(part));
  } else {
    pull(now, piece, server);
  }
}

void ServerJob::pull(double now, std::uint32_t piece, std::uint32_t server) {
  const std::int64_t iteration = iterations_[part_of(piece, server)];
  for (std::uint32_t worker = 0; worker < job_.workers; ++worker) {
    if (on_one_host(worker, server)) {
      received(now, worker, piece);
    } else {
      wait(std::size_t{job_.workers} + worker, {0, now, piece, server, iteration});
    }
  }
}

// A piece is back when all its parts are.
void ServerJob::received(double now, std::uint32_t worker, std::uint32_t piece) {
  if (--missing_parts_[worker * job_.pieces.size() + piece] == 0) {
    workers_.received(now, worker, piece);
  }
}

} // namespace stepsim::programs
