// The flags have the names of the keys of `compression`, with dashes instead of underscores. Which
// method reads which key is said by the table of coll/compress, so that a new method needs no line
// here.
#include "cli/collective/compression_flags.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "cli/shell/flag_values.hpp"

namespace stepsim::cli {

namespace {

using base::QuantityKind;
using coll::Compression;
using coll::CompressionMethod;

constexpr double kMostEntries = 9007199254740992.0; // 2^53
constexpr double kMostEntryBytes = 64;

// The key of `compression` that a flag sets; "" for other flags.
std::string_view key_of(std::string_view flag) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kKeys{
      {{"--density", "density"},
       {"--k", "k"},
       {"--index-bytes", "index_bytes"},
       {"--value-bytes", "value_bytes"},
       {"--allgather", "allgather"},
       {"--broadcast", "broadcast"}}};
  const auto* const found =
      std::ranges::find(kKeys, flag, [](const auto& each) { return each.first; });
  return found == kKeys.end() ? "" : found->second;
}

// The names of methods for an error message: "topk,gtopk_tree".
std::string listed(std::span<const CompressionMethod> methods) {
  std::string text;
  for (const CompressionMethod method : methods) {
    text.append(text.empty() ? "" : ",").append(coll::row(method).name);
  }
  return text;
}

} // namespace

void add_compression_flags(CLI::App& app, CompressionFlags& flags) {
  constexpr const char* kGroup = "Compressed exchange (--op allreduce; --bytes are the dense ones)";
  const auto add = [&](const char* name, std::string& value, const char* type,
                       const char* description) {
    app.add_option(name, value, description)->type_name(type)->group(kGroup);
  };
  add("--density", flags.density, "D", "share of the values that each rank sends, (0, 1]");
  add("--k", flags.k, "K", "or how many");
  add("--index-bytes", flags.index_bytes, "N", "of an entry; default 4");
  add("--value-bytes", flags.value_bytes, "N", "of a value; default 4");
  add("--allgather", flags.allgather, "WORD",
      "of topk: auto (recursive_doubling, or bruck where ranks are no power of two), "
      "recursive_doubling, bruck or ring; default auto");
  add("--broadcast", flags.broadcast, "WORD", "of gtopk_tree: mst or flat; default mst");
}

// k is checked against the number of values once a point is known: it varies with --bytes.
void add_compression_axes(CollectiveGrid& grid, const CompressionFlags& flags) {
  const auto count = [](std::string_view flag, const std::string& text) {
    return numbers(flag, text, QuantityKind::count, io::between(1, kMostEntryBytes));
  };
  if (!flags.density.empty()) {
    grid.axes.push_back(
        {"--density", numbers("--density", flags.density, QuantityKind::ratio, io::above_to(0, 1)),
         nullptr, [](Compression& c, double v) { c.density = v; }});
  }
  if (!flags.k.empty()) { // against the number of values later
    grid.axes.push_back(
        {"--k", numbers("--k", flags.k, QuantityKind::count, io::between(0, kMostEntries)), nullptr,
         [](Compression& c, double v) { c.k = static_cast<std::int64_t>(v); }});
  }
  if (!flags.index_bytes.empty()) {
    grid.axes.push_back(
        {"--index-bytes", count("--index-bytes", flags.index_bytes), nullptr,
         [](Compression& c, double v) { c.index_bytes = static_cast<std::int64_t>(v); }});
  }
  if (!flags.value_bytes.empty()) {
    grid.axes.push_back(
        {"--value-bytes", count("--value-bytes", flags.value_bytes), nullptr,
         [](Compression& c, double v) { c.value_bytes = static_cast<std::int64_t>(v); }});
  }
  if (!flags.allgather.empty()) {
    grid.axes.push_back(
        {"--allgather",
         words("--allgather", "all-gather", flags.allgather, coll::kSparseAllgathers), nullptr,
         [](Compression& c, double v) {
           c.allgather = coll::SparseAllgather(static_cast<int>(v));
         }});
  }
  if (!flags.broadcast.empty()) {
    grid.axes.push_back(
        {"--broadcast", words("--broadcast", "broadcast", flags.broadcast, coll::kSparseBroadcasts),
         nullptr, [](Compression& c, double v) {
           c.broadcast = coll::SparseBroadcast(static_cast<int>(v));
         }});
  }
}

// A key counts if any of the methods reads it, so that a grid may hold dense and sparse algorithms.
// A number that a method cannot guess, such as the rank of powersgd, is required.
void check_compression_keys(std::span<const CompressionMethod> methods, const CollectiveGrid& grid,
                            std::span<const std::string_view> given) {
  const auto means = [&](std::string_view key) {
    return std::ranges::any_of(
        methods, [&](CompressionMethod method) { return coll::has_key(coll::row(method), key); });
  };
  const std::string none = methods.empty() ? "a dense exchange" : listed(methods);
  for (const CollectiveGrid::Axis& axis : grid.axes) {
    if (const std::string_view key = key_of(axis.flag); !key.empty() && !means(key)) {
      throw UsageError(std::string(axis.flag) + ": has no meaning for " + none);
    }
  }
  for (const std::string_view key : given) {
    if (!means(key)) {
      throw UsageError("--param " + std::string(key) + ": has no meaning for " + none);
    }
  }
  const auto has_axis = [&](std::string_view flag) {
    return std::ranges::find(grid.axes, flag, &CollectiveGrid::Axis::flag) != grid.axes.end();
  };
  if (means("density") && has_axis("--density") == has_axis("--k")) {
    throw UsageError("--density: give exactly one of --density and --k");
  }
  for (const CompressionMethod method : methods) {
    for (const std::string_view key : {"rank", "block"}) {
      if (coll::has_key(coll::row(method), key) && std::ranges::find(given, key) == given.end()) {
        throw UsageError("--param " + std::string(key) + "=N: required by " +
                         std::string(coll::row(method).name));
      }
    }
    if (method == CompressionMethod::custom && std::ranges::find(given, "ratio") == given.end()) {
      throw UsageError("--param ratio=R: required by custom");
    }
  }
}

} // namespace stepsim::cli
