#include "programs/operation_layout.hpp"

#include "base/collected.hpp"

#include <bit>
#include <map>
#include <numeric>
#include <ranges>

namespace stepsim::programs {

namespace {

// OperationLayout::single_pass; empty where there is none.
std::vector<OperationLayout::PassStep> single_pass_of(const Program& program) {
  const auto of_type = [&](OperationType type) {
    return std::ranges::find(program.operations, type, &Operation::type);
  };
  const auto computing = of_type(OperationType::compute);
  const auto exchange = of_type(OperationType::exchange);
  if (computing == program.operations.end() || exchange == program.operations.end() ||
      computing->stream == exchange->stream) {
    return {};
  }
  const std::uint32_t count = program.iteration_size();
  std::vector<std::uint32_t> computed;                     // in order
  std::vector<std::size_t> place(count);                   // behind so many of them
  std::vector<OperationLayout::PassStep> exchanges;        // in order
  std::vector<std::pair<std::size_t, std::uint32_t>> late; // delays behind their place
  std::vector<char> on_stream(program.streams.size());
  on_stream[computing->stream] = on_stream[exchange->stream] = 1;
  for (std::uint32_t o = 0; o < count; ++o) {
    const Operation& each = program.operations[o];
    const bool computes = each.type == OperationType::compute && each.stream == computing->stream;
    const bool sends = each.type == OperationType::exchange && each.stream == exchange->stream;
    const bool delays = each.type == OperationType::delay && on_stream[each.stream] == 0;
    if (!computes && !sends && !delays) {
      return {};
    }
    on_stream[each.stream] = 1;
    OperationLayout::PassStep step{.operation = o};
    place[o] = computes ? computed.size() + 1 : 0;
    for (const Wait& wait : program.waits_of(o)) {
      const OperationType awaited = program.operations[wait.operation].type;
      const bool delayed = awaited == OperationType::delay;
      if (wait.distance != 0 || (sends && awaited == OperationType::exchange)) {
        continue;
      }
      if (wait.operation > o || (awaited != OperationType::compute && !(sends && delayed)) ||
          (delayed && step.delay != kAllRanks)) {
        return {};
      }
      step.delay = delayed ? wait.operation : step.delay;
      place[o] = std::max(place[o], place[wait.operation]);
    }
    if (computes) {
      computed.push_back(o);
    } else if (sends) {
      exchanges.push_back(step);
    } else {
      late.emplace_back(place[o], o);
    }
  }
  std::ranges::stable_sort(late, {}, &std::pair<std::size_t, std::uint32_t>::first);
  if (!late.empty() && late.front().first == 0) {
    return {};
  }
  std::vector<OperationLayout::PassStep> steps;
  steps.reserve(count);
  std::size_t done = 0;
  auto next = late.begin();
  const auto compute_until = [&](std::size_t end) {
    while (done < end) {
      steps.push_back({.operation = computed[done++]});
      for (; next != late.end() && next->first == done; ++next) {
        steps.push_back({.operation = next->second});
      }
    }
  };
  for (const OperationLayout::PassStep& each : exchanges) {
    compute_until(place[each.operation]);
    steps.push_back(each);
  }
  compute_until(computed.size());
  return steps;
}

// OperationLayout::idle_steps. Ends on a stream are in the order of the list, so that one of each
// is enough.
std::vector<OperationLayout::IdleStep> idle_steps_of(const Program& program,
                                                     const OperationLayout& layout) {
  using Step = OperationLayout::IdleStep;
  std::vector<Step> steps;
  for (const std::uint32_t o : std::span(layout.order).first(program.iteration_size())) {
    std::map<std::uint32_t, std::uint32_t> awaited; // [stream]
    for (std::uint32_t a = layout.first_arc[o]; a < layout.first_arc[o + 1]; ++a) {
      if (layout.arcs[a].distance == 0) {
        const auto other = static_cast<std::uint32_t>(layout.arcs[a].back);
        std::uint32_t& last = awaited[program.operations[other].stream];
        last = std::max(last, other);
      }
    }
    if (awaited.empty() && steps.empty()) {
      awaited[0] = o;
    }
    if (awaited.empty() || awaited.size() > 2) {
      return {};
    }
    const bool own_last = awaited.rbegin()->first == program.operations[o].stream;
    const std::uint32_t first = (own_last ? *awaited.rbegin() : *awaited.begin()).second;
    const std::uint32_t second = (own_last ? *awaited.begin() : *awaited.rbegin()).second;
    const auto is_back = [&](std::size_t count) {
      return count <= steps.size() && steps[steps.size() - count].operation == first;
    };
    steps.push_back({o, {is_back(1) ? Step::kLast : is_back(2) ? Step::kBefore : first, second}});
  }
  return steps;
}

StreamLists lists_of(const Program& program, std::uint32_t begin, std::uint32_t end) {
  StreamLists lists;
  lists.first.assign(program.streams.size() + 1, 0);
  for (std::uint32_t o = begin; o < end; ++o) {
    ++lists.first[program.operations[o].stream + 1];
  }
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  std::vector<std::uint32_t> next(lists.first.begin(), lists.first.end() - 1);
  lists.operations.resize(end - begin);
  for (std::uint32_t o = begin; o < end; ++o) {
    lists.operations[next[program.operations[o].stream]++] = o;
  }
  return lists;
}

// Calls `visit` with every operation that `o` needs in its own iteration.
template <class Visit>
void visit_needs(const Program& program, const std::vector<Wait>& on_streams, std::uint32_t o,
                 Visit visit) {
  const auto look_at = [&](const Wait& wait) {
    if (wait.distance == 0) {
      visit(wait.operation);
    }
  };
  std::ranges::for_each(program.waits_of(o), look_at);
  const Stream& stream = program.streams[program.operations[o].stream];
  if (stream.discipline != Discipline::priority) { // starts them in issue order
    look_at(on_streams[o]);
  }
}

bool list_order_is_valid(const Program& program) {
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    for (const Wait& wait : program.waits_of(o)) {
      if (wait.distance == 0 && wait.operation >= o) {
        return false;
      }
    }
  }
  return true;
}

// Every operation that was left over needs another one that was left over: walking from need to
// need comes back.
std::vector<std::uint32_t> find_cycle(const Program& program, const std::vector<Wait>& on_streams,
                                      const std::vector<std::uint32_t>& open_needs) {
  const auto left = std::ranges::find_if(open_needs, [](std::uint32_t n) { return n > 0; });
  std::vector<std::uint32_t> walk;
  std::vector<std::uint32_t> place(open_needs.size(), kAllRanks);
  auto o = static_cast<std::uint32_t>(left - open_needs.begin());
  while (place[o] == kAllRanks) {
    place[o] = static_cast<std::uint32_t>(walk.size());
    walk.push_back(o);
    std::uint32_t need = kAllRanks;
    visit_needs(program, on_streams, o, [&](std::uint32_t other) {
      if (open_needs[other] > 0 && need == kAllRanks) {
        need = other;
      }
    });
    o = need;
  }
  walk.erase(walk.begin(), walk.begin() + place[o]);
  std::ranges::rotate(walk, std::ranges::min_element(walk));
  return walk;
}

} // namespace

// Whether all operations of an iteration have ended when the first one of the next can start, and
// all others wait for that one: every iteration then begins on idle streams, as the first does.
bool begins_idle(const Program& program) {
  const std::uint32_t count = program.iteration_size();
  std::vector<char> awaited(count); // by operation 0 of the next iteration
  std::vector<char> begun(count);   // behind operation 0
  std::vector<char> on_stream(program.streams.size());
  if (count == 0) {
    return false;
  }
  on_stream[program.operations[0].stream] = 1;
  for (const Wait& wait : program.waits) {
    if (wait.until != kAlways) {
      return false;
    }
  }
  for (const Wait& wait : program.waits_of(0)) {
    if (wait.distance == 1 && wait.operation < count) {
      awaited[wait.operation] = 1;
    }
  }
  for (std::uint32_t o = count; o-- > 0;) {
    const std::uint32_t stream = program.operations[o].stream;
    if (awaited[o] == 0 && on_stream[stream] == 0) {
      return false;
    }
    on_stream[stream] = 1;
    for (const Wait& wait : program.waits_of(o)) {
      if (wait.distance == 0) {
        awaited[wait.operation] = 1;
      }
    }
  }
  on_stream.assign(program.streams.size(), 0);
  for (std::uint32_t o = 0; o < count; ++o) {
    const std::uint32_t stream = program.operations[o].stream;
    const auto behind = [&](const Wait& wait) {
      return wait.distance == 0 && begun[wait.operation] != 0;
    };
    if (o > 0 && on_stream[stream] == 0 && std::ranges::none_of(program.waits_of(o), behind)) {
      return false;
    }
    begun[o] = on_stream[stream] = 1;
  }
  return true;
}

std::int64_t longest_wait(const Program& program) {
  return base::greatest<std::int32_t>(program.waits, 0, &Wait::distance);
}

OperationLayout layout_of(const Program& program) {
  OperationLayout layout;
  const std::size_t count = program.operations.size();
  layout.order = issue_order(program).order;
  const std::vector<Wait> on_streams = waits_on_streams(program);
  const auto add_arc = [&](const Wait& wait) {
    layout.arcs.push_back(
        {.back = wait.operation - std::int64_t{wait.distance} * program.iteration_size(),
         .distance = static_cast<std::uint32_t>(wait.distance),
         .until = wait.until});
  };
  layout.first_arc.push_back(0);
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    std::ranges::for_each(program.waits_of(o), add_arc);
    add_arc(on_streams[o]);
    layout.first_arc.push_back(static_cast<std::uint32_t>(layout.arcs.size()));
    const Operation& each = program.operations[o];
    if (each.type == OperationType::exchange) {
      layout.exchanges.push_back(o);
      layout.one_channel =
          layout.one_channel && each.stream == program.operations[layout.exchanges.front()].stream;
    }
  }
  layout.longest = longest_wait(program);
  for (const Wait& wait : program.waits) {
    const bool ends = wait.until != kAlways;
    layout.always = layout.always && !ends;
    layout.warmup = ends ? std::max<std::int64_t>(layout.warmup, wait.until) : layout.warmup;
  }
  for (std::uint32_t o = program.iteration_size(); o < count; ++o) {
    layout.order.push_back(o);
  }
  layout.ring_mask.assign(count, 0);
  for (const Wait& wait : program.waits) {
    std::uint32_t& mask = layout.ring_mask[wait.operation];
    mask = std::max(mask, static_cast<std::uint32_t>(wait.distance));
  }
  layout.ring_first.resize(count);
  layout.stream.resize(count);
  for (std::size_t o = 0; o < count; ++o) {
    layout.ring_mask[o] = std::bit_ceil(layout.ring_mask[o] + 1) - 1;
    layout.ring_first[o] = layout.slots;
    layout.slots += layout.ring_mask[o] + 1;
    layout.stream[o] = program.operations[o].stream;
  }
  layout.waits.reserve(program.waits.size());
  for (const Wait& wait : program.waits) {
    layout.waits.push_back({.first = layout.ring_first[wait.operation],
                            .mask = layout.ring_mask[wait.operation],
                            .distance = static_cast<std::uint32_t>(wait.distance),
                            .until = wait.until});
  }
  layout.begins_idle = program.only_fifo() && program.enters_together() && begins_idle(program);
  if (layout.begins_idle) {
    layout.single_pass = single_pass_of(program);
    layout.idle_steps = idle_steps_of(program, layout);
  }
  return layout;
}

StreamLists stream_lists(const Program& program) {
  return lists_of(program, 0, program.iteration_size());
}

StreamLists tail_lists(const Program& program) {
  return lists_of(program, program.iteration_size(),
                  static_cast<std::uint32_t>(program.operations.size()));
}

std::vector<Wait> waits_on_streams(const Program& program) {
  const StreamLists lists = stream_lists(program);
  std::vector<Wait> waits(program.iteration_size());
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    const std::span<const std::uint32_t> list = lists.of(s);
    for (std::size_t i = 0; i < list.size(); ++i) {
      waits[list[i]] = i == 0 ? Wait{.operation = list.back(), .distance = 1}
                              : Wait{.operation = list[i - 1], .distance = 0};
    }
  }
  return waits;
}

IssueOrder issue_order(const Program& program) {
  const std::uint32_t count = program.iteration_size();
  IssueOrder result;
  result.order.resize(count);
  if (list_order_is_valid(program)) {
    std::iota(result.order.begin(), result.order.end(), 0U);
    return result;
  }
  // Kahn's algorithm; `order` is also the queue of operations whose needs have all been placed.
  const std::vector<Wait> on_streams = waits_on_streams(program);
  std::vector<std::uint32_t> open_needs(count, 0);
  std::vector<std::uint32_t> first(count + 1, 0);
  for (std::uint32_t o = 0; o < count; ++o) {
    visit_needs(program, on_streams, o, [&](std::uint32_t need) {
      ++open_needs[o];
      ++first[need + 1];
    });
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> needed_by(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t o = 0; o < count; ++o) {
    visit_needs(program, on_streams, o, [&](std::uint32_t need) { needed_by[next[need]++] = o; });
  }
  std::size_t placed = 0;
  for (std::uint32_t o = 0; o < count; ++o) {
    if (open_needs[o] == 0) {
      result.order[placed++] = o;
    }
  }
  for (std::size_t i = 0; i < placed; ++i) {
    const std::uint32_t o = result.order[i];
    for (std::uint32_t k = first[o]; k < first[o + 1]; ++k) {
      if (--open_needs[needed_by[k]] == 0) {
        result.order[placed++] = needed_by[k];
      }
    }
  }
  result.order.resize(placed);
  if (placed < count) {
    result.cycle = find_cycle(program, on_streams, open_needs);
  }
  return result;
}

} // namespace stepsim::programs
