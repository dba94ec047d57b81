// The loop over the instants at which something happens: the network goes on to its next
// completions or to the next timer of a job, jobs take what was delivered, and what they now want
// to send is handed over. The template is compiled once per level of the network.
#include "programs/job/network_job.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "programs/job/network_job_async.hpp"
#include "programs/job/network_job_flows.hpp"
#include "programs/job/network_job_program.hpp"

namespace stepsim::programs {

namespace {

using AnyJob = std::variant<AsyncServerJob, ProgramJob>;

// "push of piece 3, worker 2 -> server 0 (iteration 1)"
std::string name_of(const NetworkJob& job, const JobMessage& message) {
  const bool gradient = message.part == MessagePart::gradient;
  const auto rank = [&](std::uint32_t number, bool server) {
    const bool dedicated = job.servers->placement == collectives::Placement::dedicated;
    return (server ? "server " : "worker ") +
           std::to_string(server && dedicated ? number - job.workers : number);
  };
  std::string text;
  if (job.servers) {
    text = fmt::format("{} of piece {}, {} -> {}", gradient ? "push" : "pull", message.piece,
                       rank(message.src, !gradient), rank(message.dst, gradient));
  } else {
    text = fmt::format("{} of piece {}, step {}, rank {} -> {}", gradient ? "reduction" : "copy",
                       message.piece, message.step, message.src, message.dst);
  }
  return fmt::format("{} (iteration {})", text, message.iteration);
}

// Jobs are asked by index, so that messages of one instant are handed over in the same order in
// every run.
// Network: FlowMessages or PacketMessages.
template <class Network> class JobsRun {
public:
  JobsRun(const JobNetwork& options, std::span<const NetworkJob> specs)
      : options_(options), specs_(specs), network_(options, specs), messages_(specs.size()),
        ids_(specs.size()) {
    for (const NetworkJob& spec : specs) {
      if (spec.program) {
        jobs_.emplace_back(std::in_place_type<ProgramJob>, spec, options);
      } else {
        jobs_.emplace_back(std::in_place_type<AsyncServerJob>, spec);
      }
    }
  }

  JobsResult run() {
    std::vector<std::uint32_t> done;
    while (unfinished()) {
      const double timer = next_time();
      const double until = std::min(timer, options_.simulated_limit_s);
      done.clear();
      now_ = std::max(now_, network_.advance(until, done));
      if (done.empty() && timer > until) {
        refuse(timer == kNever && network_.quiet());
      }
      for (const std::uint32_t id : done) {
        const Owner owner = owners_[id];
        JobMessage& message = messages_[owner.job][owner.message];
        message.end_s = now_;
        refuse_if_lost(id, owner.job, message);
        std::visit([&](auto& job) { job.delivered(now_, message); }, jobs_[owner.job]);
      }
      for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
        std::visit([&](auto& job) { job.advance(now_); }, jobs_[j]);
        hand_over(j);
      }
    }
    return result();
  }

private:
  struct Owner {
    std::uint32_t job = kNobody, message{};
    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  };

  [[nodiscard]] bool unfinished() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const AnyJob& any) {
      return std::visit([](const auto& job) { return !job.finished(); }, any);
    });
  }
  [[nodiscard]] double next_time() const {
    double next = kNever;
    for (const AnyJob& any : jobs_) {
      next = std::min(next, std::visit([](const auto& job) { return job.next_time(); }, any));
    }
    return next;
  }

  // Takes the job's new messages to the network and remembers whose they are.
  void hand_over(std::uint32_t j) {
    std::vector<JobMessage>& messages = messages_[j];
    const std::size_t before = messages.size();
    std::visit([&](auto& job) { job.send(now_, messages); }, jobs_[j]);
    for (std::size_t m = before; m < messages.size(); ++m) {
      messages[m].end_s = kNever;
      const std::uint32_t id = network_.hand_over(now_, j, messages[m]);
      ids_[j].push_back(id);
      owners_.resize(id + 1);
      owners_[id] = {j, static_cast<std::uint32_t>(m)};
    }
  }

  [[nodiscard]] std::string job_prefix(std::size_t j) const {
    return jobs_.size() > 1 ? "job " + std::to_string(j) + ": " : std::string();
  }

  // With transport raw a message that lost a packet never completes; better an error now than a run
  // that stands still.
  void refuse_if_lost(std::uint32_t id, std::uint32_t j, JobMessage& message) {
    if (options_.packet && options_.packet->transport.kind == links::TransportKind::raw) {
      network_.fill(id, j, message);
      if (message.delivered_packets < message.packets) {
        throw SimulationError(
            fmt::format("transport raw recovers nothing, and lost {} of the {} packets of {}{}",
                        message.packets - message.delivered_packets, message.packets, job_prefix(j),
                        name_of(specs_[j], message)));
      }
    }
  }

  [[noreturn]] void refuse(bool blocked) const {
    constexpr std::size_t kMostNamed = 10;
    std::size_t count = 0;
    std::string names;
    for (std::size_t j = 0; j < messages_.size(); ++j) {
      for (const JobMessage& message : messages_[j]) {
        if (message.end_s == kNever && ++count <= kMostNamed) {
          names += (count > 1 ? "; " : "") + job_prefix(j) + name_of(specs_[j], message);
        }
      }
    }
    const std::string what = blocked ? "nothing is left to happen"
                                     : fmt::format("the simulated time passed the limit of {} s",
                                                   options_.simulated_limit_s);
    throw SimulationError(count == 0
                              ? what
                              : fmt::format("{}, but {} messages are not complete: {}{}", what,
                                            count, names, count > kMostNamed ? "; ..." : ""));
  }

  // After the last iteration: what is still on its way is carried to its end, so that every message
  // knows what became of it.
  JobsResult result() {
    JobsResult result;
    network_.drain();
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
      JobResult& job = result.jobs.emplace_back();
      job.messages = std::move(messages_[j]);
      std::visit([&](auto& any) { any.record(job); }, jobs_[j]);
      for (std::size_t m = 0; m < job.messages.size(); ++m) {
        network_.fill(ids_[j][m], j, job.messages[m]);
      }
      sum_messages(job);
      result.messages += job.messages.size();
      result.elapsed_s = std::max(result.elapsed_s, job.end_s);
    }
    if (options_.background.load > 0) { // it is on the links while anything of the jobs goes on
      result.elapsed_s = now_;
    }
    network_.fill(result);
    for (const AnyJob& any : jobs_) {
      result.events += std::visit([](const auto& job) { return job.events(); }, any);
    }
    return result;
  }

  // What iterations know from their messages.
  static void sum_messages(JobResult& job) {
    for (const JobMessage& message : job.messages) {
      JobIteration& iteration = job.iterations[static_cast<std::size_t>(message.iteration)];
      const std::int64_t lost = message.size_bytes - message.delivered_bytes;
      assert(lost == message.lost_network_bytes + message.lost_stopped_bytes && lost >= 0 &&
             "what was not delivered was lost or stopped");
      if (message.part == MessagePart::gradient) {
        iteration.gradient_bytes += message.size_bytes;
        iteration.gradient_lost_bytes += lost;
        iteration.lost_contributions += static_cast<double>(lost) * message.contributions;
      } else {
        iteration.parameter_bytes += message.size_bytes;
        iteration.parameter_lost_bytes += lost;
      }
    }
  }

  const JobNetwork& options_;
  std::span<const NetworkJob> specs_;
  Network network_;
  std::deque<AnyJob> jobs_;
  std::vector<std::vector<JobMessage>> messages_; // [job]
  std::vector<std::vector<std::uint32_t>> ids_;   // [job][message]
  std::vector<Owner> owners_;                     // [id]
  double now_ = 0;
};

} // namespace

std::uint32_t NetworkJob::communicators() const {
  return servers ? 1 : std::max<std::uint32_t>(1, exchange_streams(program->program).count);
}

std::vector<std::uint64_t> first_connections(std::span<const NetworkJob> jobs) {
  std::vector<std::uint64_t> first{0};
  for (const NetworkJob& job : jobs) {
    first.push_back(first.back() + job.communicators() * job.hosts.size() * job.hosts.size());
  }
  return first;
}

JobsResult run_network_jobs(const JobNetwork& network, std::span<const NetworkJob> jobs) {
  assert(network.fabric && !jobs.empty() && "jobs run on a fabric");
  return network.packet ? JobsRun<PacketMessages>(network, jobs).run()
                        : JobsRun<FlowMessages>(network, jobs).run();
}

} // namespace stepsim::programs
