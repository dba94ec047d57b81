#include "scenario/scenario_parts.hpp"

#include "document/fields/written.hpp"

namespace stepsim::study {

namespace {

// "fp16" of a v100: what its part has.
std::vector<std::string_view> precisions_of(const layers::Gpu& gpu) {
  std::vector<std::string_view> words;
  for (const std::string_view word : layers::kPrecisions.all()) {
    if (gpu.has(*layers::kPrecisions.find(word))) {
      words.push_back(word);
    }
  }
  return words;
}

std::optional<layers::MeasuredStepTime> parse_measured_step(io::Fields& fields) {
  std::optional<layers::MeasuredStepTime> measured;
  fields.object("measured_step", [&](io::Fields& step) {
    measured.emplace();
    measured->step = Seconds{step.number("step_s")};
    measured->batch_size = step.optional_integer("batch_size");
    measured->sequence_length = step.optional_integer("sequence_length");
  });
  return measured;
}

} // namespace

std::optional<layers::GpuEstimate> parse_estimate(io::Fields& fields, const ParseContext& context) {
  const std::size_t before = context.problems.list().size();
  layers::GpuEstimate estimate;
  const auto gpu = fields.optional_word("gpu");
  const auto precision = fields.optional_word("dtype", layers::kPrecisions);
  estimate.recompute = fields.word("recompute", layers::kRecomputes);
  estimate.accepted = fields.boolean("accept_estimate");
  estimate.measured = parse_measured_step(fields);
  estimate.gpu = gpu ? layers::find_gpu(*gpu) : nullptr;
  if (estimate.gpu == nullptr || context.problems.list().size() > before) {
    return std::nullopt;
  }
  estimate.precision = precision.value_or(estimate.gpu->usual_precision());
  if (!estimate.gpu->has(estimate.precision)) {
    fields.refuse("dtype", std::string(estimate.gpu->name) + " has no " +
                               std::string(layers::kPrecisions[estimate.precision]) +
                               "; its formats are " +
                               base::joined(precisions_of(*estimate.gpu), " and "));
    return std::nullopt;
  }
  return estimate;
}

void check_estimate(io::Fields& fields, const ParseContext& context,
                    const layers::ModelTable& table, const layers::GpuEstimate& estimate) {
  if (!layers::estimates_compared(table) && !estimate.accepted) {
    fields.refuse(
        "gpu",
        table.name + (layers::has_attention(table) ? " reads images" : " has no attention") +
            ", and estimates of such networks were not compared with measured steps; import a "
            "trace, give measured_step, or set accept_estimate");
  }
  if (estimate.measured) {
    check_sequence_length(*fields.any("measured_step"), context, table,
                          estimate.measured->sequence_length);
  }
}

void set_estimate(io::Json& workload, const layers::GpuEstimate& estimate) {
  workload.set("gpu", estimate.gpu->name);
  workload.set("dtype", layers::kPrecisions[estimate.precision]);
  workload.set("recompute", layers::kRecomputes[estimate.recompute]);
  workload.set("accept_estimate", estimate.accepted);
  if (estimate.measured) {
    io::Json step{io::Object{{"step_s", estimate.measured->step.value}}};
    io::set_given(step, "batch_size", estimate.measured->batch_size);
    io::set_given(step, "sequence_length", estimate.measured->sequence_length);
    workload.set("measured_step", std::move(step));
  }
}

void check_sequence_length(const io::Json& place, const ParseContext& context,
                           const layers::ModelTable& table, std::optional<std::int64_t> length) {
  if (!length) {
    return;
  }
  if (!table.sequence) {
    context.problems.add(place, "sequence_length", table.name + " has no sequence length");
  } else if (const std::int64_t most = table.sequence->max_sequence_length;
             most > 0 && *length > most) {
    context.problems.add(place, "sequence_length",
                         table.name + " has " + std::to_string(most) + " positions, got " +
                             std::to_string(*length));
  }
}

} // namespace stepsim::study
