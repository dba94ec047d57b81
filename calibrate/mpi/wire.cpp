// Two ways to run a program: step by step, waiting for each message, as most schedules mean it; and
// as a pipeline for blocks, where waiting for each would add a round trip per block.
#include "calibrate/mpi/wire.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::calibrate::mpi {

namespace {

constexpr int kData = 1; // tags
constexpr int kAdded = 2;
constexpr int kAcknowledgement = 3;

// For tests, which compare the order of events on several ranks.
void note(Wire& wire, Event::Kind kind, std::int64_t step, std::uint32_t peer) {
  if (wire.log != nullptr) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    wire.log->push_back(
        {kind, step, peer, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()});
  }
}

// A message to be added arrives in `temp`, since x may still be on its way out. An acknowledgement
// is an empty message: the sender of a tree round goes on only when it is there.
void run_steps(const Program& program, Wire& wire, Buffers& buffers) {
  for (const Step& step : program.steps) {
    if (step.receive) {
      float* into = (step.receive->reduce ? buffers.temp : buffers.x).data();
      wire.post_receive(into + step.receive->offset, step.receive->count * kElement,
                        step.receive->src, kData);
    }
    if (step.send) {
      note(wire, Event::Kind::sent, step.number, step.send->dst);
      wire.post_send(buffers.x.data() + step.send->offset, step.send->count * kElement,
                     step.send->dst, kData);
    }
    wire.wait();
    if (step.receive) {
      const Message& in = *step.receive;
      note(wire, Event::Kind::received, step.number, in.src);
      if (in.acknowledged) {
        wire.post_send(nullptr, 0, in.src, kAcknowledgement);
      }
      if (in.reduce) {
        add(buffers.x.data() + in.offset, buffers.temp.data() + in.offset, in.count);
      }
    }
    if (step.send && step.send->acknowledged) {
      wire.post_receive(nullptr, 0, step.send->dst, kAcknowledgement);
    }
    wire.wait();
  }
}

// Blocks in flight: a block is passed on as soon as it is here, in whatever order they come.
// Receives are posted up front; sums and results have different tags.
// Which send follows which receive is found once, from the order of the program; then the order of
// arrival decides.
class Pipeline {
public:
  Pipeline(const Program& program, Wire& wire, Buffers& buffers)
      : wire_(wire), buffers_(buffers), result_(&buffers.x) {
    if (program.kind.op == collectives::Op::allreduce) {
      result_ = &buffers.result; // x is still being sent when results come in
    }
    // What a block brought last before a send is what the send passes on.
    const std::int64_t block = wire.segment_bytes() / kElement;
    const auto blocks = static_cast<std::size_t>(program.bytes / kElement / block + 1);
    std::vector<std::size_t> last(blocks, kNone);
    for (const Step& step : program.steps) {
      if (step.send) {
        trigger(*step.send, last[static_cast<std::size_t>(step.send->offset / block)]);
      }
      if (step.receive) {
        last[static_cast<std::size_t>(step.receive->offset / block)] = receives_.size();
        receives_.push_back({*step.receive, {}});
      }
    }
  }

  void run() {
    std::vector<MPI_Request> requests(receives_.size());
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      const Message& in = receives_[i].message;
      MPI_Irecv(target(in) + in.offset, static_cast<int>(in.count * kElement), MPI_BYTE,
                static_cast<int>(in.src), tag(in), wire_.group(), &requests[i]);
    }
    for (const Send& send : first_) {
      post(send);
    }
    std::vector<int> done(requests.size());
    for (std::size_t left = requests.size(); left > 0;) {
      int count = 0;
      MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &count, done.data(),
                   MPI_STATUSES_IGNORE);
      for (int i = 0; i < count; ++i) {
        arrived(receives_[static_cast<std::size_t>(done[static_cast<std::size_t>(i)])]);
      }
      left -= static_cast<std::size_t>(count);
    }
    wire_.wait();
  }

private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Send {
    Message message;
    bool from_result = false;
  };
  struct Receive {
    Message message;
    std::vector<Send> then;
  };

  static int tag(const Message& message) { return message.reduce ? kAdded : kData; }
  float* target(const Message& in) { return in.reduce ? buffers_.temp.data() : result_->data(); }
  void trigger(const Message& out, std::size_t received) {
    if (received == kNone) {
      first_.push_back({out, false});
    } else {
      Receive& receive = receives_[received];
      receive.then.push_back({out, !receive.message.reduce});
    }
  }
  void post(const Send& send) {
    const float* from = send.from_result ? result_->data() : buffers_.x.data();
    wire_.post_send(from + send.message.offset, send.message.count * kElement, send.message.dst,
                    tag(send.message));
  }
  void arrived(const Receive& receive) {
    const Message& in = receive.message;
    if (in.reduce) {
      add(buffers_.x.data() + in.offset, buffers_.temp.data() + in.offset, in.count);
    }
    for (const Send& send : receive.then) {
      post(send);
    }
  }

  Wire& wire_;
  Buffers& buffers_;
  std::vector<float>* result_;
  std::vector<Receive> receives_;
  std::vector<Send> first_;
};

} // namespace

void add(float* __restrict into, const float* __restrict from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    into[i] += from[i];
  }
}

Wire::Wire(MPI_Comm group, std::int64_t segment_bytes)
    : group_(group), segment_bytes_(segment_bytes) {
  assert(segment_bytes >= kElement);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(group, &rank);
  MPI_Comm_size(group, &ranks);
  rank_ = static_cast<std::uint32_t>(rank);
  ranks_ = static_cast<std::uint32_t>(ranks);
}

// At least one segment, also for no bytes.
void Wire::post_send(const void* data, std::int64_t bytes, std::uint32_t to, int tag) {
  const auto* at = static_cast<const std::byte*>(data);
  bytes_sent += bytes;
  do {
    const std::int64_t part = std::min(bytes, segment_bytes_);
    MPI_Isend(at, static_cast<int>(part), MPI_BYTE, static_cast<int>(to), tag, group_,
              &requests_.emplace_back());
    at += part;
    bytes -= part;
  } while (bytes > 0);
}

void Wire::post_receive(void* data, std::int64_t bytes, std::uint32_t from, int tag) {
  auto* at = static_cast<std::byte*>(data);
  do {
    const std::int64_t part = std::min(bytes, segment_bytes_);
    MPI_Irecv(at, static_cast<int>(part), MPI_BYTE, static_cast<int>(from), tag, group_,
              &requests_.emplace_back());
    at += part;
    bytes -= part;
  } while (bytes > 0);
}

void Wire::wait() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

void Wire::barrier() { MPI_Barrier(group_); }

Buffers::Buffers(std::int64_t elements)
    : x(static_cast<std::size_t>(elements)), temp(x.size()), result(x.size()) {}

// The rest of the vector stays as it is: guards of tests lie behind it.
void Buffers::fill(std::uint32_t rank, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    x[static_cast<std::size_t>(i)] = initial_value(rank, i);
  }
}

// Only the all-reduce of a pipeline has its result elsewhere than in x.
std::span<const float> run(const Program& program, Wire& wire, Buffers& buffers) {
  assert(!program.kind.sparse);
  const auto count = static_cast<std::size_t>(program.bytes / kElement);
  assert(count <= buffers.x.size() && "buffers are large enough");
  if (program.kind.algorithm == collectives::AlgorithmId::lp && !program.steps.empty()) {
    Pipeline(program, wire, buffers).run();
    if (program.kind.op == collectives::Op::allreduce) {
      return std::span(buffers.result).first(count);
    }
  } else {
    run_steps(program, wire, buffers);
  }
  return std::span(buffers.x).first(count);
}

} // namespace stepsim::calibrate::mpi
