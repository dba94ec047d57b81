// The trace simulation of the MG-WFBP paper, re-computed from the public B-Caffe logs (GoogLeNet,
// K80) and the authors' constants; and the same layers over the measured all-reduce table.
// The readers here are small and strict on purpose: a second opinion on the importers.
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planners.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;
using stepsim::Seconds;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

const std::string kLogs = STEPSIM_SOURCE_DIR "/../shared/data/b-caffe/";

struct Row {
  int id{};
  std::int64_t elements{};
  double backward_us{};
  double communication_us{};
};

std::vector<Row> read_rows(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t open = line.rfind('[');
    const std::size_t close = line.rfind(']');
    if (open == std::string::npos || close == std::string::npos) {
      continue;
    }
    std::istringstream fields(line.substr(open + 1, close - open - 1));
    Row row;
    char comma{};
    fields >> row.id >> comma >> row.elements >> comma >> row.backward_us >> comma >>
        row.communication_us;
    REQUIRE(fields);
    rows.push_back(row);
  }
  return rows;
}

struct Layer {
  std::int64_t elements{};
  double backward_s{};
};

// The last dump; neighbours with equal backward time are one layer. Forward order.
std::vector<Layer> last_dump_layers(const std::vector<Row>& rows) {
  std::size_t start = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].id <= rows[i - 1].id) {
      start = i;
    }
  }
  std::vector<Layer> layers;
  for (std::size_t i = start; i < rows.size(); ++i) {
    if (i > start && rows[i].backward_us == rows[i - 1].backward_us) {
      layers.back().elements += rows[i].elements;
    } else {
      layers.push_back({rows[i].elements, rows[i].backward_us * 1e-6});
    }
  }
  std::erase_if(layers, [](const Layer& layer) { return layer.backward_s == 0; });
  return layers;
}

// Both dumps, every row whose times are both at least one whole microsecond, no grouping.
std::vector<Layer> layers_as_released_reader(const std::vector<Row>& rows) {
  std::vector<Layer> layers;
  for (const Row& row : rows) {
    if (std::floor(row.backward_us) != 0 && std::floor(row.communication_us) != 0) {
      layers.push_back({row.elements, row.backward_us * 1e-6});
    }
  }
  return layers;
}

Problem backward_problem(const std::vector<Layer>& layers, Cost cost) {
  Problem problem;
  problem.cost = std::move(cost);
  double ready = 0;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    ready += layer->backward_s;
    Item item;
    item.ready = Seconds{ready};
    item.bytes = Bytes{4 * layer->elements};
    problem.items.push_back(item);
  }
  return problem;
}

// Ring of N nodes with the constants of the authors' script, start-up 2 N alpha as there.
Cost published_cost(double ranks) {
  const double alpha = 45.25e-6;
  const double beta = 1.2 / (9.0 * 1073741824.0 / 8); // 2^30
  const double gamma = 160 / (16e9 * 4);
  return linear(2 * ranks * alpha, (ranks - 1) / ranks * (2 * beta + gamma));
}

struct Expected { // finish, seconds from the start of backward; published re-computation
  double ranks;
  double wfbp, single, greedy, optimum, eager;
  std::size_t greedy_groups, optimal_groups;
  std::int64_t waits;
  double speedup_wfbp, speedup_single, speedup_greedy, speedup_optimum;
};

constexpr Expected kTable[] = {
    {4, .205824, .385786, .205824, .205824, .205824, 10, 10, 1, 3.994, 2.522, 3.994, 3.994},
    {8, .256901, .416163, .215538, .215224, .215633, 6, 6, 1, 6.853, 4.749, 7.743, 7.751},
    {32, .418421, .440846, .260840, .247557, .247557, 5, 5, 8, 18.914, 18.134, 27.114, 28.142},
    {64, .607516, .447494, .380298, .265788, .265788, 2, 5, 51, 27.756, 35.830, 40.815, 53.499},
    {512, 3.205615, .491321, .491321, .379119, .379119, 1, 3, 63, 47.667, 265.488, 265.488,
     327.317},
    {2048, 12.102479, .630680, .630680, .612293, .796495, 1, 2, 63, 51.682, 860.148, 860.148,
     882.269},
};

double finish_of(const Problem& problem, Schedule schedule) {
  return make_plan(problem, schedule).finish.value;
}

Tolerance rounded(double value, double tolerance = 1e-5) { return within(value, tolerance); }

// Table of an OSU log: rows "ranks,bytes microseconds" or "bytes microseconds".
std::vector<std::pair<double, double>> read_osu(const std::string& path) {
  std::vector<std::pair<double, double>> points;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') {
      continue;
    }
    const std::size_t comma = line.find(',');
    std::istringstream fields(comma == std::string::npos ? line : line.substr(comma + 1));
    double bytes{};
    double microseconds{};
    fields >> bytes >> microseconds;
    REQUIRE(fields);
    points.emplace_back(bytes, microseconds * 1e-6);
  }
  return points;
}

} // namespace

TEST_CASE("GoogLeNet on K80, 4 to 2048 nodes: the published trace simulation") {
  const std::vector<Row> rows = read_rows(kLogs + "tmp8comm.log");
  if (rows.empty()) {
    MESSAGE("skipped: no " << kLogs << "tmp8comm.log");
    return;
  }
  const std::vector<Layer> layers = last_dump_layers(rows);
  REQUIRE(layers.size() == 64);
  std::int64_t elements = 0;
  double backward = 0;
  for (const Layer& layer : layers) {
    elements += layer.elements;
    backward += layer.backward_s;
  }
  CHECK(4 * elements == 53'516'544);
  CHECK(backward == rounded(0.205334312, 1e-9));

  for (const Expected& row : kTable) {
    CAPTURE(row.ranks);
    const Problem problem = backward_problem(layers, published_cost(row.ranks));
    const Plan greedy = make_plan(problem, Schedule::mg_wfbp);
    const Plan optimum = make_plan(problem, Schedule::optimal);
    const double wfbp = finish_of(problem, Schedule::wfbp);
    const double single = finish_of(problem, Schedule::single);
    CHECK(wfbp == rounded(row.wfbp));
    CHECK(single == rounded(row.single));
    CHECK(greedy.finish.value == rounded(row.greedy));
    CHECK(optimum.finish.value == rounded(row.optimum));
    CHECK(finish_of(problem, Schedule::eager) == rounded(row.eager));
    CHECK(greedy.groups.size() == row.greedy_groups);
    CHECK(optimum.groups.size() == row.optimal_groups);
    CHECK(greedy.waiting_merges == row.waits);
    const auto speedup = [&](double finish) {
      const double forward = backward / 2;
      return row.ranks * (forward + backward) / (forward + finish);
    };
    CHECK(speedup(wfbp) == rounded(row.speedup_wfbp, 1e-3));
    CHECK(speedup(single) == rounded(row.speedup_single, 1e-3));
    CHECK(speedup(greedy.finish.value) == rounded(row.speedup_greedy, 1e-3));
    CHECK(speedup(optimum.finish.value) == rounded(row.speedup_optimum, 1e-3));
  }
  const Problem at64 = backward_problem(layers, published_cost(64));
  CHECK(text_of(make_plan(at64, Schedule::mg_wfbp)) == "{1-52}{53-64}");
  CHECK(text_of(make_plan(at64, Schedule::optimal)) == "{1}{2-7}{8-20}{21-42}{43-64}");
  CHECK(text_of(make_plan(backward_problem(layers, published_cost(8)), Schedule::mg_wfbp)) ==
        "{1}{2-9}{10-17}{18-26}{27-51}{52-64}");

  // 8 nodes, 10GbE, measured constants
  const Problem measured = backward_problem(layers, linear(9.72e-4, 1.97e-9));
  CHECK(finish_of(measured, Schedule::wfbp) == rounded(0.206381));
  CHECK(finish_of(measured, Schedule::single) == rounded(0.311734));
  CHECK(finish_of(measured, Schedule::mg_wfbp) == rounded(0.206381));
  CHECK(make_plan(measured, Schedule::mg_wfbp).waiting_merges == 6);
  CHECK(finish_of(measured, Schedule::optimal) == rounded(0.206381));
}

TEST_CASE("the headline of the paper comes from both dumps of the log, ungrouped") {
  const std::vector<Row> rows = read_rows(kLogs + "tmp8comm.log");
  if (rows.empty()) {
    MESSAGE("skipped: no " << kLogs << "tmp8comm.log");
    return;
  }
  const std::vector<Layer> layers = layers_as_released_reader(rows);
  REQUIRE(layers.size() == 130);
  std::int64_t elements = 0;
  double backward = 0;
  for (const Layer& layer : layers) {
    elements += layer.elements;
    backward += layer.backward_s;
  }
  CHECK(elements == 26'731'520);
  CHECK(backward == rounded(0.413610004, 1e-9));
  struct Iteration {
    double ranks, wfbp, single, greedy, optimum;
  };
  for (const Iteration& row : {Iteration{8, 0.721175, 1.040927, 0.635663, 0.635019},
                               Iteration{32, 1.048512, 1.088077, 0.706114, 0.693447},
                               Iteration{64, 1.432488, 1.098469, 0.838265, 0.720072}}) {
    CAPTURE(row.ranks);
    const Problem problem = backward_problem(layers, published_cost(row.ranks));
    const auto iteration = [&](Schedule schedule) {
      return backward / 2 + finish_of(problem, schedule);
    };
    CHECK(iteration(Schedule::wfbp) == rounded(row.wfbp));
    CHECK(iteration(Schedule::single) == rounded(row.single));
    CHECK(iteration(Schedule::mg_wfbp) == rounded(row.greedy));
    CHECK(iteration(Schedule::optimal) == rounded(row.optimum));
    if (row.ranks == 64) { // "up to 1.7x over WFBP, 1.3x over SyncEASGD"
      CHECK(iteration(Schedule::wfbp) / iteration(Schedule::mg_wfbp) == rounded(1.709, 1e-3));
      CHECK(iteration(Schedule::single) / iteration(Schedule::mg_wfbp) == rounded(1.310, 1e-3));
    }
  }
}

TEST_CASE("the measured all-reduce table of 8 nodes under the same layers") {
  const auto points = read_osu(kLogs + "allreduce8.log");
  const std::vector<Row> rows = read_rows(kLogs + "tmp8comm.log");
  if (points.empty() || rows.empty()) {
    MESSAGE("skipped: no logs in " << kLogs);
    return;
  }
  CHECK(points.size() == 266);
  const auto [table, report] = make_table_cost(points);
  CHECK(report.points_changed == 141);
  CHECK(report.largest_change == rounded(0.122, 5e-3));
  const Cost cost{.base = table};
  CHECK(cost.seconds(100'000, 1) == rounded(1.22482891e-3, 1e-6));
  CHECK(cost.seconds(1048576, 1) == rounded(4.67891e-3, 1e-6));
  CHECK(cost.seconds(2097152, 1) == rounded(6.64675768e-3, 1e-6));
  CHECK(cost.seconds(8'396'800, 1) == rounded(1.84692176e-2, 1e-6));
  const Problem problem = backward_problem(last_dump_layers(rows), cost);
  CHECK(finish_of(problem, Schedule::wfbp) == rounded(0.206367122, 1e-6));
  CHECK(finish_of(problem, Schedule::single) == rounded(0.308479112, 1e-6));
  CHECK(finish_of(problem, Schedule::optimal) == rounded(0.206367122, 1e-6));
}
