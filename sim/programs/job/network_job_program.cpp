// The program says which ranks come to which exchange, the collectives what they send, and their
// ends are reported to the program, at the same instant, until nothing happens any more.
#include "programs/job/network_job_program.hpp"

#include "base/collected.hpp"

namespace stepsim::programs {

namespace {

std::vector<bool> sent_operations(const JobProgram& spec) {
  return base::collected<bool>(spec.exchange_of, [&](std::uint32_t exchange) {
    return exchange == JobProgram::kToServers ||
           (exchange != JobProgram::kNotSent && !spec.exchanges[exchange].stages.empty());
  });
}

} // namespace

ExchangeStreams exchange_streams(const programs::Program& program) {
  ExchangeStreams streams{.first = std::vector<std::uint32_t>(program.streams.size(), 0),
                          .slots = std::vector<std::uint32_t>(program.streams.size(), 0)};
  for (const programs::Operation& operation : program.operations) {
    if (operation.type == programs::OperationType::exchange) {
      const programs::Stream& stream = program.streams[operation.stream];
      const bool at_once = stream.discipline == programs::Discipline::at_once;
      const std::uint32_t most = at_once ? static_cast<std::uint32_t>(stream.concurrency) : 1;
      std::uint32_t& slots = streams.slots[operation.stream];
      slots = std::min(slots + 1, most); // more than there are exchanges are never in use
    }
  }
  for (std::size_t stream = 0; stream < streams.slots.size(); ++stream) {
    streams.first[stream] = streams.count;
    streams.count += streams.slots[stream];
  }
  return streams;
}

ProgramJob::ProgramJob(const NetworkJob& job, const JobNetwork& network)
    : job_(job), spec_(*job.program), network_(network), streams_(exchange_streams(spec_.program)),
      program_(spec_.program, job.iterations, spec_.factors, programs::Record::all,
               {.of_operation = sent_operations(spec_), .iterations = spec_.sent_iterations}) {
  busy_.assign(streams_.count, false);
  inner_free_s_.assign(spec_.program.streams.size(), std::vector<double>(job.workers, 0));
  assert(spec_.program.ranks == job.workers && "every worker follows the program");
  assert(spec_.exchange_of.size() == spec_.program.operations.size() && "one per operation");
  if (job.servers) {
    std::vector<std::uint32_t> piece_of;
    server_exchange_of_.resize(spec_.exchange_of.size());
    for (std::uint32_t o = 0; o < spec_.exchange_of.size(); ++o) {
      if (spec_.exchange_of[o] == JobProgram::kToServers) {
        server_exchange_of_[o] = static_cast<std::uint32_t>(operation_of_.size());
        operation_of_.push_back(o);
        piece_of.push_back(static_cast<std::uint32_t>(spec_.program.operations[o].unit));
      }
    }
    servers_.emplace(job, std::move(piece_of));
  }
}

// Before the first step nothing is known of the program.
double ProgramJob::next_time() const {
  if (!begun_) {
    return 0;
  }
  double next = std::min(program_.next_time(), seconds_.next_or_never());
  for (const std::uint32_t place : active_) {
    next = std::min(next, running_[place].messages->next_time());
  }
  return servers_ ? std::min(next, servers_->next_time()) : next;
}

// Until nothing of this instant is left: what ends may start what ends at once.
void ProgramJob::advance(double now) {
  begun_ = true;
  do {
    changed_ = false;
    for (std::size_t i = 0; i < active_.size();) {
      const std::uint32_t place = active_[i];
      if (running_[place].messages->next_time() <= now) {
        running_[place].messages->advance(now);
        end_stage_if_done(now, place);
      }
      i += i < active_.size() && active_[i] == place ? 1 : 0; // unless it has ended
    }
    seconds_.drain(now, [&](const auto& ended) {
      ++events_;
      servers_ ? end_on(now, resting_[ended.id()]) : end(now, ended.id());
    });
    if (servers_) {
      servers_->advance(now);
      take_received(now);
    }
    program_.advance(now);
    take_entered(now);
  } while (changed_ || next_time() <= now);
}

void ProgramJob::delivered(double now, const JobMessage& message) {
  if (servers_) {
    servers_->delivered(now, message);
    take_received(now);
    return;
  }
  Running& running = running_[message.run];
  running.messages->delivered(now, running.collective->place_of(message.src));
  end_stage_if_done(now, message.run);
}

void ProgramJob::send(double now, std::vector<JobMessage>& messages) {
  messages.insert(messages.end(), outbox_.begin(), outbox_.end());
  outbox_.clear();
  if (servers_) {
    servers_->send(now, messages);
  }
}

JobCollective& ProgramJob::collective(std::uint32_t operation, std::size_t stage,
                                      const std::vector<std::uint32_t>& ranks) {
  const std::uint32_t exchange = spec_.exchange_of[operation];
  const auto [place, is_new] = collectives_.try_emplace(
      {exchange, stage, spec_.program.operations[operation].group, ranks.front()});
  if (is_new) {
    place->second = std::make_unique<JobCollective>(spec_.exchanges[exchange].stages[stage], job_,
                                                    network_, ranks);
  }
  return *place->second;
}

double ProgramJob::factor(std::uint32_t operation, std::int64_t iteration) const {
  constexpr double kNoTime = 1e-30; // of a factor 0: links still need a rate
  return std::max(kNoTime, programs::exchange_factor(spec_.program, spec_.factors,
                                                     spec_.program.operations[operation], iteration,
                                                     job_.iterations));
}

void ProgramJob::take_entered(double now) {
  std::vector<programs::ProgramEvents::Entered> entered;
  std::swap(entered, program_.entered());
  for (const auto& each : entered) {
    if (spec_.exchange_of[each.operation] == JobProgram::kToServers) {
      servers_->push(now, each.rank, server_exchange_of_[each.operation], each.iteration,
                     factor(each.operation, each.iteration));
      continue;
    }
    const std::vector<std::uint32_t>& ranks = program_.part_of(each.operation, each.rank);
    const auto found = place_of_.find({each.operation, each.iteration, ranks.front()});
    const std::uint32_t place =
        found != place_of_.end() ? found->second : start(each, ranks.front());
    if (++running_[place].entered == ranks.size()) {
      begin_stage(now, place);
      end_stage_if_done(now, place);
    }
  }
  if (servers_) {
    take_received(now);
  }
}

// A sum is back on a worker; the seconds of its operation follow.
void ProgramJob::take_received(double now) {
  for (const ServerTraffic::Received& each : servers_->received()) {
    const std::uint32_t o = operation_of_[each.exchange];
    const double seconds = factor(o, each.iteration) * spec_.program.operations[o].duration_s();
    if (seconds > 0) {
      // One operation of a worker is at rest at a time.
      const std::size_t place = each.worker * operation_of_.size() + each.exchange;
      resting_.resize(std::max(resting_.size(), place + 1));
      resting_[place] = each;
      seconds_.push(now + seconds, static_cast<std::uint32_t>(place));
    } else {
      end_on(now, each);
    }
  }
  servers_->received().clear();
}

void ProgramJob::end_on(double now, const ServerTraffic::Received& received) {
  program_.exchange_ended_on(now, operation_of_[received.exchange], received.worker,
                             received.iteration);
  changed_ = true;
}

std::uint32_t ProgramJob::start(const programs::ProgramEvents::Entered& entered,
                                std::uint32_t first_rank) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(running_.size()));
    running_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  place_of_[{entered.operation, entered.iteration, first_rank}] = place;
  const std::uint32_t stream = spec_.program.operations[entered.operation].stream;
  running_[place] = {.operation = entered.operation,
                     .iteration = entered.iteration,
                     .first_rank = first_rank,
                     .communicator = free_communicator(stream)};
  busy_[running_[place].communicator] = true;
  return place;
}

// Parts of a group have different ranks and share the only slot of their stream.
std::uint32_t ProgramJob::free_communicator(std::uint32_t stream) const {
  const std::uint32_t first = streams_.first[stream];
  for (std::uint32_t slot = 0; slot < streams_.slots[stream]; ++slot) {
    if (!busy_[first + slot]) {
      return first + slot;
    }
  }
  return first;
}

// All ranks enter a stage together. What the tail sends counts in the last iteration.
void ProgramJob::begin_stage(double now, std::uint32_t place) {
  Running& running = running_[place];
  const programs::Operation& operation = spec_.program.operations[running.operation];
  JobMessage label;
  label.iteration = std::min(running.iteration, job_.iterations - 1);
  label.piece = static_cast<std::uint32_t>(std::max(operation.unit, 0));
  label.communicator = running.communicator;
  label.run = place;
  label.stretch = factor(running.operation, running.iteration);
  running.collective = &collective(running.operation, running.stage,
                                   program_.part_of(running.operation, running.first_rank));
  running.messages = std::make_unique<CollectiveMessages>(now, *running.collective, label, outbox_,
                                                          inner_free_s_[operation.stream]);
  active_.push_back(place);
}

void ProgramJob::end_stage_if_done(double now, std::uint32_t place) {
  while (running_[place].messages && running_[place].messages->finished()) {
    Running& running = running_[place];
    events_ += running.messages->events();
    running.messages.reset();
    std::erase(active_, place);
    const std::uint32_t exchange = spec_.exchange_of[running.operation];
    if (++running.stage < spec_.exchanges[exchange].stages.size()) {
      begin_stage(now, place);
      continue;
    }
    const double seconds = factor(running.operation, running.iteration) *
                           spec_.program.operations[running.operation].duration_s();
    if (seconds > 0) {
      seconds_.push(now + seconds, place);
    } else {
      end(now, place);
    }
  }
}

void ProgramJob::end(double now, std::uint32_t place) {
  const Running& running = running_[place];
  place_of_.erase({running.operation, running.iteration, running.first_rank});
  program_.exchange_ended(now, running.operation, running.first_rank, running.iteration);
  busy_[running.communicator] = false;
  free_.push_back(place);
  changed_ = true;
}

void ProgramJob::record(JobResult& result) {
  result.times = program_.take_times();
  const programs::OperationTimes& times = result.times;
  double before = 0;
  for (std::int64_t i = 0; i < job_.iterations; ++i) {
    JobIteration& iteration = result.iterations.emplace_back();
    iteration.start_s = before;
    iteration.end_s = programs::latest_marker_end(times, i);
    iteration.period_s = iteration.end_s - before;
    before = iteration.end_s;
  }
  result.end_s = times.makespan_s;
  if (spec_.sent_iterations < job_.iterations) {
    const auto end =
        times.end.begin() + static_cast<std::ptrdiff_t>(times.at(spec_.sent_iterations, 0, 0));
    result.end_s = *std::max_element(times.end.begin(), end);
  }
}

} // namespace stepsim::programs
