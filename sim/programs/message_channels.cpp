#include "programs/message_channels.hpp"

#include <cassert>

namespace stepsim::programs {

void PriorityChannel::arrive(Instance instance, const Operation& operation) {
  waiting_.emplace(instance.iteration, operation.priority, instance.operation);
}

Instance PriorityChannel::next() const {
  const auto& [iteration, priority, operation] = waiting_.top();
  return {.operation = operation, .iteration = iteration};
}

Instance PriorityChannel::take(std::int64_t bytes) {
  const Instance instance = next();
  waiting_.pop();
  credit_ -= bytes;
  return instance;
}

Instance PriorityChannel::dispatch(double now, std::int64_t bytes, double startup_s,
                                   double data_s) {
  assert(can_dispatch());
  const Instance instance = take(bytes);
  data_end_ = std::max(now + startup_s, data_end_) + data_s;
  sent_.push_back({.instance = instance, .bytes = bytes, .end = data_end_});
  return instance;
}

void PriorityChannel::advance(double now, std::vector<Instance>& ended) {
  for (; !sent_.empty() && sent_.front().end <= now; sent_.pop_front()) {
    ended.push_back(sent_.front().instance);
    give_back(sent_.front().bytes);
  }
}

void AtOnceChannel::move_to(double now) {
  if (moving_ > 0 && now > now_) {
    clock_ += (now - now_) / unit_s();
  }
  now_ = now;
}

double AtOnceChannel::least_until() const {
  double least = kNever;
  for (const UnderWay& message : under_way_) {
    least = message.moving ? std::min(least, message.until) : least;
  }
  return least;
}

void AtOnceChannel::start(Instance instance, double now, double startup_s, double data_s) {
  assert(has_slot());
  move_to(now);
  under_way_.push_back(
      {.instance = instance, .moving = false, .until = now + startup_s, .data_s = data_s});
}

double AtOnceChannel::next_time() const {
  double next = kNever;
  if (moving_ > 0) {
    next = std::max(now_, now_ + (least_until() - clock_) * unit_s());
  }
  for (const UnderWay& message : under_way_) {
    next = message.moving ? next : std::min(next, message.until);
  }
  return next;
}

void AtOnceChannel::advance(double now, std::vector<Instance>& ended) {
  const double least = least_until();
  const bool ends = moving_ > 0 && now_ + (least - clock_) * unit_s() <= now;
  move_to(now);
  if (ends) {
    clock_ = least; // free of rounding
  }
  for (UnderWay& message : under_way_) {
    if (message.moving && message.until <= clock_) {
      ended.push_back(message.instance);
    }
  }
  std::erase_if(under_way_,
                [&](const UnderWay& message) { return message.moving && message.until <= clock_; });
  for (UnderWay& message : under_way_) {
    if (!message.moving && message.until <= now) {
      message.moving = true;
      message.until = clock_ + buckets::clock_span(shares_, message.data_s);
    }
  }
  moving_ = 0; // counted anew, so that no rounding is left over
  moving_s_ = 0;
  for (const UnderWay& message : under_way_) {
    moving_ += message.moving ? 1 : 0;
    moving_s_ += message.moving ? message.data_s : 0;
  }
}

} // namespace stepsim::programs
