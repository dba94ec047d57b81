// Fits of the library model: to times that it makes itself, and to public measurements of ten nodes
// of eight H100 (CLU 14, CLU 16.5). The measurements are not part of this repository.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/statistics.hpp"
#include "document/json_text.hpp"
#include "import/nccl/library_measurements.hpp"
#include "nccl/chosen_time.hpp"
#include "nccl/library_fit.hpp"
#include "nccl/library_record.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using namespace stepsim::nccl;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

const std::string kTable = STEPSIM_SOURCE_DIR "/../shared/data/collectives/measurements.csv.gz";

// True if the measurements lie beside the repository.
bool have_table() {
  const bool there = std::filesystem::exists(kTable);
  if (!there) {
    MESSAGE("skipped: no measurements in " << kTable);
  }
  return there;
}

NodeType h100() { return io::read_node_preset(STEPSIM_SOURCE_DIR, "dgx_h100").node; }

std::vector<MeasuredPoint> measured(const std::string& system) {
  MeasurementOptions options;
  options.system = system;
  return read_measurements({kTable}, options).points;
}

// Times that the model gives with some parameters off their means, times log-normal noise.
std::vector<MeasuredPoint> made_points(const std::vector<Shape>& shapes, double noise) {
  Parameters truth = prior_means();
  const auto set = [&](Parameter parameter, double value) {
    truth[static_cast<std::size_t>(parameter)] = value;
  };
  set(Parameter::base, 0.4);
  set(Parameter::bw_nvl, -0.08);
  set(Parameter::bw_nic, 0.04);
  set(Parameter::net_simple, -0.3);
  set(Parameter::net_ll, 0.2);
  set(Parameter::nvls_lat, 0.9);
  set(Parameter::p2p_lat, 0.3);
  set(Parameter::kappa, 0.1);
  LibraryModel model;
  model.multipliers = multipliers_of(truth);
  base::RandomStream random({.seed = 5});
  std::vector<MeasuredPoint> points;
  for (const Shape shape : shapes) {
    const Layout layout = layout_of(h100(), shape);
    for (const Operation operation : {Operation::allreduce, Operation::allgather,
                                      Operation::reduce_scatter, Operation::alltoall}) {
      for (int power = 10; power <= 32; power += 2) {
        // Twelve uniform numbers make a normal one that is near enough.
        double normal = -6;
        for (int i = 0; i < 12; ++i) {
          normal += random.uniform();
        }
        const double bytes = std::ldexp(1, power);
        const double seconds = chosen_time(model, layout, operation, bytes).seconds;
        points.push_back({operation, shape, bytes, seconds * std::exp(noise * normal)});
      }
    }
  }
  return points;
}

std::vector<double> errors_of(const Calibration& calibration,
                              const std::vector<MeasuredPoint>& points) {
  std::vector<double> errors;
  for (const MeasuredPoint& point : points) {
    const LibraryRecord record = predict({.operation = point.operation,
                                          .shape = point.shape,
                                          .bytes = point.bytes,
                                          .node = calibration.fitted.node,
                                          .calibration = &calibration});
    errors.push_back(record.physical_s / point.measured_s - 1);
  }
  return errors;
}

double multiplier(const LibraryFit& fit, Parameter parameter) {
  return multipliers_of(fit.fitted.parameters)[parameter];
}

} // namespace

TEST_CASE("library fit: shapes that were not measured follow from four that were") {
  const std::vector<Shape> trained{{1, 8}, {10, 1}, {10, 8}, {4, 4}};
  const std::vector<Shape> tested{{2, 8}, {4, 8}, {10, 4}, {16, 8}, {1, 4}, {6, 2}};
  const std::vector<MeasuredPoint> truth = made_points(tested, 0);
  const LibraryFit exact = fit_library(h100(), made_points(trained, 0));
  const ErrorNumbers clean = error_numbers(errors_of(calibration_of(exact.fitted), truth));
  CHECK(clean.median < 0.003);
  CHECK(clean.p90 < 0.01);
  const LibraryFit noisy = fit_library(h100(), made_points(trained, 0.03));
  const ErrorNumbers with_noise = error_numbers(errors_of(calibration_of(noisy.fitted), truth));
  CHECK(with_noise.median < 0.015);
  CHECK(with_noise.p90 < 0.03);
}

TEST_CASE("library fit: the order of points changes nothing") {
  std::vector<MeasuredPoint> points = made_points({{1, 8}, {2, 8}}, 0.05);
  const LibraryFit fit = fit_library(h100(), points);
  base::RandomStream random({.seed = 9});
  for (std::size_t i = points.size(); i > 1; --i) {
    std::swap(points[i - 1],
              points[static_cast<std::size_t>(random.integer(0, static_cast<int>(i) - 1))]);
  }
  const LibraryFit shuffled = fit_library(h100(), points);
  io::LibraryFile file;
  file.fitted = fit.fitted;
  const std::string text = io::compact(io::to_json(file, calibration_of(fit.fitted)));
  file.fitted = shuffled.fitted;
  CHECK(io::compact(io::to_json(file, calibration_of(shuffled.fitted))) == text);
}

TEST_CASE("library fit: a file that is read again predicts the same") {
  const LibraryFit fit = fit_library(h100(), made_points({{1, 8}, {2, 8}}, 0.05));
  io::LibraryFile file;
  file.fitted = fit.fitted;
  file.fitted.name = "made";
  file.from_prior = fit.from_prior;
  const Calibration before = calibration_of(file.fitted);
  const io::LibraryFile again = io::parse_library_calibration(io::to_json(file, before));
  CHECK(again.from_prior == fit.from_prior);
  CHECK(again.fitted.choice == fit.fitted.choice);
  const Calibration after = calibration_of(again.fitted);
  for (const Shape shape : {Shape{1, 8}, Shape{2, 8}, Shape{10, 8}}) {
    LibraryQuestion question{
        .operation = Operation::allreduce, .shape = shape, .bytes = 3e7, .node = h100()};
    question.calibration = &before;
    const LibraryRecord first = predict(question);
    question.calibration = &after;
    const LibraryRecord second = predict(question);
    CHECK(second.seconds == within(first.seconds, 1e-9));
    CHECK(second.interval.high == within(first.interval.high, 1e-6));
  }
}

TEST_CASE("library fit: what was not measured keeps its prior") {
  const LibraryFit fit = fit_library(h100(), made_points({{1, 8}}, 0.02));
  const auto from_prior = [&](Parameter parameter) {
    return fit.from_prior[static_cast<std::size_t>(parameter)];
  };
  CHECK(from_prior(Parameter::bw_nic));
  CHECK(from_prior(Parameter::rail));
  CHECK_FALSE(from_prior(Parameter::bw_nvl));
  CHECK(multiplier(fit, Parameter::bw_nic) == within(1.0, 1e-9));
}

TEST_CASE("library fit: public measurements of ten nodes of eight H100") {
  if (!have_table()) {
    return;
  }
  const std::vector<MeasuredPoint> points = measured("h100-x1");
  REQUIRE(points.size() == 252);
  const LibraryFit fit = fit_library(h100(), points);
  CHECK(fit.fitted.choice == Choice::calibrated);
  CHECK(48 * multiplier(fit, Parameter::bw_nic) == within(49.6, 0.02));
  CHECK(370.8 * multiplier(fit, Parameter::bw_nvl) == within(342.0, 0.04));
  CHECK(370.8 * 0.85 * multiplier(fit, Parameter::bw_nvl) * multiplier(fit, Parameter::nvls) ==
        within(305.0, 0.04));
  CHECK(multiplier(fit, Parameter::bw_mix) == plus_minus(0.91, 0.05));
  const ErrorNumbers errors = error_numbers(errors_of(calibration_of(fit.fitted), points));
  CHECK(errors.median < 0.026);
  CHECK(errors.p90 < 0.082);
}

TEST_CASE("library fit: a shape that is left out is predicted within 4 % in the median") {
  if (!have_table()) {
    return;
  }
  const LibraryFit fit = fit_library(h100(), measured("h100-x1"));
  std::vector<double> pooled;
  for (const HeldOut& held : leave_shapes_out(fit)) {
    pooled.insert(pooled.end(), held.physical.begin(), held.physical.end());
  }
  const ErrorNumbers errors = error_numbers(pooled);
  CHECK(errors.points == 252);
  CHECK(errors.median < 0.033 * 1.15);
  CHECK(errors.p90 < 0.118 * 1.15);
}

TEST_CASE("library fit: a system that is 10 % slower is fitted 10 % slower") {
  if (!have_table()) {
    return;
  }
  const std::vector<MeasuredPoint> points = measured("h100-x1");
  const Calibration here = calibration_of(fit_library(h100(), points).fitted);
  for (const double scale : {0.9, 1.1}) {
    std::vector<MeasuredPoint> scaled = points;
    for (MeasuredPoint& point : scaled) {
      point.measured_s *= scale;
    }
    const Calibration there = calibration_of(fit_library(h100(), scaled).fitted);
    const std::vector<double> first = errors_of(here, points);
    const std::vector<double> second = errors_of(there, scaled);
    std::vector<double> deviations;
    for (std::size_t i = 0; i < first.size(); ++i) {
      deviations.push_back(std::abs((1 + second[i]) / (1 + first[i]) - 1));
    }
    CHECK(base::median(deviations) < 0.01);
  }
}
