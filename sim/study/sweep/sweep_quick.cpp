// A point is planned, unless its buckets are those of every point, sent and computed forward; what
// these leave in the members is then read into the summary.
#include "study/sweep/sweep_quick.hpp"

#include "base/shared_value.hpp"
#include "collectives/algorithms.hpp"
#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"

namespace stepsim::study {

bool set_network(const QuickPoint& point, bool block_follows, Cluster& cluster) {
  constexpr std::int64_t kMaxRanks = 1 << 20;
  Network& network = cluster.network;
  if (point.nodes * cluster.gpus_per_node > kMaxRanks ||
      (!block_follows && network.block_latency_s > point.latency_s)) {
    return false;
  }
  cluster.nodes = point.nodes;
  network.latency_s = point.latency_s;
  network.bandwidth_Bps = point.bandwidth_Bps;
  network.block_latency_s = block_follows ? point.latency_s : network.block_latency_s;
  return true;
}

std::unique_ptr<QuickRun> QuickRun::make(const Scenario& first, bool block_follows) {
  Scenario scenario = first;
  if (scenario.cluster.ranks() == 1) { // what is sent with every message is nothing for one worker
    scenario.cluster.nodes = 2;
  }
  if (!takes_quick_way(scenario)) {
    return nullptr;
  }
  std::unique_ptr<QuickRun> quick(std::make_unique<QuickRun>(QuickRun(scenario)));
  quick->block_follows_ = block_follows;
  quick->scenario_.cluster.nodes = first.cluster.nodes; // of points that do not say theirs
  return quick;
}

// Every gradient of the scenario has bytes.
QuickRun::QuickRun(const Scenario& scenario)
    : scenario_(scenario), planner_(buckets::planner(scenario.communication.schedule)),
      problem_(merge_problem(scenario)),
      memory_(unsharded_memory(scenario, scenario.cluster.ranks(), {})),
      memory_alone_(unsharded_memory(scenario, 1, {})), sums_(scenario),
      slowdown_(buckets::least_slowdown(scenario.communication.schedule_options)),
      forward_total_s_(scenario.workload.forward().value),
      backward_s_(scenario.workload.backward().value), update_s_(scenario.training.update.value),
      input_s_(scenario.training.input.value), input_pipelined_(scenario.training.input_pipelined),
      barrier_(scenario.communication.next_forward == programs::NextForward::barrier),
      is_static_(!planner_.reads_cost),
      in_turn_(planner_.one_channel(scenario.communication.schedule_options)) {
  const layers::Workload& workload = scenario.workload;
  const Communication& communication = scenario.communication;
  const std::vector<double> bytes = layer_bytes(scenario);
  before_s_.push_back(0);
  for (std::size_t l = 0; l < bytes.size(); ++l) {
    const double update = barrier_ ? 0 : update_s_ * (bytes[l] / sums_.bytes);
    before_s_.push_back(before_s_.back() + update + workload.layers[l].forward.value);
  }
  alone_period_s_ = period_of(0).period;
  warnings_ = workload.warnings;
  warnings_.insert(warnings_.end(), scenario.warnings.begin(), scenario.warnings.end());
  if (is_static_) {
    plan_ = buckets::make_plan(problem_, communication.schedule, communication.schedule_options);
    warnings_.insert(warnings_.end(), plan_.warnings.begin(), plan_.warnings.end());
    take_messages();
  }
  warnings_alone_ = warnings_;
  warnings_alone_.emplace_back("one worker: no communication");
  const collectives::Collective exchange = exchange_of(scenario);
  if (auto idle = collectives::idle_interfaces(exchange)) {
    warnings_.push_back(*std::move(idle));
  }
  is_split_ = !exchange.links.two_level && exchange.reduction_s_per_byte == 0;
  has_curve_ = communication.collective == collectives::AlgorithmId::automatic ||
               collectives::algorithm(communication.collective).block_streams > 0;
  takes_bounds_ = scenario.method.has_value();
  sending_.options = communication.schedule_options;
}

collectives::Method QuickRun::method() const {
  return scenario_.method || in_turn_ ? collectives::Method::closed_form
                                      : collectives::Method::events;
}

// The messages of the plan, and the last one of every layer: messages are in launch order.
void QuickRun::take_messages() {
  messages_.clear();
  last_message_.assign(before_s_.size() - 1, -1);
  for (const buckets::Group& group : plan_.groups) {
    for (const std::uint32_t item : group.items) {
      last_message_[problem_.items[item].layer] =
          barrier_ ? -1 : static_cast<std::int32_t>(messages_.size());
    }
    messages_.push_back(
        {.ready_s = group.ready.value, .bytes = static_cast<double>(group.bytes.value)});
  }
}

// False where the exchange has no form here.
bool QuickRun::set_costs(const QuickPoint& point) {
  if (!set_network(point, block_follows_, scenario_.cluster)) {
    return false;
  }
  startup_s_ = per_byte_s_ = 0;
  if (scenario_.cluster.ranks() == 1) {
    return !has_curve_;
  }
  collectives::Collective probe = exchange_of(scenario_);
  probe.bytes = 1;
  if (!probe.homogeneous()) {
    return false;
  }
  if (has_curve_) {
    answers_.clear();
    form_ = collectives::prepare(probe);
    return form_.has_value();
  }
  const auto whole = collectives::closed_form(probe);
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  startup_s_ = *whole->startup_s;
  per_byte_s_ = *whole->per_byte_s;
  return true;
}

// The plan by the cost of the point. False where it warns of something, or is no list of runs of
// gradients. A single worker waits for no tick of its schedule (plan_of).
bool QuickRun::plan_messages(Summary& summary) {
  const Communication& communication = scenario_.communication;
  problem_.cost = has_curve_ ? merge_cost(scenario_)
                             : buckets::Cost{.base = buckets::LinearCost{startup_s_, per_byte_s_}};
  // make_plan() without the times of the groups: every gradient has bytes.
  plan_ = planner_.run(problem_, communication.schedule_options);
  buckets::count_bytes(problem_, plan_);
  if (communication.schedule == buckets::Schedule::mg_wfbp) {
    summary.merge_waiting_merges = static_cast<double>(plan_.waiting_merges);
    summary.merge_certified_optimal = buckets::certified_optimal(problem_, plan_);
  }
  take_messages();
  const bool alone = scenario_.cluster.ranks() == 1;
  std::size_t begin = 0;
  for (std::size_t g = 0; in_turn_ && g < plan_.groups.size(); ++g) {
    const buckets::Group& group = plan_.groups[g];
    begin += group.items.size();
    if (group.last() + 1 != begin) {
      return false;
    }
    messages_[g].ready_s = alone ? problem_.items[group.last()].ready.value : messages_[g].ready_s;
  }
  return plan_.warnings.empty();
}

// The bytes that the rank that sends most sends in an exchange; 0 for one rank. A ring sends every
// part but one in its reduce-scatter and in its all-gather.
double QuickRun::most_sent(collectives::AlgorithmId algorithm, double bytes) {
  const std::int64_t ranks = scenario_.cluster.ranks();
  if (ranks <= 1) {
    return 0;
  }
  if (algorithm == collectives::AlgorithmId::ring) {
    const double sent = bytes - bytes / static_cast<double>(ranks);
    return sent + sent;
  }
  return base::remembered(sent_[{algorithm, ranks}], bytes, [&] {
    collectives::Collective collective = exchange_of(scenario_);
    collective.ranks = static_cast<std::uint32_t>(ranks);
    collective.algorithm = algorithm;
    collective.bytes = bytes;
    return collectives::most_sent(collective);
  });
}

void QuickRun::send_in_turn() {
  const collectives::AlgorithmId asked = scenario_.communication.collective;
  // The bytes of messages that are the same at every point need not be summed up at each.
  const bool is_known = is_static_ && asked != collectives::AlgorithmId::automatic;
  double end = 0;
  double busy = 0;
  double wire = 0;
  has_bound_ = false;
  for (Message& message : messages_) {
    double seconds = startup_s_ + per_byte_s_ * message.bytes;
    collectives::AlgorithmId algorithm = asked;
    if (has_curve_) {
      const collectives::PreparedForm::Answer& sent =
          base::remembered(answers_, message.bytes, [&] { return form_->at(message.bytes); });
      seconds = sent.seconds;
      algorithm = sent.algorithm;
      has_bound_ = has_bound_ || sent.upper_bound;
    }
    message.start_s = std::max(end, message.ready_s);
    message.end_s = end = message.start_s + seconds;
    busy += seconds;
    wire += is_known ? 0 : most_sent(algorithm, message.bytes);
  }
  if (is_known) {
    wire = base::remembered(sent_in_all_, scenario_.cluster.ranks(), [&] {
      return base::sum_of<double>(
          messages_, [&](const Message& message) { return most_sent(asked, message.bytes); });
    });
  }
  channel_end_s_ = end;
  communication_s_ = busy;
  wire_bytes_ = wire;
}

// Messages that are not sent one at a time; times as those of time_buckets().
void QuickRun::send_transfers(Summary& summary) {
  if (planner_.needs_linear_cost()) {
    summary.merge_linear = true;
  }
  sending_.transfers.clear();
  ready_s_.clear();
  wire_bytes_ = 0;
  for (const Message& message : messages_) {
    const double seconds = startup_s_ + per_byte_s_ * message.bytes;
    const double startup = std::min(startup_s_, seconds);
    sending_.transfers.push_back(
        {.bytes = message.bytes, .startup_s = startup, .data_s = seconds - startup});
    ready_s_.push_back(message.ready_s);
    wire_bytes_ += most_sent(scenario_.communication.collective, message.bytes);
  }
  planner_.send(sending_, {.ready_s = ready_s_}, times_);
  for (std::size_t g = 0; g < messages_.size(); ++g) {
    messages_[g].start_s = times_.start_s[g];
    messages_[g].end_s = times_.end_s[g];
    messages_[g].data_s = sending_.transfers[g].data_s;
  }
  for (std::size_t g = 0; g < messages_.size() && !barrier_; ++g) {
    for (const std::uint32_t item : plan_.groups[g].items) { // a later message may end earlier
      std::int32_t& last = last_message_[problem_.items[item].layer];
      last = messages_[static_cast<std::size_t>(last)].end_s < messages_[g].end_s
                 ? static_cast<std::int32_t>(g)
                 : last;
    }
  }
  channel_end_s_ = times_.finish_s;
  communication_s_ = times_.busy_s;
}

// Behind a barrier layers wait for nothing more. Layers that wait for one message follow each other
// without a gap.
void QuickRun::compute_forward() {
  const double finish = std::max(channel_end_s_, backward_s_);
  double time = barrier_ ? finish + update_s_ : backward_s_;
  double until = barrier_ ? finish : 0;
  const std::size_t layers = last_message_.size();
  for (std::size_t from = 0, to = 0; from < layers; from = to) {
    const std::int32_t last = last_message_[from];
    do {
      ++to;
    } while (to < layers && (last_message_[to] == last || last_message_[to] < 0));
    const double done = last < 0 ? 0 : messages_[static_cast<std::size_t>(last)].end_s;
    until = done > time ? done : until;
    time = std::max(time, done) + (before_s_[to] - before_s_[from]);
  }
  forward_end_s_ = time;
  waits_until_s_ = until;
}

// Seconds of the messages that follow each other without a gap and end with the last one that the
// next forward waits for: that one, the one that kept the channel busy before it, and so on. The
// first one counts with its start-up, which hides behind others where they are not sent in turn.
double QuickRun::chained_s() {
  constexpr double kRounding = 1e-12;
  chain_.clear();
  std::ranges::copy_if(messages_, std::back_inserter(chain_),
                       [](const Message& each) { return each.end_s > each.start_s; });
  if (!in_turn_) {
    std::ranges::sort(chain_, {}, &Message::end_s);
  }
  const auto ending = [&](double time) {
    const double early = time - kRounding * time;
    const auto found = std::ranges::lower_bound(chain_, early, {}, &Message::end_s);
    return found != chain_.end() && found->end_s <= time + kRounding * time ? &*found : nullptr;
  };
  double seconds = 0;
  for (const Message* last = ending(waits_until_s_); last != nullptr;) {
    const double sent_from_s = in_turn_ ? last->start_s : last->end_s - last->data_s;
    const Message* before = ending(sent_from_s);
    seconds += last->end_s - (before == nullptr ? last->start_s : sent_from_s);
    last = before == last ? nullptr : before;
  }
  return seconds;
}

QuickRun::Period QuickRun::period_of(double end) const {
  constexpr double kRounding = 1e-12; // of the end, for sums of thousands of layers
  Period result;
  const double computing = forward_total_s_ + backward_s_;
  const double beyond = end - computing - update_s_;
  const double longer = beyond > kRounding * end ? beyond : 0.0;
  // A batch is read while nothing else happens, or at the same time.
  const double busy = computing + longer;
  result.period = (input_pipelined_ ? std::max(input_s_, busy) : input_s_ + busy) + update_s_;
  result.input_wait = input_pipelined_ ? std::max(0.0, input_s_ - computing) : input_s_;
  result.exposed = std::max(0.0, longer - (input_pipelined_ ? result.input_wait : 0));
  return result;
}

// The word for the largest part of the exchanges.
std::string_view QuickRun::largest_part() const {
  if (!has_curve_ && is_split_) {
    return largest_of({.latency_s = startup_s_ * static_cast<double>(messages_.size()),
                       .bandwidth_s = per_byte_s_ * sums_.bytes});
  }
  if (has_curve_ && is_static_ && is_split_) {
    std::vector<double> bytes;
    for (const Message& message : messages_) {
      bytes.push_back(message.bytes);
    }
    if (const auto parts = form_->parts(bytes)) {
      return largest_of({.latency_s = parts->latency_s, .bandwidth_s = parts->bandwidth_s});
    }
  }
  return study::largest_part(scenario_, plan_, {});
}

// The summary of run(). False if the run would be refused.
bool QuickRun::summarize(Summary& summary) {
  const Period step = period_of(forward_end_s_);
  const double finish = std::max(channel_end_s_, backward_s_);
  const double first_batch = input_pipelined_ ? 0 : input_s_; // read within the first iteration
  const double makespan = first_batch + forward_total_s_ +
                          static_cast<double>(scenario_.training.iterations - 1) * step.period +
                          (finish + update_s_);
  if (!std::isfinite(makespan) || makespan > scenario_.simulated_limit.value) {
    return false;
  }
  summary.iteration_time_s = step.period;
  summary.forward_s = forward_total_s_;
  summary.backward_s = backward_s_;
  summary.update_s = update_s_;
  summary.codec_compute_s = 0;
  summary.compute_s = forward_total_s_ + backward_s_ + update_s_;
  fill_communication(communication_s_, step.exposed, summary);
  summary.wire_bytes = wire_bytes_;
  summary.straggler_wait_s = 0;
  summary.makespan_s = makespan;
  fill_speedup(scenario_, alone_period_s_, step.period, summary);
  summary.input_wait_s = step.input_wait;
  if (scenario_.communication.schedule == buckets::Schedule::optimal) {
    summary.merge_certified_optimal = merge_is_certified(scenario_);
  }
  summary.closed_form_s = step.period;
  summary.closed_form_is_bound = has_bound_;
  const auto seconds = [&](double bytes) {
    return bytes > 0 ? startup_s_ + per_byte_s_ * bytes * slowdown_ : 0;
  };
  const PeriodBounds bounds =
      has_curve_ ? PeriodBounds(scenario_, problem_, sums_)
                 : PeriodBounds(scenario_, problem_, sums_,
                                MessageBounds{.first_layer_s = seconds(sums_.first_layer_bytes),
                                              .all_s = seconds(sums_.bytes)});
  if (const auto bound = bounds.with_slowest(1)) {
    summary.lower_bound_s = bound_of(*bound, step.period);
  }
  summary.bottleneck = verdict(
      summary, [&] { return chained_s(); }, [&] { return largest_part(); });
  const std::int64_t ranks = scenario_.cluster.ranks();
  fill_memory(ranks == 1 ? memory_alone_ : memory_, scenario_.cluster, summary);
  fill_step(scenario_, summary);
  find_input_bound(scenario_, summary);
  fill_compute_interval(scenario_, summary);
  return fill_job(scenario_.job, scenario_.cluster.nodes, ranks, summary);
}

bool QuickRun::run(const QuickPoint& point, Summary& summary) {
  summary = {};
  if (!set_costs(point) || (!is_static_ && !plan_messages(summary))) {
    return false;
  }
  if (in_turn_) {
    send_in_turn();
  } else {
    send_transfers(summary);
  }
  compute_forward();
  return (takes_bounds_ || !has_bound_) && summarize(summary);
}

} // namespace stepsim::study
