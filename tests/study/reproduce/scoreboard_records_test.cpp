// Tables that sum up predicted training speeds.
#include "study/reproduce/scoreboard_records.hpp"

#include <doctest/doctest.h>

#include "study/reproduce/series.hpp"

using namespace stepsim;
using reproduce::Records;

namespace {

// One of several ways to train the same model on the same machines.
io::Object row(const char* method, double measured, double predicted) {
  return {{"source", "s"},       {"family", "f"},         {"model", "m"},        {"gpu", "g"},
          {"nodes", 2},          {"gpus_per_node", 4},    {"batch_per_gpu", 32}, {"seq_len", ""},
          {"grad_accum", 1},     {"precision", "fp32"},   {"unit", "samples/s"}, {"method", method},
          {"fabric", "net"},     {"gbps_per_node", 10},   {"inputs", "given"},   {"publisher", "p"},
          {"model_family", "m"}, {"measured", measured},  {"error", 0},          {"size", 0},
          {"alone", 0},          {"predicted", predicted}};
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
