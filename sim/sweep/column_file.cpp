// Values wait in memory until there are enough of them for each column to be one write. A column
// begins at the end of the file with the first point that has a value in it, and what came before
// is filled with nulls: where columns stand depends on the points alone, not on when they are
// written.
#include "sweep/column_file.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "sweep/sweep_output.hpp"
#include "json/crc32.hpp"
#include "json/json_text.hpp"

namespace stepsim::study {

namespace {

constexpr std::int64_t kMostWaiting = 8192; // points
constexpr std::chrono::milliseconds kFlushInterval{200};

template <class Number>
void append_numbers(std::string& out, const std::vector<Number>& numbers, std::size_t size) {
  out.append(reinterpret_cast<const char*>(numbers.data()), size * sizeof(Number));
}

// The index of the first value that is not null; `size` where there is none.
std::size_t first_value(const ColumnCells& cells, ColumnType type, std::size_t size) {
  const auto first = [size](const auto& values, const auto& is_value) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(size);
    return static_cast<std::size_t>(std::find_if(values.begin(), end, is_value) - values.begin());
  };
  switch (type) {
  case ColumnType::number:
    return first(cells.numbers, [](double value) { return !std::isnan(value); });
  case ColumnType::integer:
    return 0;
  case ColumnType::flag:
    return first(cells.flags, [](std::int8_t value) { return value >= 0; });
  case ColumnType::word:
    break;
  }
  return first(cells.codes, [](std::uint16_t code) { return code > 0; });
}

// UTF-8 to code points; a byte that is no UTF-8 becomes U+FFFD, as in JSON.
std::u32string code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    char32_t point = 0xFFFD;
    if (length > 0) {
      const auto lead = static_cast<unsigned char>(text[0]);
      point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
      for (std::size_t i = 1; i < length; ++i) {
        point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
      }
    }
    points += point;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return points;
}

} // namespace

std::string words_array(std::span<const std::string> texts) {
  std::vector<std::u32string> words{U""};
  std::size_t width = 1;
  for (const std::string& text : texts) {
    words.push_back(code_points(text));
    width = std::max(width, words.back().size());
  }
  std::string array =
      io::npy_header("<U" + std::to_string(width), "(" + std::to_string(words.size()) + ",)");
  for (std::u32string& word : words) {
    word.resize(width, U'\0');
    array.append(reinterpret_cast<const char*>(word.data()), 4 * width);
  }
  return array;
}

ColumnFile::ColumnFile(const ColumnLayout& layout, io::OutputFile& file)
    : layout_(layout), file_(file), end_(layout.end_of(layout.header_entry())),
      columns_(layout.columns().columns().size()) {
  file_.cut(0);
  file_.write_at(0, layout_.head());
  write_state(0);
  write_state(1);
}

ColumnFile::ColumnFile(const ColumnLayout& layout, io::OutputFile& file, const ColumnState& state,
                       std::span<const std::vector<std::string>> texts)
    : layout_(layout), file_(file), state_(state), end_(layout.end_of(layout.header_entry())),
      columns_(layout.columns().columns().size()) {
  for (std::size_t i = 0; i < state.order.size(); ++i) {
    Column& column = columns_[state.order[i]];
    const io::NpzEntry entry = layout.column_entry(state.order[i], end_);
    column.begun = true;
    column.offset = end_;
    column.values = layout.values_offset(entry, layout.column_head(state.order[i]));
    column.crc = state.crcs[i];
    end_ = layout.end_of(entry);
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const std::string& text : texts[c]) {
      columns_[c].texts.push_back(text);
      columns_[c].codes.emplace(text, static_cast<std::uint16_t>(columns_[c].texts.size()));
    }
  }
  file_.cut(layout_.journal_offset() + state.journal);
}

std::uint16_t ColumnFile::code(std::size_t column, const std::string& text) {
  Column& of = columns_[column];
  if (const auto found = of.codes.find(text); found != of.codes.end()) {
    return found->second;
  }
  if (of.texts.size() == std::numeric_limits<std::uint16_t>::max()) {
    throw SimulationError(file_.name() + ": more than 65535 different texts in the column " +
                          layout_.columns().columns()[column].key +
                          ": write .jsonl, which holds any number of them");
  }
  of.texts.push_back(text);
  const auto next = static_cast<std::uint16_t>(of.texts.size());
  of.codes.emplace(text, next);
  io::append_compact(journal_, io::Array{static_cast<std::int64_t>(column), text});
  journal_ += '\n';
  return next;
}

void ColumnFile::add_cells(std::size_t c, const ColumnCells& cells, std::size_t size) {
  const ColumnType type = layout_.columns().columns()[c].type;
  Column& column = columns_[c];
  if (!column.begun && !column.has_value) {
    const std::size_t first = first_value(cells, type, size);
    if (first == size) {
      return; // nulls, which `begin_column` makes up for
    }
    const StoredType stored = stored_type(type);
    column.has_value = true;
    column.first = state_.points + waiting_ + static_cast<std::int64_t>(first);
    for (std::int64_t i = 0; i < waiting_; ++i) {
      column.waiting += stored.null;
    }
  }
  switch (type) {
  case ColumnType::number:
    append_numbers(column.waiting, cells.numbers, size);
    return;
  case ColumnType::integer:
    append_numbers(column.waiting, cells.integers, size);
    return;
  case ColumnType::flag:
    append_numbers(column.waiting, cells.flags, size);
    return;
  case ColumnType::word:
    break;
  }
  // Codes of the block to those of the file, which are in the order of the first points as well.
  std::vector<std::uint16_t> codes{0};
  for (const std::string& text : cells.texts) {
    codes.push_back(code(c, text));
  }
  std::vector<std::uint16_t> stored(size);
  std::ranges::transform(std::span(cells.codes).first(size), stored.begin(),
                         [&codes](std::uint16_t each) { return codes[each]; });
  append_numbers(column.waiting, stored, size);
}

void ColumnFile::add(const ColumnBlock& block) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    add_cells(c, block.columns[c], block.size);
  }
  waiting_ += static_cast<std::int64_t>(block.size);
  if (waiting_ >= kMostWaiting || Clock::now() - flushed_ >= kFlushInterval) {
    flush();
  }
}

// Nulls for all points that are written already.
void ColumnFile::begin_column(std::size_t c) {
  Column& column = columns_[c];
  const StoredType stored = stored_type(layout_.columns().columns()[c].type);
  const std::string head = layout_.column_head(c);
  const io::NpzEntry entry = layout_.column_entry(c, end_);
  column.begun = true;
  column.offset = end_;
  column.values = layout_.values_offset(entry, head);
  column.crc = io::crc32_of(head);
  file_.write_at(end_, io::npz_local_header(entry) + head);
  std::string nulls;
  std::uint64_t offset = column.values;
  for (std::int64_t done = 0; done < state_.points;) {
    const std::int64_t now = std::min(state_.points - done, kMostWaiting);
    nulls.clear();
    for (std::int64_t i = 0; i < now; ++i) {
      nulls += stored.null;
    }
    file_.write_at(offset, nulls);
    column.crc = io::crc32_of(nulls, column.crc);
    offset += nulls.size();
    done += now;
  }
  state_.order.push_back(c);
  state_.crcs.push_back(column.crc);
  end_ = layout_.end_of(entry);
}

void ColumnFile::write_values(std::size_t c) {
  Column& column = columns_[c];
  const std::size_t bytes = stored_type(layout_.columns().columns()[c].type).bytes;
  file_.write_at(column.values + static_cast<std::uint64_t>(state_.points) * bytes, column.waiting);
  column.crc = io::crc32_of(column.waiting, column.crc);
  column.waiting.clear();
  column.has_value = false;
}

// The state follows what it speaks of: a kill in between leaves the state before.
void ColumnFile::flush() {
  flushed_ = Clock::now();
  if (waiting_ == 0) {
    return;
  }
  std::vector<std::size_t> beginning;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].begun && columns_[c].has_value) {
      beginning.push_back(c);
    }
  }
  std::ranges::stable_sort(beginning, {}, [this](std::size_t c) { return columns_[c].first; });
  for (const std::size_t c : beginning) {
    begin_column(c);
  }
  for (std::size_t i = 0; i < state_.order.size(); ++i) {
    write_values(state_.order[i]);
    state_.crcs[i] = columns_[state_.order[i]].crc;
  }
  file_.write_at(layout_.journal_offset() + state_.journal, journal_);
  state_.journal += journal_.size();
  journal_.clear();
  state_.points += waiting_;
  waiting_ = 0;
  write_state(0);
  if (flushed_ - synced_ >= kSyncInterval) {
    synced_ = flushed_;
    file_.sync();
    write_state(1);
  }
}

void ColumnFile::write_state(std::size_t which) {
  file_.write_at(layout_.state_offset(which), layout_.state_text(state_));
}

io::NpzEntry ColumnFile::write_array(std::string_view name, const std::string& array) {
  const io::NpzEntry entry{std::string(name), end_, array.size(), io::crc32_of(array)};
  file_.write_at(end_, io::npz_local_header(entry) + array);
  end_ = layout_.end_of(entry);
  return entry;
}

void ColumnFile::finish() {
  flush();
  assert(state_.points == layout_.points() && "all points are there");
  std::vector<io::NpzEntry> entries{layout_.header_entry()};
  for (const std::size_t c : state_.order) {
    io::NpzEntry& entry = entries.emplace_back(layout_.column_entry(c, columns_[c].offset));
    entry.crc = columns_[c].crc;
    file_.write_at(entry.offset, io::npz_local_header(entry));
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].texts.empty()) {
      entries.push_back(
          write_array(words_name(layout_.columns().columns()[c]), words_array(columns_[c].texts)));
    }
  }
  const std::string directory = io::npz_directory(entries, end_);
  file_.write_at(end_, directory);
  file_.sync(); // before the state goes, by which it could be written again
  file_.cut(end_ + directory.size());
}

} // namespace stepsim::study
