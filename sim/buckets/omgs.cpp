#include "buckets/omgs.hpp"

#include "buckets/planners.hpp"

namespace stepsim::buckets {

namespace {

struct SparseMessage {
  double backward_end_s{};
  double selected_s{}; // selection ends
  double start_s{}, end_s{};
};

// Where the streams and the channel stand after some groups.
struct Streams {
  double compute{};  // backward may go on
  double selected{}; // the last selection has ended
  double channel{};  // the last message has ended

  [[nodiscard]] SparseMessage next(double backward_s, double select_s, double exchange_s,
                                   SelectStream stream) const {
    SparseMessage message;
    message.backward_end_s = compute + backward_s;
    const double begin = stream == SelectStream::side ? std::max(selected, message.backward_end_s)
                                                      : message.backward_end_s;
    message.selected_s = begin + select_s;
    message.start_s = std::max(channel, message.selected_s);
    message.end_s = message.start_s + exchange_s;
    return message;
  }
  void take(const SparseMessage& message, SelectStream stream) {
    compute = stream == SelectStream::side ? message.backward_end_s : message.selected_s;
    selected = message.selected_s;
    channel = message.end_s;
  }
};

SparseItem sum(std::span<const SparseItem> items, std::span<const std::size_t> firsts,
               std::size_t group) {
  const std::size_t end = group + 1 < firsts.size() ? firsts[group + 1] : items.size();
  SparseItem all;
  for (std::size_t i = firsts[group]; i < end; ++i) {
    all.backward_s += items[i].backward_s;
    all.elements += items[i].elements;
  }
  return all;
}

double seconds(const std::function<double(double)>& cost, double elements) {
  return elements > 0 ? cost(elements) : 0.0;
}

} // namespace

std::vector<std::size_t> lags_groups(std::span<const SparseItem> items) {
  std::vector<std::size_t> firsts;
  bool opens = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (opens) {
      firsts.push_back(i);
    }
    opens = items[i].elements > 0;
  }
  return firsts;
}

std::vector<std::size_t> omgs_groups(std::span<const SparseItem> items, const SparseCost& cost,
                                     SelectStream stream) {
  const std::vector<std::size_t> singles = lags_groups(items);
  std::vector<std::size_t> firsts;
  Streams before; // the open group
  SparseItem open;
  for (std::size_t g = 0; g < singles.size(); ++g) {
    const SparseItem next = sum(items, singles, g);
    bool joins = false;
    if (g > 0) {
      const double select = seconds(cost.select_s, open.elements);
      const double exchange = seconds(cost.exchange_s, open.elements);
      const SparseMessage message = before.next(open.backward_s, select, exchange, stream);
      const double both = open.elements + next.elements;
      const double wait = next.backward_s + seconds(cost.select_s, both) - select -
                          seconds(cost.select_s, next.elements) -
                          (message.start_s - message.selected_s);
      const double saving =
          exchange + seconds(cost.exchange_s, next.elements) - seconds(cost.exchange_s, both);
      joins = next.elements > 0 && wait < saving;
      if (!joins) {
        before.take(message, stream);
      }
    }
    if (!joins) {
      firsts.push_back(singles[g]);
      open = {};
    }
    open.backward_s += next.backward_s;
    open.elements += next.elements;
  }
  return firsts;
}

Plan plan_of_runs(const Problem& problem, std::span<const std::size_t> firsts) {
  Plan plan;
  add_runs(plan, problem, firsts);
  count_bytes(problem, plan);
  std::erase_if(plan.groups, [](const Group& group) { return group.bytes.value == 0; });
  replay_groups(problem, planner(Schedule::wfbp), {}, plan);
  return plan;
}

} // namespace stepsim::buckets
