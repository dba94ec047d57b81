#include "calibrate/mpi/sparse.hpp"

#include <array>
#include <cassert>

#include "base/counter_hash.hpp"
#include "base/statistics.hpp"
#include "collectives/operators/global_top_k.hpp"

namespace stepsim::calibrate::mpi {

namespace {

constexpr int kUp = 4; // tags
constexpr int kDown = 5;
constexpr int kListAcknowledgement = 6;
constexpr std::uint32_t kFiller = ~std::uint32_t{0};
constexpr std::uint32_t kDensity = 16; // elements per entry

std::vector<Entry> packed(const collectives::SparseVector& list, std::size_t k) {
  std::vector<Entry> entries(k, Entry{kFiller, 0});
  for (std::size_t i = 0; i < list.size(); ++i) {
    entries[i] = {list.indices[i], static_cast<float>(list.values[i])};
  }
  return entries;
}

collectives::SparseVector unpacked(const std::vector<Entry>& entries) {
  collectives::SparseVector list;
  for (const Entry& entry : entries) {
    if (entry.index != kFiller) {
      list.indices.push_back(entry.index);
      list.values.push_back(entry.value);
    }
  }
  return list;
}

} // namespace

collectives::SparseVector sparse_selection(std::uint32_t rank, std::uint32_t k) {
  collectives::SparseVector list;
  for (std::uint32_t i = 0; i < k; ++i) {
    const std::uint64_t draw = base::hash(i, rank);
    list.indices.push_back(i * kDensity + static_cast<std::uint32_t>(draw % kDensity));
    list.values.push_back(static_cast<double>((draw >> 8) % 1000 + 1) * (draw % 3 == 0 ? -1 : 1));
  }
  return list;
}

collectives::SparseVector expected_sparse(std::uint32_t ranks, std::uint32_t k) {
  std::vector<collectives::SparseVector> selected;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    selected.push_back(sparse_selection(rank, k));
  }
  return gtopk(collectives::SparseMethod::gtopk_tree, selected, k).result;
}

void run_sparse(const Program& program, Wire& wire, collectives::SparseVector& list) {
  assert(program.kind.sparse);
  const auto k = static_cast<std::size_t>(program.bytes / kEntry);
  std::vector<Entry> out;
  std::vector<Entry> in(k);
  for (const Step& step : program.steps) { // one message: a tree
    if (step.send) {
      out = packed(list, k);
      wire.post_send(out.data(), program.bytes, step.send->dst, step.send->reduce ? kUp : kDown);
    } else {
      wire.post_receive(in.data(), program.bytes, step.receive->src,
                        step.receive->reduce ? kUp : kDown);
    }
    wire.wait();
    if (step.receive && step.receive->acknowledged) {
      wire.post_send(nullptr, 0, step.receive->src, kListAcknowledgement);
    }
    if (step.receive) {
      list = step.receive->reduce ? merge_top_k(list, unpacked(in), static_cast<std::uint32_t>(k))
                                  : unpacked(in);
    }
    if (step.send && step.send->acknowledged) {
      wire.post_receive(nullptr, 0, step.send->dst, kListAcknowledgement);
    }
    wire.wait();
  }
}

double merge_seconds(std::uint32_t k) {
  const collectives::SparseVector mine = sparse_selection(0, k);
  const std::vector<Entry> theirs = packed(sparse_selection(1, k), k);
  std::array<double, 9> seconds{};
  for (double& each : seconds) {
    const auto start = std::chrono::steady_clock::now();
    const collectives::SparseVector merged = merge_top_k(mine, unpacked(theirs), k);
    const std::vector<Entry> out = packed(merged, k);
    each = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    assert(out.size() == k);
  }
  return base::median(seconds);
}

} // namespace stepsim::calibrate::mpi
