#include "sweep/column_layout.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "json/crc32.hpp"
#include "json/json_parse.hpp"
#include "json/json_text.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kPage = 4096;

std::string shape_of(std::int64_t count) { return "(" + std::to_string(count) + ",)"; }

// Numbers of a list, all at least 0; empty where there is no such list.
std::optional<std::vector<std::uint64_t>> numbers_at(const io::Json& tree, std::string_view key) {
  const io::Json* list = tree.find(key);
  if (list == nullptr || !list->is_array()) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> numbers;
  for (const io::Json& value : list->as_array()) {
    if (!value.is_integer() || value.as_integer() < 0) {
      return std::nullopt;
    }
    numbers.push_back(static_cast<std::uint64_t>(value.as_integer()));
  }
  return numbers;
}

} // namespace

StoredType stored_type(ColumnType type) {
  switch (type) {
  case ColumnType::number: // not a number
    return {"<f8", 8, std::string_view("\0\0\0\0\0\0\xF8\x7F", 8)};
  case ColumnType::integer:
    return {"<i8", 8, std::string_view("\0\0\0\0\0\0\0\0", 8)};
  case ColumnType::flag:
    return {"|i1", 1, "\xFF"};
  case ColumnType::word:
    break;
  }
  return {"<u2", 2, std::string_view("\0\0", 2)};
}

std::string words_name(const RecordColumn& column) { return column.key + ".words"; }

ColumnLayout::ColumnLayout(const RecordColumns& columns, std::string_view header,
                           std::int64_t points)
    : columns_(columns), header_(header), points_(points) {
  behind_columns_ = end_of(header_entry());
  for (std::size_t c = 0; c < columns.columns().size(); ++c) {
    behind_columns_ = end_of(column_entry(c, behind_columns_));
  }
}

// The header as a text of bytes: json.loads(file["header"].item()).
std::string ColumnLayout::head() const {
  return io::npz_local_header(header_entry()) +
         io::npy_header("|S" + std::to_string(header_.size()), "()") + header_;
}

io::NpzEntry ColumnLayout::header_entry() const {
  const std::string array = io::npy_header("|S" + std::to_string(header_.size()), "()") + header_;
  return {"header", 0, array.size(), io::crc32_of(array)};
}

std::string ColumnLayout::column_head(std::size_t column) const {
  return io::npy_header(stored_type(columns_.columns()[column].type).npy, shape_of(points_));
}

io::NpzEntry ColumnLayout::column_entry(std::size_t column, std::uint64_t offset) const {
  const RecordColumn& of = columns_.columns()[column];
  return {of.key, offset,
          column_head(column).size() +
              static_cast<std::uint64_t>(points_) * stored_type(of.type).bytes,
          0};
}

std::uint64_t ColumnLayout::values_offset(const io::NpzEntry& entry,
                                          std::string_view npy_head) const {
  return entry.offset + io::npz_local_header(entry).size() + npy_head.size();
}

std::uint64_t ColumnLayout::end_of(const io::NpzEntry& entry) const {
  return entry.offset + io::npz_local_header(entry).size() + entry.bytes;
}

// A state has two numbers per column, of ten digits at most.
std::size_t ColumnLayout::state_bytes() const {
  return (32 * columns_.columns().size() + 256 + kPage - 1) / kPage * kPage;
}

std::uint64_t ColumnLayout::state_offset(std::size_t which) const {
  // Texts and directory are written below while the state still stands; they have this much room.
  constexpr std::uint64_t kRoom = std::uint64_t{1} << 32;
  return (behind_columns_ + kRoom + kPage - 1) / kPage * kPage + which * state_bytes();
}

std::string ColumnLayout::state_text(const ColumnState& state) const {
  io::Array order;
  io::Array crcs;
  for (std::size_t i = 0; i < state.order.size(); ++i) {
    order.emplace_back(static_cast<std::int64_t>(state.order[i]));
    crcs.emplace_back(static_cast<std::int64_t>(state.crcs[i]));
  }
  std::string text = io::compact(io::Object{{"columns", std::move(order)},
                                            {"crcs", std::move(crcs)},
                                            {"journal", state.journal},
                                            {"points", state.points}});
  text.resize(state_bytes(), ' ');
  return text;
}

std::optional<ColumnState> ColumnLayout::state_of(std::string_view text) const {
  io::Json tree;
  try {
    tree = io::parse_json(text, "");
  } catch (const InputError&) {
    return std::nullopt;
  }
  const auto order = numbers_at(tree, "columns");
  const auto crcs = numbers_at(tree, "crcs");
  const io::Json* points = tree.find("points");
  const io::Json* journal = tree.find("journal");
  if (!order || !crcs || order->size() != crcs->size() || points == nullptr ||
      !points->is_integer() || journal == nullptr || !journal->is_integer() ||
      journal->as_integer() < 0 || points->as_integer() < 0 || points->as_integer() > points_) {
    return std::nullopt;
  }
  ColumnState state;
  state.points = points->as_integer();
  state.journal = static_cast<std::uint64_t>(journal->as_integer());
  for (std::size_t i = 0; i < order->size(); ++i) {
    const std::size_t column = (*order)[i];
    if (column >= columns_.columns().size() || std::ranges::count(state.order, column) > 0) {
      return std::nullopt;
    }
    state.order.push_back(column);
    state.crcs.push_back(static_cast<std::uint32_t>((*crcs)[i]));
  }
  return state;
}

} // namespace stepsim::study
