// The loop over the instants at which something happens: the network goes on to its next
// completions or to the next timer of a job, jobs take what was delivered, and what they now want
// to send is handed over. The template is compiled once per level of the network.
#include "programs/job/network_job.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "programs/job/network_job_flows.hpp"
#include "programs/job/network_job_program.hpp"

namespace stepsim::programs {

namespace {

// A job with asynchronous parameter servers (PIP 3.3). Every worker computes, pushes its gradient
// in one part per server, and continues when all its parts have come back and the staleness bound,
// if there is one, permits it (TRN 4.7). Parts are even, or with JobServers::whole the pieces that
// the server has.
//
//   worker   compute -> push to all servers -> all parts back -> compute ..
//   server   push arrives -> added, one after the other -> the part is sent back
//
// An update is complete when its last part is added. Its staleness is the number of updates by
// other workers since the worker's previous update. The ports of workers and servers belong to the
// network, in which pushes share them.
class AsyncServerJob : public ServerSide {
public:
  // `job` must outlive the object. Throws SimulationError for 2^24 or more pairs of a worker and a
  // server.
  explicit AsyncServerJob(const NetworkJob& job)
      : ServerSide(job), jitter_(spec_.async->variability, job.workers),
        compute_s_(spec_.async->compute_s), total_(job.iterations * job.workers),
        workers_(job.workers), progress_(job.workers, spec_.async->staleness_bound),
        part_bytes_(servers_) {
    if (std::uint64_t{job.workers} * servers_ >= events::EventQueue<double>::kMaxIds) {
      throw SimulationError(std::to_string(job.workers) + " workers and " +
                            std::to_string(servers_) +
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

  // The time of the next event of the job itself; infinity if there is none.
  [[nodiscard]] double next_time() const {
    return std::min(computing_.next_or_never(), ServerSide::next_time());
  }

  // Processes all events until `now`: additions before pushes, so that what has arrived comes
  // before what leaves now.
  void advance(double now) {
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

  // Tells the job that a message of send() has arrived.
  void delivered(double now, const JobMessage& message) {
    if (message.part == MessagePart::gradient) {
      arrived(now, message.src, server_at(message.dst));
    } else {
      received(now, message.dst);
    }
  }

  // Appends the messages that are passed to the network now.
  void send(double /*now*/, std::vector<JobMessage>& messages) {
    messages.insert(messages.end(), outbox_.begin(), outbox_.end());
    outbox_.clear();
  }

  [[nodiscard]] bool finished() const { return received_ == total_; }

  // Fast workers make more iterations than slow ones.
  void record(JobResult& result) const {
    result.updates = progress_.updates();
    std::int64_t most = 1;
    for (const AsyncUpdate& update : result.updates) {
      most = std::max(most, progress_.iterations(update.worker));
      result.end_s = std::max(result.end_s, update.received_s);
    }
    result.iterations.resize(static_cast<std::size_t>(most));
  }

private:
  struct Worker {
    std::uint32_t to_add = 0, to_receive = 0; // parts that are not added, not received yet
    double pushed_s = 0;
  };

  void compute(double now, std::uint32_t worker) {
    computing_.push(now + jitter_.compute(worker, progress_.begin(worker, now)) * compute_s_,
                    worker);
  }

  // Workers stop sending once the run has as many updates as it should have.
  void push(double now, std::uint32_t worker) {
    if (pushed_ == total_) {
      return;
    }
    ++pushed_;
    Worker& x = workers_[worker];
    x.pushed_s = now;
    const auto parts = static_cast<std::uint32_t>(
        std::ranges::count_if(part_bytes_, [](std::int64_t bytes) { return bytes > 0; }));
    x.to_add = x.to_receive = std::max(1U, parts);
    if (parts == 0) {
      added(now, worker, servers_); // by none of them
    }
    for (std::uint32_t server = 0; server < servers_; ++server) {
      if (part_bytes_[server] > 0) {
        hand_over(now, worker, server, MessagePart::gradient);
      }
    }
  }

  void take_near(double now, const InnerLinks::Part& part) {
    part.push ? arrived(now, part.worker, part.server) : received(now, part.worker);
  }

  // A part that stays on its host goes over the inner link, unless the worker is the server.
  void hand_over(double now, std::uint32_t worker, std::uint32_t server, MessagePart part) {
    const bool push = part == MessagePart::gradient;
    if (on_one_host(worker, server)) {
      const InnerLinks::Part near{.push = push, .worker = worker, .server = server};
      if (!send_near(now, near, part_bytes_[server])) {
        take_near(now, near);
      }
      return;
    }
    JobMessage& message = outbox_.emplace_back();
    message.iteration = progress_.iterations(worker);
    message.part = part;
    message.src = push ? worker : rank_of(server);
    message.dst = push ? rank_of(server) : worker;
    message.start_s = now;
    message.size_bytes = part_bytes_[server];
  }

  void arrived(double now, std::uint32_t worker, std::uint32_t server) {
    double& free = adder_free_s_[server];
    free = std::max(free, now) + static_cast<double>(part_bytes_[server]) *
                                     (spec_.add_s_per_byte + spec_.encode_s_per_byte);
    additions_.push(free, worker * servers_ + server);
  }

  void added(double now, std::uint32_t worker, std::uint32_t server) {
    Worker& x = workers_[worker];
    if (--x.to_add == 0) {
      progress_.add(worker, x.pushed_s, now,
                    [&](std::uint32_t other, double time) { compute(time, other); });
    }
    if (server == servers_) {
      received(now, worker);
    } else {
      hand_over(now, worker, server, MessagePart::parameter);
    }
  }

  void received(double now, std::uint32_t worker) {
    if (--workers_[worker].to_receive == 0) {
      ++received_;
      if (progress_.receive(worker, now)) {
        compute(now, worker);
      }
    }
  }

  layers::Jitter jitter_;
  double compute_s_ = 0;
  std::int64_t total_;        // number of updates of the run
  std::int64_t pushed_ = 0;   // updates that have left a worker
  std::int64_t received_ = 0; // updates whose weights are back
  std::vector<Worker> workers_;
  AsyncProgress progress_;
  std::vector<std::int64_t> part_bytes_; // [server] of every gradient
  events::EventQueue<double> computing_; // id: worker
  std::vector<JobMessage> outbox_;
};

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

JobsResult run_network_jobs(const JobNetwork& network, std::span<const NetworkJob> jobs) {
  assert(network.fabric && !jobs.empty() && "jobs run on a fabric");
  return network.packet ? JobsRun<PacketMessages>(network, jobs).run()
                        : JobsRun<FlowMessages>(network, jobs).run();
}

} // namespace stepsim::programs
