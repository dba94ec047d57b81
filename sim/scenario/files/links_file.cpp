// Rates become seconds per byte here, because costs add up and rates do not.
// A bandwidth above zero always has a finite inverse; a reduction rate of 0 means that adding is
// free.
#include "scenario/files/network_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "document/fields/members.hpp"
#include "scenario/files/keys/links_keys.hpp"

namespace stepsim::io {

namespace {

constexpr auto kPairKeys = members<&WrittenPair::src, &WrittenPair::dst, &WrittenPair::latency_s,
                                   &WrittenPair::delay_s, &WrittenPair::bandwidth_Bps>;

using Ranks = std::optional<std::uint32_t>;

// A file may describe more ranks than a collective has: the further ones take no part in it.
bool takes_part(std::uint32_t rank, Ranks ranks) { return !ranks || rank < *ranks; }

void check_length(const Json& parent, std::string_view key, std::size_t length, Ranks ranks,
                  Problems& problems) {
  if (ranks && length < *ranks) {
    problems.add(parent, key, fmt::format("{} entries, but there are {} ranks", length, *ranks));
  }
}

// Sorted by (src, dst), which lookups need; a pair that appears twice is an error, not the last one
// wins.
std::vector<collectives::PairCost> parse_pairs(Fields& fields, Ranks ranks, Problems& problems) {
  auto pairs = fields.each("links", [&](Fields& link) {
    collectives::PairCost pair;
    const auto read = read_members(kPairKeys, link);
    pair.src = static_cast<std::uint32_t>(read.src);
    pair.dst = static_cast<std::uint32_t>(read.dst);
    pair.cost = {read.latency_s, read.latency_s, 1 / read.bandwidth_Bps, read.delay_s};
    link.no_more();
    // A key that could not be read counts as 0, so that after any problem two ranks may look equal
    // that are not.
    if (problems.empty() && pair.src == pair.dst) {
      link.refuse("dst", "must differ from src, got " + std::to_string(pair.dst));
    }
    return pair;
  });
  std::erase_if(pairs, [&](const auto& pair) {
    return !takes_part(pair.src, ranks) || !takes_part(pair.dst, ranks);
  });
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
  });
  const auto twice =
      std::adjacent_find(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        return a.src == b.src && a.dst == b.dst;
      });
  if (twice != pairs.end() && problems.empty()) {
    fields.refuse("links", fmt::format("the pair {} -> {} appears twice", twice->src, twice->dst));
  }
  return pairs;
}

// A value that cannot be read becomes 0 and keeps its place, so that the length that is checked is
// the length of the list as written.
std::vector<double> parse_numbers(Fields& fields, std::string_view key, Ranks ranks,
                                  Problems& problems) {
  std::vector<double> values = fields.numbers(key);
  if (fields.has(key)) {
    check_length(fields.json(), key, values.size(), ranks, problems);
  }
  if (ranks && values.size() > *ranks) {
    values.resize(*ranks);
  }
  return values;
}

// The order of the ranks in a pipeline; each at most once.
std::vector<std::uint32_t> parse_chain(Fields& fields, Ranks ranks, Problems& problems) {
  std::vector<std::uint32_t> chain;
  for (const Json& value : fields.list("chain")) {
    const auto rank = checked_integer(value, keys::kRankRange, problems);
    if (rank && !takes_part(static_cast<std::uint32_t>(*rank), ranks)) {
      continue;
    }
    if (rank && std::find(chain.begin(), chain.end(), *rank) != chain.end()) {
      problems.add(value, std::to_string(*rank) + " appears twice");
    }
    chain.push_back(static_cast<std::uint32_t>(rank.value_or(0)));
  }
  if (fields.has("chain")) {
    check_length(fields.json(), "chain", chain.size(), ranks, problems);
  }
  return chain;
}

} // namespace

LinksFile parse_links(const Json& tree, std::optional<std::uint32_t> ranks) {
  FileFields fields(tree, keys::kLinks);
  Problems& problems = fields.problems();
  LinksFile file;
  file.pairs = parse_pairs(fields, ranks, problems);
  file.reduction_s_per_byte = parse_numbers(fields, "reduction_Bps", ranks, problems);
  for (double& rate : file.reduction_s_per_byte) {
    rate = rate > 0 ? 1 / rate : 0;
  }
  file.enter_s = parse_numbers(fields, "enter_s", ranks, problems);
  file.chain = parse_chain(fields, ranks, problems);
  fields.finish();
  return file;
}

namespace {

// A bare list with one value per rank, which `read` takes from its element.
template <class Read>
std::vector<double> parse_list(const Json& tree, std::string_view noun, Ranks ranks, Read read) {
  Problems problems;
  std::vector<double> values;
  if (!tree.is_array()) {
    problems.add(tree, fmt::format("must be a list of {} per rank, got {}", noun, shown(tree)));
  } else {
    for (const Json& value : tree.as_array()) {
      values.push_back(read(value, problems));
    }
    if (ranks && values.size() != *ranks) {
      problems.add(tree, fmt::format("{} entries, but there are {} ranks", values.size(), *ranks));
    }
  }
  problems.throw_if_any();
  return values;
}

} // namespace

// Sizes are whole and at most 2^53, where sums of them in doubles are still exact.
std::vector<double> parse_sizes(const Json& tree, std::optional<std::uint32_t> ranks) {
  const Range range = between(0, static_cast<double>(base::kMaxExactBytes));
  return parse_list(tree, "bytes", ranks, [&](const Json& value, Problems& problems) {
    return static_cast<double>(checked_integer(value, range, problems).value_or(0));
  });
}

std::vector<double> parse_entry(const Json& tree, std::optional<std::uint32_t> ranks) {
  const Range range = keys::kRankEntry.front().range;
  return parse_list(tree, "seconds", ranks, [&](const Json& value, Problems& problems) {
    return checked_number(value, range, problems).value_or(0);
  });
}

} // namespace stepsim::io
