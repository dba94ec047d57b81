#include "study/reproduce/paper_records.hpp"

#include "base/statistics.hpp"
#include "document/csv.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/trace_file.hpp"

#include <cmath>

namespace stepsim::reproduce {

namespace {

// "1.5 2 3*4" is 1.5, 2 and four times 3.
std::vector<double> values_of(std::string_view list) {
  std::vector<double> values;
  while (!list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    const std::string_view word = list.substr(0, blank);
    list.remove_prefix(std::min(blank + 1, list.size()));
    const std::size_t star = word.find('*');
    const auto count = star == std::string_view::npos ? 1 : io::parse_whole(word.substr(star + 1));
    if (const auto value = io::parse_real(word.substr(0, star)); value && count && *count > 0) {
      values.insert(values.end(), static_cast<std::size_t>(*count), *value);
    }
  }
  return values;
}

// Of measured speeds only the columns that hold numbers do: a row may be called 007.
Records records_of_csv(std::string_view text, const std::string& file, bool speeds) {
  const std::vector<io::CsvRow> rows = io::parse_csv(text, file);
  Records records;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    io::Object record;
    for (std::size_t c = 0; c < std::min(rows[r].fields.size(), rows[0].fields.size()); ++c) {
      const std::string& name = rows[0].fields[c];
      const std::string& cell = rows[r].fields[c];
      const bool is_text = speeds && !holds_number(name);
      if (name == "values") {
        if (const std::vector<double> values = values_of(cell); !values.empty()) {
          record.emplace_back("value", base::median(values));
          record.emplace_back("low", std::ranges::min(values));
          record.emplace_back("high", std::ranges::max(values));
        }
      } else if (const auto number = io::parse_real(cell); number && !is_text) {
        record.emplace_back(name, *number);
      } else {
        record.emplace_back(name, cell);
      }
    }
    records.push_back(std::move(record));
  }
  return records;
}

// One record per number, so that workers are a column like any other.
Records records_of_training(const io::Json& tree) {
  Records records;
  for (const layers::MeasuredModel& model : io::parse_measured(tree).models) {
    io::Object of_model{{"model", model.name}};
    if (model.batch_size) {
      of_model.emplace_back("batch_size", *model.batch_size);
    }
    if (model.phases) {
      of_model.emplace_back("compute_s", model.phases->compute.value);
      of_model.emplace_back("compress_s", model.phases->compress.value);
      of_model.emplace_back("communication_s", model.phases->communication.value);
    }
    for (const layers::MeasuredThroughput& row : model.throughput) {
      for (const auto& [ranks, speed] : row.samples_per_s_per_gpu) {
        io::Object record = of_model;
        record.emplace_back("method", row.method);
        record.emplace_back("ranks", ranks);
        record.emplace_back("samples_per_s_per_gpu", speed);
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

std::string range_text(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) {
    return "-";
  }
  const auto [low, high] = std::ranges::minmax(values);
  const std::string first = shown_number(low);
  const std::string last = shown_number(high);
  return first + (first == last ? "" : " to " + last) + (unit.empty() ? "" : " " + unit);
}

Records unpivoted(const Table& table, const std::string& reproduction) {
  if (table.file.empty()) {
    return table.records;
  }
  const std::string path = io::relative_to(reproduction, table.file);
  if (path.ends_with(".csv")) {
    return records_of_csv(io::read_text(path), path, table.predict.has_value());
  }
  if (path.ends_with(".jsonl")) {
    return records_of_lines(io::read_text(path), path);
  }
  return records_of_tree(io::read_json(path), table.rows);
}

} // namespace

Records records_of_lines(std::string_view text, const std::string& file) {
  Records records;
  std::int64_t line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (one.empty()) {
      continue;
    }
    const io::Json tree = io::parse_json(one, file);
    const io::Json* record = tree.find("record");
    const bool is_point = record == nullptr || !record->is_string() ||
                          record->as_string() == "point" || record->as_string() == "collective";
    if (is_point) {
      records.push_back(io::flattened(tree));
    }
  }
  return records;
}

Records records_of_tree(const io::Json& tree, std::string_view pointer) {
  if (pointer.empty() && tree.text("kind") == "measured_training") {
    return records_of_training(tree);
  }
  const io::Json* list = io::resolve(tree, pointer);
  if (list != nullptr && list->is_object()) {
    return {io::flattened(*list)};
  }
  if (list == nullptr || !list->is_array()) {
    throw InputError(std::string(tree.file()), std::string(pointer),
                     "must be a list of records, or one record");
  }
  return base::collected<io::Object>(list->as_array(), io::flattened);
}

// What the record of each value of the column has as `value` becomes a column of its own name; the
// other columns but `low` and `high` tell which records belong together.
Records pivoted(Records records, const Pivot& pivot) {
  if (pivot.column.empty()) {
    return records;
  }
  Records out;
  std::map<std::string, std::size_t> places;
  for (const io::Object& record : records) {
    io::Object shared;
    const io::Json* value = nullptr;
    std::string name;
    for (const auto& [column, cell] : record) {
      if (column == pivot.value) {
        value = &cell;
      } else if (column == pivot.column) {
        const auto found = std::ranges::find_if(pivot.names, [&](const auto& each) {
          return cell.is_string() && each.first == cell.as_string();
        });
        const bool own = pivot.names.empty() && cell.is_string();
        name = found != pivot.names.end() ? found->second : own ? cell.as_string() : std::string();
      } else if (column != "low" && column != "high") {
        shared.emplace_back(column, cell);
      }
    }
    if (value == nullptr || name.empty()) {
      continue;
    }
    const auto [place, is_new] = places.emplace(io::compact(io::Json(shared)), out.size());
    if (is_new) {
      out.push_back(std::move(shared));
    }
    out[place->second].emplace_back(name, *value);
  }
  return out;
}

Records records_of_table(const Table& table, const std::string& reproduction) {
  return pivoted(unpivoted(table, reproduction), table.pivot);
}

Records medians(const std::vector<Records>& seeds) {
  Records out = seeds.front();
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t c = 0; c < out[i].size(); ++c) {
      if (!out[i][c].second.is_number() || seeds.size() == 1) {
        continue;
      }
      std::vector<double> values;
      for (const Records& records : seeds) {
        const io::Json& value = records.at(i).at(c).second;
        if (!value.is_number()) {
          throw SimulationError(out[i][c].first + " is a number for some seeds only");
        }
        values.push_back(value.as_double());
      }
      out[i][c].second = base::median(values);
    }
  }
  return out;
}

Records rounded(Records records, int digits) {
  for (io::Object& record : records) {
    for (io::Member& member : record) {
      if (member.second.is_number()) {
        member.second = base::rounded_to(member.second.as_double(), digits);
      }
    }
  }
  return records;
}

Records with_columns(const Records& records, const std::vector<std::string>& columns) {
  Records out;
  for (const io::Object& record : records) {
    io::Object& kept = out.emplace_back();
    std::ranges::copy_if(record, std::back_inserter(kept), [&](const io::Member& member) {
      return std::ranges::find(columns, member.first) != columns.end();
    });
  }
  return out;
}

std::string lines_of_records(const Records& records) {
  std::string text;
  for (const io::Object& record : records) {
    io::append_compact(text, record);
    text += '\n';
  }
  return text;
}

std::string shown_number(double value) {
  constexpr double kMost = 1e9;
  return value == std::round(value) && std::abs(value) < kMost ? base::shortest(value)
                                                               : base::significant(value);
}

std::string reason_text(const Decided& decided) {
  std::string text = decided.claim->reason;
  if (decided.verdict == Verdict::bracketed) {
    text = "nobody outside knows " + decided.claim->free + (text.empty() ? "." : ". " + text);
  }
  if (const std::size_t place = text.find("{}"); place != std::string::npos) {
    text.replace(place, 2, ours_text(decided));
  }
  return text;
}

Reproduced decide(Reproduction paper, AllRecords records) {
  Reproduced all{std::move(paper), std::move(records), {}};
  for (const Claim& claim : all.paper.claims) {
    Decided& one = all.decided.emplace_back(Decided{&claim, Verdict::not_comparable, {}});
    one.ours =
        base::collected<double>(claim.ours, [&](const Cell& cell) { return evaluate(cell, all); });
    if (!one.ours.empty() && claim.comparable && counts(claim.label)) {
      const auto [low, high] = std::ranges::minmax(one.ours);
      const bool met = (!claim.low || low >= *claim.low) && (!claim.high || high <= *claim.high);
      one.verdict = !met                 ? Verdict::not_met
                    : claim.free.empty() ? Verdict::met
                                         : Verdict::bracketed;
    }
  }
  return all;
}

std::string verdict_text(const Decided& decided) {
  std::string text(kVerdicts[decided.verdict]);
  if (decided.verdict != Verdict::not_comparable && decided.claim->label == Label::second_hand) {
    text += " as read by others";
  }
  return text;
}

std::string ours_text(const Decided& decided) {
  return range_text(decided.ours, decided.claim->unit);
}

std::string theirs_text(const Claim& claim) {
  return claim.theirs.empty() ? range_text(claim.reported, claim.unit) : claim.theirs;
}

std::string limits_text(const Claim& claim) {
  std::string text = claim.low ? "at least " + base::shortest(*claim.low) : std::string();
  if (claim.high) {
    text += (text.empty() ? "at most " : ", at most ") + base::shortest(*claim.high);
  }
  return text.empty() ? "-" : text;
}

io::Json claims_tree(const Reproduced& all) {
  io::Array claims = io::write_each(all.decided, [](const Decided& each) {
    const Claim& claim = *each.claim;
    io::Json tree =
        io::tree_of<&Claim::id, &Claim::figure, &Claim::text, &Claim::source, &Claim::reported,
                    &Claim::unit, &Claim::free, &Claim::low, &Claim::high>(claim);
    tree.set("label", kLabels[claim.label]);
    tree.set("verdict", verdict_text(each));
    tree.set("ours", io::list_of(each.ours));
    tree.set("reason", reason_text(each));
    return tree;
  });
  return io::Object{{"paper", all.paper.name}, {"claims", std::move(claims)}};
}

} // namespace stepsim::reproduce
