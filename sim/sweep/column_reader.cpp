// The header of the sweep tells which columns there can be and where an unfinished file has its
// state. Of a finished one the directory tells where its columns are. The heads of all arrays have
// to be those that the writer makes.
#include "sweep/column_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "sweep/sweep_base.hpp"
#include "json/crc32.hpp"
#include "json/file_write.hpp"
#include "json/json_parse.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kPointsAtOnce = 4096;
constexpr std::size_t kMostHeader = std::size_t{1} << 28;
constexpr std::size_t kMostWords = std::size_t{1} << 30; // bytes
constexpr std::string_view kBegin = "PK\x03\x04";

// The number between two texts, as in "|S12'"; nothing for anything else.
std::optional<std::size_t> number_after(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  std::size_t number{};
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const char* begin = text.data() + at + before.size();
  const auto read = std::from_chars(begin, text.data() + text.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  const auto tail = [&byte](std::uint32_t value) { byte(0x80U | (value & 0x3FU)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0U | point >> 6);
    tail(point);
  } else if (point < 0x10000) {
    byte(0xE0U | point >> 12);
    tail(point >> 6);
    tail(point);
  } else {
    byte(0xF0U | (point >> 18 & 7U));
    tail(point >> 12);
    tail(point >> 6);
    tail(point);
  }
}

template <class Number>
void copy_numbers(std::vector<Number>& numbers, const std::string& bytes, std::size_t size) {
  std::memcpy(numbers.data(), bytes.data(), size * sizeof(Number));
}

} // namespace

bool is_binary_sweep(std::string_view head) { return head.starts_with(kBegin); }

bool is_binary_sweep_file(const std::string& path) {
  return io::is_regular(path) && is_binary_sweep(io::RandomAccessFile(path).read(0, kBegin.size()));
}

ColumnReader::ColumnReader(const std::string& path) : file_(path) {
  read_header();
  texts_.resize(columns_->columns().size());
  is_complete_ = file_.size() <= layout_->state_offset(0);
  if (is_complete_) {
    read_directory();
    open_columns();
  } else if (!is_usable(0) && !is_usable(1)) {
    refuse("what it holds of points cannot be read");
  }
  rewind();
}

void ColumnReader::refuse(const std::string& message) const {
  throw InputError(file_.path(), "", "is damaged, or no binary sweep of stepsim: " + message);
}

// The first array of the file, whose length stands in its own head.
void ColumnReader::read_header() {
  constexpr std::size_t kHead = 512;
  const std::string head = file_.read(0, kHead);
  const auto size = number_after(head, "'|S");
  if (!is_binary_sweep(head) || !size || *size > kMostHeader) {
    refuse("it does not begin with the header of a sweep");
  }
  const std::string npy = io::npy_header("|S" + std::to_string(*size), "()");
  const std::size_t before = io::npz_local_header({"header", 0, 0, 0}).size() + npy.size();
  header_ = file_.read(before, *size);
  try {
    header_tree_ = io::parse_json(header_, file_.path());
    sweep_ = std::make_unique<const Sweep>(sweep_of_header(header_tree_));
    columns_ = std::make_unique<const RecordColumns>(*sweep_);
    const auto number = [this](std::string_view key, std::int64_t least, std::int64_t most) {
      const io::Json* value = header_tree_.find(key);
      if (value == nullptr || !value->is_integer() || value->as_integer() < least ||
          value->as_integer() > most) {
        refuse("its header has no " + std::string(key));
      }
      return value->as_integer();
    };
    shard_.count = number("shards", 1, kMostShards);
    shard_.index = number("shard", 0, shard_.count - 1);
    const std::int64_t points = sweep_->grid.points();
    (void)number("points_total", points, points);
    layout_ = std::make_unique<const ColumnLayout>(*columns_, header_, shard_.points(points));
  } catch (const UsageError& error) {
    refuse(error.what());
  }
  if (file_.read(0, layout_->head().size()) != layout_->head()) {
    refuse("the array of its header");
  }
}

bool ColumnReader::read_state(std::size_t which) {
  const auto state =
      layout_->state_of(file_.read(layout_->state_offset(which), layout_->state_bytes()));
  if (!state) {
    return false;
  }
  state_ = *state;
  offsets_.clear();
  std::uint64_t end = layout_->end_of(layout_->header_entry());
  for (const std::size_t column : state_.order) {
    offsets_.push_back(end);
    end = layout_->end_of(layout_->column_entry(column, end));
  }
  read_journal();
  open_columns();
  return true;
}

// One text per line.
void ColumnReader::read_journal() {
  const std::string journal = file_.read(layout_->journal_offset(), state_.journal);
  std::string_view rest = journal;
  for (std::vector<std::string>& texts : texts_) {
    texts.clear();
  }
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const io::Json line = io::parse_json(rest.substr(0, end), file_.path());
    const bool known = line.is_array() && line.as_array().size() == 2 &&
                       line.as_array()[0].is_integer() && line.as_array()[1].is_string();
    const std::int64_t column = known ? line.as_array()[0].as_integer() : -1;
    if (column < 0 || column >= static_cast<std::int64_t>(texts_.size())) {
      refuse("a text of its journal");
    }
    texts_[static_cast<std::size_t>(column)].push_back(line.as_array()[1].as_string());
    rest.remove_prefix(end + 1);
  }
}

void ColumnReader::read_directory() {
  const auto entries = io::npz_entries(file_);
  state_.points = layout_->points();
  for (std::size_t c = 0; c < columns_->columns().size(); ++c) {
    const RecordColumn& column = columns_->columns()[c];
    if (const auto found = entries.find(column.key); found != entries.end()) {
      const io::NpzEntry& entry = found->second;
      if (entry.bytes != layout_->column_entry(c, entry.offset).bytes) {
        refuse("the column " + column.key);
      }
      state_.order.push_back(c);
      state_.crcs.push_back(entry.crc);
      offsets_.push_back(entry.offset);
    }
    if (const auto found = entries.find(words_name(column)); found != entries.end()) {
      texts_[c] = read_words(found->second);
    }
  }
}

std::vector<std::string> ColumnReader::read_words(const io::NpzEntry& entry) const {
  const std::uint64_t begin = layout_->values_offset(entry, "");
  const std::string array =
      file_.read(begin, static_cast<std::size_t>(std::min<std::uint64_t>(entry.bytes, kMostWords)));
  const auto width = number_after(array, "'<U");
  const auto count = number_after(array, "'shape': (");
  if (io::crc32_of(array) != entry.crc || !width || !count || *width > kMostWords ||
      *count > kMostWords) {
    refuse("the array " + entry.name);
  }
  const std::size_t head =
      io::npy_header("<U" + std::to_string(*width), "(" + std::to_string(*count) + ",)").size();
  if (array.size() < head || (array.size() - head) / 4 != *width * *count) {
    refuse("the array " + entry.name);
  }
  std::vector<std::string> words;
  for (std::size_t i = 1; i < *count; ++i) { // the first one is empty
    std::string& word = words.emplace_back();
    for (std::size_t k = 0; k < *width; ++k) {
      std::uint32_t point{};
      std::memcpy(&point, array.data() + head + 4 * (i * *width + k), sizeof point);
      if (point == 0) {
        break;
      }
      append_utf8(word, point);
    }
  }
  return words;
}

void ColumnReader::open_columns() {
  open_.clear();
  for (std::size_t i = 0; i < state_.order.size(); ++i) {
    Column& column = open_.emplace_back();
    column.index = state_.order[i];
    column.expected = state_.crcs[i];
    const io::NpzEntry entry = layout_->column_entry(column.index, offsets_[i]);
    const std::string head = layout_->column_head(column.index);
    column.values = layout_->values_offset(entry, head);
    if (column.values < head.size() ||
        file_.read(column.values - head.size(), head.size()) != head) {
      refuse("the column " + columns_->columns()[column.index].key);
    }
  }
  if (state_.points > 0 && (open_.empty() || open_.front().index != 0)) {
    refuse("it has no column point");
  }
}

void ColumnReader::rewind() {
  read_ = 0;
  at_ = 0;
  block_.size = 0;
  for (Column& column : open_) {
    column.crc = io::crc32_of(layout_->column_head(column.index));
  }
  // Columns that are not there hold nulls.
  columns_->resize(block_, kPointsAtOnce);
  for (std::size_t c = 0; c < columns_->columns().size(); ++c) {
    ColumnCells& cells = block_.columns[c];
    std::ranges::fill(cells.numbers, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(cells.flags, std::int8_t{-1});
    std::ranges::fill(cells.codes, std::uint16_t{0});
    cells.texts = texts_[c];
  }
  block_.size = 0;
}

void ColumnReader::read_cells(Column& column, std::size_t size) {
  const RecordColumn& of = columns_->columns()[column.index];
  const std::size_t bytes = stored_type(of.type).bytes;
  const std::string values =
      file_.read(column.values + static_cast<std::uint64_t>(read_) * bytes, size * bytes);
  if (values.size() != size * bytes) {
    refuse("the column " + of.key + " ends too early");
  }
  column.crc = io::crc32_of(values, column.crc);
  ColumnCells& cells = block_.columns[column.index];
  switch (of.type) {
  case ColumnType::number:
    copy_numbers(cells.numbers, values, size);
    return;
  case ColumnType::integer:
    copy_numbers(cells.integers, values, size);
    return;
  case ColumnType::flag:
    copy_numbers(cells.flags, values, size);
    return;
  case ColumnType::word:
    copy_numbers(cells.codes, values, size);
    if (std::ranges::any_of(std::span(cells.codes).first(size),
                            [&](std::uint16_t code) { return code > cells.texts.size(); })) {
      refuse("a text of the column " + of.key);
    }
    return;
  }
}

void ColumnReader::read_block() {
  const auto size = static_cast<std::size_t>(
      std::min<std::int64_t>(static_cast<std::int64_t>(kPointsAtOnce), state_.points - read_));
  for (Column& column : open_) {
    read_cells(column, size);
  }
  read_ += static_cast<std::int64_t>(size);
  block_.size = size;
  at_ = 0;
}

// Reads all of the state's points, and compares.
bool ColumnReader::is_usable(std::size_t which) {
  try {
    if (!read_state(which)) {
      return false;
    }
    rewind();
    while (read_ < state_.points) {
      read_block();
    }
  } catch (const InputError&) {
    return false;
  }
  return std::ranges::all_of(open_,
                             [](const Column& column) { return column.crc == column.expected; });
}

bool ColumnReader::next(PointOutcome& outcome, std::int64_t& point) {
  if (at_ == block_.size) {
    if (read_ == state_.points) {
      return false;
    }
    read_block();
    for (const Column& column : open_) {
      if (read_ == state_.points && column.crc != column.expected) {
        refuse("the column " + columns_->columns()[column.index].key + " has changed");
      }
    }
  }
  columns_->get(block_, at_, outcome);
  point = columns_->point(block_, at_);
  const std::int64_t index = read_ - static_cast<std::int64_t>(block_.size - at_);
  if (point != shard_.point(index)) {
    refuse("record " + std::to_string(index + 1) + " is not that of point " +
           std::to_string(shard_.point(index)));
  }
  ++at_;
  return true;
}

} // namespace stepsim::study
