#pragma once
// The answer of a command as a document, and the one renderer that writes a document in any format.
// The parts are functions, so that a part that the format does not need is never made:
//   table            the text, else the tables
//   HTML, Markdown   the tables, else the text, which then is a page; SVG likewise
//   JSON             the tree
//   CSV              the records
//   JSON Lines       the lines, else the records, else the tree on one line

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Tables for the terminal: numbers right-aligned, words left-aligned, units in the heading
// ("iteration [ms]"), two blanks between columns. A column is one of words if any of its cells
// starts with a letter or a slash.

struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows{}; // each as long as `headings`
  std::string caption = {};                     // a line above it; "" = none
  bool left = false;                            // whether every column is one of words
};

// Adds a column at the right: its heading, and for each of `rows`, which all columns of the table
// share, the cell that `cell_of` makes of it.
template <typename Rows, typename CellOf>
void add_column(Table& table, std::string heading, const Rows& rows, const CellOf& cell_of) {
  table.headings.push_back(std::move(heading));
  table.rows.resize(std::size(rows));
  auto row = table.rows.begin();
  for (const auto& each : rows) {
    (row++)->push_back(std::invoke(cell_of, each));
  }
}

// The table as text for the terminal, without the caption.
[[nodiscard]] std::string table_text(const Table& table);
// Several tables in one text, each below its caption: a whole HTML page for Format::html, tables
// with pipes for Format::markdown, else text for the terminal. A page lists the lines `below` them.
[[nodiscard]] std::string tables_in(Format format, std::span<const Table> tables,
                                    std::span<const std::string> below = {});

// One table as an HTML element <table> with its caption.
[[nodiscard]] std::string table_html(const Table& table);

// Cells with 4 significant digits, of values times `factor`; "-" for a value that does not exist.
[[nodiscard]] std::string cell(std::optional<double> value, double factor = 1);
[[nodiscard]] std::string milliseconds_cell(std::optional<double> seconds);
[[nodiscard]] std::string percent_cell(std::optional<double> ratio);
// Returns `part`, or 0 if there is a `whole` and |part| < 1e-9 `whole`: so small a part is only the
// rounding error of a difference of equal times.
[[nodiscard]] std::optional<double> part_of(std::optional<double> part,
                                            std::optional<double> whole);

// Groups of neighbours, each by its first and its last number: "{1-2}{3}{4-34}". Cut after 60
// characters, because JSON has all groups.
using Ends = std::pair<std::int64_t, std::int64_t>;
[[nodiscard]] std::string groups_cell(std::span<const Ends> groups);

struct Document {
  std::function<std::string()> text = {};
  std::function<std::vector<Table>()> tables = {};
  std::function<io::Json()> tree = {};
  std::function<io::Array()> records = {}; // objects
  std::function<io::Array()> lines = {};
  std::vector<std::string> kept = {};     // keys that records have besides those of --columns
  std::vector<std::string> warnings = {}; // on standard error, behind the result; pages list them
  std::vector<std::string> notes = {};    // what a page lists besides
};

// The document in the format of the flags (format_of), `fallback` if they name none. Throws
// SimulationError for a number of the tree that is not finite, and UsageError for --columns that no
// record has, and for columns, CSV and pages of a document without records and tables.
[[nodiscard]] std::string rendered(const Document& document, const Common& common,
                                   Format fallback = Format::table);
// Writes the rendered document as write_output() does, then prints its warnings. Returns kOk.
int write_document(const Common& common, const Document& document, Format fallback = Format::table);

// A column of a table of records: the value of `key`, times `factor` from SI to the unit of the
// heading.
struct Column {
  using Show = std::string (*)(const io::Json& record, const Column& column);
  std::string key, heading;
  double factor = 1;
  Show show = nullptr; // null = four significant digits
};
[[nodiscard]] Table table_of(std::span<const io::Json> records, std::span<const Column> columns);
// The cell of one record; "-" for a number that the record lacks.
[[nodiscard]] std::string cell_of(const io::Json& record, const Column& column);
// For Column::show: words as they are and numbers in full; "-" for an absent key or null.
[[nodiscard]] std::string in_full(const io::Json& record, const Column& column);

// The text of a value: words as they are, all else as compact JSON.
[[nodiscard]] std::string plain_cell(const io::Json& value);

// Writes records, which are objects, as JSON Lines or CSV (RFC 4180). CSV has a header row of the
// keys, "." as decimal point, and empty cells for null.

// CSV with one row per record. The columns are all keys of all records, sorted or as they come; a
// record without a key has an empty cell. A list or object is written as compact JSON.
[[nodiscard]] std::string csv_text(const io::Array& records, bool sorted = true);

} // namespace stepsim::cli
