// Operators, annotations and kernels of one collective are three events of the file. The outer two
// nest on one thread; kernels are tied to them by the moment of their launch.
#include "import/kineto/kineto_attribution.hpp"

#include "base/collected.hpp"

namespace stepsim::io {

namespace {

constexpr std::string_view kAnnotation = "nccl:";

struct OperationWord {
  std::string_view recorded, word;
};
constexpr std::array kOperationWords{
    OperationWord{"all_reduce", "allreduce"},
    OperationWord{"allreduce_coalesced", "allreduce"},
    OperationWord{"all_reduce_coalesced", "allreduce"},
    OperationWord{"all_gather", "allgather"},
    OperationWord{"all_gather_coalesced", "allgather"},
    OperationWord{"_all_gather_base", "allgather"},
    OperationWord{"_allgather_base", "allgather"},
    OperationWord{"all_gather_into_tensor", "allgather"},
    OperationWord{"all_gather_into_tensor_coalesced", "allgather"},
    OperationWord{"allgather_into_tensor_coalesced", "allgather"},
    OperationWord{"_reduce_scatter_base", "reduce_scatter"},
    OperationWord{"reduce_scatter_tensor", "reduce_scatter"},
    OperationWord{"reduce_scatter_tensor_coalesced", "reduce_scatter"},
    OperationWord{"all_to_all", "alltoall"},
    OperationWord{"all_to_allv", "alltoall"},
    OperationWord{"alltoall_base", "alltoall"},
    OperationWord{"send", "sendrecv"},
    OperationWord{"recv", "sendrecv"},
};

// Kernels of NCCL until 2.18 have the operation in their name.
constexpr std::array kKernelWords{OperationWord{"AllReduce", "allreduce"},
                                  OperationWord{"AllGather", "allgather"},
                                  OperationWord{"ReduceScatter", "reduce_scatter"},
                                  OperationWord{"Broadcast", "broadcast"},
                                  OperationWord{"SendRecv", "sendrecv"},
                                  OperationWord{"Reduce", "reduce"}};

// "_allgather_base", "all_gather_into_tensor" -> "allgather"; an unknown name is returned as it is.
std::string operation_word(std::string_view recorded) {
  const auto* const row = std::ranges::find(kOperationWords, recorded, &OperationWord::recorded);
  return std::string(row == kOperationWords.end() ? recorded : row->word);
}

// These calls carry no data.
bool is_silent(std::string_view op) {
  return op == "wait" || op == "init" || op == "barrier" || op == "all_reduce_barrier" ||
         op == "allreduce_barrier";
}

// "nccl:send 0->1" -> "send".
std::string_view annotated_operation(std::string_view name) {
  name.remove_prefix(kAnnotation.size());
  return name.substr(0, name.find(' '));
}

// What is not known yet is taken from `more`.
void complete(CollectiveCall& call, const KinetoCollective& more) {
  const auto fill = [](std::int64_t& value, std::int64_t other) {
    value = value < 0 ? other : value;
  };
  fill(call.elements, more.elements);
  fill(call.elements, more.input_elements);
  fill(call.out_elements, more.out_elements);
  fill(call.group_size, more.group_size);
  if (call.group.get().empty()) {
    call.group = more.group;
  }
  if (!dtype_of_pytorch(call.dtype.get())) { // the operator may have a "TensorList"
    const std::string& dtype = more.dtype.empty() ? more.input_dtype : more.dtype;
    if (call.dtype.get().empty() || dtype_of_pytorch(dtype)) {
      call.dtype = dtype;
    }
  }
}

struct PendingCall { // a call with the interval in which its kernels are launched
  CollectiveCall call;
  Nanoseconds end{};
  std::int64_t external_id = KinetoEvent::kNone;
  bool silent = false;
};

// Calls by (thread, begin); an annotation inside an operator is the same call.
std::vector<PendingCall> pending_calls(const KinetoRecording& recording) {
  std::vector<const KinetoEvent*> events;
  for (const KinetoEvent& event : recording.events) {
    const bool annotation = event.category == KinetoCategory::annotation;
    if ((annotation || event.category == KinetoCategory::cpu_operator) &&
        (annotation ? recording.name(event).starts_with(kAnnotation)
                    : recording.name(event) == "record_param_comms")) {
      events.push_back(&event);
    }
  }
  std::ranges::sort(events, [&](const KinetoEvent* a, const KinetoEvent* b) {
    const auto key = [](const KinetoEvent& e) {
      return std::tuple(e.thread, e.begin, -e.duration, e.external_id);
    };
    const auto first = key(*a);
    const auto second = key(*b);
    return first != second ? first < second : recording.name(*a) > recording.name(*b);
  });
  std::vector<PendingCall> calls;
  for (const KinetoEvent* event : events) {
    const bool annotation = event->category == KinetoCategory::annotation;
    const bool inside = !calls.empty() && calls.back().call.thread == event->thread &&
                        event->begin < calls.back().end;
    if (!inside || (!annotation && calls.back().external_id >= 0)) {
      PendingCall& added = calls.emplace_back();
      added.call.begin = event->begin;
      added.call.thread = event->thread;
      added.call.order = event->external_id;
      added.end = event->end();
    }
    PendingCall& pending = calls.back();
    if (!annotation) {
      pending.external_id = event->external_id;
    }
    const KinetoCollective none;
    const KinetoCollective& arguments =
        event->detail >= 0 ? recording.collectives[static_cast<std::size_t>(event->detail)] : none;
    const std::string_view op =
        annotation ? annotated_operation(recording.name(*event)) : std::string_view(arguments.op);
    if (pending.call.op.get().empty()) {
      pending.call.op = operation_word(op);
    }
    pending.silent = pending.silent || is_silent(op);
    complete(pending.call, arguments);
  }
  return calls;
}

void add_kernel(CollectiveCall& call, const DeviceItem& item) {
  call.kernel_begin = call.kernels == 0 ? item.begin : std::min(call.kernel_begin, item.begin);
  call.kernel_end = std::max(call.kernel_end, item.end);
  call.kernel_time += item.duration();
  ++call.kernels;
}

// Operations that only the kernel tells.
std::string operation_of_kernel(std::string_view kernel) {
  const auto* row = base::found_if(kKernelWords, [&](const OperationWord& each) {
    return kernel.find(each.recorded) != std::string_view::npos;
  });
  return row == nullptr ? "" : std::string(row->word);
}

} // namespace

bool carries_bucket(const KinetoRecording& recording, const Attribution& attribution,
                    const CollectiveCall& call) {
  if (call.op != "allreduce" || call.top < 0) {
    return false;
  }
  const TopOperator& top = attribution.top(call.top);
  return top.kind == NodeKind::gradient ||
         (top.kind == NodeKind::backward &&
          recording.name(recording.event(top.event)).find("Compiled") != std::string_view::npos);
}

std::vector<CollectiveCall> collective_calls(const KinetoRecording& recording,
                                             std::span<const KinetoStep> steps,
                                             const Attribution& attribution) {
  std::vector<PendingCall> pending = pending_calls(recording);
  std::map<std::int64_t, std::size_t> by_external_id;
  std::vector<HostInterval> intervals;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    intervals.push_back({pending[i].call.thread, pending[i].call.begin, pending[i].end});
    if (pending[i].external_id >= 0) {
      by_external_id.emplace(pending[i].external_id, i);
    }
  }
  // Kernels launched during a call are its own; the external id joins them only if there is none.
  std::vector<const DeviceItem*> others;
  const auto take = [&](PendingCall& call, const DeviceItem& item) {
    add_kernel(call.call, item);
    const KinetoEvent& event = recording.event(item.event);
    if (event.detail >= 0) {
      complete(call.call, recording.collectives[static_cast<std::size_t>(event.detail)]);
    }
    if (call.call.op.get().empty()) {
      call.call.op = operation_of_kernel(recording.name(event));
    }
  };
  IntervalSearch find_call(intervals);
  for (const DeviceItem& item : attribution.items) {
    if (item.work != WorkClass::communication) {
      continue;
    }
    if (const std::int32_t call = find_call.at(item.thread, item.launched); call >= 0) {
      take(pending[static_cast<std::size_t>(call)], item);
    } else {
      others.push_back(&item);
    }
  }
  std::vector<char> has_own(pending.size());
  std::ranges::transform(pending, has_own.begin(),
                         [](const PendingCall& call) { return call.call.kernels > 0 ? 1 : 0; });
  for (const DeviceItem* item : others) {
    const auto call = by_external_id.find(recording.event(item->event).external_id);
    if (call != by_external_id.end() && has_own[call->second] == 0) {
      take(pending[call->second], *item);
    }
  }
  std::vector<CollectiveCall> calls;
  for (PendingCall& call : pending) {
    if (call.silent || call.call.op.get().empty()) {
      continue;
    }
    call.call.top = IntervalSearch(attribution.tops).at(call.call.thread, call.call.begin);
    call.call.step = step_at(steps, call.call.begin);
    calls.push_back(std::move(call.call));
  }
  std::ranges::sort(calls, {}, [](const CollectiveCall& call) {
    return std::tuple(call.begin, call.order, call.thread);
  });
  return calls;
}

} // namespace stepsim::io
