#pragma once
// A list of which copies share one memory until one of them is changed. A copy costs as much as
// that of a pointer. Threads may use copies of their own at the same time.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace stepsim::base {

template <class Value> class SharedList {
public:
  using value_type = Value;
  using const_iterator = typename std::vector<Value>::const_iterator;

  SharedList() = default;
  SharedList(std::vector<Value> values)
      : values_(std::make_shared<std::vector<Value>>(std::move(values))) {}

  [[nodiscard]] const std::vector<Value>& get() const {
    static const std::vector<Value> none;
    return values_ ? *values_ : none;
  }
  operator const std::vector<Value>&() const { return get(); }
  [[nodiscard]] std::size_t size() const { return get().size(); }
  [[nodiscard]] bool empty() const { return get().empty(); }
  [[nodiscard]] const_iterator begin() const { return get().begin(); }
  [[nodiscard]] const_iterator end() const { return get().end(); }
  [[nodiscard]] const Value& operator[](std::size_t place) const { return get()[place]; }
  [[nodiscard]] const Value& front() const { return get().front(); }
  [[nodiscard]] const Value& back() const { return get().back(); }

  // The values to change, of this copy alone.
  [[nodiscard]] std::vector<Value>& edit() {
    if (!values_ || values_.use_count() > 1) {
      values_ = std::make_shared<std::vector<Value>>(get());
    }
    return *values_;
  }

private:
  std::shared_ptr<std::vector<Value>> values_;
};

} // namespace stepsim::base
