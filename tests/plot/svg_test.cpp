#include "plot/svg.hpp"

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "plot/frame.hpp"
#include "testing/paths.hpp"

namespace stepsim::plot {
namespace {

std::vector<Point> points_of(double (*y)(double), const std::vector<double>& xs) {
  std::vector<Point> out;
  for (const double x : xs) {
    out.push_back({x, y(x)});
  }
  return out;
}

const std::vector<double> kNodes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

Figure lines_figure() {
  const auto ideal = [](double n) { return 339 * n; };
  Panel panel;
  panel.curves = {
      {"DDP's buckets", points_of([](double n) { return 339 * n / (1 + n * n / 8e4); }, kNodes), 0,
       true, true},
      {"best merge", points_of([](double n) { return 339 * n / (1 + n / 900); }, kNodes), 1, false,
       true},
      {"one message", points_of([](double n) { return 300 * n / (1 + n / 300); }, kNodes), 2, false,
       true},
      {"a message per layer", points_of([](double n) { return 330 * n / (1 + n / 90); }, kNodes), 3,
       false, true},
      {"two workers' merge", points_of([](double n) { return 200 * n / (1 + n / 500); }, kNodes), 4,
       false, true}};
  panel.guides = {{"ideal", points_of(ideal, kNodes)}};
  panel.reported = {{"reported (repository)", {{8, 2500}, {32, 9000}, {128, 25000}}, 0}};
  for (const Point& p : panel.curves[0].points) {
    panel.bands.resize(1, {"5 % to 95 % of 200 runs", {}});
    panel.bands[0].points.push_back({p.x, 0.8 * p.y, 1.1 * p.y});
  }
  panel.marks = {{Mark::Kind::vertical, 128, "knee: 128 GPUs, 68 %"}};
  return {
      "Does adding GPUs pay?",
      "ResNet-50, 32 images per GPU, 25 Gb/s Ethernet, ring",
      {"GPUs", "", Scale::log2, {}, {}, {}},
      {"throughput", "samples/s", Scale::log10, {}, {}, {}},
      {panel},
      "Ours 1.3 to 6.6, published 2.7 to 12: 98 % of their communication time is not wire time.",
      400,
      "sweep.jsonl"};
}

Figure panels_figure() {
  Figure figure{"Which density pays on few workers & many?",
                "8 Mi parameters, 1 GbE",
                {"density", "%", Scale::linear, {}, {}, {}},
                {"exchange", "ms", Scale::linear, {}, {}, {}},
                {}};
  for (const double ranks : {4.0, 8.0, 16.0, 32.0}) {
    Panel panel;
    panel.title = std::to_string(static_cast<int>(ranks)) + " workers";
    for (std::size_t rank = 0; rank < 2; ++rank) {
      Curve curve{rank == 0 ? "gTop-k" : "Top-k", {}, rank, false, true};
      for (double i = 9; i >= 1; --i) {
        const double density = 0.5 / i;
        curve.points.push_back(
            {density, density * (rank == 0 ? 40 * std::log2(ranks) : 10 * ranks)});
      }
      panel.curves.push_back(curve);
    }
    figure.panels.push_back(panel);
  }
  return figure;
}

Figure bars_figure() {
  Panel panel;
  panel.bars.parts = {"compute", "compress", "communicate"};
  panel.bars.reported_label = "reported (repository)";
  for (const char* net : {"VGG-16", "ResNet-20", "AlexNet", "ResNet-50"}) {
    panel.bars.groups.push_back(
        {net, {{"theirs", {13.4, 8.8, 77.8}, true, 0}, {"ours", {20, 10, 60}, false, 0}}});
  }
  return {"Where does an update go?",
          "32 workers, 1 GbE",
          {},
          {"share", "%", Scale::linear, {0, 20, 40, 60, 80, 100}, {}, {}},
          {panel}};
}

Figure lanes_figure() {
  Panel panel;
  panel.lanes.parts = {"forward", "backward", "exchange"};
  panel.lanes.lanes = {
      {"GPU", {{0, 30, 0, "forward", "forward: 0 to 30 ms"}, {30, 90, 1, "backward", ""}}},
      {"network", {{45, 60, 2, "1", "bucket 1: 45 to 60 ms"}, {60, 104, 2, "2", ""}}}};
  return {"When does a bucket leave?", "", {"time", "ms", Scale::linear, {}, {}, {}}, {}, {panel}};
}

Figure broken_axes_figure() {
  Panel left, right;
  left.title = "slowest";
  right.title = "mean";
  left.curves = {{"dlcp", {{60, 0.95}, {70, 0.97}, {80, 0.96}}, 0, false, true}};
  right.curves = {{"dlcp", {{60, 95}, {70, 97}, {80, 99}}, 0, false, true}};
  left.y = Axis{"ratio", "", Scale::linear, {}, {}, {}};
  right.y = Axis{"time", "us", Scale::linear, {}, {}, {}};
  left.marks = {{Mark::Kind::horizontal, 0.961, "claim: 0.961"}};
  return {"Axes of their own", "", {"senders", "", Scale::linear, {}, {}, {}}, {}, {left, right}};
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A picture that differs is written beside the programs, to be looked at and copied.
void check_golden(const std::string& name, const Figure& figure) {
  CAPTURE(name);
  const std::string found = svg(figure);
  CHECK(found.size() <= 60'000);
  const std::string wanted = file_text(STEPSIM_SOURCE_DIR "/tests/plot/figures/" + name + ".svg");
  if (found != wanted) {
    const std::string folder = STEPSIM_BINARY_DIR "/plot_figures";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + name + ".svg", std::ios::binary) << found;
    FAIL_CHECK("the picture differs; if it is right: cp " << folder << "/" << name
                                                          << ".svg tests/plot/figures/");
  }
}

pugi::xml_document parsed(const std::string& text) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_string(text.c_str());
  CAPTURE(text.substr(0, 500));
  CHECK_MESSAGE(result, result.description());
  return document;
}

// Every coordinate of paths that carry data, and of rectangles and texts.
std::vector<std::pair<double, double>> corners(const pugi::xml_document& document) {
  std::vector<std::pair<double, double>> out;
  const std::regex pair("[ML](-?[0-9.e+-]+) (-?[0-9.e+-]+)");
  for (const pugi::xpath_node& node : document.select_nodes("/svg//path[not(ancestor::marker)]")) {
    const std::string data = node.node().attribute("d").value();
    for (std::sregex_iterator at(data.begin(), data.end(), pair), end; at != end; ++at) {
      out.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
    }
  }
  for (const pugi::xpath_node& node : document.select_nodes("/svg//rect")) {
    const double x = node.node().attribute("x").as_double();
    const double y = node.node().attribute("y").as_double();
    CHECK(node.node().attribute("width").as_double() >= 0);
    CHECK(node.node().attribute("height").as_double() >= 0);
    out.emplace_back(x, y);
    out.emplace_back(x + node.node().attribute("width").as_double(),
                     y + node.node().attribute("height").as_double());
  }
  for (const pugi::xpath_node& node : document.select_nodes("/svg//text")) {
    out.emplace_back(node.node().attribute("x").as_double(),
                     node.node().attribute("y").as_double());
  }
  return out;
}

} // namespace

TEST_CASE("a band of one point is a line from its low end to its high end") {
  Figure figure = lines_figure();
  figure.panels[0].bands = {{"interval", {{16, 1000, 8000}}}};
  const std::string text = svg(figure);
  CHECK(text.find(R"(" stroke="#d9d9d9" stroke-width="12")") != std::string::npos);
  figure.panels[0].bands[0].points.push_back({32, 2000, 16000});
  CHECK(svg(figure).find(R"(stroke-width="12")") == std::string::npos);
}

TEST_CASE("svg: every kind of figure is drawn as its picture, byte for byte") {
  check_golden("lines", lines_figure());
  check_golden("panels", panels_figure());
  check_golden("bars", bars_figure());
  check_golden("lanes", lanes_figure());
  check_golden("broken_axes", broken_axes_figure());
}

TEST_CASE("svg: pictures are well-formed, 640 x 400, in sans-serif 12, and say their question") {
  for (const Figure& figure : {lines_figure(), panels_figure(), bars_figure(), lanes_figure()}) {
    const std::string text = svg(figure);
    const pugi::xml_document document = parsed(text);
    const pugi::xml_node root = document.child("svg");
    CHECK(root.attribute("width").as_int() == 640);
    CHECK(root.attribute("height").as_int() == 400);
    CHECK(std::string(root.attribute("font-family").value()) == "sans-serif");
    CHECK(root.attribute("font-size").as_int() == 12);
    CHECK(std::string(root.child("title").text().get()) == figure.title);
    CHECK(document.select_nodes("//text[@font-size]").empty());
    CHECK(svg(figure) == text);
  }
}

TEST_CASE("svg: every curve has a dash and a marker of its own, and the legend shows both") {
  const pugi::xml_document document = parsed(svg(lines_figure()));
  std::set<std::string> dashes;
  for (const char* look : {"#07387e", "#c92f10", "#13aa84", "#efb93a", "#000"}) {
    const auto paths = document.select_nodes(
        ("//path[@stroke='" + std::string(look) + "' and @stroke-linejoin='round']").c_str());
    REQUIRE(paths.size() == 2); // a handle and the curve
    dashes.insert(paths.first().node().attribute("stroke-dasharray").value());
  }
  CHECK(dashes.size() == 5);
  CHECK(document.select_nodes("//path[contains(@marker-mid, '#h0')]").size() == 2); // reported
}

TEST_CASE("svg: text is escaped, controls cannot reach the file") {
  Figure figure = lines_figure();
  figure.title = "</title><script>alert(1)</script>";
  figure.setting = "a & b < c > \"d\"\x1b[31m";
  figure.panels[0].curves[0].label = "<b>&amp;</b>";
  figure.panels[0].marks[0].text = "x < y";
  figure.x.title = "\xff"
                   "GPUs";
  const std::string text = svg(figure);
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find("<b>") == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  const pugi::xml_document document = parsed(text);
  CHECK(std::string(document.child("svg").child("title").text().get()) == figure.title);
}

TEST_CASE("svg: random data never leave the picture") {
  std::mt19937_64 random(20261123);
  std::uniform_real_distribution<double> exponent(-9, 9);
  std::uniform_int_distribution<std::size_t> count(1, 40);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    Figure figure = lines_figure();
    figure.x.scale = static_cast<Scale>(i % 3);
    figure.y.scale = static_cast<Scale>(i / 3 % 3);
    figure.panels.resize(1 + static_cast<std::size_t>(i % 11), figure.panels[0]);
    figure.box = i % 2 == 0 ? "" : figure.box;
    const double base = std::pow(10, exponent(random));
    const double spread = std::abs(exponent(random)) / 3;
    std::uniform_real_distribution<double> power(0, spread);
    for (Panel& panel : figure.panels) {
      panel.title = "panel";
      panel.bands.clear();
      panel.guides.clear();
      panel.reported.clear();
      panel.curves.resize(count(random) % kRanks + 1);
      panel.marks = {{i % 2 == 0 ? Mark::Kind::vertical : Mark::Kind::horizontal,
                      base * std::pow(10, power(random)), "the mark of this panel"}};
      for (Curve& curve : panel.curves) {
        curve.points.resize(count(random) * (i % 10 == 0 ? 50 : 1));
        for (Point& point : curve.points) {
          const double sign = figure.y.scale == Scale::linear && i % 4 == 0 ? -1 : 1;
          point = {base * std::pow(10, power(random)), sign * base * std::pow(10, power(random))};
        }
        std::ranges::sort(curve.points, {}, &Point::x);
      }
      if (figure.y.scale == Scale::linear && i % 4 == 0) {
        panel.marks.clear();
      }
    }
    const std::string text = svg(figure);
    for (const auto& [x, y] : corners(parsed(text))) {
      REQUIRE(x >= 0);
      REQUIRE(x <= 640);
      REQUIRE(y >= 0);
      REQUIRE(y <= 400);
    }
  }
}

TEST_CASE("svg: 0 on a logarithmic axis and infinities are refused with their row") {
  Figure figure = lines_figure();
  figure.panels[0].curves[1].points[3] = {8, 0, 17};
  CHECK_THROWS_WITH_AS(
      (void)svg(figure),
      "sweep.jsonl:17: best merge: throughput must be > 0 on a logarithmic axis, got 0",
      InputError);
  figure.y.scale = Scale::linear;
  CHECK_NOTHROW((void)svg(figure));
  figure.panels[0].curves[1].points[3] = {8, INFINITY, 18};
  CHECK_THROWS_WITH_AS((void)svg(figure),
                       "sweep.jsonl:18: best merge: throughput must be a finite number, got inf",
                       InputError);
}

TEST_CASE("svg: a curve of 10,000 points is thinned to at most 400 with its extremes") {
  std::mt19937_64 random(20261124);
  std::normal_distribution<double> normal;
  std::vector<Point> points;
  double y = 0;
  for (int i = 0; i < 10'000; ++i) {
    points.push_back({static_cast<double>(i), y += normal(random)});
  }
  const std::vector<Point> thin = thinned(points);
  CHECK(thin.size() <= kMostPoints);
  CHECK(thin.front().x == points.front().x);
  CHECK(thin.back().x == points.back().x);
  CHECK(std::ranges::is_sorted(thin, {}, &Point::x));
  CHECK(std::ranges::min(thin, {}, &Point::y).x == std::ranges::min(points, {}, &Point::y).x);
  CHECK(std::ranges::max(thin, {}, &Point::y).x == std::ranges::max(points, {}, &Point::y).x);

  Figure figure = lines_figure();
  for (Curve& curve : figure.panels[0].curves) {
    curve.points = points;
  }
  figure.x.scale = figure.y.scale = Scale::linear;
  CHECK(svg(figure).size() <= 60'000);
}

TEST_CASE("svg: inside a page names of definitions begin with the figure's own") {
  const std::string text = inline_svg(lines_figure(), "throughput");
  (void)parsed(text);
  CHECK(text.find("xmlns") == std::string::npos);
  CHECK(text.find("id=\"throughputm0\"") != std::string::npos);
  CHECK(text.find("url(#throughputm0)") != std::string::npos);
  CHECK(text.find("url(#m0)") == std::string::npos);
}

} // namespace stepsim::plot
