// Lists 0 .. W-1 are pushes of the workers, W .. 2W-1 pulls to them. A list sends in its order
// until its credit is used up; only lists in which something changed are looked at.
#include "programs/job/server_traffic.hpp"

#include "links/network_model.hpp"

namespace stepsim::programs {

ServerSide::ServerSide(const NetworkJob& job)
    : job_(job), spec_(*job.servers),
      servers_(spec_.placement == collectives::Placement::sharded ? job.workers : spec_.count),
      dedicated_(spec_.placement == collectives::Placement::dedicated), adder_free_s_(servers_) {
  assert(job.hosts.size() >= job.workers + (dedicated_ ? servers_ : 0) && "ranks have hosts");
  if (spec_.inner) {
    inner_ =
        std::make_unique<InnerLinks>(static_cast<std::uint32_t>(job.hosts.size()), *spec_.inner);
  }
}

double ServerSide::next_time() const {
  return std::min(additions_.next_or_never(),
                  inner_ ? inner_->next_time() : std::numeric_limits<double>::infinity());
}

std::int64_t ServerSide::even_part(std::int64_t bytes, std::uint32_t server) const {
  const std::int64_t value = bytes % job_.value_bytes == 0 ? job_.value_bytes : 1;
  const std::int64_t values = bytes / value;
  return (values / servers_ + (server < values % servers_ ? 1 : 0)) * value;
}

bool ServerSide::send_near(double now, const InnerLinks::Part& part, std::int64_t bytes,
                           double stretch) {
  const std::uint32_t server = rank_of(part.server);
  if (!inner_ || server == part.worker) {
    return false;
  }
  inner_->send(now, part, part.push ? part.worker : server, part.push ? server : part.worker,
               static_cast<double>(bytes), stretch);
  return true;
}

ServerTraffic::ServerTraffic(const NetworkJob& job, std::vector<std::uint32_t> piece_of)
    : ServerSide(job), piece_of_(std::move(piece_of)), stretch_(piece_of_.size()),
      lists_(std::size_t{2} * job.workers), arrivals_(piece_of_.size() * servers_),
      progress_(piece_of_.size() * job.workers), iterations_(arrivals_.size()) {
  assert(servers_ >= 1 && (dedicated_ || servers_ <= job.workers) && "servers have places");
  assert((dedicated_ || !spec_.whole) && "whole pieces go to dedicated servers");
  assert(spec_.credit_bytes > 0 && "something may be sent");
}

// An even part, or the whole piece on one server.
std::int64_t ServerTraffic::part_bytes(std::uint32_t exchange, std::uint32_t server) const {
  const std::int64_t bytes = job_.pieces[piece_of_[exchange]].bytes;
  if (spec_.whole) {
    return piece_of_[exchange] % servers_ == server ? bytes : 0;
  }
  return even_part(bytes, server);
}

void ServerTraffic::advance(double now) {
  additions_.drain(now, [&](const auto& addition) {
    ++events_;
    pull(now, addition.id() / servers_, addition.id() % servers_);
  });
  if (inner_) {
    inner_->drain(now, [&](const InnerLinks::Part& part) { take_near(now, part); });
  }
}

void ServerTraffic::hand_near(double now, const InnerLinks::Part& part) {
  if (!send_near(now, part, part_bytes(part.exchange, part.server), stretch_[part.exchange])) {
    take_near(now, part);
  }
}

void ServerTraffic::take_near(double now, const InnerLinks::Part& part) {
  ++events_;
  part.push ? arrived(now, part.exchange, part.server) : part_received(part.worker, part.exchange);
}

void ServerTraffic::push(double now, std::uint32_t worker, std::uint32_t exchange,
                         std::int64_t iteration, double stretch) {
  ++events_;
  stretch_[exchange] = stretch;
  Progress& progress = progress_[worker * piece_of_.size() + exchange];
  progress.iteration = iteration;
  for (std::uint32_t server = 0; server < servers_; ++server) {
    progress.missing_parts += part_bytes(exchange, server) > 0 ? 1 : 0;
  }
  for (std::uint32_t server = 0; server < servers_; ++server) {
    if (part_bytes(exchange, server) == 0) {
      continue;
    }
    iterations_[part_of(exchange, server)] = iteration;
    if (on_one_host(worker, server)) {
      hand_near(now, {.push = true, .worker = worker, .server = server, .exchange = exchange});
    } else {
      wait(worker, {0, now, exchange, server, iteration, part_bytes(exchange, server), stretch});
    }
  }
}

// By layer the most urgent one leaves first, otherwise the one that waits longest.
void ServerTraffic::wait(std::size_t list, Waiting waiting) {
  waiting.layer = spec_.by_layer ? job_.pieces[piece_of_[waiting.exchange]].first_layer : 0;
  lists_[list].waiting.push(waiting);
  touch(list);
}

void ServerTraffic::touch(std::size_t list) {
  if (!lists_[list].touched) {
    lists_[list].touched = true;
    touched_.push_back(list);
  }
}

void ServerTraffic::send(double now, std::vector<JobMessage>& messages) {
  std::sort(touched_.begin(), touched_.end());
  for (const std::size_t index : touched_) {
    List& list = lists_[index];
    list.touched = false;
    const auto worker = static_cast<std::uint32_t>(index % job_.workers);
    const bool pushes = index < job_.workers; // first, so that no worker is favoured
    while (!list.waiting.empty() && (!spec_.by_layer || list.outstanding < spec_.credit_bytes)) {
      const Waiting next = list.waiting.top();
      list.waiting.pop();
      JobMessage& message = messages.emplace_back();
      message.iteration = next.iteration;
      message.piece = piece_of_[next.exchange];
      message.run = next.exchange;
      message.part = pushes ? MessagePart::gradient : MessagePart::parameter;
      message.src = pushes ? worker : rank_of(next.server);
      message.dst = pushes ? rank_of(next.server) : worker;
      message.start_s = now;
      message.size_bytes = next.bytes;
      message.stretch = next.stretch;
      list.outstanding += static_cast<double>(message.size_bytes);
    }
  }
  touched_.clear();
}

void ServerTraffic::delivered(double now, const JobMessage& message) {
  const bool push = message.part == MessagePart::gradient;
  const std::uint32_t worker = push ? message.src : message.dst;
  const std::size_t list = worker + (push ? 0 : std::size_t{job_.workers});
  lists_[list].outstanding -= static_cast<double>(message.size_bytes);
  touch(list);
  if (push) {
    arrived(now, message.run, server_at(message.dst));
  } else {
    part_received(worker, message.run);
  }
}

// The last push starts the addition. A server adds one part after the other, and its own gradient,
// if it is a worker too, is the sum's beginning.
void ServerTraffic::arrived(double now, std::uint32_t exchange, std::uint32_t server) {
  const std::size_t part = part_of(exchange, server);
  if (++arrivals_[part] < job_.workers) {
    return;
  }
  arrivals_[part] = 0;
  const double pushes = job_.workers - (dedicated_ ? 0 : 1);
  const double seconds = stretch_[exchange] * static_cast<double>(part_bytes(exchange, server)) *
                         (pushes * spec_.add_s_per_byte + spec_.encode_s_per_byte);
  if (seconds > 0) {
    adder_free_s_[server] = std::max(adder_free_s_[server], now) + seconds;
    additions_.push(adder_free_s_[server], static_cast<std::uint32_t>(part));
  } else {
    pull(now, exchange, server);
  }
}

void ServerTraffic::pull(double now, std::uint32_t exchange, std::uint32_t server) {
  const std::int64_t iteration = iterations_[part_of(exchange, server)];
  for (std::uint32_t worker = 0; worker < job_.workers; ++worker) {
    if (on_one_host(worker, server)) {
      hand_near(now, {.push = false, .worker = worker, .server = server, .exchange = exchange});
    } else {
      wait(std::size_t{job_.workers} + worker,
           {0, now, exchange, server, iteration, part_bytes(exchange, server), stretch_[exchange]});
    }
  }
}

// A sum is back when all its parts are.
void ServerTraffic::part_received(std::uint32_t worker, std::uint32_t exchange) {
  Progress& progress = progress_[worker * piece_of_.size() + exchange];
  if (--progress.missing_parts == 0) {
    received_.push_back({worker, exchange, progress.iteration});
  }
}

} // namespace stepsim::programs
