// Tables that sum up predicted training speeds.
#include "study/reproduce/scoreboard_tables.hpp"

#include <doctest/doctest.h>

#include "study/reproduce/paper_records.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using reproduce::Records;
using stepsim::testing::within;

namespace {

// One of several ways to train the same model on the same machines.
io::Object row(const char* method, double measured, double predicted) {
  return {{"source", "s"},       {"family", "f"},       {"model", "m"},
          {"gpu", "g"},          {"nodes", 2},          {"gpus_per_node", 4},
          {"batch_per_gpu", 32}, {"seq_len", ""},       {"grad_accum", 1},
          {"precision", "fp32"}, {"unit", "samples/s"}, {"method", method},
          {"fabric", "net"},     {"gbps_per_node", 10}, {"inputs", "given"},
          {"publisher", "p"},    {"model_family", "m"}, {"measured", measured},
          {"error", 0},          {"size", 0},           {"predicted", predicted}};
}

// [class] pairs, and % of them that are right.
std::pair<double, double> of_class(const Records& pairs, std::string_view name) {
  for (const io::Object& record : pairs) {
    if (reproduce::row_text(record, "difference") == name) {
      return {reproduce::row_number(record, "pairs"), reproduce::row_number(record, "right")};
    }
  }
  return {0, 0};
}

Records pairs_of(const Records& rows) {
  return reproduce::scoreboard_tables("t", {rows, {}}).at("t_pairs");
}

} // namespace

TEST_CASE("scoreboard: a pair is right if the faster of two runs is predicted faster") {
  const Records pairs = pairs_of({row("a", 100, 90), row("b", 103, 95), row("c", 200, 80)});
  CHECK(of_class(pairs, "below 5 %") == std::pair<double, double>{1, 100});
  CHECK(of_class(pairs, "above 50 %") == std::pair<double, double>{2, 0});
  CHECK(of_class(pairs, "all").first == 3);
}

TEST_CASE("scoreboard: runs that were measured equally fast are no pair") {
  const Records pairs = pairs_of({row("a", 100, 90), row("b", 100, 95), row("c", 110, 99)});
  CHECK(of_class(pairs, "below 5 %").first == 0);
  CHECK(of_class(pairs, "all") == std::pair<double, double>{2, 100});
  CHECK(pairs_of({row("a", 100, 90), row("b", 100, 95)}).empty());
}

TEST_CASE("scoreboard: two runs in the same way are repetitions and no pair") {
  CHECK(pairs_of({row("a", 100, 90), row("a", 120, 95)}).empty());
}

TEST_CASE("scoreboard: texts stay as they are, and an empty first cell keeps its place") {
  const std::string text = reproduce::scoreboard_csv(
      {{{"row", ""}, {"source", 2020}, {"unit", "samples/s"}, {"measured", 2020}}},
      {{{"row", "007"}, {"measured", "1,000"}, {"not_predicted", "no number"}}});
  CHECK(text.substr(text.find('\n') + 1) ==
        ",2020,samples/s,2020.00,,,,,,,,,,,,,\n007,,,\"1,000\",,,,,,,,,,,,,no number\n");
}

TEST_CASE("scoreboard: every way to predict has its errors, and its interval what it holds") {
  // Measured 100, 100 and 100 samples/s; only the first two are predicted under conditions.
  Records rows{row("a", 100, 125), row("b", 100, 80), row("c", 100, 100)};
  const std::vector<double> typical{80, 125};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double step = 100 / reproduce::row_number(rows[i], "predicted");
    rows[i].emplace_back("situation", i == 0 ? "TCP" : "servers");
    rows[i].emplace_back("communication", "much");
    rows[i].emplace_back("alone_error", -50);
    rows[i].emplace_back("predicted_low", reproduce::row_number(rows[i], "predicted") - 30);
    rows[i].emplace_back("predicted_high", reproduce::row_number(rows[i], "predicted") + 10);
    for (auto& [name, value] : rows[i]) {
      value = name == "error" ? io::Json(100 * (step - 1)) : value;
    }
    if (i < typical.size()) {
      rows[i].emplace_back("typical", typical[i]);
      rows[i].emplace_back("typical_low", typical[i] / 2);
      rows[i].emplace_back("typical_high", typical[i] * 1.25);
      rows[i].emplace_back("typical_error", 100 * (100 / typical[i] - 1));
    } else {
      rows[i].emplace_back("not_predicted", "no such way");
    }
  }
  const reproduce::AllRecords tables = reproduce::scoreboard_tables("t", {rows, {}});
  const auto figure = [&](const char* name, const char* conditions, const char* column) {
    for (const io::Object& record : tables.at("t_conditions")) {
      if (reproduce::row_text(record, "name") == name &&
          reproduce::row_text(record, "conditions") == conditions) {
        return reproduce::row_number(record, column);
      }
    }
    return -1.0;
  };
  CHECK(figure("all rows", "communication ignored", "median") == 50);
  CHECK(figure("all rows", "ideal", "rows") == 3);
  CHECK(figure("all rows", "ideal", "median") == within(100 * (1 - 100.0 / 125), 1e-12));
  CHECK(figure("all rows", "ideal", "shorter") == within(100.0 / 3, 1e-12));
  CHECK(figure("all rows", "ideal", "coverage") == within(200.0 / 3, 1e-12)); // not 50 to 90
  CHECK(figure("all rows", "typical", "rows") == 2);
  CHECK(figure("all rows", "typical", "coverage") == 100); // 40 to 100 and 62.5 to 156.25
  CHECK(figure("all rows", "typical", "width") == within(100 * (2 - 1 / 1.25), 1e-12));
  CHECK(figure("TCP", "typical", "worst") == within(100 * (100.0 / 80 - 1), 1e-12));
  CHECK(tables.at("t_reasons").size() == 1);
  CHECK(reproduce::row_text(tables.at("t_reasons").front(), "conditions") == "typical");
}
