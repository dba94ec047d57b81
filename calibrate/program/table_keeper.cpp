#include "calibrate/program/table_keeper.hpp"

#include <utility>

#include "cli/shell/output.hpp"
#include "document/json_text.hpp"

namespace stepsim::calibrate {

namespace {

constexpr double kSecondsBetweenTables = 2; // rows that an interrupt may lose

} // namespace

TableKeeper::TableKeeper(std::string path, std::vector<ErrorRow> first)
    : path_(std::move(path)), first_(std::move(first)) {}

void TableKeeper::grow(const std::function<std::vector<ErrorRow>()>& rows) {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - last_).count() >= kSecondsBetweenTables) {
    write(rows());
    last_ = std::chrono::steady_clock::now();
  }
}

void TableKeeper::write(const std::vector<ErrorRow>& rows) const {
  std::string text;
  for (const std::vector<ErrorRow>* part : {&rows, &first_}) {
    for (const ErrorRow& row : *part) {
      text += io::compact(to_json(row)) + "\n";
    }
  }
  cli::write_named(path_, text);
}

} // namespace stepsim::calibrate
