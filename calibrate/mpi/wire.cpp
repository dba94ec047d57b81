// Two ways to run a program: step by step, waiting for each message, as most schedules mean it; and
// as a pipeline for blocks, where waiting for each would add a round trip per block.
#include "calibrate/mpi/wire.hpp"

#include <cassert>

#include "calibrate/mpi/runtime.hpp"

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

// An acknowledgement is an empty message: the sender of a tree round goes on only when it is there.
void run_steps(const Program& program, Wire& wire, const Place& out, const Place& in,
               const std::function<void(const Message&)>& arrived) {
  for (const Step& step : program.steps) {
    if (step.receive) {
      wire.post_receive(in(*step.receive), step.receive->count * kElement, step.receive->src,
                        kData);
    }
    if (step.send) {
      note(wire, Event::Kind::sent, step.number, step.send->dst);
      wire.post_send(out(*step.send), step.send->count * kElement, step.send->dst, kData);
    }
    wire.wait();
    if (step.receive) {
      note(wire, Event::Kind::received, step.number, step.receive->src);
      if (step.receive->acknowledged) {
        wire.post_send(nullptr, 0, step.receive->src, kAcknowledgement);
      }
      arrived(*step.receive);
    }
    if (step.send && step.send->acknowledged) {
      wire.post_receive(nullptr, 0, step.send->dst, kAcknowledgement);
    }
    wire.wait();
  }
}

void add(float* __restrict into, const float* __restrict from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    into[i] += from[i];
  }
}

Wire::Wire(MPI_Comm group, std::int64_t segment_bytes)
    : group_(group), rank_(rank_in(group)), ranks_(ranks_in(group)), segment_bytes_(segment_bytes) {
  assert(segment_bytes >= kElement);
}

void Wire::post_send(const void* data, std::int64_t bytes, std::uint32_t to, int tag) {
  bytes_sent += bytes;
  post(MPI_Isend, static_cast<const std::byte*>(data), bytes, to, tag);
}

void Wire::post_receive(void* data, std::int64_t bytes, std::uint32_t from, int tag) {
  post(MPI_Irecv, static_cast<std::byte*>(data), bytes, from, tag);
}

// At least one segment, also for no bytes.
template <class Byte>
void Wire::post(const auto& start, Byte* at, std::int64_t bytes, std::uint32_t peer, int tag) {
  do {
    const std::int64_t part = std::min(bytes, segment_bytes_);
    start(at, static_cast<int>(part), MPI_BYTE, static_cast<int>(peer), tag, group_,
          &requests_.emplace_back());
    at += part;
    bytes -= part;
  } while (bytes > 0);
}

void Wire::wait() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

// The rest of the vector stays as it is: guards of tests lie behind it.
void Buffers::fill(std::uint32_t rank, std::int64_t elements) {
  std::ranges::copy(initial_vector(rank, elements), x.begin());
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
    // What will be added arrives in `temp`, since x may still be on its way out.
    run_steps(
        program, wire, [&](const Message& message) { return buffers.x.data() + message.offset; },
        [&](const Message& message) {
          return (message.reduce ? buffers.temp : buffers.x).data() + message.offset;
        },
        [&](const Message& message) {
          if (message.reduce) {
            add(buffers.x.data() + message.offset, buffers.temp.data() + message.offset,
                message.count);
          }
        });
  }
  return std::span(buffers.x).first(count);
}

} // namespace stepsim::calibrate::mpi
