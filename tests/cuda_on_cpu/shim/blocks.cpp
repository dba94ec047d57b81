// Fibers are made once with makecontext and then switched with _setjmp and _longjmp, which need no
// call of the system. A fiber never ends: it goes round and waits for the next block.
#include "shim/blocks.hpp"

#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace cuda_on_cpu {

dim3 block_index, block_size, grid_size;

namespace {

constexpr unsigned kLanes = 32;
constexpr std::size_t kStackBytes = std::size_t{1} << 16;

enum class Waiting { no, block, warp, done };

struct Fiber {
  ucontext_t context{};
  std::jmp_buf resume{};
  std::unique_ptr<char[]> stack;
  bool started = false;
  Waiting waiting = Waiting::no;
  Place place;
  Site site;
  // Of an operation of the warp.
  WarpOperation operation = WarpOperation::barrier;
  unsigned mask = 0, from = 0;
  std::uint64_t value = 0;
};

std::vector<std::unique_ptr<Fiber>> fibers;
Fiber* current = nullptr;
std::jmp_buf scheduler;
const std::function<void()>* kernel = nullptr;
std::string failure;
const char* kernel_name = "";

std::uint64_t order_seed = 0;
std::uint64_t random_state = 0;
Counts total;
std::uint32_t block_number = 0;

std::set<std::string>& executed() {
  static std::set<std::string> names;
  return names;
}

std::uint64_t next_random() { // splitmix64
  random_state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random_state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

void arrange(std::vector<unsigned>& order) {
  std::iota(order.begin(), order.end(), 0U);
  if (order_seed == 1) {
    std::ranges::reverse(order);
  } else if (order_seed > 1) {
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[next_random() % left]);
    }
  }
}

std::string text_of(const Site& site) {
  const std::string file = site.file_name();
  return " (" + file.substr(file.rfind('/') + 1) + ":" + std::to_string(site.line()) + ")";
}

void to_scheduler() {
  if (_setjmp(current->resume) == 0) {
    _longjmp(scheduler, 1);
  }
}

void run_fiber() {
  for (;;) {
    (*kernel)();
    current->waiting = Waiting::done;
    to_scheduler();
  }
}

void start(Fiber& fiber) {
  fiber.started = true;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, run_fiber, 0);
  setcontext(&fiber.context);
}

void resume(Fiber& fiber) {
  current = &fiber;
  if (_setjmp(scheduler) == 0) {
    if (fiber.started) {
      _longjmp(fiber.resume, 1);
    }
    start(fiber);
  }
}

// Ends the launch: fibers that stand within the kernel are started anew by the next one.
[[noreturn]] void give_up() {
  for (const auto& fiber : fibers) {
    fiber->started = fiber->started && fiber->waiting == Waiting::done;
  }
  throw KernelError(kernel_name + (": " + std::exchange(failure, "")));
}

void require(bool holds, const std::string& message, const Site& site) {
  if (!holds) {
    failure = message + text_of(site);
    give_up();
  }
}

class Block {
public:
  explicit Block(unsigned threads)
      : threads_(threads), warps_((threads + kLanes - 1) / kLanes), warp_barriers_(warps_, 1),
        warp_order_(warps_), lane_order_(kLanes) {}

  void run() {
    for (unsigned i = 0; i < threads_; ++i) {
      Fiber& fiber = *fibers[i];
      fiber.waiting = Waiting::no;
      fiber.place = {i, i / kLanes, i % kLanes, 1, 1, block_number};
    }
    while (!all_done()) {
      arrange(warp_order_);
      bool moved = false;
      for (const unsigned warp : warp_order_) {
        while (advance(warp)) {
          moved = true;
        }
      }
      moved = release_barrier() || moved;
      if (!moved) {
        report_stuck();
      }
    }
  }

private:
  [[nodiscard]] bool all_done() const {
    return std::all_of(fibers.begin(), fibers.begin() + threads_,
                       [](const auto& fiber) { return fiber->waiting == Waiting::done; });
  }

  // Runs every lane that can go on, then completes operations of the warp.
  bool advance(unsigned warp) {
    bool moved = false;
    arrange(lane_order_);
    for (const unsigned lane : lane_order_) {
      const unsigned thread = warp * kLanes + lane;
      if (thread < threads_ && fibers[thread]->waiting == Waiting::no) {
        resume(*fibers[thread]);
        if (!failure.empty()) {
          give_up();
        }
        moved = true;
      }
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned thread = warp * kLanes + lane;
      if (thread < threads_ && fibers[thread]->waiting == Waiting::warp) {
        moved = complete(warp, *fibers[thread]) || moved;
      }
    }
    return moved;
  }

  // Whether all lanes of the mask of `first` wait at the same operation; if so, they go on.
  bool complete(unsigned warp, const Fiber& first) {
    const unsigned mask = first.mask;
    std::array<Fiber*, kLanes> lanes{};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1U) == 0) {
        continue;
      }
      const unsigned thread = warp * kLanes + lane;
      Fiber* fiber = thread < threads_ ? fibers[thread].get() : nullptr;
      const bool there = fiber != nullptr && fiber->waiting == Waiting::warp &&
                         fiber->mask == mask && fiber->operation == first.operation &&
                         fiber->site.line() == first.site.line();
      if (!there) {
        return false;
      }
      lanes[lane] = fiber;
    }
    std::array<std::uint64_t, kLanes> offered{};
    std::uint64_t votes = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      offered[lane] = lanes[lane] != nullptr ? lanes[lane]->value : 0xdeaddeaddeaddeadULL;
      votes |= std::uint64_t{lanes[lane] != nullptr && offered[lane] != 0} << lane;
    }
    if (first.operation == WarpOperation::barrier) {
      ++warp_barriers_[warp];
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      Fiber* fiber = lanes[lane];
      if (fiber == nullptr) {
        continue;
      }
      fiber->waiting = Waiting::no;
      fiber->place.warp_barriers = warp_barriers_[warp];
      if (fiber->operation == WarpOperation::ballot) {
        fiber->value = votes;
      } else if (fiber->operation == WarpOperation::shuffle) {
        fiber->value = offered[fiber->from < kLanes ? fiber->from : lane];
      } else if (fiber->operation == WarpOperation::match) {
        std::uint64_t same = 0;
        for (unsigned other = 0; other < kLanes; ++other) {
          same |= std::uint64_t{lanes[other] != nullptr && offered[other] == offered[lane]}
                  << other;
        }
        fiber->value = same; // `offered` keeps the values of the others
      }
    }
    return true;
  }

  bool release_barrier() {
    unsigned waiting = 0;
    unsigned running = 0;
    const Fiber* first = nullptr;
    for (unsigned i = 0; i < threads_; ++i) {
      const Fiber& fiber = *fibers[i];
      running += fiber.waiting != Waiting::done ? 1 : 0;
      if (fiber.waiting == Waiting::block) {
        ++waiting;
        first = first == nullptr ? &fiber : first;
      }
    }
    if (waiting == 0 || waiting != running) {
      return false;
    }
    require(waiting == threads_,
            "__syncthreads reached by " + std::to_string(waiting) + " of " +
                std::to_string(threads_) + " threads",
            first->site);
    for (unsigned i = 0; i < threads_; ++i) {
      require(fibers[i]->site.line() == first->site.line() &&
                  fibers[i]->site.file_name() == std::string_view(first->site.file_name()),
              "threads wait at different __syncthreads", first->site);
      fibers[i]->waiting = Waiting::no;
      ++fibers[i]->place.barriers;
    }
    return true;
  }

  void report_stuck() {
    for (unsigned i = 0; i < threads_; ++i) {
      const Fiber& fiber = *fibers[i];
      require(fiber.waiting != Waiting::warp,
              "warp operation of thread " + std::to_string(i) +
                  " that not all lanes of its mask reach",
              fiber.site);
    }
    for (unsigned i = 0; i < threads_; ++i) {
      require(fibers[i]->waiting != Waiting::block, "__syncthreads that not all threads reach",
              fibers[i]->site);
    }
  }

  unsigned threads_, warps_;
  std::vector<std::uint32_t> warp_barriers_;
  std::vector<unsigned> warp_order_, lane_order_;
};

} // namespace

void set_order(std::uint64_t seed) {
  order_seed = seed;
  random_state = seed;
}

Counts counts() { return total; }
bool entered(const char* name) { return executed().insert(name).second; }
bool was_executed(const std::string& name) { return executed().contains(name); }

void run_grid(const char* name, dim3 grid, unsigned threads, const std::function<void()>& body) {
  kernel_name = name;
  while (fibers.size() < threads) {
    fibers.push_back(std::make_unique<Fiber>());
    fibers.back()->stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    fibers.back()->waiting = Waiting::done;
  }
  kernel = &body;
  grid_size = grid;
  block_size = dim3(threads);
  ++total.launches;
  std::vector<unsigned> order(std::size_t{grid.x} * grid.y);
  arrange(order);
  for (const unsigned index : order) {
    block_index = dim3(index % grid.x, index / grid.x);
    ++total.blocks;
    ++block_number;
    Block(threads).run();
  }
}

const Place& here() { return current->place; }
dim3 thread_index() { return {current->place.thread}; }

void fail(const std::string& message) {
  failure = message;
  _longjmp(scheduler, 1);
}

void block_barrier(const Site& site) {
  current->waiting = Waiting::block;
  current->site = site;
  to_scheduler();
}

std::uint64_t warp_operation(WarpOperation operation, unsigned mask, std::uint64_t value,
                             unsigned from, const Site& site) {
  if ((mask >> current->place.lane & 1U) == 0) {
    fail("the mask of a warp operation lacks the calling lane" + text_of(site));
  }
  current->waiting = Waiting::warp;
  current->site = site;
  current->operation = operation;
  current->mask = mask;
  current->value = value;
  current->from = from;
  to_scheduler();
  return current->value;
}

// Ordered: by the same thread, before the last barrier, or before the last barrier of the warp by a
// lane of the same warp.
bool History::is_ordered(const Access& before) {
  const Place& me = here();
  if (before.barriers != me.barriers) { // 0: no access
    return true;
  }
  if (!before.several_threads && before.thread == me.thread) {
    return true;
  }
  return !before.several_warps && before.warp == me.warp &&
         before.warp_barriers != me.warp_barriers;
}

void History::begin_block() {
  if (block_ != here().block) {
    *this = History();
    block_ = here().block;
  }
}

void History::add(Access& access) {
  const Place& me = here();
  // What a barrier of this warp has put in order before need not be kept.
  const bool same = access.barriers == me.barriers && !is_ordered(access);
  access = {me.thread,
            me.warp,
            me.barriers,
            me.warp_barriers,
            same && (access.several_threads || access.thread != me.thread),
            same && (access.several_warps || access.warp != me.warp)};
}

void History::read() {
  begin_block();
  if (!written_) {
    fail("shared memory is read before it is written");
  }
  if (!is_ordered(writer_)) {
    fail("shared memory is read while another thread writes it");
  }
  add(reader_);
}

void History::write(bool atomic) {
  begin_block();
  if (!is_ordered(reader_)) {
    fail("shared memory is written while another thread reads it");
  }
  if (!(atomic && atomic_) && !is_ordered(writer_)) {
    fail("two threads write one word of shared memory");
  }
  add(writer_);
  written_ = true;
  atomic_ = atomic;
}

} // namespace cuda_on_cpu
