#include "study/tune_values.hpp"

namespace stepsim::study {

namespace {

constexpr std::array kKnobs{
    KnobRow{Knob::bucket_bytes, "bucket_bytes", "/communication/bucket_bytes", "size of a bucket"},
    KnobRow{Knob::fusion_bytes, "fusion_bytes", "/communication/fusion_bytes",
            "fusion threshold; schedule horovod"},
    KnobRow{Knob::cycle_s, "cycle_s", "/communication/cycle_s", "cycle time; schedule horovod"},
    KnobRow{Knob::partition_bytes, "partition_bytes", "/communication/partition_bytes",
            "size of a chunk; schedule priority"},
    KnobRow{Knob::credit_bytes, "credit_bytes", "/communication/credit_bytes",
            "bytes in flight; schedule priority"},
    KnobRow{Knob::block_bytes, "block_bytes", "/communication/block_bytes",
            "block of a collective that is sent in blocks"},
    KnobRow{Knob::pipeline_width, "pipeline_width", "/training/pipeline_width",
            "iterations in flight; training algorithm pipe_sgd"},
    KnobRow{Knob::density, "density", "/communication/compression/density",
            "the largest share of entries that still beats dense; sparse compression"},
    KnobRow{Knob::collective, "collective", "/communication/collective",
            "algorithm of the all-reduce"},
    KnobRow{Knob::schedule, "schedule", "/communication/schedule", "how gradients are merged"},
};
// `row` finds a knob by its place.
static_assert(std::ranges::is_sorted(kKnobs, {}, &KnobRow::knob) &&
              kKnobs.size() == static_cast<std::size_t>(Knob::schedule) + 1);

} // namespace

std::span<const KnobRow> knobs() { return kKnobs; }

const KnobRow& row(Knob knob) { return kKnobs[static_cast<std::size_t>(knob)]; }

Knob parse_knob(std::string_view name) {
  std::vector<std::string_view> known;
  for (const KnobRow& each : kKnobs) {
    if (each.name == name) {
      return each.knob;
    }
    known.push_back(each.name);
  }
  throw UsageError("--knob: " + base::unknown_word("knob", name, known));
}

// A point is a record of a sweep with its value put beside it, since a record knows its field by
// name only.

TunePoint tune_point(io::Json record, io::Json value) {
  const std::optional<double> time = number_in(record, "iteration_time_s");
  std::string error = error_in(record);
  return {std::move(value), time, std::move(record), std::move(error)};
}

std::vector<TunePoint> run_points(const io::Json& scenario, const std::string& pointer,
                                  const std::vector<io::Json>& values, Files& files,
                                  const RowsOptions& options, std::vector<std::string>& warnings) {
  std::vector<TunePoint> points;
  if (values.empty()) {
    return points;
  }
  Rows rows = rows_of(sweep_over(scenario, {{pointer, values}}), files, options);
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back(tune_point(std::move(rows.records[i]), values[i]));
  }
  append_each_once(warnings, rows.warnings);
  return points;
}

} // namespace stepsim::study
