#pragma once
// Values that are made once for a key and kept in a map.
#include <utility>

namespace stepsim::base {

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
