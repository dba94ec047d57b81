// Streams, events and graphs are lists of operations with what each comes after. An operation is
// done when the host waits for something that comes after it.
#include "shim/streams.hpp"

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "shim/clocks.hpp"

namespace {

using cuda_on_cpu::Clock;
using cuda_on_cpu::Link;
using cuda_on_cpu::Machine;
using cuda_on_cpu::Work;

struct Operation {
  std::function<void()> run{};
  std::vector<std::shared_ptr<Operation>> after{};
  bool done = false;
};
using Operations = std::vector<std::shared_ptr<Operation>>;

struct Node { // of a graph
  Work work;
  int device = 0;
  std::vector<std::size_t> after{};
};

} // namespace

struct CUgraph_st {
  std::vector<Node> nodes{};
  std::size_t origin = 0;
};
struct CUgraphExec_st {
  std::vector<Node> nodes{};
  std::vector<std::size_t> streams{}; // clock of each node's chain
};
struct CUstream_st {
  std::size_t id = 0;
  int device = 0;
  Clock clock{};
  Operations last{}; // what the next operation comes after
  double time_s = 0;
  bool capturing = false;
  std::vector<std::size_t> tail{}; // of the capture: nodes that the next one comes after
};
struct CUevent_st {
  int device = 0;
  Clock clock{};
  Operations last{};
  double time_s = 0;
  bool captured = false;
  std::vector<std::size_t> tail{};
};

namespace {

struct Allocation {
  std::size_t bytes = 0;
  int device = 0; // -1: host
  void* pages = nullptr;
  std::size_t page_bytes = 0;
};

struct State {
  Machine machine;
  std::vector<std::string> violations;
  cuda_on_cpu::Calls calls;
  std::int64_t dropped_wait = -1;
  int device = 0;
  int last_error = 0;
  Clock host;
  double host_s = 0;
  std::uint32_t host_count = 0;
  std::vector<std::uint32_t> counts{0}; // operations of each stream id
  std::vector<std::size_t> free_ids;
  std::set<CUstream_st*> streams;
  std::vector<std::unique_ptr<CUstream_st>> default_streams; // of each device
  std::map<std::uintptr_t, Allocation> allocations;
  cuda_on_cpu::Memory memory;
  std::map<int, double> link_free_s;
  std::map<int, double> products_end_s, works_end_s; // the last ones of a device
  std::set<std::pair<int, int>> peers;
  CUstream_st* capture_origin = nullptr;
  std::unique_ptr<CUgraph_st> capture;
  std::uint64_t random = 1;
};

State& state() {
  static State all;
  return all;
}

std::uint64_t next_random() {
  State& s = state();
  s.random = s.random * 6364136223846793005ULL + 1442695040888963407ULL;
  return s.random >> 33;
}

void call() {
  ++state().calls.all;
  state().host_s += state().machine.call_s;
}

std::size_t new_id() {
  State& s = state();
  if (!s.free_ids.empty()) {
    const std::size_t id = s.free_ids.back();
    s.free_ids.pop_back();
    return id;
  }
  s.counts.push_back(0);
  return s.counts.size() - 1;
}

void violate(const std::string& text) {
  if (state().violations.size() < 100) {
    state().violations.push_back(text);
  }
}

const Allocation* allocation_of(const void* memory) {
  const auto& all = state().allocations;
  const auto next = all.upper_bound(reinterpret_cast<std::uintptr_t>(memory));
  if (next == all.begin()) {
    return nullptr;
  }
  const auto& [begin, allocation] = *std::prev(next);
  return reinterpret_cast<std::uintptr_t>(memory) < begin + allocation.bytes ? &allocation
                                                                             : nullptr;
}
int device_of(const void* memory) {
  const Allocation* allocation = allocation_of(memory);
  return allocation != nullptr ? allocation->device : -1;
}

// Records all accesses of an operation; `kernel_device` >= 0: a kernel there must reach the memory.
void check(const Work& work, std::size_t id, std::uint32_t count, const Clock& clock,
           int kernel_device) {
  const auto see = [&](const cuda_on_cpu::Range& range, bool writes) {
    if (allocation_of(range.begin) == nullptr) {
      return; // of the host
    }
    const int on = device_of(range.begin);
    if (kernel_device >= 0 && on >= 0 && on != kernel_device &&
        !state().peers.contains({kernel_device, on})) {
      violate(work.what + ": device " + std::to_string(kernel_device) + " cannot reach device " +
              std::to_string(on));
    }
    const std::string conflict =
        state().memory.access(range.begin, range.bytes, writes, {id, count}, clock, work.what);
    if (!conflict.empty()) {
      violate(work.what + (writes ? " writes" : " reads") + " what nothing orders after " +
              conflict);
    }
  };
  for (const auto& range : work.reads) {
    see(range, false);
  }
  for (const auto& range : work.writes) {
    see(range, true);
  }
}

Link link_of(int from, int to) {
  const Machine& machine = state().machine;
  return machine.link ? machine.link(from, to) : Link();
}

// When work of a kernel's device, or of a copy's two, ends that can start at `ready`.
double end_of(const Work& work, double ready_s, int kernel_device) {
  State& s = state();
  const bool product = work.what == "product";
  std::map<int, double>& same = product ? s.products_end_s : s.works_end_s;
  const std::map<int, double>& other = product ? s.works_end_s : s.products_end_s;
  double factor = 1;
  const std::set<int> on = work.from == -2 ? std::set{kernel_device} : std::set{work.from, work.to};
  for (const int device : on) {
    const auto busy = other.find(device);
    if (busy != other.end() && busy->second > ready_s) {
      factor = product ? s.machine.product_beside : s.machine.work_beside;
    }
  }
  const auto ends = [&](double end_s) {
    for (const int device : on) {
      same[device] = std::max(same[device], end_s);
    }
    return end_s;
  };
  if (work.from == -2) {
    return ends(ready_s + factor * work.seconds);
  }
  const Link link = link_of(work.from, work.to);
  double begin = ready_s;
  for (const int shared : link.uses) {
    begin = std::max(begin, state().link_free_s[shared]);
  }
  const double end = begin + factor * static_cast<double>(work.bytes) / link.bandwidth_Bps;
  for (const int shared : link.uses) {
    state().link_free_s[shared] = end;
  }
  return ends(end + link.latency_s);
}

// Does everything that `roots` come after, and those, in a random order that is allowed.
void finish(const Operations& roots) {
  if (!state().machine.executes) {
    return;
  }
  std::vector<std::shared_ptr<Operation>> all;
  std::map<Operation*, std::size_t> waits; // not yet done
  std::map<Operation*, Operations> next;
  Operations stack = roots;
  while (!stack.empty()) {
    const std::shared_ptr<Operation> each = stack.back();
    stack.pop_back();
    if (each->done || waits.contains(each.get())) {
      continue;
    }
    std::size_t& open = waits[each.get()];
    all.push_back(each);
    for (const auto& before : each->after) {
      if (!before->done) {
        ++open;
        next[before.get()].push_back(each);
        stack.push_back(before);
      }
    }
  }
  Operations ready;
  for (const auto& each : all) {
    if (waits[each.get()] == 0) {
      ready.push_back(each);
    }
  }
  while (!ready.empty()) {
    std::swap(ready[next_random() % ready.size()], ready.back());
    const std::shared_ptr<Operation> each = ready.back();
    ready.pop_back();
    if (each->run) {
      try {
        each->run();
      } catch (...) { // destructors that wait for a stream would run what comes after it
        state().machine.executes = false;
        throw;
      }
    }
    each->run = {};
    each->after.clear();
    each->done = true;
    for (const auto& other : next[each.get()]) {
      if (--waits[other.get()] == 0) {
        ready.push_back(other);
      }
    }
  }
}

void synchronize(CUstream_st& stream) {
  finish(stream.last);
  state().host.join(stream.clock);
  state().host_s = std::max(state().host_s, stream.time_s);
}

CUstream_st& default_stream() {
  State& s = state();
  while (static_cast<int>(s.default_streams.size()) <= s.device) {
    s.default_streams.push_back(std::make_unique<CUstream_st>());
    s.default_streams.back()->id = new_id();
    s.default_streams.back()->device = static_cast<int>(s.default_streams.size()) - 1;
  }
  return *s.default_streams[static_cast<std::size_t>(s.device)];
}

void synchronize_device(int device) {
  for (CUstream_st* stream : state().streams) {
    if (stream->device == device) {
      synchronize(*stream);
    }
  }
  for (const auto& stream : state().default_streams) {
    if (stream->device == device) {
      synchronize(*stream);
    }
  }
}

// Puts an operation on a stream that is not captured.
void enqueue(CUstream_st& stream, std::size_t id, const Work& work, double ready_s, int device) {
  State& s = state();
  stream.clock.set(id, ++s.counts[id]);
  check(work, id, s.counts[id], stream.clock, work.from == -2 ? device : -1);
  if (s.machine.executes) {
    stream.last = {std::make_shared<Operation>(Operation{work.run, stream.last})};
  }
  stream.time_s = end_of(work, ready_s, device);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream, bool as_peer) {
  const int source = device_of(from);
  const int target = device_of(to);
  Work work;
  work.what = "copy";
  work.run = [=] { std::memmove(to, from, bytes); };
  work.reads = {{from, bytes}};
  work.writes = {{to, bytes}};
  work.from = source;
  work.to = target;
  work.bytes = bytes;
  work.between_devices = as_peer;
  return static_cast<cudaError_t>(cuda_on_cpu::submit(stream, std::move(work)));
}

cudaError_t allocate(void** memory, std::size_t bytes, int device) {
  call();
  State& s = state();
  if (s.capture_origin != nullptr) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (device < 0 && bytes > s.machine.most_pinned_bytes) {
    return cudaErrorMemoryAllocation;
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t kAlignment = 16;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t pages = (rounded + page - 1) / page * page;
  void* begin =
      mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) {
    return cudaErrorMemoryAllocation;
  }
  char* const end = static_cast<char*>(begin) + pages;
  mprotect(end, page, PROT_NONE);
  *memory = end - rounded;
  if (s.machine.executes) {
    std::memset(*memory, 0xa5, rounded);
  }
  s.allocations[reinterpret_cast<std::uintptr_t>(*memory)] = {bytes, device, begin, pages + page};
  return cudaSuccess;
}

cudaError_t release(void* memory) {
  call();
  if (memory == nullptr) {
    return cudaSuccess;
  }
  State& s = state();
  for (int device = 0; device < s.machine.devices; ++device) {
    synchronize_device(device);
  }
  const auto found = s.allocations.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == s.allocations.end()) {
    return cudaErrorInvalidValue;
  }
  s.memory.forget(memory, found->second.bytes);
  munmap(found->second.pages, found->second.page_bytes);
  s.allocations.erase(found);
  return cudaSuccess;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) {
    state().last_error = error;
  }
  return error;
}

} // namespace

namespace cuda_on_cpu {

void set_machine(const Machine& played) {
  State& s = state();
  s.default_streams.clear();
  State fresh;
  fresh.machine = played;
  fresh.allocations = std::move(s.allocations); // of objects that live on
  fresh.streams = std::move(s.streams);
  fresh.counts = std::move(s.counts);
  fresh.free_ids = std::move(s.free_ids);
  s = std::move(fresh);
}
const Machine& machine() { return state().machine; }
void set_execution(bool executes) { state().machine.executes = executes; }
const std::vector<std::string>& violations() { return state().violations; }
void forget_violations() { state().violations.clear(); }
Calls calls() { return state().calls; }
void drop_wait(std::int64_t index) {
  state().dropped_wait = index < 0 ? -1 : state().calls.waits + index;
}
void set_last_error(int error) {
  if (error != 0) {
    state().last_error = error;
  }
}

int submit(CUstream_st* given, Work work) {
  call();
  State& s = state();
  CUstream_st& stream = given != nullptr ? *given : default_stream();
  if (s.machine.works-- <= 0) {
    return cudaErrorIllegalAddress;
  }
  if (work.from == -2 && stream.device != s.device) {
    return cudaErrorInvalidResourceHandle; // a kernel on a stream of another device
  }
  if (stream.capturing) {
    const bool between = work.from >= 0 && work.to >= 0 && work.from != work.to;
    if ((work.between_devices && s.machine.refuses_peer_copies) ||
        (between && s.machine.refuses_captures)) {
      return cudaErrorStreamCaptureUnsupported;
    }
    s.capture->nodes.push_back({std::move(work), s.device, stream.tail});
    stream.tail = {s.capture->nodes.size() - 1};
    return cudaSuccess;
  }
  stream.clock.join(s.host);
  enqueue(stream, stream.id, work, std::max(stream.time_s, s.host_s), s.device);
  return cudaSuccess;
}

} // namespace cuda_on_cpu

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "no error";
  case cudaErrorNoDevice:
    return "no CUDA-capable device is detected";
  case cudaErrorIllegalAddress:
    return "an illegal memory access was encountered";
  case cudaErrorInvalidResourceHandle:
    return "invalid resource handle";
  case cudaErrorStreamCaptureUnsupported:
    return "operation not permitted when stream is capturing";
  case cudaErrorStreamCaptureUnjoined:
    return "capturing stream has unjoined work";
  case cudaErrorStreamCaptureIsolation:
    return "dependency created on uncaptured work in another stream";
  default:
    return "error of the played machine";
  }
}
cudaError_t cudaGetLastError() {
  return static_cast<cudaError_t>(std::exchange(state().last_error, 0));
}
cudaError_t cudaGetDeviceCount(int* devices) {
  *devices = state().machine.devices;
  return *devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDevice(int* device) {
  *device = state().device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  call();
  if (device < 0 || device >= state().machine.devices) {
    return remember(cudaErrorInvalidValue);
  }
  state().device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  call();
  ++state().calls.attributes;
  *value = attribute == cudaDevAttrMultiProcessorCount ? state().machine.multiprocessors
           : attribute == cudaDevAttrL2CacheSize       ? state().machine.l2_bytes
                                                       : 2048;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const Machine& machine = state().machine;
  *properties = {"played GPU",
                 {{static_cast<char>(machine.first_device + device)}},
                 machine.multiprocessors,
                 machine.l2_bytes,
                 machine.major,
                 machine.minor,
                 static_cast<std::size_t>(machine.free_bytes)};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", device);
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = static_cast<std::size_t>(state().machine.free_bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to) {
  const auto& access = state().machine.peer_access;
  *can = access.empty() || access[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int to, unsigned) {
  const auto mine = [](const auto& pair) { return pair.first == state().device; };
  if (std::ranges::count_if(state().peers, mine) >= state().machine.most_peers) {
    return remember(cudaErrorTooManyPeers);
  }
  const bool fresh = state().peers.insert({state().device, to}).second;
  return fresh ? cudaSuccess : remember(cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceSynchronize() {
  call();
  synchronize_device(state().device);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  auto made = std::make_unique<CUstream_st>();
  made->id = new_id();
  made->device = state().device;
  *stream = made.release();
  state().streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  synchronize(*stream);
  state().streams.erase(stream);
  state().free_ids.push_back(stream->id);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  call();
  if (stream != nullptr && stream->capturing) {
    return remember(cudaErrorStreamCaptureUnsupported);
  }
  synchronize(stream != nullptr ? *stream : default_stream());
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  call();
  State& s = state();
  if (s.calls.waits++ == s.dropped_wait) {
    return cudaSuccess;
  }
  if (event->captured) {
    if (s.capture == nullptr) {
      return remember(cudaErrorStreamCaptureIsolation);
    }
    if (!stream->capturing) {
      stream->capturing = true;
      stream->tail.clear();
    }
    for (const std::size_t node : event->tail) {
      if (std::ranges::find(stream->tail, node) == stream->tail.end()) {
        stream->tail.push_back(node);
      }
    }
    return cudaSuccess;
  }
  if (stream->capturing) {
    return remember(cudaErrorStreamCaptureIsolation);
  }
  stream->clock.join(event->clock);
  for (const auto& each : event->last) { // once each: waits around an idle stream would double them
    if (std::ranges::find(stream->last, each) == stream->last.end()) {
      stream->last.push_back(each);
    }
  }
  stream->time_s = std::max(stream->time_s, event->time_s);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = std::make_unique<CUevent_st>().release();
  (*event)->device = state().device;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  call();
  State& s = state();
  ++s.calls.records;
  if (event->device != stream->device) {
    return remember(cudaErrorInvalidResourceHandle);
  }
  event->captured = stream->capturing;
  if (stream->capturing) {
    event->tail = stream->tail;
    return cudaSuccess;
  }
  stream->clock.join(s.host);
  event->clock = stream->clock;
  event->last = stream->last;
  event->time_s = std::max(stream->time_s, s.host_s);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  call();
  finish(event->last);
  state().host.join(event->clock);
  state().host_s = std::max(state().host_s, event->time_s);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  call();
  return event->time_s > state().host_s ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = static_cast<float>(1e3 * (end->time_s - begin->time_s));
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return remember(allocate(memory, bytes, state().device));
}
cudaError_t cudaFree(void* memory) { return remember(release(memory)); }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return remember(allocate(memory, bytes, -1));
}
cudaError_t cudaFreeHost(void* memory) { return remember(release(memory)); }

// Of the default stream of the device. A copy from ordinary memory returns as soon as it has been
// read, and the host does not know when it has arrived.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice && device_of(from) < 0) {
    std::vector<char> kept;
    if (state().machine.executes) {
      kept.assign(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    }
    Work work;
    work.what = "copy from the host";
    work.run = [to, kept] { std::memcpy(to, kept.data(), kept.size()); };
    work.writes = {{to, bytes}};
    work.from = -1;
    work.to = device_of(to);
    work.bytes = bytes;
    return remember(static_cast<cudaError_t>(cuda_on_cpu::submit(nullptr, std::move(work))));
  }
  CUstream_st& stream = default_stream();
  stream.clock.join(state().host);
  const cudaError_t error = copy(to, from, bytes, nullptr, false);
  synchronize(stream);
  return remember(error);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return remember(copy(to, from, bytes, stream, false));
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  return remember(copy(to, from, bytes, stream, true));
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  Work work;
  work.what = "memset";
  work.run = [=] { std::memset(memory, value, bytes); };
  work.writes = {{memory, bytes}};
  work.seconds = state().machine.kernel_s;
  return remember(static_cast<cudaError_t>(cuda_on_cpu::submit(stream, std::move(work))));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  call();
  State& s = state();
  if (s.capture_origin != nullptr) {
    return remember(cudaErrorStreamCaptureUnsupported);
  }
  s.capture_origin = stream;
  s.capture = std::make_unique<CUgraph_st>();
  stream->capturing = true;
  stream->tail.clear();
  return cudaSuccess;
}
// Work that the origin does not wait for is unjoined.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  call();
  State& s = state();
  *graph = nullptr;
  if (s.capture_origin != stream) {
    return remember(cudaErrorInvalidValue);
  }
  std::vector<bool> joined(s.capture->nodes.size(), false);
  std::vector<std::size_t> stack = stream->tail;
  while (!stack.empty()) {
    const std::size_t node = stack.back();
    stack.pop_back();
    if (!joined[node]) {
      joined[node] = true;
      const auto& after = s.capture->nodes[node].after;
      stack.insert(stack.end(), after.begin(), after.end());
    }
  }
  for (CUstream_st* each : s.streams) {
    each->capturing = false;
  }
  s.capture_origin = nullptr;
  if (!std::ranges::all_of(joined, [](bool each) { return each; })) {
    s.capture.reset();
    return remember(cudaErrorStreamCaptureUnjoined);
  }
  *graph = s.capture.release();
  return cudaSuccess;
}
// Chains of nodes share a clock: a node takes over that of a node before which nobody else has.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, int) {
  auto made = std::make_unique<CUgraphExec_st>();
  made->nodes = graph->nodes;
  std::set<std::size_t> continued;
  for (const Node& node : made->nodes) {
    std::size_t id = 0;
    for (const std::size_t before : node.after) {
      if (continued.insert(before).second) {
        id = made->streams[before];
        break;
      }
    }
    made->streams.push_back(id != 0 ? id : new_id());
  }
  *executable = made.release();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::set<std::size_t> ids(executable->streams.begin(), executable->streams.end());
  state().free_ids.insert(state().free_ids.end(), ids.begin(), ids.end());
  delete executable;
  return cudaSuccess;
}
// All nodes come after what is on the stream, and the stream goes on after all of them.
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  call();
  stream->clock.join(state().host);
  const double begin = std::max(stream->time_s, state().host_s);
  std::vector<CUstream_st> nodes(executable->nodes.size());
  CUstream_st all = *stream;
  all.last.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = executable->nodes[i];
    CUstream_st& own = nodes[i];
    own.clock = stream->clock;
    own.last = stream->last;
    double ready = begin;
    for (const std::size_t before : node.after) {
      own.clock.join(nodes[before].clock);
      own.last.insert(own.last.end(), nodes[before].last.begin(), nodes[before].last.end());
      ready = std::max(ready, nodes[before].time_s);
    }
    enqueue(own, executable->streams[i], node.work, ready, node.device);
    all.clock.join(own.clock);
    all.last.insert(all.last.end(), own.last.begin(), own.last.end());
    all.time_s = std::max(all.time_s, own.time_s);
  }
  if (!nodes.empty()) {
    *stream = all;
  }
  return cudaSuccess;
}
