#pragma once
// A constant value of which many objects have equal copies: all of them share one, which lives as
// long as any of them. An object takes the memory of a pointer. Different objects may be used by
// different threads at the same time.
#include <concepts>
#include <map>
#include <mutex>
#include <utility>

namespace stepsim::base {

template <class T> class SharedValue {
public:
  SharedValue() : SharedValue(T{}) {}
  SharedValue(const T& value) : entry_(find(value)) {}
  SharedValue(const SharedValue& other) : entry_(other.entry_) { count(1); }
  SharedValue(SharedValue&& other) noexcept
      : entry_(std::exchange(other.entry_, pool().entries.end())) {}
  SharedValue& operator=(SharedValue other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~SharedValue() { count(-1); }

  [[nodiscard]] const T& get() const { return entry_->first; }
  operator const T&() const { return get(); }
  [[nodiscard]] friend bool operator==(const SharedValue& a, const SharedValue& b) {
    return a.entry_ == b.entry_;
  }
  template <class Other>
  requires(!std::same_as<Other, SharedValue>) [[nodiscard]] friend bool
  operator==(const SharedValue& a, const Other& b) {
    return a.get() == b;
  }

private:
  using Entries = std::map<T, long>; // how many objects have the value
  struct Pool {
    std::mutex mutex;
    Entries entries;
  };
  static Pool& pool() {
    static Pool all; // made by the first value, so that it outlives static ones
    return all;
  }
  static typename Entries::iterator find(const T& value) {
    const std::lock_guard lock(pool().mutex);
    const auto entry = pool().entries.try_emplace(value, 0).first;
    ++entry->second;
    return entry;
  }
  void count(long more) {
    if (entry_ == pool().entries.end()) { // moved from
      return;
    }
    const std::lock_guard lock(pool().mutex);
    entry_->second += more;
    if (entry_->second == 0) {
      pool().entries.erase(entry_);
    }
  }

  typename Entries::iterator entry_;
};

// Values that are made once for a key and kept in a map.

// Returns the value of the key, and makes it with `make()` if the map has none. If that throws, the
// map stays as it was: the next call makes the value again.
template <class Map, class Make>
[[nodiscard]] typename Map::mapped_type& remembered(Map& map, const typename Map::key_type& key,
                                                    Make&& make) {
  const auto found = map.find(key);
  return found != map.end() ? found->second
                            : map.emplace(key, std::forward<Make>(make)()).first->second;
}

} // namespace stepsim::base
