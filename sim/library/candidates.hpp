#pragma once
// Which pairs of algorithm and protocol the library may run (CLU 6.2): what operation, node type
// and version allow, less what the user forbids, as NCCL's environment variables do.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library/pair_parts.hpp"

namespace stepsim::library {

// 2.23 as {2, 23}.
struct Version {
  int major = 2;
  int minor = 30;
  auto operator<=>(const Version&) const = default;
};

// The release whose constants published_constants.hpp has.
inline constexpr Version kPublishedVersion{2, 30};
// PAT exists from here on.
inline constexpr Version kPatVersion{2, 23};

// "2.29", "2.29.2", or the code of a release as logs have it, "22902". Throws UsageError.
[[nodiscard]] Version parse_version(std::string_view text);

struct Restrictions {
  std::vector<Algorithm> algorithms{}; // empty = all
  std::vector<Protocol> protocols{};   // empty = all
  bool ll128 = true;
  bool collnet = false; // a network that adds in its switches, and a library that is told so
  bool switch_adds_type = true; // false: switches do not add the elements (library_words.hpp)
  Version version = kPublishedVersion;
};

// In the order in which ties are decided: the earlier pair wins.
class Candidates {
public:
  void add(Pair pair) { pairs_[count_++] = pair; }
  [[nodiscard]] std::span<const Pair> all() const { return std::span(pairs_).first(count_); }

private:
  std::array<Pair, 10> pairs_{};
  std::size_t count_ = 0;
};

// May be empty; p2p alone for alltoall, whatever the restrictions.
[[nodiscard]] Candidates candidates(const Layout& layout, Operation operation,
                                    const Restrictions& restrictions);

} // namespace stepsim::library
