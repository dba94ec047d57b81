// The computes of an iteration are F of units 0 .. U-1, B of units U-1 .. 0, for every micro-batch;
// `computes_` lists them as they are added, so that position q of the iteration is element q. A
// gather is added before its compute, and most wait for computes that exist already; with prefetch
// `pre` and ahead_backward 0 a gather waits for the next one that is added.
#include "programs/builders/fsdp_program.hpp"

namespace stepsim::programs {
namespace {

class FsdpBuilder {
public:
  FsdpBuilder(const std::vector<UnitTimes>& units, const FsdpOptions& options)
      : units_(units), options_(options), compute_(draft_.stream("compute")),
        gather_(draft_.stream("gather")),
        reduce_(options.communicators == 1 ? gather_ : draft_.stream("reduce")),
        replica_(options.hybrid && !options.same_links ? draft_.stream("replica") : reduce_) {}

  Program build() {
    for (std::size_t j = 0; j < options_.micro_batches; ++j) {
      add_forward(j);
      add_backward(j);
    }
    const std::uint32_t update =
        draft_.compute("U", compute_, Kind::update, options_.update / options_.shards);
    std::ranges::reverse(reduces_); // in forward order
    draft_.wait(update, options_.hybrid ? replicates_ : reduces_, 0);
    for (const std::uint32_t reduce : reduces_) {
      draft_.applies(update, reduce, 0);
    }
    const std::uint32_t ready = options_.encode.value > 0
                                    ? draft_.compute("E", compute_, Kind::encode, options_.encode)
                                    : update;
    for (const std::uint32_t gather : first_gathers_) {
      draft_.wait(gather, ready, 1);
    }
    return draft_.finish(update);
  }

private:
  [[nodiscard]] bool regathered(std::size_t unit) const {
    return options_.reshard_after_forward && units_[unit].parameters &&
           !(options_.keep_last && unit + 1 == units_.size());
  }
  [[nodiscard]] bool synchronised(std::size_t j) const {
    return options_.exchange_each || j + 1 == options_.micro_batches;
  }

  // A gather for the compute at `position`.
  std::uint32_t add_gather(std::string_view kind, std::size_t j, std::size_t unit,
                           std::size_t position, std::optional<std::uint32_t> ahead) {
    const std::uint32_t gather = add_exchange(draft_, operation_name(kind, j, unit), gather_,
                                              Kind::allgather, units_[unit].gather, unit);
    if (ahead && position >= std::size_t{1} + *ahead) {
      const std::size_t before = position - 1 - *ahead;
      if (before < computes_.size()) {
        draft_.wait(gather, computes_[before], 0);
      } else {
        waits_for_next_ = gather;
      }
    }
    return gather;
  }

  std::uint32_t add_compute(std::string_view name, Kind kind, Seconds seconds, std::size_t j,
                            std::size_t unit) {
    const std::uint32_t added =
        draft_.compute(operation_name(name, j, unit), compute_, kind, seconds);
    draft_.last().unit = static_cast<std::int32_t>(unit);
    draft_.last().micro_batch = static_cast<std::int32_t>(j);
    computes_.push_back(added);
    if (waits_for_next_ != kAllRanks) {
      draft_.wait(std::exchange(waits_for_next_, kAllRanks), added, 0);
    }
    return added;
  }

  // Decodes what `gather` brought, on the compute stream; nothing without a gather.
  void add_decode(std::string_view name, std::uint32_t gather, std::size_t j, std::size_t unit) {
    if (gather != kAllRanks && units_[unit].decode.value > 0) {
      const std::uint32_t decode = draft_.compute(operation_name(name, j, unit), compute_,
                                                  Kind::decode, units_[unit].decode);
      draft_.last().unit = static_cast<std::int32_t>(unit);
      draft_.last().micro_batch = static_cast<std::int32_t>(j);
      draft_.wait(decode, gather, 0);
    }
  }

  void add_forward(std::size_t j) {
    for (std::size_t u = 0; u < units_.size(); ++u) {
      std::uint32_t gather = kAllRanks;
      if (units_[u].parameters && (j == 0 || options_.reshard_after_backward || regathered(u))) {
        gather = add_gather("GF", j, u, computes_.size(), options_.ahead_forward);
      }
      add_decode("DF", gather, j, u);
      const std::uint32_t forward = add_compute("F", Kind::forward, units_[u].forward, j, u);
      if (gather != kAllRanks) {
        draft_.wait(forward, gather, 0);
        if (j == 0) {
          first_gathers_.push_back(gather);
        }
      }
    }
  }

  void add_backward(std::size_t j) {
    std::vector<std::uint32_t> gathers(units_.size(), kAllRanks);
    if (synchronised(j)) {
      reduces_.clear();
    }
    const std::optional<std::uint32_t> ahead = options_.prefetch == BackwardPrefetch::pre
                                                   ? options_.ahead_backward
                                                   : std::optional<std::uint32_t>(0);
    const auto gather_once = [&](std::size_t unit, std::size_t position) {
      if (regathered(unit) && gathers[unit] == kAllRanks) {
        gathers[unit] = add_gather("GB", j, unit, position, ahead);
      }
    };
    for (std::size_t u = units_.size(); u-- > 0;) {
      gather_once(u, computes_.size());
      if (options_.prefetch == BackwardPrefetch::pre && u > 0) {
        gather_once(u - 1, computes_.size() + 1);
      }
      add_decode("DB", gathers[u], j, u);
      const std::uint32_t backward = add_compute("B", Kind::backward, units_[u].backward, j, u);
      if (gathers[u] != kAllRanks) {
        draft_.wait(backward, gathers[u], 0);
      }
      if (options_.reduces_in_flight && synchronised(j) &&
          reduces_.size() > *options_.reduces_in_flight) {
        draft_.wait(backward, reduces_.end()[-1 - std::ptrdiff_t{*options_.reduces_in_flight}], 0);
      }
      if (options_.prefetch == BackwardPrefetch::post && u > 0) {
        gather_once(u - 1, computes_.size());
      }
      if (synchronised(j) && units_[u].parameters) {
        add_reduce(j, u, backward);
      }
    }
  }

  void add_reduce(std::size_t j, std::size_t unit, std::uint32_t backward) {
    reduces_.push_back(add_exchange(draft_, operation_name("R", j, unit), reduce_,
                                    Kind::reduce_scatter, units_[unit].reduce, unit));
    draft_.wait(reduces_.back(), backward, 0);
    if (options_.hybrid && j + 1 == options_.micro_batches) {
      replicates_.push_back(add_exchange(draft_, operation_name("X", unit), replica_,
                                         Kind::allreduce, units_[unit].replicate, unit));
      draft_.wait(replicates_.back(), reduces_.back(), 0);
    }
  }

  const std::vector<UnitTimes>& units_;
  const FsdpOptions& options_;
  ProgramDraft draft_;
  std::uint32_t compute_;
  std::uint32_t gather_;
  std::uint32_t reduce_;
  std::uint32_t replica_;
  std::vector<std::uint32_t> computes_;
  std::uint32_t waits_for_next_ = kAllRanks; // gather
  std::vector<std::uint32_t> first_gathers_; // of the first micro-batch
  std::vector<std::uint32_t> reduces_;       // of the last micro-batch that has them
  std::vector<std::uint32_t> replicates_;
};

} // namespace

Program fsdp_program(const std::vector<UnitTimes>& units, const FsdpOptions& options) {
  return FsdpBuilder(units, options).build();
}

} // namespace stepsim::programs
