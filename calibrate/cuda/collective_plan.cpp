// The dependencies of a plan follow from who writes and reads which elements. Vectors are cut at
// all bounds of messages, so that every message touches whole pieces, and each piece remembers its
// last writer and the readers since.
#include "calibrate/cuda/collective_plan.hpp"

#include <ranges>

#include "collectives/formula/blocks.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// The collective of the request, as the simulator has it.
collectives::Collective collective_of(const PlanRequest& request) {
  collectives::Collective collective = calibrate::collective_of(
      {request.op, request.algorithm}, request.ranks, request.elements * kElement);
  collective.links.all = request.link;
  collective.reduction_s_per_byte = request.reduction_s_per_byte;
  return collective;
}

// Who wrote each piece of one vector last, and who has read it since. Pieces are the ranges between
// all bounds that messages have, so that every message covers whole pieces.
class Accesses {
public:
  Accesses(std::size_t pieces) : pieces_(pieces) {}

  // A reader waits for the last writer only: readers do not disturb each other.
  void read(std::size_t begin, std::size_t end, std::uint32_t operation,
            std::vector<std::uint32_t>& waits) {
    for (std::size_t i = begin; i < end; ++i) {
      if (pieces_[i].writer != kNone) {
        waits.push_back(pieces_[i].writer);
      }
      pieces_[i].readers.push_back(operation);
    }
  }
  // A writer waits for the last writer and for all who have read since. Their entries are then
  // dropped, because whoever comes later waits for this writer, and with it for them.
  void write(std::size_t begin, std::size_t end, std::uint32_t operation,
             std::vector<std::uint32_t>& waits) {
    for (std::size_t i = begin; i < end; ++i) {
      if (pieces_[i].writer != kNone) {
        waits.push_back(pieces_[i].writer);
      }
      waits.insert(waits.end(), pieces_[i].readers.begin(), pieces_[i].readers.end());
      pieces_[i] = {operation, {}};
    }
  }

private:
  struct Piece {
    std::uint32_t writer = kNone;
    std::vector<std::uint32_t> readers{};
  };
  std::vector<Piece> pieces_;
};

// Appends operations in program order and finds what each waits for. Every rank has two histories
// of accesses, one of x and one of temp, since they are separate memory.
class PlanBuilder {
public:
  explicit PlanBuilder(const PlanRequest& request, const std::vector<ElementMessage>& messages) {
    plan_.ranks = request.ranks;
    plan_.elements = request.elements;
    for (const ElementMessage& message : messages) {
      bounds_.push_back(message.offset);
      bounds_.push_back(message.offset + message.count);
    }
    std::ranges::sort(bounds_);
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    x_.assign(request.ranks, Accesses(bounds_.size()));
    of_stream_.assign(std::size_t{2} * request.ranks,
                      std::vector<std::uint32_t>(std::size_t{2} * request.ranks, 0));
    temp_ = x_;
  }

  void copy(const ElementMessage& message) {
    append(message,
           {.kind = PlanOperation::Kind::copy, .to_temp = message.reduce, .src = message.src},
           x_[message.src], (message.reduce ? temp_ : x_)[message.dst]);
  }
  void add(const ElementMessage& message) {
    append(message, {.kind = PlanOperation::Kind::add, .src = message.dst}, temp_[message.dst],
           x_[message.dst]);
  }

  CollectivePlan finish() { return std::move(plan_); }

private:
  [[nodiscard]] std::uint32_t next() const {
    return static_cast<std::uint32_t>(plan_.operations.size());
  }
  void append(const ElementMessage& message, PlanOperation operation, Accesses& from,
              Accesses& to) {
    operation.dst = message.dst;
    operation.offset = message.offset;
    operation.count = message.count;
    const auto at = [&](std::int64_t bound) {
      return static_cast<std::size_t>(std::ranges::lower_bound(bounds_, bound) - bounds_.begin());
    };
    const std::size_t begin = at(message.offset);
    const std::size_t end = at(message.offset + message.count);
    from.read(begin, end, next(), operation.waits);
    to.write(begin, end, next(), operation.waits);
    push(std::move(operation));
  }
  // Keeps the waits that nothing else implies. Each stream runs its operations in order, and an
  // operation that has ended implies all that it waited for, so that waits are looked at from the
  // latest on: a wait is left out where those kept before, or the operation before this one on its
  // stream, came after it. Example: 5 waits for 4 and 3, and 4 waits for 3; only 4 is kept.
  void push(PlanOperation operation) {
    std::ranges::sort(operation.waits, std::greater<>());
    std::vector<std::uint32_t>& ended = of_stream_[operation.stream()];
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t wait : operation.waits) {
      if (ended[plan_.operations[wait].stream()] <= wait) {
        kept.push_back(wait);
        plan_.operations[wait].awaited = true;
        for (std::size_t stream = 0; stream < ended.size(); ++stream) {
          ended[stream] = std::max(ended[stream], of_operation_[wait][stream]);
        }
      }
    }
    ended[operation.stream()] = next() + 1;
    of_operation_.push_back(ended);
    std::ranges::reverse(kept);
    operation.waits = std::move(kept);
    plan_.operations.push_back(std::move(operation));
  }

  CollectivePlan plan_;
  std::vector<std::int64_t> bounds_;
  std::vector<Accesses> x_, temp_;
  // [stream]: of each stream, one more than the last operation that has ended when the last one of
  // this stream, or the operation, has.
  std::vector<std::vector<std::uint32_t>> of_stream_, of_operation_;
};

} // namespace

std::int64_t best_block(const PlanRequest& request) {
  collectives::Collective collective = collective_of(request);
  const auto blocks = collectives::resolve_blocks(collective);
  return blocks
             ? std::max<std::int64_t>(1, static_cast<std::int64_t>(blocks->block_bytes) / kElement)
             : 0;
}

CollectivePlan make_plan(const PlanRequest& request) {
  collectives::Collective collective = collective_of(request);
  if (request.block_elements > 0) {
    collective.options.block = Bytes{request.block_elements * kElement};
  }
  const std::vector<ElementMessage> messages = element_messages(std::move(collective));
  PlanBuilder builder(request, messages);
  // The sends of a step all start from what was there before it. All copies of a step therefore
  // come before its additions, as in an exchange, where both sides send their old values.
  for (auto begin = messages.begin(); begin != messages.end();) {
    const auto end = std::find_if(begin, messages.end(),
                                  [&](const ElementMessage& m) { return m.step != begin->step; });
    std::for_each(begin, end, [&](const ElementMessage& message) { builder.copy(message); });
    for (auto message = begin; message != end; ++message) {
      if (message->reduce) {
        builder.add(*message);
      }
    }
    begin = end;
  }
  return builder.finish();
}

CollectivePlan traffic_plan(std::int64_t elements, std::uint32_t times,
                            std::span<const Round> rounds) {
  CollectivePlan plan{0, elements, {}};
  const bool chain = rounds.size() > 1;
  for (std::uint32_t i = 0; i < times; ++i) {
    for (const auto& [src, dst] : std::views::join(rounds)) {
      plan.ranks = std::max({plan.ranks, src + 1, dst + 1});
      PlanOperation message{.to_temp = !chain, .src = src, .dst = dst, .count = elements};
      if (chain && !plan.operations.empty()) {
        plan.operations.back().awaited = true;
        message.waits.push_back(static_cast<std::uint32_t>(plan.operations.size()) - 1);
      }
      plan.operations.push_back(std::move(message));
    }
  }
  return plan;
}

} // namespace stepsim::calibrate::gpu
